//! Rules of wires where the user and the assistant take turns, and an answer is blocks.

use turnkeep_model::json::{Json, Node};

use super::rule::Hit;
use super::view::RequestView;
use crate::fields::{Form, knows};
use crate::sniff::Confidence;
use crate::wire::{Wire, shortened};

/// Whether a body looks like a request, or has messages and only fields that are `known`.
pub(crate) fn is_request(wire: &dyn Wire, known: Form, body: &Node<'_>) -> bool {
    let Json::Object(short) = shortened(body) else { return false };
    let is_known = || short.iter().all(|(key, _)| knows(known, key));
    wire.sniff_request(&short).confidence > Confidence::No || short.contains("messages") && is_known()
}

/// The user speaks first.
pub(crate) fn first(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let first = view.messages.first().filter(|first| first.is("assistant"));
    first.map(|first| first.hit("role", "the assistant speaks first")).into_iter().collect()
}

/// While the model thinks, the last answer begins with thinking if it holds a call: `call` and `thinking` are the kinds
/// of such blocks.
pub(crate) fn thinking_first(view: &RequestView<'_, '_>, thinks: bool, call: &str, thinking: &[&str]) -> Vec<Hit> {
    let Some(last) = view.messages.iter().rfind(|message| thinks && message.is("assistant")) else { return Vec::new() };
    let blocks = view.blocks_of(last);
    let calls = blocks.iter().any(|block| block.kind == call);
    let begins = blocks.first().is_some_and(|block| thinking.contains(&&*block.kind));
    let hit = || last.hit("content[0]", "the last answer does not begin with thinking");
    (calls && !begins).then(hit).into_iter().collect()
}
