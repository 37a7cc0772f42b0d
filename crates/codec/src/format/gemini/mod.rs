//! Google's `generateContent` wire: `gemini.contents`.

mod decode;
mod lint;
mod options;
mod piecewise;
mod request;
mod restore;
mod rules;
mod settle;
mod signature;
mod speak;
mod stream;
mod view;
mod wire;

pub(crate) use decode::media;
pub(crate) use lint::{lint, rules};
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
fn spelled<'a>(map: &turnkeep_model::json::Object, key: &'a str) -> Option<&'a str> {
    let snake = SPELLINGS.iter().find(|(camel, _)| *camel == key).map(|(_, snake)| *snake);
    [Some(key), snake].into_iter().flatten().find(|key| map.contains(key))
}
