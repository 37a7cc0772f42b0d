//! Request bodies for checkers that are not ours.

use std::io::Write;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use turnkeep_codec::wire::frame;
use turnkeep_codec::{DecodeOptions, Input};
use turnkeep_model::{Archive, Json};
use turnkeep_testkit::generate;

use crate::recorded::{given_back, recorded, wire};

use super::check::{is_silent, request};
use super::{WIRES, sources};

/// How many sessions are generated.
const GENERATED: usize = 300;

/// Writes the next request of every session there is for every wire, one a line, where `TURNKEEP_BODIES` names a file.
#[test]
fn bodies_for_checkers_of_others() {
    let Some(path) = std::env::var_os("TURNKEEP_BODIES") else {
        println!("skipped: bodies_for_checkers_of_others: TURNKEEP_BODIES names no file to write to");
        return;
    };
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let recorded = sources::recorded("recorded bodies for checkers of others").unwrap_or_default();
    let read = sources::fixtures().into_iter().chain(recorded);
    let read = read.map(|source| (source.name, source.from, source.decoded.archive));
    for (name, from, archive) in read.chain(generated()) {
        for wire in WIRES {
            let (bytes, _) = request(&archive, wire);
            if !is_silent(&bytes) {
                writeln!(file, "{}", line(&name, from, wire, &String::from_utf8(bytes).unwrap())).unwrap();
            }
        }
    }
}

/// Writes what every recorded stream makes up, with its events, where `TURNKEEP_STREAMS` names a file.
#[test]
fn streams_for_checkers_of_others() {
    let Some(path) = std::env::var_os("TURNKEEP_STREAMS") else {
        println!("skipped: streams_for_checkers_of_others: TURNKEEP_STREAMS names no file to write to");
        return;
    };
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    for (dialect, id) in [("anthropic", "anthropic.messages"), ("openai-chat", "openai.chat")] {
        let all = recorded(dialect, "streams_for_checkers_of_others");
        for record in all.iter().filter(|record| record.kind == "stream") {
            let events = Json::Array(frame::frames(&record.bytes()).unwrap().unwrap().events).to_text();
            let body = given_back(wire(id), &record.bytes()).unwrap().to_text();
            let name = Json::from(record.id.as_str()).to_text();
            writeln!(file, "{{\"id\":{name},\"wire\":\"{id}\",\"events\":{events},\"body\":{body}}}").unwrap();
        }
    }
}

/// Reads what a mock server of others answered, where `TURNKEEP_ANSWERS` names the folder: each file, named for its wire,
/// holds a session that says something, and nothing of it is lost.
#[test]
fn answers_of_others() {
    let Some(folder) = std::env::var_os("TURNKEEP_ANSWERS") else {
        println!("skipped: answers_of_others: TURNKEEP_ANSWERS names no folder");
        return;
    };
    let answers: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!answers.is_empty(), "the mock server answered nothing");
    for path in answers {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let id = name.split('.').take(2).collect::<Vec<_>>().join(".");
        let bytes = std::fs::read(&path).unwrap();
        let decoded = wire(&id).decode(Input::new(&bytes), &DecodeOptions::default()).unwrap();
        let session = decoded.archive.main_session().unwrap();
        assert!(session.blocks().next().is_some(), "{name}: nothing is said");
        assert_eq!(decoded.losses, [], "{name}");
    }
}

fn line(name: &str, from: &str, wire: &str, body: &str) -> String {
    let quoted = |text: &str| Json::from(text).to_text();
    let (name, from, wire) = (quoted(name), quoted(from), quoted(wire));
    format!("{{\"id\":{name},\"from\":{from},\"wire\":{wire},\"body\":{}}}", body.trim_end().replace('\n', " "))
}

/// The same sessions every time.
fn generated() -> impl Iterator<Item = (String, &'static str, Archive)> {
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    (0..GENERATED).map(move |index| {
        let session = match index % 3 {
            0 => generate::session().new_tree(&mut runner).unwrap().current(),
            _ => generate::history().new_tree(&mut runner).unwrap().current(),
        };
        (format!("generated/{index}"), "turnkeep", Archive::from(session))
    })
}
