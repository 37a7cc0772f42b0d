//! Content that stands in no block: answers beside the first one, and conversations that only a vendor holds.
//!
//! A wire's own bodies get it back from the extras. Another wire cannot have it, and a report that only says that an
//! extra is gone would hide that something said is gone with it.

use turnkeep_model::{Extra, Json, Loss, LossKind, Session, Severity};

/// A field of an extra that stands for content, by its wire, and what is told where it goes.
type Row = (&'static str, &'static str, &'static str);

/// Fields of requests.
const ASKED: &[Row] = &[
    ("openai.responses", "previous_response_id", "what was said before is with its vendor, under this id"),
    ("openai.responses", "conversation", "what was said before is with its vendor, in this conversation"),
    ("openai.responses", "prompt", "a part of the prompt is with its vendor, in this template"),
    ("gemini.contents", "cachedContent", "a part of the prompt is with its vendor, in this cache"),
    ("gemini.contents", "systemInstruction", "the system's text is no content that we can read"),
];

/// Fields of answers.
const ANSWERED: &[Row] = &[
    ("openai.chat", "choices", "there are more answers than one, and a history has one"),
    ("gemini.contents", "candidates", "there are more answers than one, and a history has one"),
];

/// What of a session's content the next request on `wire` cannot have because no block holds it.
pub(super) fn losses(session: &Session, wire: &str) -> Vec<Loss> {
    // A request on the same wire still refers to what its vendor holds.
    let asked = ASKED.iter().filter(|(from, ..)| *from != wire);
    let mut losses: Vec<Loss> = asked.flat_map(|row| found(&session.extra, row, "extra")).collect();
    for (index, turn) in session.turns.iter().enumerate() {
        let at = format!("turns[{index}].extra");
        losses.extend(ANSWERED.iter().flat_map(|row| found(&turn.extra, row, &at)));
    }
    losses
}

fn found(extra: &Extra, (from, field, what): &Row, at: &str) -> Vec<Loss> {
    let held = extra.fields(from).and_then(|fields| fields.get(field)).is_some_and(|value| *value != Json::Null);
    if !held {
        return Vec::new();
    }
    // A report tells of the outermost part of the extra that nothing stands in the place of.
    let inner = format!("{at}.{from}");
    let places = [at.to_owned(), format!("{inner}.fields.{field}"), format!("{inner}.fields"), inner];
    let what = format!("`{field}`: {what}");
    let lost = |at: String| Loss::encode(LossKind::Dropped, at, what.clone()).rated(Severity::Content);
    places.into_iter().map(lost).collect()
}
