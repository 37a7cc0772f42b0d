//! The recorded bodies of this wire and its dialects: read in place where `TURNKEEP_CORPUS` says.

use std::path::PathBuf;

use turnkeep_codec::{DecodeOptions, EncodeOptions, Input};
use turnkeep_model::Json;
use turnkeep_model::json::{self, Node};

use super::codec;

/// A record of the corpus.
pub(super) struct Record {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) vendor: String,
    pub(super) accepted: Option<bool>,
    pub(super) body: Json,
}

/// The records of the corpus in this dialect, if the corpus is there.
pub(super) fn records(test: &str) -> Option<Vec<Record>> {
    let Some(root) = std::env::var_os("TURNKEEP_CORPUS").map(PathBuf::from) else {
        println!("skipped: {test} needs TURNKEEP_CORPUS");
        return None;
    };
    let mut files: Vec<_> = std::fs::read_dir(root.join("providers")).unwrap().flatten().map(|e| e.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    let texts = files.iter().map(|path| std::fs::read_to_string(path).unwrap());
    Some(texts.flat_map(|text| text.lines().filter_map(record).collect::<Vec<_>>()).collect())
}

fn record(line: &str) -> Option<Record> {
    // Most lines are of other dialects: look before parsing.
    if !line.contains("\"openai-responses\"") {
        return None;
    }
    let Json::Object(mut object) = json::parse(line).map(Node::into_json).unwrap() else { panic!("not a record") };
    let text = |key: &str| object.get_str(key).unwrap_or_default().into_owned();
    if text("dialect") != "openai-responses" {
        return None;
    }
    let (id, kind, vendor) = (text("id"), text("kind"), text("vendor"));
    let accepted = object.get("accepted").and_then(Json::as_bool);
    Some(Record { id, kind, vendor, accepted, body: object.remove("body").unwrap() })
}

/// The bytes of a body as it was recorded: a stream of text is that text.
pub(super) fn bytes(body: &Json) -> Vec<u8> {
    match body {
        Json::String(text) => text.to_str_lossy().into_owned().into_bytes(),
        other => other.to_text().into_bytes(),
    }
}

/// The same with the keys of every object sorted.
pub(super) fn canonical(value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(canonical).collect()),
        Json::Object(object) => {
            let mut pairs: Vec<_> = object.iter().map(|(key, value)| (key.clone(), canonical(value))).collect();
            pairs.sort_by_key(|(key, _)| key.to_str_lossy().into_owned());
            Json::Object(pairs.into_iter().collect())
        }
        other => other.clone(),
    }
}

fn again(bytes: &[u8]) -> Result<Json, String> {
    let decoded = codec().decode(Input::new(bytes), &DecodeOptions::default()).map_err(|e| format!("decode: {e}"))?;
    let encoded = codec().encode(&decoded.archive, &EncodeOptions::default()).map_err(|e| format!("encode: {e}"))?;
    if let Some(loss) = encoded.losses.iter().chain(&decoded.losses).next() {
        return Err(format!("loss: {loss}"));
    }
    let text = String::from_utf8(encoded.bytes).unwrap();
    Ok(json::parse(&text).map(Node::into_json).unwrap())
}

#[test]
fn every_recorded_body_comes_back() {
    let Some(records) = records("every_recorded_body_comes_back") else { return };
    let (mut all, mut ordered, mut wrong) = (0, 0, Vec::new());
    for record in records.iter().filter(|record| record.kind != "stream") {
        all += 1;
        match again(&bytes(&record.body)) {
            Ok(body) if body == record.body => ordered += 1,
            Ok(body) if canonical(&body) == canonical(&record.body) => {}
            Ok(body) => wrong.push(format!("{}: {}", record.id, first_difference(&record.body, &body, ""))),
            Err(why) => wrong.push(format!("{}: {why}", record.id)),
        }
    }
    println!("{all} bodies: {} semantically identical, {ordered} with every field in its place", all - wrong.len());
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
}

pub(super) fn first_difference(a: &Json, b: &Json, at: &str) -> String {
    match (a, b) {
        (Json::Object(x), Json::Object(y)) => {
            for (key, value) in x.iter() {
                let key = key.to_str_lossy();
                let at = format!("{at}.{key}");
                match y.get(&key) {
                    None => return format!("{at} is gone"),
                    Some(other) if canonical(value) != canonical(other) => return first_difference(value, other, &at),
                    Some(_) => {}
                }
            }
            format!("{at} has more keys")
        }
        (Json::Array(x), Json::Array(y)) if x.len() == y.len() => {
            let at_index = x.iter().zip(y).position(|(a, b)| canonical(a) != canonical(b)).unwrap_or(0);
            first_difference(&x[at_index], &y[at_index], &format!("{at}[{at_index}]"))
        }
        _ => format!(
            "{at} differs: {} / {}",
            a.to_text().chars().take(150).collect::<String>(),
            b.to_text().chars().take(150).collect::<String>()
        ),
    }
}
