//! No policy makes a history that a vendor refuses and did not refuse before.

use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::{EncodeOptions, Input, Target};
use turnkeep_model::policy::{Pipeline, Redact, RedactTarget, Truncate, Unit, Window};
use turnkeep_model::{Archive, Session, json};
use turnkeep_testkit::{for_all, generate};

use crate::recorded::wire;

const WIRES: [&str; 6] =
    ["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];

fn pipelines() -> Vec<(&'static str, Pipeline)> {
    let window = |count, unit| Pipeline::new().window(Window::last(count, unit));
    vec![
        ("two exchanges", window(2, Unit::Exchanges)),
        ("one turn", window(1, Unit::Turns)),
        ("three blocks", window(3, Unit::Blocks)),
        ("arguments", Pipeline::new().redact(Redact::new([RedactTarget::ToolArgs]))),
        ("results", Pipeline::new().redact(Redact::new([RedactTarget::ToolResults]))),
        ("secrets", Pipeline::new().redact(Redact::new([RedactTarget::Secrets]).with_pattern("[a-m]+").unwrap())),
        ("cut", Pipeline::new().truncate(Truncate::to(6))),
        (
            "all",
            window(2, Unit::Turns).redact(Redact::new(RedactTarget::ALL.iter().copied())).truncate(Truncate::to(9)),
        ),
    ]
}

/// The rules that the next request of a session breaks; none where it has nothing to say.
fn broken(session: &Session, id: &str) -> Vec<&'static str> {
    let mut options = EncodeOptions::default();
    options.as_request = true;
    let target = Target { codec: wire(id), variant: None };
    let bytes = turnkeep_codec::encode(&Archive::from(session.clone()), &target, &options).unwrap().bytes;
    if says_nothing(&bytes) {
        return Vec::new();
    }
    let findings = lint(Input::new(&bytes), id, Strictness::Lax).unwrap();
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| finding.rule).collect()
}

/// Whether a request has no message: then it is no request, whoever emptied it.
pub(crate) fn says_nothing(bytes: &[u8]) -> bool {
    let body = json::parse(std::str::from_utf8(bytes).unwrap()).unwrap();
    let lists = ["messages", "input", "contents"].iter().filter_map(|key| body.get(key));
    lists.filter_map(|list| list.as_array()).all(<[_]>::is_empty)
}

#[test]
fn no_policy_makes_a_history_that_a_vendor_refuses() {
    for strategy in [generate::history(), generate::plain_session()] {
        for_all(40, &strategy, |session| {
            for (name, pipeline) in pipelines() {
                let mut reduced = session.clone();
                pipeline.apply(&mut reduced).unwrap();
                for id in WIRES {
                    let (before, after) = (broken(&session, id), broken(&reduced, id));
                    let new: Vec<_> = after.iter().filter(|rule| !before.contains(rule)).collect();
                    if !new.is_empty() {
                        return Err(proptest::test_runner::TestCaseError::fail(format!("{name}, {id}: {new:?}")));
                    }
                }
            }
            Ok(())
        });
    }
}
