//! serde at the edges: values of the model in types of an application.
//!
//! A stored type is read and written by its [`Shape`](crate::shape::Shape), because serde has no place for unknown fields
//! and number spellings (ADR 9). These implementations go through that shape, so that an application can put a session
//! into its own types, or hand it to an HTTP framework. What serde's data model cannot hold is an error here, never a
//! rounded number or a dropped key: the native functions read and write such a value.

mod json;
mod shaped;
mod value;

pub use value::NotAValue;
