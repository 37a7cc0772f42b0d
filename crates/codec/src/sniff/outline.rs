//! What a document of each format has at its top: what a format expects is told from here.

use turnkeep_model::json::{Json, Object};

use crate::format;
use crate::input::{Form, Top};

/// One kind of document of a format, and the keys it has. `a.b` is a key in a key, `a[]` one that holds a list.
pub(crate) struct Outline {
    /// What it is.
    what: &'static str,
    form: Shape,
    keys: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// One object, in JSON or YAML.
    Document,
    /// The first of several lines.
    Line,
}

pub(crate) const fn document(what: &'static str, keys: &'static [&'static str]) -> Outline {
    Outline { what, form: Shape::Document, keys }
}

const fn line(what: &'static str, keys: &'static [&'static str]) -> Outline {
    Outline { what, form: Shape::Line, keys }
}

const NATIVE: &[Outline] = &[document("a document", &["turnkeep", "sessions"])];
const GEPPETTO: &[Outline] = &[
    document("a turn", &["blocks"]),
    document("a collection", &["turns[]"]),
    document("a fixture", &["turn"]),
    document("a fixture", &["followups[]"]),
];
const SNAPSHOT: &[Outline] =
    &[document("a snapshot", &["created_at", "version"]), line("a snapshot", &["created_at", "version"])];

/// The outlines of every format that has one and is no wire: wires have their own. A slice may hold any objects; a database and a bundle are no text.
const OUTLINES: &[(&str, &[Outline])] = &[
    ("turnkeep", NATIVE),
    ("turnkeep.yaml", NATIVE),
    ("turnkeep.jsonl", &[line("the first line", &["turnkeep", "journal"])]),
    ("geppetto.turn", GEPPETTO),
    ("geppetto.fixture", GEPPETTO),
    ("llm4s.state", &[document("a state", &["conversation.messages[]"])]),
    ("llm4s.session", &[document("a session", &["sessionId", "sessionDir", "agentState"])]),
    ("wink.conversation", SNAPSHOT),
    ("wink.snapshot", SNAPSHOT),
    ("wink.composite", &[document("a composite", &["snapshot_id", "session"])]),
    ("wink.transcript", &[line("a log record", &["event", "context"])]),
    ("cognesy.slim", &[document("a slim snapshot", &["agent_id", "messages"])]),
    (
        "cognesy.state",
        &[
            document("a state", &["agentId", "context"]),
            document("a state", &["agentId", "messageStore"]),
            document("a state", &["agentId", "execution"]),
        ],
    ),
    (
        "cognesy.continuation",
        &[
            document("a continuation", &["agent_id", "messages"]),
            document("a continuation", &["agent_id", "messageStore"]),
            document("a continuation", &["agent_id", "message_store"]),
        ],
    ),
    ("cognesy.session", &[document("a session", &["header", "definition", "state"])]),
    ("cognesy.jsonl", &[line("the first line", &["type", "id", "createdAt"])]),
    ("lucee.session", &[document("a session", &["history[]"])]),
];

/// The outlines of a format; none where it may hold anything.
pub(super) fn of(format: &str) -> &'static [Outline] {
    all().find(|(id, _)| *id == format).map_or(&[], |(_, outlines)| outlines)
}

fn all() -> impl Iterator<Item = (&'static str, &'static [Outline])> {
    OUTLINES.iter().copied().chain(format::wires().map(|wire| (wire.spec().id, wire.contract().outlines)))
}

impl Outline {
    fn fits(&self, form: Form) -> bool {
        match form {
            Form::Object => true,
            Form::Yaml => self.form == Shape::Document,
            Form::Lines => self.form == Shape::Line,
            Form::Items | Form::Events | Form::Other => false,
        }
    }

    fn missing(&self, record: &Object) -> Vec<&'static str> {
        self.keys.iter().copied().filter(|key| !has(record, key)).collect()
    }

    /// What it is and its keys, as in "a request has `messages`".
    fn text(&self) -> String {
        format!("{} has {}", self.what, quoted(self.keys))
    }
}

/// Whether what an input begins with is a document of the format, by its keys. Where any keys will do, it is.
pub(super) fn is_met(format: &str, top: &Top) -> bool {
    let outlines = of(format);
    let record = top.records.first().and_then(Json::as_object);
    let met =
        |outline: &Outline| outline.fits(top.form) && record.is_some_and(|record| outline.missing(record).is_empty());
    outlines.is_empty() || outlines.iter().any(met)
}

