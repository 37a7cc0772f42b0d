//! JSON as Python's `json.dumps` writes it.

use std::fmt::Write;

use turnkeep_model::json::{Field, Json, JsonString, Node, Text, Value, find_special_or_beyond_ascii};

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
    append_node(&value.to_node(), how, out);
}

/// Appends the text of a value that borrows.
pub(super) fn append_node(node: &Node<'_>, how: Dumps, out: &mut String) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(text) => out.push_str(text),
        Value::Text(text) => string(text, out),
        Value::Array(items) => list(items, how, out),
        Value::Object(fields) => pairs(fields, how, out),
    }
}

/// The pairs of an object that is written from parts, in no order.
pub(super) type Pairs<'a> = Vec<(Text<'a>, Part<'a>)>;

/// A value that is written: large ones are borrowed.
pub(super) enum Part<'a> {
    /// A value made for the writing, or as it stands elsewhere.
    Own(Node<'a>),
    /// An array of values as they stand.
    List(&'a [Node<'a>]),
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
        Part::Own(value) => append_node(&value, Dumps::Sorted, out),
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

fn list(items: &[Node<'_>], how: Dumps, out: &mut String) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        comma(index, how, out);
        append_node(item, how, out);
    }
    out.push(']');
}

fn pairs(fields: &[Field<'_>], how: Dumps, out: &mut String) {
    out.push('{');
    if how == Dumps::Sorted && !is_sorted(fields) {
        let mut sorted: Vec<_> = fields.iter().collect();
        sorted.sort_by(|a, b| a.0.to_str_lossy().cmp(&b.0.to_str_lossy()));
        sorted.into_iter().enumerate().for_each(|(index, field)| pair(index, field, how, out));
    } else {
        fields.iter().enumerate().for_each(|(index, field)| pair(index, field, how, out));
    }
    out.push('}');
}

/// Puts a value in the order in which a reader of its sorted text finds it: where a key stands twice, that tells.
pub(super) fn sort(node: &mut Node<'_>) {
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(sort),
        Value::Object(fields) => {
            if has_duplicates(fields) {
                fields.sort_by(|a, b| a.0.to_str_lossy().cmp(&b.0.to_str_lossy()));
            }
            fields.iter_mut().for_each(|(_, value)| sort(value));
        }
        _ => {}
    }
}

/// Whether some key stands more than once.
pub(super) fn has_duplicates(fields: &[Field<'_>]) -> bool {
    // Python writes keys in order, so that one look at each mostly tells.
    if fields.is_sorted_by(|a, b| a.0.to_str_lossy() < b.0.to_str_lossy()) {
        return false;
    }
    let mut keys: Vec<_> = fields.iter().map(|(key, _)| key.to_str_lossy()).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| matches!(pair, [a, b] if a == b))
}

fn is_sorted(fields: &[Field<'_>]) -> bool {
    fields.is_sorted_by(|a, b| a.0.to_str_lossy() <= b.0.to_str_lossy())
}

fn pair(index: usize, (key, value): &Field<'_>, how: Dumps, out: &mut String) {
    comma(index, how, out);
    string(key, out);
    out.push_str(if how == Dumps::Compact { ":" } else { ": " });
    append_node(value, how, out);
}

fn comma(index: usize, how: Dumps, out: &mut String) {
    if index > 0 {
        out.push_str(if how == Dumps::Compact { "," } else { ", " });
    }
}

fn string(text: &Text<'_>, out: &mut String) {
    out.push('"');
    match text.to_str() {
        Ok(text) => text_between_quotes(&text, out),
        // Half a surrogate pair: only its spelling can be kept.
        Err(_) => {
            let spelling = text.clone().into_json_string();
            let spelling = spelling.escaped().unwrap_or_default().chars();
            spelling.for_each(|c| if c.is_ascii() { out.push(c) } else { escape(c, out) });
        }
    }
    out.push('"');
}

fn text_between_quotes(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = find_special_or_beyond_ascii(rest.as_bytes()) {
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
            c if is_printable(c) => out.push(c),
            c => out.push_str(&match u32::from(c) {
                code @ ..=0xff => format!("\\x{code:02x}"),
                code @ ..=0xffff => format!("\\u{code:04x}"),
                code => format!("\\U{code:08x}"),
            }),
        }
    }
    out.push(quote);
    out
}

