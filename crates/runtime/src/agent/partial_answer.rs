//! What arrives of an answer, kept in case it never becomes whole.

use std::sync::{Mutex, PoisonError};

use turnkeep_model::{Author, Block, Body, CallId, Reasoning, SessionId, Text, ToolCall};

use crate::chunks::OutgoingChunks;
use crate::hub::Hub;
use crate::port::{Delta, Deltas};
use crate::recorder::Recorder;

/// Publishes what arrives of an answer, and keeps it until the answer is whole.
pub(super) struct PartialAnswer {
    hub: Hub,
    session: SessionId,
    chunks: OutgoingChunks,
    bodies: Mutex<Vec<Body>>,
}

impl PartialAnswer {
    pub(super) fn new(recorder: &Recorder, turn: u32, attempt: u32) -> PartialAnswer {
        let (hub, session) = (recorder.ports().hub.clone(), recorder.id().clone());
        PartialAnswer { hub, session, chunks: OutgoingChunks::of(recorder, turn, attempt), bodies: Mutex::default() }
    }

    /// What arrived, as the blocks of an answer that broke off.
    pub(super) fn into_blocks(self) -> Vec<Block> {
        let bodies = self.bodies.into_inner().unwrap_or_else(PoisonError::into_inner);
        bodies.into_iter().map(|body| Block::new(Author::Assistant, body)).collect()
    }
}

impl Deltas for PartialAnswer {
    fn delta(&self, delta: Delta) {
        self.hub.publish_delta(&self.session, &delta);
        self.chunks.send(&delta);
        keep(&mut self.bodies.lock().unwrap_or_else(PoisonError::into_inner), delta);
    }
}

/// Appends a piece to the block that it belongs to.
fn keep(bodies: &mut Vec<Body>, delta: Delta) {
    match (delta, bodies.last_mut()) {
        (Delta::Text(more), Some(Body::Text(text))) => text.text.push_str(&more),
        (Delta::Text(text), _) => bodies.push(Text { text }.into()),
        (Delta::Reasoning(more), Some(Body::Reasoning(Reasoning { text: Some(text), .. }))) => text.push_str(&more),
        (Delta::Reasoning(text), _) => bodies.push(Reasoning { text: Some(text), ..Reasoning::default() }.into()),
        (Delta::Call { index, name }, _) => amend(bodies, index, |call| call.name = name),
        (Delta::Arguments { index, text }, _) => amend(bodies, index, |call| call.arguments.push_str(&text)),
    }
}

/// Changes the call at this place of the answer. It has no id: it was never made.
fn amend(bodies: &mut Vec<Body>, index: u32, change: impl FnOnce(&mut ToolCall)) {
    let is = |body: &Body| matches!(body, Body::ToolCall(call) if call.call == CallId::Minted(index));
    let at = bodies.iter().position(is).unwrap_or_else(|| {
        bodies.push(ToolCall { call: CallId::Minted(index), name: String::new(), arguments: String::new() }.into());
        bodies.len() - 1
    });
    if let Some(Body::ToolCall(call)) = bodies.get_mut(at) {
        change(call);
    }
}
