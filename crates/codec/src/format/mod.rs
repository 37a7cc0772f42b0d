//! The table of formats.

use turnkeep_model::{Error, ErrorKind, Result};

use crate::codec::Codec;
use crate::wire::{Wire, WireCodec};

pub mod anthropic;
pub mod bedrock;
pub mod cognesy;
pub(crate) mod gemini;
pub mod geppetto;
#[cfg(feature = "html")]
mod html;
pub(crate) mod llm4s;
pub mod lucee;
mod markdown;
mod native;
pub(crate) mod ollama_chat;
pub(crate) mod openai_chat;
pub mod responses;
mod wink;

/// Every format, in the order of the documentation and of sniffing.
pub static ALL: &[&dyn Codec] = &[
    &native::JsonCodec,
    &native::YamlCodec,
    &native::JournalCodec,
    &geppetto::TurnCodec,
    &geppetto::FixtureCodec,
    #[cfg(feature = "sqlite")]
    &geppetto::StoreCodec,
    &llm4s::StateCodec,
    &llm4s::SessionCodec,
    // A conversation is stored in a snapshot: where both would do, it is the more telling name.
    &wink::ConversationCodec,
    &wink::SnapshotCodec,
    &wink::CompositeCodec,
    &wink::SliceCodec,
    #[cfg(feature = "zip")]
    &wink::BundleCodec,
    &wink::TranscriptCodec,
    &cognesy::SlimCodec,
    &cognesy::StateCodec,
    &cognesy::ContinuationCodec,
    &cognesy::SessionCodec,
    &cognesy::JsonlCodec,
    &lucee::SessionCodec,
    &WireCodec(openai_chat::ChatWire),
    &WireCodec(responses::Responses),
    &WireCodec(anthropic::Messages),
    &WireCodec(gemini::Gemini),
    &WireCodec(ollama_chat::OllamaWire),
    &WireCodec(bedrock::Converse),
    &markdown::MarkdownCodec,
    #[cfg(feature = "html")]
    &html::HtmlCodec,
];

/// The vendors' wires among them.
pub fn wires() -> impl Iterator<Item = &'static dyn Wire> {
    ALL.iter().copied().filter_map(Codec::wire)
}

/// The vendor's wire with this id, if it is one.
pub fn wire(id: &str) -> Option<&'static dyn Wire> {
    wires().find(|wire| wire.spec().id == id)
}

/// The format with this id.
///
/// # Errors
/// `NotFound`, with ids that come near.
pub fn by_id(id: &str) -> Result<&'static dyn Codec> {
    ALL.iter().copied().find(|codec| codec.spec().id == id).ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> Error {
    let family = id.split('.').next().unwrap_or(id);
    let near: Vec<_> = ALL.iter().map(|codec| codec.spec().id).filter(|known| known.contains(family)).collect();
    let hint = match near.as_slice() {
        _ if id == "geppetto.store" => "this build lacks the feature `sqlite`".to_owned(),
        _ if id == "wink.bundle" => "this build lacks the feature `zip`".to_owned(),
        [] => "`turnkeep formats` lists them".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    Error::new(ErrorKind::NotFound, format!("there is no format `{id}`")).hint(hint)
}
