//! weakincentives: fixtures of the real program, the specification's examples, and its verdicts.

use std::fs;
use std::path::{Path, PathBuf};

use turnkeep_codec::{DecodeOptions, Decoded, EncodeOptions, Encoded, Input, format};
use turnkeep_model::json::{Json, Nan, parse_with};
use turnkeep_model::{Archive, Error, Loss, Session};

mod bundle;
mod conversation;
mod envelope;
mod transcript;
mod verdicts;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// Every case of a format with its text.
fn cases(format: &str) -> Vec<(String, String)> {
    let mut cases = Vec::new();
    for case in fs::read_dir(fixtures().join(format)).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        for file in fs::read_dir(case.path()).unwrap().flatten() {
            if file.file_name().to_string_lossy().starts_with("input.") {
                let text = fs::read_to_string(file.path()).unwrap();
                cases.push((case.file_name().to_string_lossy().into_owned(), text));
            }
        }
    }
    cases.sort();
    cases
}

fn case(format: &str, name: &str) -> String {
    cases(format).into_iter().find(|(case, _)| case == name).unwrap_or_else(|| panic!("{name}")).1
}

fn decode(format: &str, text: &str) -> Result<Decoded, Error> {
    format::by_id(format)?.decode(Input::new(text.as_bytes()), &DecodeOptions::default())
}

fn compat(format: &str, text: &str) -> Result<Decoded, Error> {
    format::by_id(format)?.decode(Input::new(text.as_bytes()), &DecodeOptions::compat())
}

fn encode(format: &str, archive: &Archive) -> Encoded {
    format::by_id(format).unwrap().encode(archive, &EncodeOptions::default()).unwrap()
}

fn session(format: &str, text: &str) -> Session {
    decode(format, text).unwrap().archive.main_session().unwrap().clone()
}

/// The text after reading and writing it, and the losses of both.
fn rewrite(format: &str, text: &str) -> (String, Vec<Loss>) {
    let decoded = decode(format, text).unwrap();
    let encoded = encode(format, &decoded.archive);
    (String::from_utf8(encoded.bytes).unwrap(), decoded.losses.into_iter().chain(encoded.losses).collect())
}

fn json(text: &str) -> Json {
    parse_with(text, Nan::Accept).unwrap().into_json()
}
