//! Google's `generateContent` wire: `gemini.contents`.
//!
//! A part is an object whose key says what it is. The vendor takes every key with underscores too, single things and
//! texts where a list is usual, and calls without ids, which are answered by name in their order: `decode` notes which of
//! these a source used, and `restore` gives the same bodies back. A signature of thinking may stand on any part; it goes
//! with the block it stood on (`signature`). The model is named in the address, so a request needs none.

mod contract;
mod decode;
mod mock;
mod options;
mod part;
mod piecewise;
mod request;
mod restore;
mod rules;
mod settle;
mod signature;
mod stream;
mod wire;

use turnkeep_model::json::Object;

use crate::fields::Fields;

pub(crate) use part::media;
pub(crate) use wire::Gemini;

/// The format's id, under which its extras are kept.
const FORMAT: &str = "gemini.contents";

/// Keys of parts, contents and bodies come in two spellings; the first is the wire's own.
const SPELLINGS: &[(&str, &str)] = &[
    ("functionCall", "function_call"),
    ("functionResponse", "function_response"),
    ("inlineData", "inline_data"),
    ("fileData", "file_data"),
    ("thoughtSignature", "thought_signature"),
    ("mimeType", "mime_type"),
    ("fileUri", "file_uri"),
    ("systemInstruction", "system_instruction"),
    ("generationConfig", "generation_config"),
    ("functionDeclarations", "function_declarations"),
];

/// Which spelling of `key` an object has: its own one first.
fn spelled<'a>(object: &Object, key: &'a str) -> Option<&'a str> {
    spellings(key).find(|key| object.contains(key))
}

/// The same for an object that is being read: a spelling whose value is not taken yet.
fn spelled_in<'a>(fields: &Fields, key: &'a str) -> Option<&'a str> {
    spellings(key).find(|key| fields.get(key).is_some())
}

fn spellings(key: &str) -> impl Iterator<Item = &str> {
    let snake = SPELLINGS.iter().find(|(camel, _)| *camel == key).map(|(_, snake)| *snake);
    std::iter::once(key).chain(snake)
}
