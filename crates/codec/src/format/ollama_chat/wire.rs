//! The wire itself.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Loss, Result, Session};

use super::contract::CONTRACT;
use super::message::Messages;
use super::{ID, request, restore, sniff, stream};
use crate::codec::{EncodeOptions, Fidelity, Spec};
use crate::sniff::Guess;
use crate::wire::mock::VendorMock;
use crate::wire::{Assembler, Contract, Delivery, Kind, Parts, Wire, message_wire};

/// Ollama's chat wire.
pub(crate) struct OllamaWire;

impl Wire for OllamaWire {
    fn spec(&self) -> &'static Spec {
        &Spec { id: ID, title: "Ollama chat", fidelity: Fidelity::WIRE, ..Spec::READ_WRITE }
    }

    fn contract(&self) -> &'static Contract {
        &CONTRACT
    }

    fn mock(&self) -> &'static dyn VendorMock {
        &OllamaWire
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
        message_wire::decode::<Messages>(parts, &mut std::iter::empty())
    }

    fn restore(&self, session: &Session, kind: Kind) -> Parts {
        restore::parts(session, kind)
    }

    fn next_request(&self, session: &mut Session, options: &EncodeOptions) -> (Json, Vec<Loss>) {
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
