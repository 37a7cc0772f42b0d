//! The laws of JSON values, sessions and journals.

mod journal;
mod json;
mod policy;
