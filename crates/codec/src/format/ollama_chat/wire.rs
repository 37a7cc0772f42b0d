//! The wire itself.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Loss, Result, Session};

use super::message::Messages;
use super::{ID, request, restore, sniff, stream};
use crate::codec::{EncodeOptions, Fidelity, Keeps, Spec};
use crate::sniff::Guess;
use crate::wire::{Assembler, Delivery, Kind, Parts, Wire, spoken};

/// Ollama's chat wire.
pub(crate) struct OllamaWire;

impl Wire for OllamaWire {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: ID,
            title: "Ollama chat",
            variants: &[],
            extensions: &[],
            reads: true,
            writes: true,
            fidelity: Fidelity {
                system_text: Keeps::All,
                options: Keeps::Some,
                tools: Keeps::All,
                reasoning: Keeps::Some,
                media: Keeps::Some,
                tool_ids: Keeps::Some,
                ..Fidelity::NOTHING
            },
        }
    }

    fn sniff_request(&self, body: &Object) -> Guess {
        sniff::request(body)
    }

    fn sniff_response(&self, body: &Object) -> Guess {
        sniff::response(body)
    }

    fn sniff_event(&self, event: &Object) -> Guess {
        sniff::response(event)
    }

    fn decode(&self, parts: Parts) -> Result<(Session, Vec<Loss>)> {
        spoken::decode::<Messages>(parts, &mut std::iter::empty())
    }

    fn restore(&self, session: &Session, kind: Kind) -> Parts {
        restore::parts(session, kind)
    }

    fn next_request(&self, session: &Session, options: &EncodeOptions) -> (Json, Vec<Loss>) {
        request::next(session, options)
    }

    /// What is not said is a stream here.
    fn deliver(&self, body: &mut Object, _: Option<&str>, delivery: Delivery) {
        body.remove("stream");
        body.push("stream", delivery == Delivery::Stream);
    }

    fn assembler(&self) -> Box<dyn Assembler> {
        Box::new(stream::Lines::default())
    }
}
