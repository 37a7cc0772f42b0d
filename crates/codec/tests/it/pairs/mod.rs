//! From everywhere to every wire: the request is valid for its target, every loss is told, and the session still gives
//! its own wire its own bytes.
#![expect(clippy::print_stdout, reason = "the counts are what these tests tell")]

mod bodies;
mod check;
pub(crate) mod sources;

use turnkeep_model::json::{self, Nan};
use turnkeep_model::{Archive, Json};
use turnkeep_testkit::{for_all, generate};

use check::{Verdicts, problems};
use sources::Source;

/// The six wires, and the vendors that speak OpenAI's.
fn targets() -> Vec<String> {
    let own = |id: &&str| WIRES.contains(&id.split(':').next().unwrap_or_default());
    let writes = |target: &String| {
        let (id, variant) = target.split_once(':').unwrap_or((target, ""));
        variant.is_empty() || crate::recorded::wire(id).spec().variants.contains(&variant)
    };
    turnkeep_codec::lint::targets().filter(|target| own(&target.as_str()) && writes(target)).collect()
}

const WIRES: &[&str] =
    &["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];

#[test]
fn every_fixture_of_every_format_becomes_a_valid_request() {
    let mut verdicts = Verdicts::default();
    for source in sources::fixtures() {
        for target in targets() {
            verdicts.add(&source, &target);
        }
    }
    verdicts.tell("fixtures");
}

#[test]
fn recorded_histories_become_valid_requests_of_every_other_wire() {
    let Some(recorded) = sources::recorded("recorded_histories_become_valid_requests_of_every_other_wire") else {
        return;
    };
    let mut verdicts = Verdicts::default();
    for source in recorded {
        for target in WIRES.iter().filter(|target| source.may_go_to(target)) {
            verdicts.add(&source, target);
        }
        verdicts.add_own(&source);
    }
    verdicts.tell("recorded histories");
}

#[test]
fn broken_histories_become_valid_requests() {
    for_all(150, &generate::history(), |session| {
        let archive = Archive::from(session);
        for target in targets() {
            let found = problems(&archive, &target);
            proptest::prop_assert!(found.is_empty(), "{target}: {found:#?}");
        }
        Ok(())
    });
}

/// The next request of a session for a wire.
pub(crate) fn next_request(archive: &Archive, target: &str) -> Json {
    let (bytes, _) = check::request(archive, target);
    json::parse_with(std::str::from_utf8(&bytes).unwrap(), Nan::Accept).unwrap().into_json()
}

impl Source {
    /// What another vendor said in the same wire stays that vendor's: it is judged elsewhere, by its rules.
    fn may_go_to(&self, target: &str) -> bool {
        const HOMES: &[&str] =
            &["openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "bedrock-converse"];
        self.from != target || self.name.split('/').next().is_some_and(|provider| HOMES.contains(&provider))
    }

    fn archive(&self) -> &Archive {
        &self.decoded.archive
    }
}
