//! Wires whose bodies are a list of messages and one answer: how such bodies become a session.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, Error, ErrorKind, Loss, Result, Session, Turn};

use super::kind::Parts;
use crate::fields::{Fields, Form, Kept};
use crate::turns::TurnBuilder;

/// What one of these wires reads, in its own words. A value of it goes from message to message.
pub(crate) trait MessageWire: Default {
    /// The wire.
    const ID: &'static str;
    /// The usual order of a request's fields.
    const REQUEST: Form;

    /// The blocks of the next message.
    fn message(&mut self, message: Json) -> Vec<Block>;

    /// Takes a request's settings.
    fn settings(fields: &mut Fields, session: &mut Session);

    /// What a response says: all of a turn but its blocks, and those.
    fn answer(&mut self, body: Object) -> (Turn, Vec<Block>);
}

/// The session that some bodies hold; `apart` are messages of the request that come apart from it.
pub(crate) fn decode<S: MessageWire>(
    parts: Parts,
    apart: &mut dyn Iterator<Item = Json>,
) -> Result<(Session, Vec<Loss>)> {
    let mut session = Session::default();
    let mut spoken = S::default();
    let mut turns = TurnBuilder::default();
    let mut asked = None;
    if let Some(request) = parts.request {
        let mut fields = Fields::new(object(request, "request")?, S::REQUEST);
        match fields.array("messages") {
            Some(items) => items.into_iter().chain(apart).for_each(|item| add(&mut turns, spoken.message(item))),
            None => fields.note("messages", "absent"),
        }
        S::settings(&mut fields, &mut session);
        asked = Some(fields.text("model"));
        fields.keep(S::ID, &mut session.extra);
    }
    session.turns = match parts.response {
        Some(response) => answered(turns, spoken.answer(object(response, "response")?)),
        None => turns.finish(),
    };
    if let Some(model) = asked {
        place_model(&mut session, model, S::ID);
    }
    Ok((session, Vec::new()))
}

fn object(body: Json, what: &str) -> Result<Object> {
    match body {
        Json::Object(object) => Ok(object),
        other => Err(Error::new(ErrorKind::Corrupt, format!("expected an object, found {}", other.kind())).path(what)),
    }
}

fn add(turns: &mut TurnBuilder, blocks: Vec<Block>) {
    if blocks.iter().any(Block::is_answer) {
        turns.begin_answer();
    }
    blocks.into_iter().for_each(|block| turns.push(block));
}

/// The model that was asked is the one of the turn that waits for its answer, or that it answered.
fn place_model(session: &mut Session, model: Option<String>, wire: &str) {
    let extra = &mut session.extra;
    match (session.turns.last_mut(), model) {
        (Some(last), Some(model)) if last.model.is_none() && !last.blocks.iter().any(Block::is_answer) => {
            last.model = Some(model);
        }
        (Some(last), Some(model)) if last.model.as_ref() == Some(&model) => {}
        (_, Some(model)) => extra.part_mut(wire).fields.push("model", model),
        (Some(last), None) if last.model.is_some() => extra.part_mut(wire).spelling.set("model", "absent"),
        (_, None) => {}
    }
}

/// The model that a request was for, where it is the last turn's.
pub(crate) fn asked_model(session: &Session, wire: &str) -> Option<String> {
    let notes = Kept::of(&session.extra, wire);
    let asked = session.turns.last().and_then(|turn| turn.model.clone());
    asked.filter(|_| notes.field("model").is_none() && !notes.is("model", "absent"))
}

/// The turns of a request and the answer to it: the answer's blocks join the turn that waits for one.
fn answered(mut turns: TurnBuilder, (mut head, blocks): (Turn, Vec<Block>)) -> Vec<Turn> {
    let is_empty = blocks.is_empty();
    turns.begin_answer();
    blocks.into_iter().for_each(|block| turns.push(block));
    let mut turns = turns.finish();
    let open = turns.last().is_some_and(|turn| !turn.blocks.iter().any(Block::is_answer));
    if is_empty && !open {
        turns.push(Turn::default());
    }
    if let Some(last) = turns.last_mut() {
        head.blocks = std::mem::take(&mut last.blocks);
        *last = head;
    }
    turns
}
