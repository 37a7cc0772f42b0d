//! What the databases have in common: how a line becomes a row and comes back, and what is prepared before it is written.

pub(crate) mod cached_head;
pub(crate) mod dictionary;
pub(crate) mod pack;
pub(crate) mod prepared;
pub(crate) mod segment;
