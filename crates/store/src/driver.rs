//! What a store of one's own is made of: the checks that every store makes, and the errors it gives.
//!
//! Summaries are folded with [`Summary::add`](crate::Summary::add) and [`Summary::fork`](crate::Summary::fork), pages made
//! with [`Query::page`](crate::Query::page), so that listings agree with those of every other store. The laws of stores are
//! in `turnkeep-testkit`.

pub use crate::store::{check_batch, check_id, check_size, no_such_place, taken};
