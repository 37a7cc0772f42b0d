//! The hash by which pinocchio knows a block: SHA-256 of the JSON that Go writes of it.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use turnkeep_model::json::{Json, Number, Object};

use super::document::{Block, KIND_RAW};

/// The hash of a block, in hex.
pub fn block_hash(block: &Block) -> String {
    let empty = Object::new();
    let payload = block.payload.as_ref().unwrap_or(&empty);
    hash(
        stored_kind(block),
        block.role.as_deref().unwrap_or_default(),
        &go_map(payload),
        &go_map(&stored_metadata(block)),
    )
}

/// The kind as a store holds it.
pub(super) fn stored_kind(block: &Block) -> &str {
    block.raw_kind.as_deref().unwrap_or_else(|| block.kind().as_str())
}

/// The metadata as a store holds it: without the raw kind that reading put there.
pub(super) fn stored_metadata(block: &Block) -> Object {
    let mut metadata = block.metadata.clone().unwrap_or_default();
    if !block.holds_kind_raw {
        metadata.remove(KIND_RAW);
    }
    metadata
}

/// The hash of a block's parts; `payload` and `metadata` are texts that Go wrote.
pub(super) fn hash(kind: &str, role: &str, payload: &str, metadata: &str) -> String {
    let mut material = String::from("{\"kind\":");
    quote(kind, &mut material);
    material.push_str(",\"role\":");
    quote(role, &mut material);
    material.push_str(",\"payload\":");
    material.push_str(payload);
    material.push_str(",\"metadata\":");
    material.push_str(metadata);
    material.push('}');
    HEXLOWER.encode(&Sha256::digest(material.as_bytes()))
}

/// A map as Go writes it: keys in the order of their bytes, of repeated ones the last. Numbers that Go cannot hold are
/// left out.
pub(super) fn go_map(map: &Object) -> String {
    let mut out = String::new();
    write_map(map, &mut out);
    out
}

fn write(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(number) => out.push_str(go_number(number).as_deref().unwrap_or("null")),
        Json::String(text) => quote(&text.to_str_lossy(), out),
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Json::Object(map) => write_map(map, out),
    }
}

fn write_map(map: &Object, out: &mut String) {
    let holds = |value: &Json| value.as_number().is_none_or(|number| go_number(number).is_some());
    let pairs = map.iter().map(|(key, value)| (key.to_str_lossy(), value));
    let mut pairs: Vec<_> = pairs.filter(|(_, value)| holds(value)).collect();
    pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
    out.push('{');
    let mut is_first = true;
    let mut pairs = pairs.into_iter().peekable();
    while let Some((key, value)) = pairs.next() {
        if pairs.peek().is_some_and(|(next, _)| *next == key) {
            continue;
        }
        if !is_first {
            out.push(',');
        }
        is_first = false;
        quote(&key, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A number as Go prints it, if Go can hold it.
fn go_number(number: &Number) -> Option<String> {
    // Read from JSON, `-0` is a float to Go, and keeps its sign.
    if let Some(whole) = number.as_i64().filter(|_| number.as_str() != "-0") {
        return Some(whole.to_string());
    }
    if let Some(whole) = number.as_u64() {
        return Some(whole.to_string());
    }
    let value = number.as_f64();
    let size = value.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return Some(format!("{value}"));
    }
    let text = format!("{value:e}");
    value.is_finite().then(|| if text.contains("e-") { text } else { text.replace('e', "e+") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_go_does() {
        let cases = [
            ("1.0", "1"),
            ("-0", "-0"),
            ("-0.0", "-0"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("0.0000001", "1e-7"),
            ("0.000001", "0.000001"),
            ("12345678901234567890", "12345678901234567890"),
            ("123456789012345678901234", "1.2345678901234569e+23"),
            ("9007199254740993", "9007199254740993"),
        ];
        for (text, expected) in cases {
            assert_eq!(go_number(&Number::parse(text).unwrap()).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(go_number(&Number::parse("1e400").unwrap()), None);
    }

    #[test]
    fn what_a_page_could_trip_over_is_escaped() {
        let map: Object = [("<b>", Json::from("a & b\u{2028}\u{1}\n\u{8}é"))].into_iter().collect();

        assert_eq!(go_map(&map), r#"{"\u003cb\u003e":"a \u0026 b\u2028\u0001\n\bé"}"#);
    }
}
