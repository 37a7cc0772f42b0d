//! The wire itself.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Loss, Result, Session};

use super::contract::CONTRACT;
use super::{FORMAT, decode, request, restore, spelled, stream};
use crate::codec::{EncodeOptions, Fidelity, Keeps, Spec};
use crate::sniff::Guess;
use crate::wire::mock::VendorMock;
use crate::wire::{Assembler, Contract, Delivery, Kind, Parts, Wire};

/// `gemini.contents`
pub(crate) struct Gemini;

impl Wire for Gemini {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: FORMAT,
            title: "Gemini generateContent bodies",
            fidelity: Fidelity {
                signatures: Keeps::Some,
                tool_errors: Keeps::Some,
                usage: Keeps::Some,
                ..Fidelity::WIRE
            },
            ..Spec::READ_WRITE
        }
    }

    fn contract(&self) -> &'static Contract {
        &CONTRACT
    }

    fn mock(&self) -> &'static dyn VendorMock {
        &Gemini
    }

    fn sniff_request(&self, body: &Object) -> Guess {
        let contents = body.get("contents").and_then(Json::as_array).unwrap_or_default();
        let has_parts = |content: &Json| content.as_object().is_some_and(|content| content.contains("parts"));
        if !contents.is_empty() && contents.iter().all(has_parts) {
            return Guess::certain("its `contents` have `parts`");
        }
        let known = ["generationConfig", "systemInstruction"].iter().any(|key| spelled(body, key).is_some());
        if body.contains("contents") && known {
            Guess::likely("it has `contents` and Gemini's settings")
        } else {
            Guess::no()
        }
    }

    fn sniff_response(&self, body: &Object) -> Guess {
        let candidates = body.get("candidates").and_then(Json::as_array).unwrap_or_default();
        let is_candidate = |candidate: &Json| {
            candidate.as_object().is_some_and(|map| map.contains("content") || map.contains("finishReason"))
        };
        if !candidates.is_empty() && candidates.iter().all(is_candidate) {
            return Guess::certain("it has `candidates` with content");
        }
        if body.get("error").and_then(Json::as_object).is_some_and(|error| error.contains("message")) && body.len() == 1
        {
            return Guess::likely("it is an `error`");
        }
        if body.contains("usageMetadata") || body.contains("promptFeedback") {
            return Guess::likely("it has `usageMetadata` or `promptFeedback`");
        }
        Guess::no()
    }

    fn sniff_event(&self, event: &Object) -> Guess {
        self.sniff_response(event)
    }

    fn decode(&self, parts: Parts) -> Result<(Session, Vec<Loss>)> {
        decode::session(parts)
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
        Box::<stream::Stream>::default()
    }
}
