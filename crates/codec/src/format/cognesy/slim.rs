//! Slim snapshots: the proposal and the two dialects that were released.

use turnkeep_model::json::Json;
use turnkeep_model::view::{STEPS_BEFORE, shifted, steps_before};
use turnkeep_model::{Body, ExtraPart, Loss, LossKind, Parent, Part, Session, SessionId, Turn, Usage};

use super::conversation::ConversationBuilder;
use super::map::{Form, KeyRule, Map, keep_as};
use super::message;
use super::step_out::is_answered;
use super::style::{self, Style};
use super::words::{self, Generation};
use super::{FORMAT, continuation};

/// A dialect of slim snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// As proposed.
    Proposal,
    /// v1.17 to v1.18.1.
    V1,
    /// The development of January 2026.
    January,
}

impl Dialect {
    /// The names of all of them.
    pub const NAMES: &'static [&'static str] = &["proposal", "v1.18", "2026-01"];

    /// Its name as a variant.
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::Proposal => "proposal",
            Dialect::V1 => "v1.18",
            Dialect::January => "2026-01",
        }
    }

    /// The dialect of a variant's name.
    pub fn from_word(word: &str) -> Option<Dialect> {
        [Dialect::Proposal, Dialect::V1, Dialect::January].into_iter().find(|own| own.as_str() == word)
    }

    pub(super) fn style(self) -> &'static Style {
        match self {
            Dialect::Proposal => &style::PROPOSAL,
            Dialect::V1 => &style::SLIM_V1,
            Dialect::January => &style::SLIM_JANUARY,
        }
    }

    pub(super) fn form(self) -> Form {
        if self == Dialect::Proposal { PROPOSAL } else { RELEASED }
    }

    pub(super) fn execution(self) -> Form {
        if self == Dialect::January { CREATED } else { STARTED }
    }

    /// The words that the dialect knows.
    pub(super) fn generation(self) -> Generation {
        if self == Dialect::January { Generation::January } else { Generation::V1 }
    }

    /// The dialect that a document speaks.
    pub(super) fn of(document: &Json) -> Dialect {
        let Some(fields) = document.as_object() else { return Dialect::Proposal };
        let holds = |key: &str, inner: &[&str]| {
            let map = fields.get(key).and_then(Json::as_object);
            map.is_some_and(|map| inner.iter().any(|key| map.contains(key)))
        };
        let messages = fields.get("messages").and_then(Json::as_array).unwrap_or_default();
        let any = |key: &str| messages.iter().any(|item| item.as_object().is_some_and(|item| item.contains(key)));
        if holds("execution", &["created_at"]) || (any("_metadata") && !any("metadata")) {
            Dialect::January
        } else if holds("usage", &["input", "output", "cacheWrite", "cacheRead", "reasoning"]) {
            Dialect::V1
        } else {
            Dialect::Proposal
        }
    }
}

const RELEASED: Form = &[
    ("agent_id", KeyRule::Null),
    ("parent_agent_id", KeyRule::Null),
    ("status", KeyRule::Optional),
    ("step_count", KeyRule::Derived),
    ("usage", KeyRule::Derived),
    ("execution", KeyRule::Derived),
    ("messages", KeyRule::List),
    ("steps", KeyRule::List),
    ("last_continuation", KeyRule::Null),
    ("metadata", KeyRule::List),
];
const PROPOSAL: Form = &[
    ("agent_id", KeyRule::Null),
    ("parent_agent_id", KeyRule::Null),
    ("status", KeyRule::Optional),
    ("step_count", KeyRule::Derived),
    ("usage", KeyRule::Derived),
    ("execution", KeyRule::Derived),
    ("messages", KeyRule::List),
    ("steps", KeyRule::List),
    ("last_continuation", KeyRule::Null),
    ("metadata", KeyRule::Map),
];
const STARTED: Form =
    &[("started_at", KeyRule::Optional), ("updated_at", KeyRule::Optional), ("cumulative_seconds", KeyRule::Optional)];
const CREATED: Form = &[("created_at", KeyRule::Optional), ("updated_at", KeyRule::Optional)];
pub(super) const TOTALS: Form =
    &[("prompt", KeyRule::Zero), ("completion", KeyRule::Zero), ("total", KeyRule::Derived)];
