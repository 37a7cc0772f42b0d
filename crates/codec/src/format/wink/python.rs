//! JSON as Python's `json.dumps` writes it.

use std::fmt::Write;

use turnkeep_model::json::{Json, JsonString, Object, find_special};

/// How Python was asked to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dumps {
    /// `sort_keys=True`: `", "` and `": "` between, keys sorted.
    Sorted,
    /// Nothing asked: `", "` and `": "` between, keys as they stand.
    Plain,
    /// `separators=(",", ":")`: nothing but signs between, keys as they stand.
    Compact,
}

/// Appends the text of a value.
pub(super) fn append(value: &Json, how: Dumps, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => out.push_str(number.as_str()),
        Json::String(text) => string(text, out),
        Json::Array(items) => list(items, how, out),
        Json::Object(object) => pairs(object, how, out),
    }
}

/// The pairs of an object that is written from parts, in no order.
pub(super) type Pairs<'a> = Vec<(JsonString, Part<'a>)>;

/// A value that is written: large ones are borrowed.
pub(super) enum Part<'a> {
    /// A value made for the writing.
    Own(Json),
    /// A value as it stands.
    Kept(&'a Json),
    /// An array of values as they stand.
    List(&'a [Json]),
    /// An object.
    Object(Pairs<'a>),
    /// An array of objects.
    Objects(Vec<Pairs<'a>>),
}

/// Appends the text of an object with its keys sorted.
pub(super) fn append_pairs(mut pairs: Pairs<'_>, out: &mut String) {
    pairs.sort_by(|a, b| a.0.to_str_lossy().cmp(&b.0.to_str_lossy()));
    out.push('{');
    for (index, (key, part)) in pairs.into_iter().enumerate() {
        comma(index, Dumps::Sorted, out);
        string(&key, out);
        out.push_str(": ");
        append_part(part, out);
    }
    out.push('}');
}

fn append_part(part: Part<'_>, out: &mut String) {
    match part {
        Part::Own(value) => append(&value, Dumps::Sorted, out),
        Part::Kept(value) => append(value, Dumps::Sorted, out),
        Part::List(items) => list(items, Dumps::Sorted, out),
        Part::Object(pairs) => append_pairs(pairs, out),
        Part::Objects(objects) => {
            out.push('[');
            for (index, pairs) in objects.into_iter().enumerate() {
                comma(index, Dumps::Sorted, out);
                append_pairs(pairs, out);
            }
            out.push(']');
        }
    }
}

fn list(items: &[Json], how: Dumps, out: &mut String) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        comma(index, how, out);
        append(item, how, out);
    }
    out.push(']');
}

fn pairs(object: &Object, how: Dumps, out: &mut String) {
    out.push('{');
    if how == Dumps::Sorted && !is_sorted(object) {
        let mut sorted: Vec<_> = object.iter().map(|(key, value)| (key.to_str_lossy(), key, value)).collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        sorted.iter().enumerate().for_each(|(index, (_, key, value))| pair(index, key, value, how, out));
    } else {
        object.iter().enumerate().for_each(|(index, (key, value))| pair(index, key, value, how, out));
    }
    out.push('}');
}

/// The value as a reader of its sorted text finds it: where a key stands twice, the order of keys tells.
pub(super) fn sorted(value: Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.into_iter().map(sorted).collect()),
        Json::Object(object) => {
            let twice = object.has_duplicates();
            let mut pairs: Vec<_> = object.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            if twice {
                pairs.sort_by(|a, b| a.0.to_str_lossy().cmp(&b.0.to_str_lossy()));
            }
            Json::Object(pairs.into_iter().collect())
        }
        scalar => scalar,
    }
}

fn is_sorted(object: &Object) -> bool {
    object.iter().map(|(key, _)| key.to_str_lossy()).is_sorted()
}

fn pair(index: usize, key: &JsonString, value: &Json, how: Dumps, out: &mut String) {
    comma(index, how, out);
    string(key, out);
    out.push_str(if how == Dumps::Compact { ":" } else { ": " });
    append(value, how, out);
}

