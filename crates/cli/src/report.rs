//! What did not survive, for programs and for persons.

use turnkeep_codec::Sniffed;
use turnkeep_file::Packed;
use turnkeep_model::{Change, Json, Loss, Object};

use crate::tally::Tally;
use crate::terminal::{YELLOW, print_note};
use crate::visible::visible;

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

/// A report, with the formats that its input may be just as well, where there are any.
pub(crate) fn with_ambiguous(report: Json, others: &[&str]) -> Json {
    match report {
        Json::Object(mut pairs) if !others.is_empty() => {
            pairs.push("ambiguous", texts(others));
            Json::Object(pairs)
        }
        report => report,
    }
}

/// Says on standard error that an input may be of other formats just as well as of the one it is read as.
pub(crate) fn note_ambiguous(name: &str, format: &str, others: &[&str]) {
    if !others.is_empty() {
        let others = others.join(" or ");
        let name = visible(name);
        print_note(&format!(
            "{YELLOW}ambiguous:{YELLOW:#} {name} is read as {format}; it may just as well be {others} (--from names it)"
        ));
    }
}

/// Says on standard error what was lost, shortly; `more` says where the rest can be seen.
pub(crate) fn note_losses(losses: &[Loss], more: &str) {
    Tally::of(losses).print_note(more);
}
