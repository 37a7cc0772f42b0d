//! What did not survive, for programs and for persons.

use turnkeep_codec::Sniffed;
use turnkeep_file::Packed;
use turnkeep_model::{Change, Json, Loss, Object};

use crate::tally::Tally;

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
            ("severity", loss.severity().as_str().into()),
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
pub(crate) fn sniffed(found: &Sniffed, packed: Packed) -> Json {
    let packed = (packed == Packed::Zstd).then(|| ("compressed", Json::from("zstd")));
    let pairs = [
        ("format", found.codec.spec().id.into()),
        ("confidence", format!("{:?}", found.guess.confidence).to_lowercase().into()),
        ("why", found.guess.why.as_str().into()),
        ("generation", text_or_null(found.guess.generation.as_deref())),
        ("ambiguous", texts(&found.others)),
    ];
    object(pairs.into_iter().chain(packed))
}

/// Says on standard error what was lost, shortly; `more` says where the rest can be seen.
pub(crate) fn say_losses(losses: &[Loss], more: &str) {
    Tally::of(losses).say(more);
}
