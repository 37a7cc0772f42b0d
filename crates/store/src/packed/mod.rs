//! Lines as databases keep them, and batches made ready for that.

pub(crate) mod cached;
pub(crate) mod dictionary;
pub(crate) mod pack;
pub(crate) mod ready;
pub(crate) mod segment;
