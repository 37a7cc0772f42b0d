//! The endpoints of a recording, as far as the requests to them tell: enough to ask them again without any configuration.

use std::sync::Arc;

use turnkeep_codec::{DecodeOptions, Input, format};
use turnkeep_model::json::Json;
use turnkeep_model::{Options, Result};

use super::exchange::Asked;
use super::tape::Tape;
use crate::address::Streaming;
use crate::model::WireModel;
use crate::providers::{PROVIDERS, Provider};
use crate::transport::Transport;

/// How addresses of a wire end, and whether an answer is streamed; `None` where the body says so. `*` stands for the model.
const ENDINGS: &[(&str, &str, Option<Streaming>)] = &[
    ("/responses", "openai.responses", None),
    ("/messages", "anthropic.messages", None),
    ("/models/*:streamGenerateContent?alt=sse", "gemini.contents", Some(Streaming::On)),
    ("/models/*:generateContent", "gemini.contents", Some(Streaming::Off)),
    ("/api/chat", "ollama.chat", None),
    ("/model/*/converse-stream", "bedrock.converse", Some(Streaming::On)),
    ("/model/*/converse", "bedrock.converse", Some(Streaming::Off)),
    ("/chat/completions", "openai.chat", None),
];

/// An endpoint that a recording was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEndpoint {
    provider: &'static Provider,
    wire: &'static str,
    base_url: String,
    model: String,
    streaming: Streaming,
    options: Options,
}

impl Tape {
    /// The endpoints that the recorded requests went to, in the order in which they were first asked.
    pub fn endpoints(&self) -> Vec<RecordedEndpoint> {
        let mut found: Vec<RecordedEndpoint> = Vec::new();
        for endpoint in self.requests().iter().filter_map(RecordedEndpoint::of) {
            if !found.iter().any(|known| known.is_same(&endpoint)) {
                found.push(endpoint);
            }
        }
        found
    }
}

impl RecordedEndpoint {
    /// The model that answers there, over a transport and without a key.
    ///
    /// # Errors
    /// Where its wire is not known.
    pub fn model(&self, transport: Arc<dyn Transport>) -> Result<WireModel> {
        let model = WireModel::new(self.provider, self.model.clone(), transport)?.with_wire(self.wire)?;
        let model = model.with_base_url(self.base_url.clone()).with_streaming(self.streaming);
        Ok(model.with_defaults(self.options.clone()))
    }

    fn of(asked: &Asked) -> Option<RecordedEndpoint> {
        let body = asked.body.to_bytes();
        let fields = match &asked.body {
            super::content::Content::Json(Json::Object(fields)) => fields.clone(),
            _ => return None,
        };
        let (base, in_address, wire, streaming) = ENDINGS.iter().find_map(|ending| taken_apart(&asked.url, ending))?;
        let model = in_address.or_else(|| Some(fields.get_str("model")?.into_owned()))?;
        // Ollama streams unless it is told not to; the others do if they are told to.
        let told = fields.get("stream").and_then(Json::as_bool).unwrap_or(wire == "ollama.chat");
        let streaming = streaming.unwrap_or(if told { Streaming::On } else { Streaming::Off });
        let decoded = format::by_id(wire).ok()?.decode(Input::new(&body), &DecodeOptions::default()).ok()?;
        let options = decoded.archive.main_session().map(|session| session.options.clone()).unwrap_or_default();
        let provider = provider(base, wire)?;
        Some(RecordedEndpoint { provider, wire, base_url: base.to_owned(), model, streaming, options })
    }

    fn is_same(&self, other: &RecordedEndpoint) -> bool {
        (self.base_url.as_str(), &self.model, self.wire) == (other.base_url.as_str(), &other.model, other.wire)
    }
}

/// The base of an address, the model in it, its wire, and whether it is streamed.
type TakenApart<'a> = (&'a str, Option<String>, &'static str, Option<Streaming>);

fn taken_apart<'a>(url: &'a str, ending: &(&str, &'static str, Option<Streaming>)) -> Option<TakenApart<'a>> {
    let (pattern, wire, streaming) = *ending;
    let Some((before, after)) = pattern.split_once('*') else {
        return Some((url.strip_suffix(pattern)?, None, wire, streaming));
    };
    let (base, model) = url.strip_suffix(after)?.rsplit_once(before)?;
    Some((base, Some(decoded(model)), wire, streaming))
}

/// A piece of a path as it was before it was written in hexadecimal.
fn decoded(piece: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = piece.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let hex = (*first == b'%').then(|| more.get(..2)).flatten().and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = more.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The provider at an address, or else the first that speaks the wire.
fn provider(base: &str, wire: &str) -> Option<&'static Provider> {
    let at = |provider: &&Provider| !provider.base_url.is_empty() && base.starts_with(provider.base_url);
    let speaks = |provider: &&Provider| provider.wire == wire;
    PROVIDERS.iter().find(at).or_else(|| PROVIDERS.iter().find(speaks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::address;

    #[test]
    fn every_address_is_taken_apart_again() {
        for (_, wire, streaming) in ENDINGS {
            let provider = provider("", wire).unwrap();
            let streaming = streaming.unwrap_or(Streaming::On);
            let url = address(provider, wire, "https://host/v1", "a/b:1", None, streaming);

            let found = ENDINGS.iter().find_map(|ending| taken_apart(&url, ending)).unwrap();

            assert_eq!((found.0, found.2), ("https://host/v1", *wire), "{url}");
            assert_eq!(found.1.unwrap_or_else(|| "a/b:1".into()), "a/b:1", "{url}");
            assert_eq!(found.3.unwrap_or(streaming), streaming, "{url}");
        }
    }
}
