//! Whether a run goes on after a step: stop signals of v2, outcomes of the generations before.

use turnkeep_model::StopReason;
use turnkeep_model::json::Json;
use turnkeep_model::status::{Continuation, Decision, Evaluation, StopSignal};

use super::map::{Draft, Form, KeyRule, Map, keep, part, text};

pub(super) const SIGNALS: Form = &[("stop_signals", KeyRule::List), ("is_continuation_requested", KeyRule::False)];
pub(super) const SIGNAL: Form = &[
    ("reason", KeyRule::Optional),
    ("message", KeyRule::Empty),
    ("context", KeyRule::List),
    ("source", KeyRule::Null),
];
const OUTCOME: Form = &[
    ("decision", KeyRule::Null),
    ("shouldContinue", KeyRule::Null),
    ("resolvedBy", KeyRule::Null),
    ("stopReason", KeyRule::Null),
    ("evaluations", KeyRule::List),
];
const EVALUATION: Form = &[
    ("criterion", KeyRule::Empty),
    ("decision", KeyRule::Null),
    ("reason", KeyRule::Null),
    ("stopReason", KeyRule::Null),
    ("context", KeyRule::List),
];
const LAST: Form =
    &[("should_continue", KeyRule::Null), ("stop_reason", KeyRule::Null), ("resolved_by", KeyRule::Null)];

fn reason(map: &mut Map, key: &str) -> Option<StopReason> {
    map.text(key).map(|word| StopReason::from_word(&word))
}

fn decision(map: &mut Map) -> Option<Decision> {
    map.text("decision").map(|word| Decision::from_word(&word))
}

/// What a context holds; an empty one is nothing.
fn context(map: &mut Map) -> Json {
    map.object("context").map_or(Json::Null, Json::Object)
}

fn all<T>(items: &[Json], read: impl Fn(Map) -> T, form: Form) -> Option<Vec<T>> {
    items.iter().map(|item| Map::open(item.clone(), form).ok().map(&read)).collect()
}

/// Reads the stop signals of a step of v2; nothing signalled is nothing.
pub(super) fn read_signals(mut map: Map) -> Option<Continuation> {
    let mut made = Continuation {
        signals: map.take("stop_signals", |value| all(value.as_array()?, signal, SIGNAL)).unwrap_or_default(),
        requested: map.take("is_continuation_requested", |value| value.as_bool().filter(|asked| *asked)),
        ..Continuation::default()
    };
    map.leave(made.extra.part_mut(super::FORMAT), "");
    made.extra.tidy();
    (made != Continuation::default()).then_some(made)
}

fn signal(mut map: Map) -> StopSignal {
    let mut made = StopSignal {
        reason: reason(&mut map, "reason"),
        message: map.text("message"),
        context: context(&mut map),
        source: map.text("source"),
        ..StopSignal::default()
    };
    map.leave(made.extra.part_mut(super::FORMAT), "");
    made.extra.tidy();
    made
}

/// The stop signals of a step of v2.
pub(super) fn write_signals(continuation: Option<&Continuation>) -> Json {
    let Some(continuation) = continuation else { return Draft::default().finish(SIGNALS, None, "") };
    let mut draft = Draft::default();
    if !continuation.signals.is_empty() {
        draft.put("stop_signals", continuation.signals.iter().map(write_signal).collect::<Vec<_>>());
    }
    draft.put_some("is_continuation_requested", continuation.requested.filter(|asked| *asked));
    draft.finish(SIGNALS, part(&continuation.extra), "")
}

fn write_signal(signal: &StopSignal) -> Json {
    let mut draft = Draft::default();
    draft.put_text("reason", signal.reason.as_ref().map(StopReason::as_str));
    draft.put_text("message", signal.message.as_deref());
    put_context(&mut draft, &signal.context);
    draft.put_text("source", signal.source.as_deref());
    draft.finish(SIGNAL, part(&signal.extra), "")
}

fn put_context(draft: &mut Draft, context: &Json) {
    if *context != Json::Null {
        draft.put("context", context.clone());
    }
}

/// Reads an outcome of the generations before v2: the decision, who made it, and what every criterion said.
pub(super) fn read_outcome(mut map: Map) -> Continuation {
    let mut made = Continuation {
        decision: decision(&mut map),
        should_continue: map.take("shouldContinue", Json::as_bool),
        resolved_by: map.text("resolvedBy"),
        stop_reason: reason(&mut map, "stopReason"),
        evaluations: map
            .take("evaluations", |value| all(value.as_array()?, evaluation, EVALUATION))
            .unwrap_or_default(),
        ..Continuation::default()
    };
    map.leave(made.extra.part_mut(super::FORMAT), "");
    made.extra.tidy();
    made
}

/// Opens an outcome.
pub(super) fn open_outcome(map: &mut Map, key: &str) -> Option<Map> {
    map.open_at(key, OUTCOME)
}

