//! Reads and writes session formats.
//!
//! A [`Codec`] turns bytes into sessions and back, and says what it lost. The table of them is [`format::ALL`]; the
//! rest of this crate iterates it. Nothing here touches files, clocks, the network or async.

mod codec;
mod convert;
pub mod format;
mod honest;
mod input;

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
pub use convert::{Conversion, Read, convert, decode, encode, read};
pub use input::{Document, Input, Syntax};
pub use sniff::{Confidence, Guess, Sniffed, check_named, sniff};
pub use turnkeep_model::json::json5;
pub use turns::TurnBuilder;
