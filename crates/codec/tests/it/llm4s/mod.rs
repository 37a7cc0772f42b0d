//! llm4s states and sessions: real files, the library's verdicts, and the cases of its specification.

mod files;
mod rules;
mod spec;
mod targets;
mod verdicts;

use std::path::{Path, PathBuf};

use turnkeep_codec::{DecodeOptions, Decoded, EncodeOptions, Encoded, Input, format};
use turnkeep_model::json::{self, Json};
use turnkeep_model::{Error, Loss, Session};

const STATE: &str = "llm4s.state";
const SESSION: &str = "llm4s.session";

/// A state with nothing in it, as 2025-11 wrote it but on one line.
const OLD: &str = r#"{"conversation":{"messages":[]},"initialQuery":null,"status":"Complete","logs":[],"systemMessage":null,"completionOptions":{"temperature":0.7,"topP":1.0,"maxTokens":null,"presencePenalty":0.0,"frequencyPenalty":0.0}}"#;

fn fixtures(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(format)
}

fn fixture(format: &str, case: &str) -> String {
    let path = fixtures(format).join(case).join("input.json");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn decode(format: &str, text: &str) -> Result<Decoded, Error> {
    format::by_id(format)?.decode(Input::new(text.as_bytes()), &DecodeOptions::default())
}

fn session(format: &str, text: &str) -> (Session, Vec<Loss>) {
    let Decoded { archive, losses } = decode(format, text).unwrap();
    (archive.main_session().unwrap().clone(), losses)
}

fn encode(format: &str, session: &Session) -> (String, Vec<Loss>) {
    let codec = format::by_id(format).unwrap();
    let Encoded { bytes, losses, .. } = codec.encode(&session.clone().into(), &EncodeOptions::default()).unwrap();
    (String::from_utf8(bytes).unwrap(), losses)
}

/// The text after reading and writing it, and what was lost on both sides.
fn rewrite(format: &str, text: &str) -> (String, Vec<Loss>) {
    let (session, mut losses) = session(format, text);
    let (text, more) = encode(format, &session);
    losses.extend(more);
    (text, losses)
}

/// The text after the library would have loaded and saved it.
fn compat(format: &str, text: &str) -> Result<String, Error> {
    let codec = format::by_id(format)?;
    let decoded = codec.decode(Input::new(text.as_bytes()), &DecodeOptions::compat())?;
    let encoded = codec.encode(&decoded.archive, &EncodeOptions::compat())?;
    Ok(String::from_utf8(encoded.bytes).unwrap())
}

fn parse(text: &str) -> Json {
    json::parse(text).unwrap().into_json()
}

/// The value at a path of keys and indices, as in `completionOptions.reasoning`.
fn at<'a>(json: &'a Json, path: &str) -> &'a Json {
    path.split('.').fold(json, |json, step| match json {
        Json::Array(items) => items.get(step.parse::<usize>().unwrap()).unwrap(),
        Json::Object(object) => object.get(step).unwrap_or_else(|| panic!("no `{step}`")),
        _ => panic!("no `{step}`"),
    })
}

/// Losses as `kind place`.
fn told(losses: &[Loss]) -> Vec<String> {
    losses.iter().map(|loss| format!("{} {}", loss.kind, loss.at)).collect()
}
