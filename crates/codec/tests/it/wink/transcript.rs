//! Transcripts: what was said and done, as the log tells it.

use turnkeep_codec::{Input, sniff};
use turnkeep_model::{Author, Body, LossKind};

use super::{case, cases, decode, rewrite, session};

#[test]
fn transcripts_come_back_byte_for_byte() {
    for (name, text) in cases("wink.transcript") {
        assert_eq!(rewrite("wink.transcript", &text), (text.clone(), vec![]), "{name}");
        assert_eq!(sniff(&Input::new(text.as_bytes())).unwrap().codec.spec().id, "wink.transcript");
    }
}

#[test]
fn entries_are_blocks() {
    let session = session("wink.transcript", &case("wink.transcript", "transcript"));
    let blocks: Vec<_> =
        session.turns[0].blocks.iter().map(|block| (block.author.clone(), block.body.kind())).collect();
    let (user, assistant, tool) = (Author::User, Author::Assistant, Author::Tool);
    assert_eq!(
        blocks[..5],
        [
            (user, "text"),
            (assistant.clone(), "reasoning"),
            (assistant.clone(), "text"),
            (assistant, "tool_call"),
            (tool, "tool_result")
        ]
    );
    assert_eq!(session.turns[0].blocks[2].body.as_text(), Some("I'll look"));
    let Body::ToolCall(call) = &session.turns[0].blocks[3].body else { panic!() };
    assert_eq!((call.call.as_given(), call.arguments.as_str()), (Some("toolu_1"), r#"{"path":"a.py"}"#));
    assert_eq!((session.turns[0].usage.input, session.turns[0].usage.output), (Some(10), Some(3)));
    assert_eq!(session.turns[0].api.as_deref(), Some("claude_agent_sdk"));
    assert_eq!(session.prompt.unwrap().key, "code-review");
}

#[test]
fn a_subagent_is_a_session_of_its_own() {
    let archive = decode("wink.transcript", &case("wink.transcript", "transcript")).unwrap().archive;
    assert_eq!((archive.sessions.len(), archive.main), (2, 0));
    let sub = &archive.sessions[1];
    assert_eq!(sub.agent.as_deref(), Some("subagent:abc"));
    assert_eq!(sub.parent.as_ref().unwrap().session, archive.sessions[0].id.clone().unwrap());
}

#[test]
fn a_line_that_is_no_record_is_skipped_and_reported() {
    let text = case("wink.transcript", "transcript");
    let decoded = decode("wink.transcript", &format!("{text}{{\"timestamp\": ")).unwrap();
    assert_eq!(decoded.losses.iter().map(|loss| loss.kind).collect::<Vec<_>>(), [LossKind::Dropped]);
}

#[test]
fn odd_entries_survive() {
    let text = case("wink.transcript", "transcript");
    let changes = [
        ("\"sequence_number\": 3", "\"sequence_number\": 30"),
        ("\"level\": \"DEBUG\"", "\"level\": \"INFO\""),
        (
            "\"adapter\": \"claude_agent_sdk\", \"entry_type\": \"thinking\"",
            "\"adapter\": \"codex\", \"entry_type\": \"thinking\"",
        ),
        (
            "\"prompt_name\": \"code-review\", \"adapter\": \"claude_agent_sdk\", \"entry_type\": \"error\"",
            "\"prompt_name\": \"x\", \"adapter\": \"claude_agent_sdk\", \"entry_type\": \"error\"",
        ),
        (", \"detail\": {}", ""),
        (", \"detail\": {}", ", \"detail\": null"),
        ("{\"text\": \"Review this\"}", "{\"content\": \"Review this\", \"more\": [1.0]}"),
        (
            "{\"tool_use_id\": \"toolu_1\", \"name\": \"read_file\", \"input\": {\"path\": \"a.py\"}}",
            "{\"name\": \"read_file\"}",
        ),
        ("\"input\": {\"path\": \"a.py\"}", "\"input\": \"a.py\""),
        ("\"content\": \"...\"", "\"content\": [{\"type\": \"text\", \"text\": \"...\"}], \"is_error\": true"),
        (
            "\"content\": [{\"type\": \"text\", \"text\": \"I'll look\"}]",
            "\"content\": [{\"type\": \"text\", \"text\": \"a\"}, {\"type\": \"text\", \"text\": \"b\"}]",
        ),
        ("\"session_id\": \"00000000-0000-0000-0000-000000000032\", ", ""),
    ];
    for (from, to) in changes {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        assert_eq!(rewrite("wink.transcript", &changed), (changed.clone(), vec![]), "{from}");
    }
}
