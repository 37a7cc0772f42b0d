//! The wire: its description, its looks, and its four kinds of documents.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Loss, Result, Session};

use super::contract::CONTRACT;
use super::{WIRE, request, restore, stream};
use crate::codec::{EncodeOptions, Fidelity, Keeps, Spec};
use crate::sniff::Guess;
use crate::wire::frame::aws;
use crate::wire::mock::VendorMock;
use crate::wire::{Assembler, Contract, Delivery, Kind, Parts, Wire, block_wire};

static SPEC: Spec = Spec {
    id: WIRE,
    title: "Amazon Bedrock Converse",
    variants: &[],
    extensions: &[],
    reads: true,
    writes: true,
    fidelity: Fidelity { signatures: Keeps::Some, tool_errors: Keeps::All, usage: Keeps::Some, ..Fidelity::WIRE },
};

/// Amazon Bedrock's Converse.
pub struct Converse;

impl Wire for Converse {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn contract(&self) -> &'static Contract {
        &CONTRACT
    }

    fn mock(&self) -> &'static dyn VendorMock {
        &Converse
    }

    fn sniff_request(&self, body: &Object) -> Guess {
        let Some(messages) = body.get("messages").and_then(Json::as_array) else { return Guess::no() };
        let own = ["inferenceConfig", "toolConfig", "modelId", "additionalModelRequestFields", "guardrailConfig"];
        let is_own = own.iter().any(|key| body.contains(key));
        if messages.iter().any(|message| !is_message(message, is_own)) {
            return Guess::no();
        }
        match (is_own, messages.is_empty()) {
            (true, _) => Guess::certain("messages and settings as Converse names them"),
            (false, true) => Guess::no(),
            (false, false) => Guess::certain("messages of blocks that are named by their key"),
        }
    }

    fn sniff_response(&self, body: &Object) -> Guess {
        let message = body.get("output").and_then(Json::as_object).and_then(|output| output.get("message"));
        match message {
            Some(message) if body.contains("stopReason") && message.as_object().is_some() => {
                Guess::certain("a message under `output`, and a `stopReason`")
            }
            _ => Guess::no(),
        }
    }

    fn sniff_event(&self, event: &Object) -> Guess {
        let Json::Object(event) = aws::unwrapped(Json::Object(event.clone())) else { return Guess::no() };
        let known = ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"];
        let is_known = known.iter().any(|name| matches!(event.get(name), Some(Json::Object(_))));
        if is_known { Guess::certain("events as Converse streams them") } else { Guess::no() }
    }

    fn decode(&self, parts: Parts) -> Result<(Session, Vec<Loss>)> {
        block_wire::session::<Converse>(parts)
    }

    fn restore(&self, session: &Session, kind: Kind) -> Parts {
        restore::parts(session, kind)
    }

    fn next_request(&self, session: &mut Session, options: &EncodeOptions) -> (Json, Vec<Loss>) {
        request::next(session, options)
    }

    /// It is said in the address.
    fn deliver(&self, _: &mut Object, _: Option<&str>, _: Delivery) {}

    fn assembler(&self) -> Box<dyn Assembler> {
        Box::new(stream::Stream::default())
    }
}

/// The kinds of blocks that are known.
const KINDS: &[&str] = &[
    "text",
    "image",
    "document",
    "video",
    "audio",
    "toolUse",
    "toolResult",
    "guardContent",
    "cachePoint",
    "reasoningContent",
    "citationsContent",
    "searchResult",
    "toolAddition",
    "toolRemoval",
];

/// Whether every block of a message is named by its key. A kind that is not known yet is one where the body is Converse's
/// beyond doubt.
fn is_message(message: &Json, is_own: bool) -> bool {
    let Some(message) = message.as_object().filter(|message| message.contains("role")) else { return false };
    let Some(blocks) = message.get("content").and_then(Json::as_array) else { return false };
    blocks.iter().all(|block| {
        let Some(block) = block.as_object().filter(|block| !block.contains("type")) else { return false };
        is_own || KINDS.iter().any(|kind| block.contains(kind))
    })
}