/// The keys that the documents of a format have, in words.
pub(super) fn expected(format: &str) -> String {
    of(format).iter().map(Outline::text).collect::<Vec<_>>().join(", ")
}

/// The formats that come nearest to what an input begins with, and what each of them misses.
pub(super) fn nearest(top: &Top) -> Vec<String> {
    /// How many are named.
    const NAMED: usize = 3;
    let Some(record) = top.records.first().and_then(Json::as_object) else { return Vec::new() };
    let best = |(id, outlines): (&'static str, &'static [Outline])| {
        let outlines = outlines.iter().filter(|outline| outline.fits(top.form));
        let rated = outlines.map(|outline| (outline.missing(record), outline.keys.len()));
        let close = rated.filter(|(missing, all)| missing.len() < *all);
        close
            .min_by_key(|(missing, all)| (missing.len(), std::cmp::Reverse(*all)))
            .map(|(missing, all)| (id, missing, all))
    };
    let mut near: Vec<_> = all().filter_map(best).collect();
    near.sort_by_key(|(_, missing, all)| (missing.len(), std::cmp::Reverse(*all)));
    let told = near.into_iter().take(NAMED).map(|(id, missing, _)| match missing.as_slice() {
        [] => format!("{id} (it has the keys, but not what they should hold)"),
        missing => format!("{id} ({} missing)", quoted(missing)),
    });
    told.collect()
}

/// The keys that an input begins with, in words.
pub(super) fn found(top: &Top) -> String {
    /// How many are named.
    const NAMED: usize = 8;
    let form = match top.form {
        Form::Object => "an object",
        Form::Yaml => "a YAML mapping",
        Form::Items => "a list of objects",
        Form::Lines => "lines of objects",
        Form::Events => "a stream of events",
        Form::Other => return "neither an object, a list, lines of objects nor a stream of events".to_owned(),
    };
    let Some(record) = top.records.first().and_then(Json::as_object) else {
        return format!("{form}, and no object in it");
    };
    let keys: Vec<String> = record.iter().take(NAMED).map(|(key, _)| key.to_str_lossy().into_owned()).collect();
    let more = if record.len() > NAMED { ", …" } else { "" };
    match keys.as_slice() {
        [] => format!("{form} without keys"),
        keys => format!("{form} with {}{more}", quoted(keys)),
    }
}

/// Keys as they are shown to a person: `a`, `b`. A key that is no name is cut.
fn quoted<T: AsRef<str>>(keys: &[T]) -> String {
    const LONGEST: usize = 40;
    let one = |key: &T| {
        let key = key.as_ref().trim_end_matches("[]");
        let cut: String = key.chars().take(LONGEST).collect();
        if cut.len() < key.len() { format!("`{cut}…`") } else { format!("`{cut}`") }
    };
    keys.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn has(record: &Object, path: &str) -> bool {
    let (path, wants_list) = path.strip_suffix("[]").map_or((path, false), |path| (path, true));
    let mut parts = path.split('.');
    let first = parts.next().and_then(|part| value_of(record, part));
    let value = parts.fold(first, |value, part| value?.as_object().and_then(|object| value_of(object, part)));
    value.is_some_and(|value| !wants_list || value.as_array().is_some())
}

/// Some programs write their keys in capitals.
fn value_of<'a>(object: &'a Object, wanted: &str) -> Option<&'a Json> {
    object.iter().find(|(key, _)| key.to_str_lossy().eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;

    #[test]
    fn every_format_of_text_has_an_outline() {
        let without = format::ALL.iter().map(|codec| codec.spec()).filter(|spec| spec.reads && of(spec.id).is_empty());
        let without: Vec<_> = without.map(|spec| spec.id).collect();
        assert_eq!(without, ["geppetto.store", "wink.slice", "wink.bundle"]);
    }

    #[test]
    fn the_nearest_formats_are_told_with_what_they_miss() {
        let input = Input::new(br#"{"agent_id": "a", "version": 2}"#);
        assert_eq!(
            nearest(input.top()),
            [
                "wink.conversation (`created_at` missing)",
                "wink.snapshot (`created_at` missing)",
                "cognesy.slim (`messages` missing)"
            ]
        );
        assert_eq!(found(input.top()), "an object with `agent_id`, `version`");
    }
}
