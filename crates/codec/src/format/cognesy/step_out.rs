//! Steps of an execution, from turns.

use turnkeep_model::json::Json;
use turnkeep_model::status::TurnError;
use turnkeep_model::{Block, Body, ExtraPart, Options, Part, Session, Timing, ToolCall, ToolResult, Turn, Usage};

use super::call;
use super::continuation;
use super::execution;
use super::map::{Draft, has_note, note, part, word};
use super::php::Spelling;
use super::step::{self, DATA, ERROR, EXECUTED_JANUARY, EXECUTED_V2, EXECUTION, RESPONSE, STEP, STEP_INFO, STEP_V1};
use super::words::{self, Generation};

/// The note on a turn that says whether it is a step of the execution.
pub(super) const STEP_NOTE: &str = "step";

/// The turns that are steps of the session's execution.
pub(super) fn steps(session: &Session, generation: Generation) -> Vec<usize> {
    let run = session.runs.last().and_then(|run| run.id.as_ref());
    let of_run = |turn: &Turn| turn.run.is_none() || turn.run.as_ref() == run;
    let can_be = |turn: &Turn| match word(turn.extra.part(generation.part()), STEP_NOTE).as_deref() {
        Some("none") => false,
        Some(_) => true,
        None => of_run(turn) && (is_answered(turn) || turn.blocks.iter().all(call::is_of_step)),
    };
    let chosen: Vec<usize> =
        session.turns.iter().enumerate().filter(|(_, turn)| can_be(turn)).map(|(at, _)| at).collect();
    let speaks = |at: &usize| session.turns.get(*at).is_some_and(|turn| says_more(turn, generation));
    if chosen.iter().any(speaks) { chosen } else { Vec::new() }
}

/// Whether a turn holds a message of the assistant.
pub(super) fn is_answered(turn: &Turn) -> bool {
    turn.blocks.iter().any(|block| block.is_answer() && !call::is_of_step(block))
}

/// Whether a turn says something that messages do not.
pub(super) fn says_more(turn: &Turn, generation: Generation) -> bool {
    let thinks = |block: &Block| matches!(block.body, Body::Reasoning(_));
    let noted = turn.extra.part(generation.part()).is_some();
    noted || !is_bare(turn) || turn.blocks.iter().any(|block| thinks(block) || call::is_of_step(block))
}

/// Whether nothing is known of a turn but what its messages and the application say.
fn is_bare(turn: &Turn) -> bool {
    let words = [&turn.provider, &turn.api, &turn.model, &turn.account];
    words.into_iter().all(Option::is_none)
        && turn.id.is_none()
        && turn.evaluation.is_none()
        && turn.finish.is_none()
        && turn.errors.is_empty()
        && turn.continuation.is_none()
        && turn.provider_payload == Json::Null
        && turn.timing == Timing::default()
        && turn.usage == Usage::default()
        && turn.options == Options::default()
}

/// Writes the steps of one document.
pub(super) struct Writer<'a> {
    pub generation: Generation,
    /// The messages of the store, to which steps refer.
    pub store: &'a [(String, Json)],
}

impl Writer<'_> {
    /// A step of the list, numbered from 1.
    pub(super) fn executed(&self, turn: &Turn, number: usize) -> Json {
        if self.generation == Generation::V1 {
            return self.step_v1(turn);
        }
        let notes = self.notes(turn);
        let mut draft = Draft::default();
        if let Some(id) = self.id(turn) {
            draft.derive("id", id);
        }
        draft.hold("step", self.step(turn));
        draft.put_time("startedAt", turn.timing.started.as_ref());
        draft.put_time("completedAt", turn.timing.completed.as_ref());
        draft.put_some("duration", turn.timing.seconds.clone());
        if self.generation == Generation::V2 {
            draft.nest("continuation", continuation::write_signals(turn.continuation.as_ref()));
            return draft.finish(EXECUTED_V2, notes, "");
        }
        draft.derive("stepNumber", number as u64);
        draft.put_some("outcome", turn.continuation.as_ref().map(continuation::write_outcome));
        draft.finish(EXECUTED_JANUARY, notes, "")
    }

    fn notes<'t>(&self, turn: &'t Turn) -> Option<&'t ExtraPart> {
        turn.extra.part(self.generation.part())
    }

    /// The calls of the response, which may not know their ids.
    fn response_calls(&self, turn: &Turn) -> Json {
        match step::step_calls(turn, self.generation != Generation::V2) {
            Json::Array(items) if has_note(self.notes(turn), "response_ids") => {
                Json::Array(items.into_iter().map(step::without_id).collect())
            }
            calls => calls,
        }
    }

    fn id<'t>(&self, turn: &'t Turn) -> Option<&'t str> {
        let any = self.generation != Generation::V2 || has_note(self.notes(turn), "ids");
        turn.id.as_ref().map(turnkeep_model::TurnId::as_str).filter(|id| any || words::is_uuid(id))
    }

    /// The step itself.
    pub(super) fn step(&self, turn: &Turn) -> Json {
        if self.generation == Generation::V1 {
            return self.step_v1(turn);
        }
        let mut draft = self.common(turn);
        draft.put_text("id", self.id(turn));
        draft.finish(STEP, self.notes(turn), "step")
    }

    fn step_v1(&self, turn: &Turn) -> Json {
        let notes = self.notes(turn);
        let mut info = Draft::default();
        info.put_text("id", self.id(turn));
        info.put_time("createdAt", turn.timing.created.as_ref());
        let mut draft = self.common(turn);
        draft.nest("stepInfo", info.finish(STEP_INFO, notes, "stepInfo"));
        draft.derive("toolCalls", step::step_calls(turn, true));
        draft.nest("usage", words::usage(&turn.usage));
        draft.derive("stepType", words::step_type(turn));
        draft.finish(STEP_V1, notes, "")
    }

    fn common(&self, turn: &Turn) -> Draft {
        let mut draft = Draft::default();
        for key in ["inputMessages", "outputMessages"] {
            draft.put_some(
                key,
                self.list(self.notes(turn).and_then(|notes| notes.spelling.get(key))).filter(|list| !list.is_empty()),
            );
        }
        let executions = ordered(executions(turn), self.notes(turn));
        if !executions.is_empty() {
            draft.put("toolExecutions", executions);
        }
        if !turn.errors.is_empty() {
            draft.put("errors", turn.errors.iter().map(error).collect::<Vec<_>>());
        }
        draft.hold("inferenceResponse", self.response(turn));
        draft
    }

    fn stored(&self, at: usize) -> Option<&Json> {
        self.store.get(at).map(|(_, message)| message)
    }

    /// The messages that a note refers to.
    fn list(&self, note: Option<&Json>) -> Option<Vec<Json>> {
        let at = |place: &Json| match place {
            Json::Number(number) => self.stored(number.as_u64()? as usize).cloned(),
            Json::String(text) => {
                let at: usize = text.to_str().ok()?.parse().ok()?;
                self.stored(at).map(execution::untagged)
            }
            _ => None,
        };
        match note? {
            Json::Number(count) => {
                let messages = self.store.iter().map(|(_, message)| message.clone());
                Some(messages.take(count.as_u64()? as usize).collect())
            }
            Json::Array(places) => Some(places.iter().filter_map(at).collect()),
            _ => None,
        }
    }

    fn response(&self, turn: &Turn) -> Json {
        let notes = self.notes(turn);
        let path = step::response_path(self.generation);
        let mut draft = Draft::default();
        draft.derive("content", step::said(turn));
        draft.put_text("finishReason", turn.finish.as_ref().map(words::finish_word));
        draft.derive("toolCalls", self.response_calls(turn));
        draft.put_text("reasoningContent", Some(&thinking(turn)));
        match self.generation {
            Generation::V1 => draft.derive("usage", words::usage(&Usage::default())),
            _ => draft.nest("usage", words::usage(&turn.usage)),
        }
        let mut data = Draft::default();
        data.put_text("body", payload(turn).as_deref());
        draft.nest("responseData", data.finish(DATA, notes, &format!("{path}.responseData")));
        draft.finish(RESPONSE, notes, path)
    }
}

