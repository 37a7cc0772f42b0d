//! The rules by what they speak of.

pub(super) mod content;
pub(super) mod settings;
pub(super) mod tools;
