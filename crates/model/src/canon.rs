//! One spelling for equal values, and digests of it.
//!
//! Numbers keep their text: `1.0` and `1` are different here, because a signature or a tool may see the difference.

use crate::json::{Json, JsonSink, JsonString, Layout, Object, Sink};

/// The canonical JSON text: keys sorted bytewise (of repeated ones the last counts), no spaces, number text as written,
/// strings with the fewest escapes.
pub fn canonical(json: &Json) -> String {
    let mut sink = JsonSink::new(Layout::Compact);
    write(json, &mut sink);
    sink.into_text()
}

/// The BLAKE3 digest of the canonical text, in hex.
pub fn digest(json: &Json) -> String {
    blake3::hash(canonical(json).as_bytes()).to_hex().to_string()
}

fn write(json: &Json, sink: &mut JsonSink) {
    match json {
        Json::Array(items) => {
            sink.begin_array();
            items.iter().for_each(|item| write(item, sink));
            sink.end_array();
        }
        Json::Object(object) => write_sorted(object, sink),
        Json::String(text) => write_string(text, sink),
        scalar => scalar.write(sink),
    }
}

fn write_sorted(object: &Object, sink: &mut JsonSink) {
    let mut pairs: Vec<_> = object.iter().collect();
    // Keys that no Rust string can hold look alike; their spelling tells them apart.
    let order =
        |key: &JsonString| (key.to_str_lossy().into_owned(), key.to_str().err().and(key.escaped()).map(str::to_owned));
    pairs.sort_by_cached_key(|(key, _)| order(key));
    sink.begin_object();
    let mut pairs = pairs.into_iter().peekable();
    while let Some((key, value)) = pairs.next() {
        if pairs.peek().is_some_and(|(next, _)| *next == key) {
            continue;
        }
        match key.to_str() {
            Ok(key) => sink.key(&key),
            Err(_) => sink.spelled_key(key),
        }
        write(value, sink);
    }
    sink.end_object();
}

fn write_string(text: &JsonString, sink: &mut JsonSink) {
    match text.to_str() {
        Ok(text) => sink.text(&text),
        Err(_) => sink.string(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_keys_keeps_numbers_and_takes_the_last_duplicate() {
        let json = crate::json::parse(r#"{"b":1.0,"a":"\u00e9","b":2e3}"#).unwrap().into_json();

        assert_eq!(canonical(&json), r#"{"a":"é","b":2e3}"#);
    }
}