fn thinking(turn: &Turn) -> String {
    let text = |block: &Block| match &block.body {
        Body::Reasoning(reasoning) => reasoning.text.clone(),
        _ => None,
    };
    turn.blocks.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

fn payload(turn: &Turn) -> Option<String> {
    match &turn.provider_payload {
        Json::Null => None,
        Json::String(body) => Some(body.to_str_lossy().into_owned()),
        value => Some(value.to_text()),
    }
}

fn error(error: &TurnError) -> Json {
    let mut draft = Draft::default();
    draft.put_text("message", Some(&error.message));
    draft.put_text("class", error.class.as_deref());
    draft.finish(ERROR, part(&error.extra), "")
}

fn executions(turn: &Turn) -> Vec<Json> {
    let made = |block: &Block| match &block.body {
        Body::ToolCall(call) if call::is_of_step(block) => Some(execution(block, call, answer(turn, call))),
        Body::ToolCall(call) if note(&block.extra, "executed").is_some() => Some(execution(block, call, None)),
        _ => None,
    };
    turn.blocks.iter().filter_map(made).collect()
}

/// Executions in the order of a note.
fn ordered(executions: Vec<Json>, notes: Option<&ExtraPart>) -> Vec<Json> {
    let order = notes.and_then(|notes| notes.spelling.get(step::EXECUTIONS)).and_then(Json::as_array);
    let at = |place: &Json| executions.get(place.as_number()?.as_u64()? as usize).cloned();
    match order {
        Some(order) if order.len() == executions.len() => order.iter().filter_map(at).collect(),
        _ => executions,
    }
}

/// The result of a call that only the step holds.
fn answer<'a>(turn: &'a Turn, call: &ToolCall) -> Option<(&'a Block, &'a ToolResult)> {
    turn.blocks.iter().filter(|block| call::is_of_step(block)).find_map(|block| match &block.body {
        Body::ToolResult(result) if result.call == call.call => Some((block, result)),
        _ => None,
    })
}

fn execution(block: &Block, call: &ToolCall, answer: Option<(&Block, &ToolResult)>) -> Json {
    let notes = part(&block.extra);
    let mut draft = Draft::default();
    let plain = || call::write_as(call, notes, call::Shape::Plain);
    let item = if call::is_of_step(block) { plain() } else { call::in_step(call, false) };
    draft.derive("tool_call", item);
    if let Some((held, result)) = answer {
        let as_text = note(&held.extra, "result").is_some();
        draft.put_some("result", encoded(result, as_text));
        draft.put_text("error", result.error.as_deref());
    }
    draft.finish(EXECUTION, notes, "execution")
}

/// The result as the program encodes it.
fn encoded(result: &ToolResult, as_text: bool) -> Option<String> {
    match result.parts.as_slice() {
        [] => None,
        [Part::Text(text)] if as_text => Some(text.text.clone()),
        [Part::Text(text)] => Some(Spelling::PLAIN.line(&Json::from(text.text.as_str()))),
        [Part::Data(data)] => Some(Spelling::PLAIN.line(&data.json)),
        parts => Some(Spelling::PLAIN.line(&super::content::of_parts(parts, true))),
    }
}