/// Whether `str.isprintable` says so, of all but unassigned characters: no control, format or private one, and no
/// separator but the space.
fn is_printable(c: char) -> bool {
    let is_format = matches!(c, '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    let is_private = matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
    c == ' ' || !(c.is_control() || c.is_whitespace() || is_format || is_private)
}

/// How `json.dumps` spells a number that `json.loads` read: a whole one exactly, any other as the double that it is.
pub(super) fn number(text: &str) -> String {
    if text == "-0" {
        return "0".to_owned();
    }
    match text.parse::<f64>() {
        Ok(double) if text.contains(['.', 'e', 'E']) => float(double),
        _ => text.to_owned(),
    }
}

/// How `repr` spells a double: the shortest digits, with an exponent below -4 and from 16 on.
fn float(double: f64) -> String {
    if double.is_infinite() {
        return if double > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = format!("{double:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent @ -4..16) => {
            let places = (digits.bytes().filter(u8::is_ascii_digit).count() as i32 - 1 - exponent).max(1);
            format!("{double:.*}", places.unsigned_abs() as usize)
        }
        Ok(exponent) => format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
        Err(_) => scientific,
    }
}

/// The `repr` of a value that `json.loads` gave.
pub(super) fn repr_of(value: &Json) -> String {
    match value {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Number(digits) => match number(digits.as_str()).as_str() {
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
    let hex = bare.trim_matches(['{', '}']).replace('-', "").to_ascii_lowercase();
    if hex.chars().count() != 32 {
        return None;
    }
    // What `int(hex, 16)` takes beside digits: white space around, a sign, a prefix, single underscores between.
    let digits = hex.trim().trim_start_matches('+');
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let is_odd = |piece: &str| piece.is_empty() || !piece.bytes().all(|b| b.is_ascii_hexdigit());
    if digits.split('_').any(is_odd) {
        return None;
    }
    let hex = format!("{:0>32}", digits.replace('_', ""));
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
    fn spells_numbers_as_python_does() {
        let cases = [
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("2.50", "2.5"),
            ("1E5", "100000.0"),
            ("1e16", "1e+16"),
            ("1e15", "1000000000000000.0"),
            ("1e-5", "1e-05"),
            ("0.0001", "0.0001"),
            ("1e400", "Infinity"),
            ("123456789012345678901", "123456789012345678901"),
            ("0.1", "0.1"),
            ("1.5e300", "1.5e+300"),
            ("1234567.25", "1234567.25"),
            ("NaN", "NaN"),
        ];
        for (text, expected) in cases {
            assert_eq!(number(text), expected);
        }
    }

    #[test]
    fn a_repr_shows_what_cannot_be_printed() {
        assert_eq!(repr("a\u{200b}\u{7}é\u{e0001} \u{a0}"), r"'a\u200b\x07é\U000e0001 \xa0'");
    }

    #[test]
    fn takes_the_uuids_that_python_takes() {
        let canonical = Some("00000000-0000-0000-0000-00000000000a".to_owned());
        for good in ["0000000000000000000000000000000A", "urn:uuid:00000000-0000-0000-0000-00000000000a"] {
            assert_eq!(uuid(good), canonical, "{good}");
        }
        assert_eq!(uuid("{00000000-0000-0000-0000-00000000000a}"), canonical);
        assert_eq!(uuid(&format!("0x0_{:0>28}", "a")), canonical);
        assert_eq!(uuid(&format!(" +0__{:0>27}", "a")), None);
        for bad in ["", "abc", "0000000000000000000000000000000g"] {
            assert_eq!(uuid(bad), None, "{bad}");
        }
    }
}
