//! The laws of codecs, of JSON, of YAML, of journals and of stores, as named functions.
//!
//! Every law panics, with the smallest case it found, where it does not hold.

mod codec;
mod compare;
mod fixture;
pub mod journal;
pub mod json;
mod layout;
mod native;
pub mod store;
mod table;
pub mod total;
pub mod yaml;

pub use codec::{honest_loss, pure, sniffs_itself, stable, unknown_fields_are_not_hidden};
pub use compare::archive_diff;
pub use fixture::{golden, has_fixtures, has_fuzz_target};
pub use layout::recognised_in_any_layout;
pub use native::{lossless, unknown_fields_survive};
pub use table::{CODEC_LAWS, Law, NATIVE_LAWS, check, check_list};
