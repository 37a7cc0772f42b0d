//! What an application can bring of its own, each in a module, written with public calls alone.
//!
//! The tests beside it hold every one of them to the laws that turnkeep's own are held to.

pub mod broadcaster;
pub mod codec;
pub mod model;
pub mod store;
