//! Reads and writes session formats.
//!
//! A [`Codec`] turns bytes into sessions and back, and says what it lost. The table of them is [`format::ALL`]; the
//! rest of this crate iterates it. Nothing here touches files, clocks, the network or async.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `sqlite` | geppetto's turn store, which is an SQLite database |
//! | `html` | sessions as one self-contained page |
//! | `zip` | debug bundles of weakincentives: zip files, and folders of the same files |
//! | `zstd` | compressed documents |

mod base64_text;
mod codec;
mod convert;
mod fields;
pub mod format;
mod input;
mod loss_report;

pub mod lint;
pub mod models;
pub mod pack;
mod sniff;
mod take;
mod tree;
mod turns;
pub mod wire;
pub mod yaml;

pub use codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Keeps, Mode, Spec, Target};
pub use convert::{Conversion, Read, convert, decode, encode, encode_owned, read};
pub use input::{Document, Input, Syntax};
pub use loss_report::losses;
pub use sniff::{Confidence, Guess, Sniffed, check_named, sniff};
pub use turnkeep_model::json::json5;
pub use turns::TurnBuilder;
