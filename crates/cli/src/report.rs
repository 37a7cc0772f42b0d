//! What did not survive, for programs and for persons.

use turnkeep_codec::Sniffed;
use turnkeep_model::{Change, Json, Loss, LossKind, Object};

use crate::terminal::{DIM, YELLOW, counted, say};
use crate::visible::visible;

/// How many losses are named one by one before a count has to do.
const NAMED: usize = 5;

/// An object of these pairs.
pub(crate) fn object<'a>(pairs: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    Json::Object(pairs.into_iter().collect::<Object>())
}

/// An array of these texts.
pub(crate) fn texts<T: AsRef<str>>(items: &[T]) -> Json {
    Json::Array(items.iter().map(|item| Json::from(item.as_ref())).collect())
}

/// A text, or `null`.
pub(crate) fn text_or_null(text: Option<&str>) -> Json {
    text.map_or(Json::Null, Json::from)
}

/// The losses as a program reads them.
pub(crate) fn losses(losses: &[Loss]) -> Json {
    let one = |loss: &Loss| {
        object([
            ("at", loss.at.as_str().into()),
            ("kind", loss.kind.as_str().into()),
            ("side", loss.side.as_str().into()),
            ("what", loss.what.as_str().into()),
        ])
    };
    Json::Array(losses.iter().map(one).collect())
}

/// The changes as a program reads them; what was not there has no key.
pub(crate) fn changes(changes: &[Change]) -> Json {
    let one = |change: &Change| {
        let before = change.before.iter().map(|value| ("before", value.clone()));
        let after = change.after.iter().map(|value| ("after", value.clone()));
        object([("at", change.at.as_str().into())].into_iter().chain(before).chain(after))
    };
    Json::Array(changes.iter().map(one).collect())
}

/// What was sniffed, as a program reads it.
pub(crate) fn sniffed(found: &Sniffed) -> Json {
    object([
        ("format", found.codec.spec().id.into()),
        ("confidence", format!("{:?}", found.guess.confidence).to_lowercase().into()),
        ("why", found.guess.why.as_str().into()),
        ("generation", text_or_null(found.guess.generation.as_deref())),
        ("ambiguous", texts(&found.others)),
    ])
}

/// Says on standard error what was lost, shortly; `more` says where the rest can be seen.
pub(crate) fn say_losses(losses: &[Loss], more: &str) {
    if losses.is_empty() {
        return;
    }
    let total = counted(losses.len(), "loss", "losses");
    say(&format!("{YELLOW}{total}{YELLOW:#} ({})", kinds(losses)));
    for loss in losses.iter().take(NAMED) {
        say(&format!("  {}", line(loss)));
    }
    if losses.len() > NAMED {
        say(&format!("  {DIM}… and {} more; {more}{DIM:#}", losses.len() - NAMED));
    }
}

/// One loss on one line.
pub(crate) fn line(loss: &Loss) -> String {
    let place = if loss.at.is_empty() { "the whole" } else { &loss.at };
    format!("{:<11} {}: {}", loss.kind.as_str(), visible(place), visible(&loss.what))
}

/// How many losses there are of each kind, as in `3 dropped, 1 renamed`.
pub(crate) fn kinds(losses: &[Loss]) -> String {
    let count = |kind: &LossKind| losses.iter().filter(|loss| loss.kind == *kind).count();
    let counts = LossKind::ALL.iter().map(|kind| (count(kind), kind)).filter(|(count, _)| *count > 0);
    counts.map(|(count, kind)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
}
