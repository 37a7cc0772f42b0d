//! OpenAI's Responses wire.
#![expect(clippy::print_stdout, clippy::indexing_slicing, reason = "counts are shown; a test fails by panicking")]

mod corpus;
mod next;
mod rules;
mod streams;

use turnkeep_codec::{Codec, format};

const ID: &str = "openai.responses";

fn codec() -> &'static dyn Codec {
    format::by_id(ID).unwrap()
}