pub(super) const STEP_TOTAL: Form = &[("total", KeyRule::Zero)];
pub(super) const STEP: Form = &[
    ("step_number", KeyRule::Derived),
    ("type", KeyRule::Derived),
    ("has_tool_calls", KeyRule::Derived),
    ("finish_reason", KeyRule::Null),
    ("errors", KeyRule::Derived),
    ("usage", KeyRule::Derived),
    ("duration_ms", KeyRule::Optional),
    ("tool_calls", KeyRule::Derived),
];

/// The note on a turn that says whether a snapshot lists it as a step.
const STEP_NOTE: &str = "step";

/// The note on how many steps there were before those that a session holds.
const BEFORE_NOTE: &str = STEPS_BEFORE.1;

/// The name under which slim snapshots keep what only they have.
pub(super) const PART: &str = STEPS_BEFORE.0;

/// What stands for a tool's answer that was left out.
pub(super) const OMITTED: &str = "[tool result omitted]";

/// The session of a snapshot. It never proves that it is complete.
pub(super) fn read(document: Json, dialect: Dialect) -> (Session, Vec<Loss>) {
    let mut session = Session::default();
    let mut part = ExtraPart::default();
    let mut losses = vec![truncated("a slim snapshot")];
    if let Ok(mut map) = Map::open(document, dialect.form()) {
        head(&mut map, &mut session, &mut part, dialect);
        losses.extend(messages(&mut map, &mut session, dialect));
        steps(&mut map, &mut session, dialect);
        map.leave(&mut part, "");
    }
    losses.extend(omitted(&session));
    let gone = session.extra.spelling(PART, BEFORE_NOTE).cloned();
    keep_as(&mut session.extra, PART, part);
    if let Some(gone) = gone {
        session.extra.part_mut(PART).spelling.set(BEFORE_NOTE, gone);
    }
    (session, losses)
}

/// The loss of every snapshot that may have been cut.
pub(super) fn truncated(holder: &str) -> Loss {
    let what = format!("{holder} holds the newest messages only and cannot prove that these are all");
    Loss::decode(LossKind::Truncated, "turns", what)
}

fn omitted(session: &Session) -> Vec<Loss> {
    let is_omitted = |body: &Body| match body {
        Body::ToolResult(result) => {
            matches!(result.parts.as_slice(), [Part::Text(text)] if text.text == OMITTED)
        }
        _ => false,
    };
    let mut losses = Vec::new();
    for (t, turn) in session.turns.iter().enumerate() {
        for (b, _) in turn.blocks.iter().enumerate().filter(|(_, block)| is_omitted(&block.body)) {
            let at = format!("turns[{t}].blocks[{b}].parts");
            losses.push(Loss::decode(LossKind::Redacted, at, "the snapshot left the tool's answer out"));
        }
    }
    losses
}

fn head(map: &mut Map, session: &mut Session, part: &mut ExtraPart, dialect: Dialect) {
    session.id = map.text("agent_id").map(SessionId::new);
    session.parent = map.text("parent_agent_id").map(|id| Parent { session: SessionId::new(id), ..Parent::default() });
    session.status = words::take_status(map, dialect.generation(), part);
    session.metadata = map.object("metadata").unwrap_or_default();
    session.usage = take_usage(map, part, dialect);
    if let Some(mut execution) = map.open_at("execution", dialect.execution()) {
        let timing = &mut session.timing;
        timing.created = execution.time("created_at");
        timing.started = execution.time("started_at");
        timing.updated = execution.time("updated_at");
        timing.seconds = execution.number("cumulative_seconds");
        execution.leave(part, "execution");
    }
}

/// Takes the counts, in whichever of the two vocabularies they are; one that is not the dialect's is noted.
fn take_usage(map: &mut Map, part: &mut ExtraPart, dialect: Dialect) -> Usage {
    let fields = map.get("usage").and_then(Json::as_object);
    let totals = match fields {
        Some(fields) if !fields.is_empty() => TOTALS.iter().any(|(key, _)| fields.contains(key)),
        _ => dialect == Dialect::Proposal,
    };
    if totals != (dialect == Dialect::Proposal) {
        part.spelling.set("usage", if totals { "totals" } else { "counts" });
    }
    if !totals {
        return words::take_usage(map, "usage");
    }
    let Some(mut counts) = map.open_at("usage", TOTALS) else { return Usage::default() };
    let mut usage = Usage {
        input: counts.count("prompt"),
        output: counts.count("completion"),
        total: counts.count("total"),
        ..Usage::default()
    };
    counts.derived("total", &Json::from(sum(&usage)));
    counts.leave(usage.extra.part_mut(FORMAT), "");
    usage.extra.tidy();
    usage
}

