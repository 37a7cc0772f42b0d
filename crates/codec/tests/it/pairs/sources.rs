//! Where sessions come from.

use std::path::PathBuf;

use turnkeep_codec::{DecodeOptions, Decoded, Input, format};
use turnkeep_model::Json;
use turnkeep_model::json::{self, Nan};
use turnkeep_testkit::golden::Case;

use crate::recorded::wire;

/// A file or a recorded body, and the session in it.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) from: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) decoded: Decoded,
}

/// Every fixture of every format that can be read.
pub(crate) fn fixtures() -> Vec<Source> {
    let mut found = Vec::new();
    for codec in format::ALL.iter().filter(|codec| codec.spec().reads) {
        let from = codec.spec().id;
        for case in Case::all(from) {
            if let Ok(decoded) = codec.decode(Input::new(&case.input), &DecodeOptions::default()) {
                found.push(Source { name: format!("{from}/{}", case.name), from, bytes: case.input, decoded });
            }
        }
    }
    found
}

/// Which wire each dialect of the recorded bodies is.
const DIALECTS: &[(&str, &str)] = &[
    ("openai-chat", "openai.chat"),
    ("openai-responses", "openai.responses"),
    ("anthropic", "anthropic.messages"),
    ("gemini", "gemini.contents"),
    ("ollama", "ollama.chat"),
    ("bedrock-converse", "bedrock.converse"),
];

/// What makes a history hard to convert.
const HARD: &[&str] = &[
    "tool_call",
    "tool_result",
    "thinking",
    "signature",
    "thought_signature",
    "encrypted_content",
    "redacted_thinking",
    "server_tool",
    "image",
    "file",
    "audio",
];

/// Recorded requests with tools, thinking or media in their history: every tenth, or all where `TURNKEEP_PAIRS` is
/// `all`. Nothing where there is no corpus; `test` is told to be skipped then.
pub(crate) fn recorded(test: &str) -> Option<Vec<Source>> {
    recorded_where(test, |features| features.iter().any(|feature| HARD.contains(&feature.as_str())))
}

/// Recorded requests whose features are wanted, in the same numbers.
pub(crate) fn recorded_where(test: &str, is_wanted: fn(&[String]) -> bool) -> Option<Vec<Source>> {
    let Some(folder) = std::env::var_os("TURNKEEP_CORPUS").map(PathBuf::from) else {
        println!("skipped: {test}: TURNKEEP_CORPUS names no folder of recorded bodies");
        return None;
    };
    let every = if std::env::var("TURNKEEP_PAIRS").is_ok_and(|word| word == "all") { 1 } else { 10 };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder.join("providers")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    let wanted = texts.flat_map(|text| text.lines().filter_map(|line| request(line, is_wanted)).collect::<Vec<_>>());
    Some(wanted.step_by(every).filter_map(source).collect())
}

type Record = (String, &'static str, Json);

fn request(line: &str, is_wanted: fn(&[String]) -> bool) -> Option<Record> {
    let Json::Object(mut record) = json::parse_with(line, Nan::Accept).unwrap().into_json() else { return None };
    let (_, from) =
        DIALECTS.iter().find(|(dialect, _)| record.get_str("dialect").is_some_and(|own| own == *dialect))?;
    let features = record.get("features")?.as_array()?;
    let features: Vec<String> = features.iter().filter_map(|feature| Some(feature.as_str()?.into_owned())).collect();
    let wanted = is_wanted(&features) && record.get_str("kind")? == "request";
    wanted.then(|| Some((record.get_str("id")?.into_owned(), *from, record.remove("body")?)))?
}

fn source((name, from, body): Record) -> Option<Source> {
    let bytes = body.to_text().into_bytes();
    let decoded = wire(from).decode(Input::new(&bytes), &DecodeOptions::default()).ok()?;
    Some(Source { name, from, bytes, decoded })
}
