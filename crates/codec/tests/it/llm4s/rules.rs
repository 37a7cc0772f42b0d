//! The rules of a conversation.

use turnkeep_codec::Input;
use turnkeep_codec::lint::{Strictness, lint};

fn broken(messages: &str) -> Vec<(&'static str, String)> {
    let state = format!(r#"{{"conversation":{{"messages":[{messages}]}},"initialQuery":null,"status":"InProgress"}}"#);
    let findings = lint(Input::new(state.as_bytes()), "llm4s.state", Strictness::Lax).unwrap();
    findings.into_iter().map(|finding| (finding.rule, finding.at)).collect()
}

fn at(rule: &'static str, index: usize) -> (&'static str, String) {
    (rule, format!("conversation.messages[{index}]"))
}

const USER: &str = r#"{"type":"user","content":"Hello"}"#;
const CALLS: &str =
    r#"{"type":"assistant","data":{"contentOpt":null,"toolCalls":[{"id":"a","name":"f","arguments":{}}]}}"#;
const RESULT: &str = r#"{"type":"tool","toolCallId":"a","content":"done"}"#;

#[test]
fn a_sound_conversation_and_an_empty_one_break_nothing() {
    assert_eq!(broken(""), []);
    assert_eq!(broken(&[USER, CALLS, RESULT].join(",")), []);
    // A system message that stands late, and alone.
    assert_eq!(broken(&[USER, r#"{"type":"system","content":"Be brief."}"#].join(",")), []);
}

#[test]
fn every_rule_of_a_conversation_is_found() {
    let system = r#"{"type":"system","content":"Be brief."}"#;
    let table = [
        (r#"{"type":"user","content":"  "}"#.to_owned(), vec![at("L4-BLANK", 0)]),
        (r#"{"type":"assistant","data":{"contentOpt":null,"toolCalls":[]}}"#.to_owned(), vec![at("L4-SILENT", 0)]),
        ([system, USER, system].join(","), vec![at("L4-SYSTEM", 2)]),
        (RESULT.to_owned(), vec![at("L4-TOOL-FIRST", 0), at("L4-ORPHAN", 0)]),
        ([USER, RESULT].join(","), vec![at("L4-NO-CALLS", 1), at("L4-ORPHAN", 1)]),
        ([USER, CALLS].join(","), vec![at("L4-UNANSWERED", 1)]),
        (
            [USER, CALLS, RESULT, r#"{"type":"tool","toolCallId":"b","content":"x"}"#].join(","),
            vec![at("L4-TOOL-ID", 3), at("L4-ORPHAN", 3)],
        ),
    ];
    for (messages, wanted) in table {
        assert_eq!(broken(&messages), wanted, "{messages}");
    }
}

#[test]
fn all_that_is_wrong_is_found_at_once() {
    let messages = [r#"{"type":"user","content":""}"#, CALLS, r#"{"type":"user","content":" "}"#].join(",");

    assert_eq!(broken(&messages), [at("L4-BLANK", 0), at("L4-UNANSWERED", 1), at("L4-BLANK", 2)]);
}
