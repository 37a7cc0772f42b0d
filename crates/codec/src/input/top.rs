//! How an input begins: enough of it to tell what it is, parsed once for every format.

use turnkeep_model::json::{Json, Value};

use super::{Input, Syntax, lines};
use crate::wire::frame::{Framer, aws, event};
use crate::wire::shortened;

/// How many records are looked at.
const ENOUGH: usize = 64;
/// How many bytes of records are looked at, once there are a few of them.
const PLENTY: usize = 1 << 20;
/// How many records are a few.
const FEW: usize = 4;
/// How many bytes are taken at a time.
const PIECE: usize = 64 << 10;

/// What kind of text an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One JSON object.
    Object,
    /// One YAML mapping.
    Yaml,
    /// A JSON array.
    Items,
    /// JSON objects, one a line.
    Lines,
    /// Server-sent events, or event-stream frames of AWS.
    Events,
    /// None of these.
    Other,
}

/// The form of an input, and its first records: the object that it is, its lists cut short, or its first lines, items or
/// events.
#[derive(Debug)]
pub(crate) struct Top {
    pub form: Form,
    pub records: Vec<Json>,
}

impl Top {
    pub(super) fn of(input: &Input<'_>) -> Top {
        if aws::looks_like(input.bytes()) {
            return Top { form: Form::Events, records: framed(input.bytes()) };
        }
        let Ok(text) = input.text() else { return Top { form: Form::Other, records: Vec::new() } };
        match text.trim_start().bytes().next() {
            Some(b'[') => Top { form: Form::Items, records: framed(text.as_bytes()) },
            Some(_) if is_lines(input, text) => Top { form: Form::Lines, records: first_lines(text) },
            Some(_) if begins_as_events(text) => Top { form: Form::Events, records: framed(text.as_bytes()) },
            _ => Top::of_document(input),
        }
    }

    fn of_document(input: &Input<'_>) -> Top {
        let document = input.document().ok().filter(|document| matches!(document.node.value, Value::Object(_)));
        let Some(document) = document else { return Top { form: Form::Other, records: Vec::new() } };
        let form = match document.syntax {
            Syntax::Json => Form::Object,
            Syntax::Yaml => Form::Yaml,
        };
        Top { form, records: vec![shortened(&document.node)] }
    }
}

fn is_enough(records: usize, bytes: usize) -> bool {
    records >= ENOUGH || records >= FEW && bytes >= PLENTY
}

/// The first objects of a stream or an array; those before a damaged one, where there is one.
fn framed(bytes: &[u8]) -> Vec<Json> {
    let (mut framer, mut records, mut taken) = (Framer::default(), Vec::new(), 0);
    for piece in bytes.chunks(PIECE) {
        match framer.push(piece) {
            Ok(more) => records.extend(more),
            Err(_) => return records,
        }
        taken += piece.len();
        if is_enough(records.len(), taken) {
            records.truncate(ENOUGH);
            return records;
        }
    }
    records.extend(framer.finish().events);
    records
}

/// Whether a text is lines of objects; the first one may be damaged.
fn is_lines(input: &Input<'_>, text: &str) -> bool {
    if !input.has_lines() {
        return false;
    }
    let mut lines = lines(text).map(str::trim).filter(|line| !line.is_empty()).take(2);
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    // A document may stand below a line that only YAML or JSON5 knows.
    let may_be_damaged = !first.starts_with(['-', '#', '%', '/']);
    input.first_line().is_some_and(turnkeep_model::json::Node::is_object) || may_be_damaged && is_object(second)
}

fn is_object(line: &str) -> bool {
    line.starts_with('{') && event(line).is_ok_and(|json| json.as_object().is_some())
}

/// The first lines that are objects.
fn first_lines(text: &str) -> Vec<Json> {
    let (mut records, mut taken) = (Vec::new(), 0);
    for line in lines(text).filter(|line| !line.trim().is_empty()) {
        records.extend(event(line).ok().filter(|record| record.as_object().is_some()));
        taken += line.len();
        if is_enough(records.len(), taken) {
            break;
        }
    }
    records
}

/// Whether a text begins with a server-sent event. A YAML mapping may begin with `id` and `data` too, but has other keys
/// behind them.
fn begins_as_events(text: &str) -> bool {
    const FIELDS: [&str; 4] = ["data:", "event:", "id:", "retry:"];
    let is_field = |line: &str| line.starts_with(':') || FIELDS.iter().any(|field| line.starts_with(field));
    let mut lines = text.lines().map(str::trim).skip_while(|line| line.is_empty());
    let mut before = lines.by_ref().take_while(|line| line.is_empty() || is_field(line));
    let found = before.any(|line| line.starts_with("data:"));
    found && lines.next().is_none_or(|line| line.is_empty() || is_field(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn top(text: &str) -> (Form, usize) {
        let input = Input::new(text.as_bytes());
        let top = input.top();
        (top.form, top.records.len())
    }

    #[test]
    fn the_form_is_told_whatever_the_layout() {
        assert_eq!(top("{\"a\": 1}"), (Form::Object, 1));
        assert_eq!(top("\u{feff}{\r\n  \"a\": 1\r\n}\r\n"), (Form::Object, 1));
        assert_eq!(top("{\"a\":1}\n"), (Form::Object, 1));
        assert_eq!(top("{\"a\":1}\r\n{\"a\":2}\r\n"), (Form::Lines, 2));
        assert_eq!(top("[{\"a\":1},\n {\"a\":2}]"), (Form::Items, 2));
        assert_eq!(top("a: 1\nb: 2\n"), (Form::Yaml, 1));
        assert_eq!(top(": hi\r\n\r\nevent: x\r\ndata: {\"a\":1}\r\n\r\n"), (Form::Events, 1));
        assert_eq!(top("data: {\"a\":1}"), (Form::Events, 1));
        assert_eq!(top("plain words"), (Form::Other, 0));
        assert_eq!(top("{torn\n{\"a\":1}\n{\"a\":2}\n"), (Form::Lines, 2));
        assert_eq!(top("---\n{\"a\":1}\n"), (Form::Yaml, 1));
    }

    #[test]
    fn a_mapping_with_the_keys_of_an_event_is_none() {
        assert_eq!(top("id: t1\ndata: {}\nblocks: []\n"), (Form::Yaml, 1));
        assert_eq!(top("id: t1\nblocks: []\ndata: {}\n"), (Form::Yaml, 1));
        assert_eq!(top("data:\n  a@v1: 1\nblocks: []\n"), (Form::Yaml, 1));
    }

    #[test]
    fn only_the_first_records_of_a_long_stream_are_read() {
        assert_eq!(top(&"data: {\"a\":1}\n\n".repeat(10_000)), (Form::Events, ENOUGH));
        assert_eq!(top(&"{\"a\":1}\n".repeat(10_000)), (Form::Lines, ENOUGH));
    }
}
