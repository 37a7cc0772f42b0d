//! The wire itself.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Loss, Result, Session};

use super::contract::CONTRACT;
use super::message::Messages;
use super::{ID, profile, request, restore, sniff, stream};
use crate::codec::{EncodeOptions, Fidelity, Spec};
use crate::sniff::Guess;
use crate::wire::mock::VendorMock;
use crate::wire::{Assembler, Contract, Delivery, Kind, Parts, Wire, message_wire};

/// OpenAI's chat wire.
pub(crate) struct ChatWire;

impl Wire for ChatWire {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: ID,
            title: "OpenAI chat completions",
            variants: profile::VARIANTS,
            fidelity: Fidelity::WIRE,
            ..Spec::READ_WRITE
        }
    }

    fn contract(&self) -> &'static Contract {
        &CONTRACT
    }

    fn mock(&self) -> &'static dyn VendorMock {
        &ChatWire
    }

    fn sniff_request(&self, body: &Object) -> Guess {
        sniff::request(body)
    }

    fn sniff_response(&self, body: &Object) -> Guess {
        sniff::response(body)
    }

    fn sniff_event(&self, event: &Object) -> Guess {
        sniff::event(event)
    }

    fn decode(&self, parts: Parts) -> Result<(Session, Vec<Loss>)> {
        message_wire::decode::<Messages>(parts, &mut std::iter::empty())
    }

    fn history(&self) -> Option<&'static str> {
        Some("messages")
    }

    fn decode_history(&self, request: Object, items: &mut dyn Iterator<Item = Json>) -> Result<(Session, Vec<Loss>)> {
        message_wire::decode::<Messages>(Parts { request: Some(Json::Object(request)), response: None }, items)
    }

    fn restore(&self, session: &Session, kind: Kind) -> Parts {
        restore::parts(session, kind)
    }

    fn next_request(&self, session: &mut Session, options: &EncodeOptions) -> (Json, Vec<Loss>) {
        request::next(session, options)
    }

    fn deliver(&self, body: &mut Object, profile: Option<&str>, delivery: Delivery) {
        body.remove("stream");
        body.remove("stream_options");
        if delivery == Delivery::Stream {
            body.push("stream", true);
            if profile::named(profile).stream_usage {
                let options: Object = [("include_usage", Json::from(true))].into_iter().collect();
                body.push("stream_options", options);
            }
        }
    }

    fn assembler(&self) -> Box<dyn Assembler> {
        Box::new(stream::Chunks::default())
    }
}
