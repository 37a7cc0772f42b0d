//! Request bodies for checkers that are not ours.

use std::io::Write;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use turnkeep_codec::wire::frame;
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
