//! From a session to the request that asks for its next answer.

use turnkeep_codec::EncodeOptions;
use turnkeep_codec::wire::next_request;
use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Loss, Session, canon};
use turnkeep_runtime::port::{Request, SentRequest};

use super::settings::WireModel;
use crate::address::{Streaming, address};
use crate::auth::add;
use crate::providers::StreamUsage;
use crate::transport::{HeaderValue, HttpRequest, Method};

/// A request that was made and not yet sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// Where it goes.
    pub url: String,
    /// What is sent.
    pub body: Json,
    /// What the body could not say of the session.
    pub losses: Vec<Loss>,
    /// What a journal keeps of it: the body only where the session alone does not give it.
    pub sent: SentRequest,
}

/// Who encodes, as journals tell it.
const ENCODER: &str = concat!("turnkeep ", env!("CARGO_PKG_VERSION"));

/// Things that a vendor holds for us, by wire: hints that it may have forgotten.
const HELD: &[(&str, &[&str])] =
    &[("openai.responses", &["previous_response_id", "conversation"]), ("anthropic.messages", &["container"])];

/// Whether what the vendor holds is referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hints {
    Use,
    Forget,
}

impl WireModel {
    /// The request that would be sent, and what it could not say.
    pub fn prepare(&self, request: &Request<'_>) -> Prepared {
        self.prepared(request, Hints::Use)
    }

    pub(super) fn prepared(&self, request: &Request<'_>, hints: Hints) -> Prepared {
        let mut session = request.session.clone();
        session.options = request.options.clone();
        session.tools = request.tools.to_vec();
        if hints == Hints::Forget {
            forget(&mut session);
        }
        let mut options = EncodeOptions::default();
        options.as_request = true;
        options.variant.clone_from(&self.dialect);
        options.model = Some(self.model.clone());
        let (mut body, losses) = next_request(self.wire, &session, &options);
        if let Json::Object(body) = &mut body {
            self.finish(body);
        }
        let url = address(
            self.provider,
            self.wire.spec().id,
            &self.base_url,
            &self.model,
            self.api_version.as_deref(),
            self.streaming,
        );
        let is_rebuilt = hints == Hints::Use && request.session.tools == request.tools;
        let sent = SentRequest {
            digest: canon::digest(&body),
            format: self.wire.spec().id.to_owned(),
            encoder: Some(ENCODER.to_owned()),
            body: if is_rebuilt { Json::Null } else { body.clone() },
            ..SentRequest::default()
        };
        Prepared { url, body, losses, sent }
    }

    /// What the wire says beside the conversation: whether to stream, and nothing that stands in the address.
    fn finish(&self, body: &mut Object) {
        let streams = self.streaming == Streaming::On;
        match self.wire.spec().id {
            "gemini.contents" => {
                body.remove("model");
            }
            "bedrock.converse" => {
                body.remove("modelId");
            }
            "ollama.chat" => body.set("stream", streams),
            "openai.chat" if streams => {
                body.set("stream", true);
                if self.provider.usage == StreamUsage::OnRequest {
                    let asked: Object = [("include_usage", Json::Bool(true))].into_iter().collect();
                    body.set("stream_options", asked);
                }
            }
            _ if streams => body.set("stream", true),
            _ => {
                body.remove("stream");
                body.remove("stream_options");
            }
        }
    }

    /// The request as it is sent.
    pub(super) fn sendable(&self, prepared: &Prepared) -> HttpRequest {
        let mut request = HttpRequest {
            method: Method::Post,
            url: prepared.url.clone(),
            headers: self.headers.clone(),
            body: prepared.body.to_text().into_bytes(),
        };
        add(&mut request, "content-type", HeaderValue::Plain("application/json".to_owned()));
        add(&mut request, "accept", HeaderValue::Plain(self.accepted().to_owned()));
        self.credentials.show(self.provider.scheme, &mut request, self.clock.now());
        request
    }

    fn accepted(&self) -> &'static str {
        match (self.streaming, self.wire.spec().id) {
            (Streaming::Off, _) => "application/json",
            (Streaming::On, "bedrock.converse") => "application/vnd.amazon.eventstream",
            (Streaming::On, "ollama.chat") => "application/x-ndjson",
            (Streaming::On, _) => "text/event-stream",
        }
    }
}

/// Whether a request refers to what the vendor holds.
pub(super) fn refers(wire: &str, body: &Json) -> bool {
    let keys = HELD.iter().find(|(id, _)| *id == wire).map_or(&[][..], |(_, keys)| keys);
    body.as_object().is_some_and(|body| keys.iter().any(|key| body.get(key).is_some_and(|value| *value != Json::Null)))
}

/// Takes the references to what the vendor holds out of a session: its whole history is sent then.
fn forget(session: &mut Session) {
    for (wire, keys) in HELD {
        if session.extra.part(wire).is_some() {
            let fields = &mut session.extra.part_mut(wire).fields;
            keys.iter().for_each(|key| drop(fields.remove(key)));
        }
    }
}
