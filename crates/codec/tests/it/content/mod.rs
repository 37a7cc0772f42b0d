//! Nothing said is silently gone: what one vendor was told is in the request to another, or a content loss names it.
#![expect(clippy::print_stdout, reason = "the counts are what these tests tell")]

mod cases;
mod check;
mod gallery;
mod said;

use std::collections::BTreeMap;
use std::path::PathBuf;

use turnkeep_model::json::{self, Json, Nan};
use turnkeep_model::{Archive, Session};
use turnkeep_testkit::golden::Case;
use turnkeep_testkit::{for_all, generate};

use check::gone;

const WIRES: &[&str] =
    &["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];

/// What is gone over many bodies.
#[derive(Default)]
struct Tally {
    converted: BTreeMap<(String, &'static str), usize>,
    gone: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: &str, body: &Json, from: &str) {
        for to in WIRES {
            *self.converted.entry((from.to_owned(), to)).or_default() += 1;
            self.gone.extend(gone(body, from, to).into_iter().map(|what| format!("{name}: {from} -> {to}: {what}")));
        }
    }

    fn tell(&self, what: &str) {
        let all: usize = self.converted.values().sum();
        println!("{what}: {all} conversions over {} pairs of wires, {} gone", self.converted.len(), self.gone.len());
        // One of each place: a gap in one format shows in many bodies.
        let place = |gone: &str| gone.split(": ").nth(2).unwrap_or_default().to_owned();
        let places: BTreeMap<String, &String> = self.gone.iter().map(|gone| (place(gone), gone)).collect();
        let shown: Vec<_> = places.values().take(40).collect();
        assert!(self.gone.is_empty(), "{} silently gone: {shown:#?}", self.gone.len());
    }
}

#[test]
fn nothing_that_a_fixture_says_is_silently_gone() {
    let mut tally = Tally::default();
    for from in WIRES {
        for case in Case::all(from) {
            let Ok(text) = std::str::from_utf8(&case.input) else { continue };
            let Ok(body) = json::parse_with(text, Nan::Accept).map(json::Node::into_json) else { continue };
            tally.add(&case.name, &body, from);
        }
    }
    tally.tell("fixtures");
}

#[test]
fn nothing_that_vendors_blocks_say_is_silently_gone() {
    for_all(30, &gallery::body(), |(from, body)| {
        for to in WIRES {
            let gone = gone(&body, from, to);
            proptest::prop_assert!(gone.is_empty(), "{from} -> {to}: {gone:#?}\n{}", body.to_text());
        }
        Ok(())
    });
}

#[test]
fn nothing_that_a_generated_session_says_is_silently_gone_between_two_wires() {
    for_all(12, &generate::history(), |session: Session| {
        let archive = Archive::from(session);
        for from in WIRES {
            let body = crate::pairs::next_request(&archive, from);
            for to in WIRES {
                let gone = gone(&body, from, to);
                proptest::prop_assert!(gone.is_empty(), "{from} -> {to}: {gone:#?}\n{}", body.to_text());
            }
        }
        Ok(())
    });
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

/// Every fortieth recorded body, or all where `TURNKEEP_PAIRS` is `all`.
#[test]
fn nothing_that_a_recorded_body_says_is_silently_gone() {
    let Some(folder) = std::env::var_os("TURNKEEP_CORPUS").map(PathBuf::from) else {
        println!("skipped: recorded bodies between wires: TURNKEEP_CORPUS names no folder of recorded bodies");
        return;
    };
    let every = if std::env::var("TURNKEEP_PAIRS").is_ok_and(|word| word == "all") { 1 } else { 40 };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder.join("providers")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    let mut tally = Tally::default();
    let mut count = 0;
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            count += 1;
            if count % every == 0
                && let Some((name, from, body)) = recorded_body(line)
            {
                tally.add(&name, &body, from);
            }
        }
    }
    tally.tell("recorded bodies");
}

/// A recorded request that the vendor took, or what it answered.
fn recorded_body(line: &str) -> Option<(String, &'static str, Json)> {
    let Json::Object(mut record) = json::parse_with(line, Nan::Accept).unwrap().into_json() else { return None };
    let dialect = record.get_str("dialect")?.into_owned();
    let (_, from) = DIALECTS.iter().find(|(own, _)| *own == dialect)?;
    let kind = record.get_str("kind")?.into_owned();
    let body = record.remove("body").filter(|body| body.as_object().is_some() && kind != "stream")?;
    Some((record.get_str("id")?.into_owned(), from, body))
}
