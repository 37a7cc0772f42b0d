//! Native documents that an earlier build wrote: what they note of a foreign spelling is still understood.
//!
//! `fixtures/frozen/<format>.jsonl` has one case on each line: the native document, and the foreign text that it came
//! from and becomes again. They are never written again; a format that is new gets its file from
//! `freezes_documents_of_this_version`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Input, format};
use turnkeep_model::Archive;
use turnkeep_model::json::{self, Json, JsonSink, Layout, Object, Sink};
use turnkeep_testkit::golden::Case;
use turnkeep_testkit::keys::{DISTURBANCES, documents};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/frozen")
}

fn decode(codec: &dyn Codec, bytes: &[u8]) -> Option<Archive> {
    codec.decode(Input::new(bytes), &DecodeOptions::default()).ok().map(|decoded| decoded.archive)
}

fn encode(codec: &dyn Codec, archive: &Archive) -> Option<String> {
    let bytes = codec.encode(archive, &EncodeOptions::default()).ok()?.bytes;
    String::from_utf8(bytes).ok()
}

fn thawed(native: &str) -> Archive {
    let codec = format::by_id("turnkeep").unwrap();
    decode(codec, native.as_bytes()).unwrap()
}

fn foreign() -> impl Iterator<Item = &'static dyn Codec> {
    let is_foreign = |codec: &&dyn Codec| {
        let spec = codec.spec();
        spec.reads && spec.writes && !spec.id.starts_with("turnkeep")
    };
    format::ALL.iter().copied().filter(is_foreign)
}

#[test]
fn documents_of_earlier_builds_become_the_foreign_text_they_came_from() {
    let mut checked = 0;
    for codec in foreign() {
        let Ok(lines) = std::fs::read_to_string(folder().join(format!("{}.jsonl", codec.spec().id))) else { continue };
        for line in lines.lines() {
            let case = json::parse(line).unwrap().into_json();
            let case = case.as_object().unwrap();
            let written = encode(codec, &thawed(&case.get("native").unwrap().to_text())).unwrap();

            assert_eq!(
                written,
                case.get_str("foreign").unwrap(),
                "{}: {}",
                codec.spec().id,
                case.get_str("case").unwrap()
            );
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} frozen documents were found");
}

#[test]
#[ignore = "writes fixtures; to be run for a format that is new"]
fn freezes_documents_of_this_version() {
    std::fs::create_dir_all(folder()).unwrap();
    for codec in foreign() {
        let path = folder().join(format!("{}.jsonl", codec.spec().id));
        let lines = frozen(codec);
        if !path.exists() && !lines.is_empty() {
            std::fs::write(path, lines).unwrap();
        }
    }
}

/// Cases of a format: each of them has a note that no case before it has.
fn frozen(codec: &dyn Codec) -> String {
    let mut known = BTreeSet::new();
    let mut lines = String::new();
    for case in Case::all(codec.spec().id) {
        let Some(originals) = documents(&case.input) else { continue };
        for disturbance in DISTURBANCES {
            let originals: Vec<Json> = originals.iter().map(|json| disturbance.everywhere(json)).collect();
            let text: String = originals.iter().map(|json| json.to_text() + "\n").collect();
            let Some(archive) = decode(codec, text.as_bytes()) else { continue };
            let Some(written) = encode(codec, &archive) else { continue };
            if documents(written.as_bytes()) != Some(originals) {
                continue;
            }
            let native = archive.to_json(Layout::Compact);
            let native = json::parse(&native).unwrap().into_json();
            let mut notes = BTreeSet::new();
            notes_of(&native, "", &mut notes);
            if notes.is_subset(&known) {
                continue;
            }
            known.append(&mut notes);
            let mut line = Object::new();
            line.push("case", format!("{}, {}", case.name, disturbance.name));
            line.push("foreign", written);
            line.push("native", native);
            let mut sink = JsonSink::native(Layout::Compact);
            sink.json(&Json::Object(line));
            lines += &sink.into_text();
            lines.push('\n');
        }
    }
    lines
}

/// The places and kinds of the notes on spelling in a native document.
fn notes_of(json: &Json, at: &str, notes: &mut BTreeSet<String>) {
    match json {
        Json::Array(items) => items.iter().for_each(|item| notes_of(item, at, notes)),
        Json::Object(object) => {
            for (key, value) in object.iter() {
                let at = format!("{at}/{}", key.to_str_lossy());
                match key.to_str_lossy().as_ref() {
                    "spelling" => kinds_of(value, &at, notes),
                    _ => notes_of(value, &at, notes),
                }
            }
        }
        _ => {}
    }
}

fn kinds_of(note: &Json, at: &str, notes: &mut BTreeSet<String>) {
    match note {
        Json::Object(object) => {
            object.iter().for_each(|(key, value)| kinds_of(value, &format!("{at}/{}", key.to_str_lossy()), notes));
        }
        Json::String(text) if text.to_str_lossy().contains(' ') => drop(notes.insert(format!("{at} words"))),
        Json::String(text) => drop(notes.insert(format!("{at} {}", text.to_str_lossy()))),
        other => drop(notes.insert(format!("{at} {}", other.kind()))),
    }
}