/// What was sent and answered.
pub(super) fn sum(usage: &Usage) -> u64 {
    usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0))
}

fn messages(map: &mut Map, session: &mut Session, dialect: Dialect) -> Vec<Loss> {
    let items = map.list("messages").unwrap_or_default();
    let stored = items.into_iter().map(|item| (message::SECTION.to_owned(), item)).collect();
    let mut conversation = ConversationBuilder::default();
    conversation.all(stored, Vec::new(), dialect.style());
    conversation.finish(session, dialect.generation())
}

/// Ties the steps to the newest answers; steps whose answers are gone stay as they are.
fn steps(map: &mut Map, session: &mut Session, dialect: Dialect) {
    let last = session.turns.len().checked_sub(1);
    if last.is_some()
        && let Some(made) = continuation::read_last(map)
    {
        set_last(session, made);
    }
    let answers: Vec<usize> = answers(session);
    take_before(map, session, answers.len() as u64);
    let mut items = map.list("steps").unwrap_or_default();
    let readable = items.iter().all(|item| matches!(item, Json::Object(_)));
    let kept = if readable { items.len().saturating_sub(answers.len()) } else { items.len() };
    let tied = items.split_off(kept);
    if !items.is_empty() {
        map.restore("steps", Json::Array(items));
    }
    let first = answers.len() - tied.len();
    let gone = before(session);
    for (index, (at, item)) in answers.iter().skip(first).zip(tied.clone()).enumerate() {
        if let Some(turn) = session.turns.get_mut(*at) {
            let number = if gone > 0 {
                usize::try_from(gone).unwrap_or(usize::MAX).saturating_add(first + index)
            } else {
                kept + index
            };
            step(item, turn, number.saturating_add(1), dialect);
        }
    }
    mark(session, answers.get(first..).unwrap_or_default());
}

/// Takes the count of steps. More than there are answers means that the messages of earlier ones are gone: the next step is counted on
/// from there.
fn take_before(map: &mut Map, session: &mut Session, answers: u64) {
    let count = map.get("step_count").and_then(super::map::whole);
    match count.and_then(|count| count.checked_sub(answers)).filter(|gone| *gone > 0) {
        Some(gone) => {
            map.remove("step_count");
            session.extra.part_mut(PART).spelling.set(BEFORE_NOTE, gone);
        }
        None => map.derived("step_count", &Json::from(answers)),
    }
}

/// How many steps a session had before those it holds, because it was restored from a snapshot.
pub(super) fn before(session: &Session) -> u64 {
    steps_before(session)
}

fn mark(session: &mut Session, listed: &[usize]) {
    let expected = super::slim_out::listed(session);
    for (at, turn) in session.turns.iter_mut().enumerate() {
        let is_listed = listed.contains(&at);
        if is_listed != expected.contains(&at) || (!is_listed && !listed.is_empty() && is_answered(turn)) {
            turn.extra.part_mut(PART).spelling.set(STEP_NOTE, is_listed);
        }
    }
}

fn set_last(session: &mut Session, made: turnkeep_model::status::Continuation) {
    if let Some(turn) = session.turns.last_mut() {
        turn.continuation = Some(made);
    }
}

/// The turns that hold an answer.
pub(super) fn answers(session: &Session) -> Vec<usize> {
    session.turns.iter().enumerate().filter(|(_, turn)| is_answered(turn)).map(|(at, _)| at).collect()
}

fn step(item: Json, turn: &mut Turn, number: usize, dialect: Dialect) {
    let Ok(mut map) = Map::open(item, STEP) else { return };
    let mut part = ExtraPart::default();
    turn.finish = map.text("finish_reason").map(words::finish);
    if let Some(mut usage) = map.open_at("usage", STEP_TOTAL) {
        turn.usage.total = usage.count("total");
        usage.leave(turn.usage.extra.part_mut(FORMAT), "");
        turn.usage.extra.tidy();
    }
    turn.timing.seconds = map.take("duration_ms", |value| shifted(value.as_number()?.as_str(), -3));
    for (key, value) in super::slim_out::derived(turn, number, dialect) {
        map.derived(key, &value);
    }
    map.leave(&mut part, "");
    keep_as(&mut turn.extra, PART, part);
}

/// The word of a note of a turn on its place among the steps.
pub(super) fn noted(turn: &Turn) -> Option<bool> {
    turn.extra.spelling(PART, STEP_NOTE).and_then(Json::as_bool)
}