fn comma(index: usize, how: Dumps, out: &mut String) {
    if index > 0 {
        out.push_str(if how == Dumps::Compact { "," } else { ", " });
    }
}

fn string(text: &JsonString, out: &mut String) {
    out.push('"');
    match (text.to_str(), text.escaped()) {
        (Ok(text), _) => text_between_quotes(&text, out),
        // Half a surrogate pair: only its spelling can be kept.
        (Err(_), Some(spelling)) => {
            spelling.chars().for_each(|c| if c.is_ascii() { out.push(c) } else { escape(c, out) });
        }
        (Err(_), None) => {}
    }
    out.push('"');
}

fn text_between_quotes(text: &str, out: &mut String) {
    let is_plain = text.is_ascii() && !text.as_bytes().contains(&0x7f);
    // What is plain needs escapes only where every JSON does, and those are found many bytes at a time.
    let next = |rest: &str| match is_plain {
        true => find_special(rest.as_bytes()),
        false => rest.bytes().position(|b| !(0x20..0x7f).contains(&b) || b == b'"' || b == b'\\'),
    };
    let mut rest = text;
    while let Some(at) = next(rest) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = special.chars();
        if let Some(c) = chars.next() {
            escape(c, out);
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
}

fn escape(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        c => {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
}

/// The `repr` of a text.
pub(super) fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// The `repr` of a value that `json.loads` gave.
pub(super) fn repr_of(value: &Json) -> String {
    match value {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Number(number) => match number.as_str() {
            "NaN" => "nan".to_owned(),
            "Infinity" => "inf".to_owned(),
            "-Infinity" => "-inf".to_owned(),
            text => text.to_owned(),
        },
        Json::String(text) => repr(&text.to_str_lossy()),
        Json::Array(items) => format!("[{}]", items.iter().map(repr_of).collect::<Vec<_>>().join(", ")),
        Json::Object(object) => {
            let pair =
                |(key, value): (&JsonString, &Json)| format!("{}: {}", repr(&key.to_str_lossy()), repr_of(value));
            format!("{{{}}}", object.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Whether Python's `UUID` takes this text: 32 hex digits once its decorations are gone.
pub(super) fn uuid(text: &str) -> Option<String> {
    let bare = text.replace("urn:", "").replace("uuid:", "");
    let hex: String = bare.trim_matches(['{', '}']).replace('-', "").to_ascii_lowercase();
    // `int(hex, 16)` also takes an underscore between digits; nobody writes that.
    if hex.len() != 32 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
    Some([part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnkeep_model::json::parse;

    fn dumps(value: &Json, how: Dumps) -> String {
        let mut text = String::new();
        append(value, how, &mut text);
        text
    }

    #[test]
    fn writes_as_python_does() {
        let value = parse(r#"{"b":[1,{}],"a":"zoë 😀 \u2028 \u007f \ud800","é":1e400}"#).unwrap().into_json();
        let expected = r#"{"a": "zo\u00eb \ud83d\ude00 \u2028 \u007f \ud800", "b": [1, {}], "\u00e9": 1e400}"#;
        assert_eq!(dumps(&value, Dumps::Sorted), expected);
        let pair = parse(r#"{"b":1,"a":[1,2]}"#).unwrap().into_json();
        assert_eq!(dumps(&pair, Dumps::Compact), r#"{"b":1,"a":[1,2]}"#);
        assert_eq!(dumps(&pair, Dumps::Plain), r#"{"b": 1, "a": [1, 2]}"#);
    }

    #[test]
    fn takes_the_uuids_that_python_takes() {
        let canonical = Some("00000000-0000-0000-0000-00000000000a".to_owned());
        for good in ["0000000000000000000000000000000A", "urn:uuid:00000000-0000-0000-0000-00000000000a"] {
            assert_eq!(uuid(good), canonical, "{good}");
        }
        assert_eq!(uuid("{00000000-0000-0000-0000-00000000000a}"), canonical);
        for bad in ["", "abc", "0000000000000000000000000000000g"] {
            assert_eq!(uuid(bad), None, "{bad}");
        }
    }
}
