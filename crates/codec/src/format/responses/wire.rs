//! The wire itself.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, Error, ErrorKind, Loss, Result, Session, Turn};

use super::contract::CONTRACT;
use super::request::Reader;
use super::{answer, next, profile, request, stream};
use crate::codec::{EncodeOptions, Fidelity, Keeps, Spec};
use crate::sniff::Guess;
use crate::wire::mock::VendorMock;
use crate::wire::{Assembler, Contract, Delivery, Kind, Parts, Wire, prefix};

/// `openai.responses`: bodies, exchanges and streams of OpenAI's Responses.
pub(crate) struct Responses;

impl Wire for Responses {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: super::FORMAT,
            title: "OpenAI Responses bodies and streams",
            variants: profile::VARIANTS,
            extensions: &[".json", ".sse"],
            fidelity: Fidelity {
                signatures: Keeps::Some,
                tool_ids: Keeps::All,
                tool_errors: Keeps::Some,
                usage: Keeps::Some,
                timing: Keeps::Some,
                ids: Keeps::Some,
                ..Fidelity::WIRE
            },
            ..Spec::READ_WRITE
        }
    }

    fn contract(&self) -> &'static Contract {
        &CONTRACT
    }

    fn mock(&self) -> &'static dyn VendorMock {
        &Responses
    }

    fn sniff_request(&self, body: &Object) -> Guess {
        match body.get("input") {
            Some(Json::Array(items)) if !body.contains("messages") && items.iter().all(is_item) => {
                Guess::certain("its `input` is a list of items")
            }
            Some(Json::String(_)) if body.contains("model") => Guess::likely("it has an `input` and a `model`"),
            None if body.contains("previous_response_id") => Guess::likely("it has a `previous_response_id`"),
            _ => Guess::no(),
        }
    }

    fn sniff_response(&self, body: &Object) -> Guess {
        let is_response = body.get_str("object").is_some_and(|word| word == "response");
        match body.get("output") {
            Some(Json::Array(_)) if is_response => Guess::certain("it is a `response` with an `output`"),
            Some(Json::Array(items)) if body.contains("status") && items.iter().all(is_item) => {
                Guess::likely("it has a `status` and an `output`")
            }
            _ if is_response => Guess::likely("it is a `response`"),
            _ if is_error(body) => Guess::likely("it is an `error` with a message"),
            _ => Guess::no(),
        }
    }

    fn sniff_event(&self, event: &Object) -> Guess {
        match event.get_str("type") {
            Some(kind) if kind.starts_with("response.") => Guess::certain("its events begin with `response.`"),
            _ => Guess::no(),
        }
    }

    fn decode(&self, parts: Parts) -> Result<(Session, Vec<Loss>)> {
        let mut reader = Reader::default();
        let has_history = parts.request.is_some();
        if let Some(body) = parts.request {
            reader.request(object(body, "request")?);
        }
        if let Some(body) = parts.response {
            reader.response(object(body, "response")?);
        }
        let (mut session, losses) = reader.finish();
        // What stood before the answer is known only where the request is, and whole.
        if has_history && !session.extra.fields(super::FORMAT).is_some_and(next::refers) {
            prefix::stamp(&mut session);
        }
        Ok((session, losses))
    }

    fn restore(&self, session: &Session, kind: Kind) -> Parts {
        let request = || request::write(session, &request::blocks(session), request::model(session));
        match kind {
            Kind::Request => Parts { request: Some(request()), response: None },
            Kind::Response | Kind::Stream => Parts { request: None, response: Some(response(session)) },
            Kind::Exchange => Parts { request: Some(request()), response: Some(response(session)) },
        }
    }

    fn next_request(&self, session: &mut Session, options: &EncodeOptions) -> (Json, Vec<Loss>) {
        next::request(session, options)
    }

    fn deliver(&self, body: &mut Object, _: Option<&str>, delivery: Delivery) {
        body.remove("stream");
        if delivery == Delivery::Stream {
            body.push("stream", true);
        }
    }

    /// Servers that only follow the wire are all the same.
    fn dialect_of(&self, provider: &str) -> Option<&'static str> {
        let known = ["openai", "azure", "xai", "deepseek"];
        Some(known.into_iter().find(|name| *name == provider).unwrap_or("compatible"))
    }

    fn assembler(&self) -> Box<dyn Assembler> {
        stream::assembler()
    }
}

fn is_item(item: &Json) -> bool {
    item.as_object().is_some_and(|item| item.contains("role") || item.contains("type"))
}

/// Vendors word their refusals differently.
fn is_error(body: &Object) -> bool {
    let is_told = match body.get("error").or_else(|| body.get("detail")) {
        Some(Json::Object(error)) => error.contains("message"),
        Some(Json::String(_)) => true,
        _ => false,
    };
    is_told && !["input", "model", "messages"].iter().any(|key| body.contains(key))
}

fn object(body: Json, name: &str) -> Result<Object> {
    match body {
        Json::Object(object) => Ok(object),
        other => Err(Error::new(ErrorKind::Corrupt, format!("a {name} must be an object, not {}", other.kind()))
            .path(name)
            .hint("give the whole body")),
    }
}

/// The response that the last answered turn came from.
fn response(session: &Session) -> Json {
    let nothing = Turn::default();
    let marked = session.turns.iter().rfind(|turn| answer::is_from_response(turn));
    let turn = marked.or(session.turns.last()).unwrap_or(&nothing);
    let mut blocks: Vec<&Block> = turn.blocks.iter().filter(|block| block.is_answer()).collect();
    blocks.sort_by_key(|block| block.message.ordinal);
    answer::write(turn, &blocks)
}
