//! What the next request of a session is, for wires where two sides take turns.

use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Encoded, Input};
use turnkeep_model::json::{self, Json};
use turnkeep_model::{
    Archive, Author, Block, CallId, FinishReason, LossKind, Reasoning, Scope, Session, Text, ToolCall, ToolResult, Turn,
};

use crate::recorded::{errors, wire};

const ANTHROPIC: &str = "anthropic.messages";
const BEDROCK: &str = "bedrock.converse";

fn decode(codec: &dyn Codec, text: &str) -> Session {
    let decoded = codec.decode(Input::new(text.as_bytes()), &DecodeOptions::default()).unwrap();
    decoded.archive.main_session().unwrap().clone()
}

fn request(target: &str, session: &Session) -> (Json, Encoded) {
    let mut options = EncodeOptions::default();
    options.as_request = true;
    let encoded = wire(target).encode(&Archive::from(session.clone()), &options).unwrap();
    let body = json::parse(&String::from_utf8(encoded.bytes.clone()).unwrap()).unwrap().into_json();
    (body, encoded)
}

fn messages(body: &Json) -> String {
    body.as_object().unwrap().get("messages").unwrap().to_text()
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { call: CallId::given(id), name: name.into(), arguments: arguments.into() }
}

fn result(id: &str, text: &str) -> ToolResult {
    let parts = vec![Text { text: text.into() }.into()];
    ToolResult { call: CallId::given(id), name: None, parts, error: None, is_error: None, outcome: None }
}

fn session(blocks: Vec<Block>) -> Session {
    let blocks = blocks.into_iter().enumerate().map(|(at, block)| block.in_message(at as u32)).collect();
    Session { turns: vec![Turn { blocks, ..Turn::default() }], ..Session::default() }
}

#[test]
fn a_call_without_result_gets_an_honest_one() {
    let session = session(vec![
        Block::text(Author::User, "Go."),
        Block::new(Author::Assistant, call("functions.run:0", "run", "not json")),
        Block::text(Author::Assistant, "I run it."),
    ]);

    let (body, encoded) = request(ANTHROPIC, &session);

    assert!(errors(ANTHROPIC, &body).is_empty(), "{body}");
    let text = messages(&body);
    assert!(text.contains(r#"{"type":"text","text":"interrupted, outcome unknown"}"#), "{text}");
    assert!(!text.contains("is_error"), "{text}");
    assert!(text.find("I run it.").unwrap() < text.find("tool_use").unwrap(), "text stands before the calls: {text}");
    let kinds = |at: &str| encoded.losses.iter().find(|loss| loss.at == at).map(|loss| loss.kind);
    assert_eq!(kinds("options"), Some(LossKind::Synthesised));
    assert_eq!(kinds("extra"), Some(LossKind::Synthesised));
}

#[test]
fn results_without_a_call_are_dropped_and_reported() {
    let session = session(vec![
        Block::text(Author::User, "Go."),
        Block::new(Author::Assistant, call("a", "run", "{}")),
        Block::new(Author::Tool, result("b", "lost")),
        Block::new(Author::Tool, result("a", "found")),
        Block::new(Author::Tool, result("a", "again")),
    ]);

    for target in [ANTHROPIC, BEDROCK] {
        let (body, encoded) = request(target, &session);

        assert!(errors(target, &body).is_empty(), "{body}");
        let text = messages(&body);
        assert!(text.contains("found") && !text.contains("lost") && !text.contains("again"), "{text}");
        let dropped = |at: &str| encoded.losses.iter().any(|loss| loss.at == at && loss.kind == LossKind::Dropped);
        assert!(dropped("turns[0].blocks[2]"), "{:#?}", encoded.losses);
    }
}

#[test]
fn thinking_is_sent_only_where_it_can_verify() {
    let thought = |provider: &str, model: Option<&str>| Reasoning {
        text: Some("hm".into()),
        signature: Some("c2ln".into()),
        scope: Some(Scope { provider: Some(provider.into()), model: model.map(str::to_owned), ..Scope::default() }),
        ..Reasoning::default()
    };
    let sent = |target: &str, thought: Reasoning| {
        let session = session(vec![
            Block::text(Author::User, "Why?"),
            Block::new(Author::Assistant, thought),
            Block::text(Author::Assistant, "So."),
            Block::text(Author::User, "And?"),
        ]);
        messages(&request(target, &session).0).contains("c2ln")
    };

    assert!(sent(ANTHROPIC, thought("anthropic", None)));
    assert!(!sent(ANTHROPIC, thought("anthropic", Some("claude-of-another-name"))));
    assert!(!sent(ANTHROPIC, thought("bedrock", None)));
    assert!(sent(BEDROCK, thought("bedrock", None)));
    assert!(!sent(BEDROCK, thought("openai", None)));
}

#[test]
fn thinking_is_not_sent_behind_another_history_than_it_was_made_with() {
    let text = r#"{"model":"claude-a","max_tokens":9,"messages":[{"role":"user","content":"One?"},{"role":"assistant",
        "content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"Yes."}]},
        {"role":"user","content":"Two?"}]}"#;
    let session = decode(wire(ANTHROPIC), text);
    let mut edited = session.clone();
    edited.turns[0].blocks[0] = Block::text(Author::User, "Three?");

    assert!(messages(&request(ANTHROPIC, &session).0).contains("c2ln"));
    assert!(!messages(&request(ANTHROPIC, &edited).0).contains("c2ln"));
}

