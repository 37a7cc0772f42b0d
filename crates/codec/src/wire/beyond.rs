//! Content that stands in no block: answers beside the first one, and conversations that only a vendor holds.
//!
//! A wire's own bodies get it back from the extras. Another wire cannot have it, and a report that only says that an
//! extra is gone would hide that something said is gone with it.

use turnkeep_model::{Author, Extra, Json, Loss, LossKind, Session, Severity};

use super::contract::Contract;
use crate::format;

/// A field of an extra that stands for content, by its wire, and what is told where it goes.
type Row = (&'static str, &'static str, &'static str);

fn rows(fields: fn(&Contract) -> &'static [(&'static str, &'static str)]) -> impl Iterator<Item = Row> {
    format::wires().flat_map(move |wire| {
        let id = wire.spec().id;
        fields(wire.contract()).iter().map(move |(field, what)| (id, *field, *what))
    })
}

/// What of a session's content the next request on `wire` cannot have because no block holds it.
pub(super) fn losses(session: &Session, wire: &str) -> Vec<Loss> {
    // A request on the same wire still refers to what its vendor holds.
    let asked = rows(|contract| contract.request_content).filter(|(from, ..)| *from != wire);
    let mut losses: Vec<Loss> = asked.flat_map(|row| found(&session.extra, &row, "extra")).collect();
    let has_system = session.blocks().any(|(_, block)| matches!(block.author, Author::System | Author::Developer));
    for (index, turn) in session.turns.iter().enumerate() {
        let at = format!("turns[{index}].extra");
        losses.extend(rows(|contract| contract.answer_content).flat_map(|row| found(&turn.extra, &row, &at)));
        if !has_system {
            losses.extend(rows(|contract| contract.repeated_content).flat_map(|row| found(&turn.extra, &row, &at)));
        }
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
