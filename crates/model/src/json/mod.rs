//! JSON that keeps what it read: ordered pairs, duplicate keys, numbers and strings as they were spelled.
//!
//! [`Json`] is the owned value that sessions carry for foreign data. [`Node`] is the same tree borrowed from a
//! source text, with the place of every value, which is what decoders read from.

mod convert;
mod escape;
mod inline;
pub mod json5;
mod node;
mod number;
mod parse;
mod sink;
mod string;
mod text_sink;
mod value;

pub use escape::{LoneSurrogate, find_special_or_beyond_ascii, spell_into};
pub use node::{Field, Fields, Node, Text, Value};
pub use number::Number;
pub use parse::{MAX_DEPTH, MAX_TEXT_DEPTH, Nan, parse, parse_with};
pub use sink::{Sink, TreeSink};
pub use string::JsonString;
pub use text_sink::{JsonSink, Layout, TextStyle};
pub(crate) use text_sink::{read_object, read_value};
pub use value::{Json, Object};
