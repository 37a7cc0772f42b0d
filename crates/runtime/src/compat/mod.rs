//! What other agent programs offer, over our own journal: their names and their behaviour, each in a room of its own.
//!
//! Nothing outside this module depends on it, but for one row in the table of [derived slices](crate::slices): whoever
//! does not come from one of these programs can skip it. The formats of these programs are in the codec.

pub mod geppetto;
pub mod llm4s;
#[cfg(feature = "weakincentives")]
pub mod weakincentives;