#[test]
fn the_next_request_of_an_exchange_goes_on_from_the_answer() {
    let text = r#"{"request":{"model":"claude-a","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"Hi"}]},
        "response":{"id":"msg_1","type":"message","role":"assistant","model":"claude-a","content":[{"type":"text",
        "text":"Hello"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}"#;

    let (body, _) = request(ANTHROPIC, &decode(wire(ANTHROPIC), text));

    assert_eq!(
        body.to_text(),
        r#"{"model":"claude-a","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"text","text":"Hello"}]}]}"#
    );
}

#[test]
fn usage_counts_all_that_was_sent() {
    let text = r#"{"type":"message","role":"assistant","content":[],"usage":{"input_tokens":3,
        "cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":7}}"#;

    let session = decode(wire(ANTHROPIC), text);

    let usage = &session.turns[0].usage;
    assert_eq!((usage.input, usage.cached_read, usage.cached_write), (Some(113), Some(100), Some(10)));
}

#[test]
fn a_stream_that_was_cut_off_is_interrupted_wherever_it_was_cut() {
    let whole = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bedrock.converse/stream/input.bin"))
        .unwrap();
    let codec = wire(BEDROCK);
    for cut in (150..whole.len()).step_by(37) {
        let decoded = codec.decode(Input::new(&whole[..cut]), &DecodeOptions::default()).unwrap();
        let turn = &decoded.archive.main_session().unwrap().turns[0];
        let is_cut = turn.finish.as_ref().unwrap().reason == FinishReason::Interrupted;
        assert!(is_cut || turn.finish.as_ref().unwrap().word.as_deref() == Some("tool_use"), "{cut}");
        assert!(!decoded.losses.is_empty(), "{cut}");
    }
}

#[test]
fn a_model_s_own_events_in_frames_are_read() {
    let frames = r#"[{"headers":{":event-type":"chunk"},"payload":{"bytes":"eyJ0eXBlIjoibWVzc2FnZV9zdGFydCIsIm1lc3NhZ2UiOnsiaWQiOiJtc2dfYmRya18xIiwidHlwZSI6Im1lc3NhZ2UiLCJyb2xlIjoiYXNzaXN0YW50IiwibW9kZWwiOiJjbGF1ZGUtYSIsImNvbnRlbnQiOltdLCJzdG9wX3JlYXNvbiI6bnVsbH19","p":"ab"}},
        {"headers":{":event-type":"chunk"},"payload":{"bytes":"eyJ0eXBlIjoibWVzc2FnZV9zdG9wIn0=","p":"a"}}]"#;

    let session = decode(wire(ANTHROPIC), frames);

    let turn = &session.turns[0];
    assert_eq!((turn.model.as_deref(), turn.provider.as_deref()), (Some("claude-a"), Some("bedrock")));
}

#[test]
fn rules_explain_what_the_vendor_would_answer() {
    let body = r#"{"model":"claude-a","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use",
        "id":"a:1","name":"run","input":"x"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"},
        {"type":"text","text":""}]}],"thinking":{"type":"enabled","budget_tokens":5},"temperature":0.5}"#;

    let found = errors(ANTHROPIC, &json::parse(body).unwrap().into_json());

    assert_eq!(found, ["AN-EMPTYTEXT", "AN-DANGLING", "AN-ORPHAN", "AN-ID", "AN-INPUT", "AN-BUDGET", "AN-TEMP"]);
}