fn evaluation(mut map: Map) -> Evaluation {
    let mut made = Evaluation {
        criterion: map.text("criterion").unwrap_or_default(),
        decision: decision(&mut map),
        reason: map.text("reason"),
        stop_reason: reason(&mut map, "stopReason"),
        context: context(&mut map),
        ..Evaluation::default()
    };
    map.leave(made.extra.part_mut(super::FORMAT), "");
    made.extra.tidy();
    made
}

/// An outcome of the generations before v2.
pub(super) fn write_outcome(continuation: &Continuation) -> Json {
    let mut draft = Draft::default();
    draft.put_text("decision", continuation.decision.as_ref().map(Decision::as_str));
    draft.put_some("shouldContinue", continuation.should_continue);
    draft.put_text("resolvedBy", continuation.resolved_by.as_deref());
    draft.put_text("stopReason", continuation.stop_reason.as_ref().map(StopReason::as_str));
    if !continuation.evaluations.is_empty() {
        draft.put("evaluations", continuation.evaluations.iter().map(write_evaluation).collect::<Vec<_>>());
    }
    draft.finish(OUTCOME, part(&continuation.extra), "")
}

fn write_evaluation(evaluation: &Evaluation) -> Json {
    let mut draft = Draft::default();
    draft.put_text("criterion", Some(&evaluation.criterion));
    draft.put_text("decision", evaluation.decision.as_ref().map(Decision::as_str));
    draft.put_text("reason", evaluation.reason.as_deref());
    draft.put_text("stopReason", evaluation.stop_reason.as_ref().map(StopReason::as_str));
    put_context(&mut draft, &evaluation.context);
    draft.finish(EVALUATION, part(&evaluation.extra), "")
}

/// Reads the last decision of a slim snapshot.
pub(super) fn read_last(map: &mut Map) -> Option<Continuation> {
    let mut last = map.open_at("last_continuation", LAST)?;
    let mut made = Continuation {
        should_continue: last.take("should_continue", Json::as_bool),
        stop_reason: reason(&mut last, "stop_reason"),
        resolved_by: last.text("resolved_by"),
        ..Continuation::default()
    };
    let mut notes = Default::default();
    last.leave(&mut notes, "");
    keep(&mut made.extra, notes);
    Some(made)
}

/// The last decision of a slim snapshot.
pub(super) fn write_last(continuation: &Continuation) -> Json {
    let mut draft = Draft::default();
    draft.put_some("should_continue", continuation.should_continue);
    draft.put_text("stop_reason", continuation.stop_reason.as_ref().map(StopReason::as_str));
    draft.put_text("resolved_by", continuation.resolved_by.as_deref());
    draft.finish(LAST, part(&continuation.extra), "")
}

/// The decision about going on that a JSON value of the program holds; none where it is no map.
///
/// ```
/// use turnkeep_codec::format::cognesy;
/// use turnkeep_model::json;
///
/// let text = r#"{"decision":"forbid","shouldContinue":false,"resolvedBy":"App\\StepsLimit","stopReason":"guard","evaluations":[]}"#;
/// let value = json::parse(text).unwrap().into_json();
/// let outcome = cognesy::read_continuation_outcome(&value).unwrap();
///
/// assert_eq!(outcome.should_continue, Some(false));
/// assert_eq!(cognesy::write_continuation_outcome(&outcome), value);
/// ```
pub fn read_continuation_outcome(value: &Json) -> Option<Continuation> {
    Map::open(value.clone(), OUTCOME).ok().map(read_outcome)
}

/// The JSON value of the program for a decision about going on.
pub fn write_continuation_outcome(continuation: &Continuation) -> Json {
    write_outcome(continuation)
}

/// Whether a run goes on, by what every criterion says: one that forbids stops it, else one that requests keeps it
/// going, else one that stops stops it, else one that allows keeps it going; where none speaks, it stops.
pub fn resolve(decisions: &[Decision]) -> bool {
    let says = |wanted: &Decision| decisions.contains(wanted);
    if says(&Decision::Forbid) {
        return false;
    }
    says(&Decision::Request) || (!says(&Decision::Stop) && says(&Decision::Allow))
}

/// The reason that counts among several signals: the gravest one.
pub(super) fn primary(signals: &[Json]) -> Option<usize> {
    const ORDER: &[&str] = &[
        "error",
        "stop_requested",
        "user_requested",
        "steps_limit",
        "token_limit",
        "time_limit",
        "retry_limit",
        "finish_reason",
        "completed",
        "unknown",
    ];
    let rank = |signal: &Json| {
        let word = signal.as_object().and_then(|fields| fields.get("reason")).and_then(text)?;
        Some(ORDER.iter().position(|known| *known == word).unwrap_or(ORDER.len()))
    };
    let ranked = signals.iter().enumerate().filter_map(|(at, signal)| rank(signal).map(|rank| (rank, at)));
    ranked.min().map(|(_, at)| at)
}
