//! From sessions to slim snapshots, with nothing cut.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, Body, Session, Turn, Usage};

use super::map::{Draft, part, word};
use super::message_out;
use super::slim::{Dialect, PART, STEP, STEP_TOTAL, TOTALS, answers, before, noted, sum};
use super::{continuation, words};

/// The turns that a snapshot lists as steps.
pub(super) fn listed(session: &Session) -> Vec<usize> {
    let answered = answers(session);
    let turn = |at: &usize| session.turns.get(*at);
    let speaks = |turn: &Turn| {
        turn.finish.is_some()
            || turn.usage != Usage::default()
            || turn.timing.seconds.is_some()
            || !turn.errors.is_empty()
    };
    let any = answered.iter().filter_map(turn).any(|turn| noted(turn) != Some(false) && speaks(turn));
    let is_listed = |at: &usize| turn(at).is_some_and(|turn| noted(turn).unwrap_or(any));
    answered.into_iter().filter(is_listed).collect()
}

/// What a step says that follows from its turn.
pub(super) fn derived(turn: &Turn, number: usize, dialect: Dialect) -> Vec<(&'static str, Json)> {
    let kind = match (words::step_type(turn), dialect) {
        ("final_response", Dialect::Proposal) => "final",
        (kind, _) => kind,
    };
    let call = |block: &Block| match &block.body {
        Body::ToolCall(call) => {
            let id = call.call.as_given().map_or(Json::Null, Json::from);
            let pairs = [("id", id), ("name", Json::from(call.name.as_str()))];
            Some(Json::Object(pairs.into_iter().collect::<Object>()))
        }
        _ => None,
    };
    vec![
        ("step_number", Json::from(number as u64)),
        ("type", Json::from(kind)),
        ("has_tool_calls", Json::Bool(words::has_calls(turn))),
        ("errors", Json::from(turn.errors.len() as u64)),
        ("tool_calls", Json::Array(turn.blocks.iter().filter_map(call).collect())),
    ]
}

/// The snapshot of a session.
pub(super) fn write(session: &Session, dialect: Dialect) -> Json {
    let notes = session.extra.part(PART);
    let mut draft = Draft::default();
    draft.put_text("agent_id", session.id.as_ref().map(turnkeep_model::SessionId::as_str));
    draft.put_text("parent_agent_id", session.parent.as_ref().map(|parent| parent.session.as_str()));
    words::put_status(&mut draft, session.status.as_ref(), dialect.generation(), notes);
    if session.status.is_none() {
        // A snapshot always says where it stands.
        draft.derive("status", super::view::unsaid(session));
    }
    draft.derive("step_count", before(session) + answers(session).len() as u64);
    draft.nest("usage", usage(session, dialect));
    draft.nest("execution", execution(session, dialect));
    let groups = message_out::groups(session, |_| false);
    let messages: Vec<Json> =
        groups.iter().map(|group| message_out::write(group, dialect.style(), Object::new())).collect();
    if !messages.is_empty() {
        draft.put("messages", messages);
    }
    let steps = steps(session, dialect);
    if !steps.is_empty() {
        draft.put("steps", steps);
    }
    draft.put_some("last_continuation", last(session));
    if !session.metadata.is_empty() {
        draft.put("metadata", session.metadata.clone());
    }
    draft.finish(dialect.form(), notes, "")
}

fn usage(session: &Session, dialect: Dialect) -> Json {
    let totals = match word(session.extra.part(PART), "usage").as_deref() {
        Some(word) => word == "totals",
        None => dialect == Dialect::Proposal,
    };
    let counted = summed(session);
    if !totals {
        return words::usage(&counted);
    }
    let mut draft = Draft::default();
    draft.put_some("prompt", counted.input.filter(|count| *count != 0));
    draft.put_some("completion", counted.output.filter(|count| *count != 0));
    draft.put_some("total", counted.total.filter(|count| *count != 0));
    draft.derive("total", sum(&counted));
    draft.finish(TOTALS, part(&counted.extra), "")
}

/// What the session used, or its turns where the session does not say.
pub(super) fn summed(session: &Session) -> Usage {
    if session.usage != Usage::default() {
        return session.usage.clone();
    }
    let mut sum = Usage::default();
    for turn in &session.turns {
        // A step's own total is not split into what was sent and answered.
        sum += &Usage { total: None, extra: Default::default(), ..turn.usage.clone() };
    }
    sum
}

fn execution(session: &Session, dialect: Dialect) -> Json {
    let timing = &session.timing;
    let mut draft = Draft::default();
    draft.put_time("updated_at", timing.updated.as_ref());
    if dialect == Dialect::January {
        draft.put_time("created_at", timing.created.as_ref().or(timing.started.as_ref()));
    } else {
        draft.put_time("started_at", timing.started.as_ref().or(timing.created.as_ref()));
        draft.put_some("cumulative_seconds", timing.seconds.clone());
    }
    draft.finish(dialect.execution(), session.extra.part(PART), "execution")
}

fn steps(session: &Session, dialect: Dialect) -> Vec<Json> {
    let left = super::map::left_at(session.extra.part(PART), "").and_then(|left| left.get("steps"));
    let mut steps = match left {
        Some(Json::Array(kept)) => kept.clone(),
        _ => Vec::new(),
    };
    let gone = usize::try_from(before(session)).unwrap_or(usize::MAX);
    let answered = answers(session);
    for (at, turn) in listed(session).into_iter().filter_map(|at| Some((at, session.turns.get(at)?))) {
        let place = answered.iter().position(|answer| *answer == at).unwrap_or(0);
        let number = if gone > 0 { gone.saturating_add(place) } else { steps.len() };
        steps.push(step(turn, number.saturating_add(1), dialect));
    }
    steps
}

fn step(turn: &Turn, number: usize, dialect: Dialect) -> Json {
    let mut draft = Draft::default();
    for (key, value) in derived(turn, number, dialect) {
        draft.derive(key, value);
    }
    draft.put_text("finish_reason", turn.finish.as_ref().map(words::finish_word));
    let mut usage = Draft::default();
    let parts = [turn.usage.input, turn.usage.output].into_iter().flatten().reduce(u64::saturating_add);
    usage.put_some("total", turn.usage.total.or(parts).filter(|total| *total != 0));
    draft.nest("usage", usage.finish(STEP_TOTAL, part(&turn.usage.extra), ""));
    if dialect == Dialect::Proposal {
        let seconds = turn.timing.seconds.as_ref();
        draft.put_some("duration_ms", seconds.and_then(|seconds| turnkeep_model::view::shifted(seconds.as_str(), 3)));
    }
    draft.finish(STEP, turn.extra.part(PART), "")
}

fn last(session: &Session) -> Option<Json> {
    let continuation = session.turns.last()?.continuation.as_ref()?;
    let says = continuation.should_continue.is_some()
        || continuation.stop_reason.is_some()
        || continuation.resolved_by.is_some()
        || continuation.extra.part(super::FORMAT).is_some();
    says.then(|| continuation::write_last(continuation))
}
