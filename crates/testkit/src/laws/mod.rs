//! The laws of codecs, of JSON, of YAML, of journals, of models, of broadcasters and of stores, as named functions.
//!
//! Every law panics, with the smallest case it found, where it does not hold.

pub mod broadcast;
mod codec;
mod compare;
mod fixture;
pub mod journal;
pub mod json;
mod keys;
mod layout;
pub mod model;
mod native;
pub mod store;
mod table;
pub mod total;
pub mod yaml;

pub use codec::{honest_loss, pure, recognises_only_itself, sniffs_itself, stable, unknown_fields_are_not_hidden};
pub use compare::archive_diff;
pub use fixture::{golden, has_fixtures, has_fuzz_target};
pub use keys::keys_come_back;
pub use layout::recognised_in_any_layout;
pub use native::{lossless, unknown_fields_survive};
pub use table::{CODEC_LAWS, Law, NATIVE_LAWS, OWN_CODEC_LAWS, check, check_list, check_own_codec};
