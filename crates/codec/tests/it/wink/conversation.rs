//! Conversations in slices are turns, and turns are stored in slices.

use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Input, format, sniff};
use turnkeep_model::json::Json;
use turnkeep_model::{
    Archive, Author, Block, Body, CallId, Loss, LossKind, Part, PromptId, Reasoning, Session, SessionId, Slice, Text,
    Time, ToolCall, ToolResult, Turn, diff_archives,
};

use super::{case, decode, encode, json, rewrite, session};

/// Who wrote the blocks of each turn, and what they are.
fn outline(session: &Session) -> Vec<Vec<String>> {
    let word = |block: &Block| format!("{} {}", block.author, block.body.kind());
    session.turns.iter().map(|turn| turn.blocks.iter().map(word).collect()).collect()
}

#[test]
fn a_state_becomes_turns() {
    let session = session("wink.conversation", &case("wink.conversation", "02_two_turns_with_tools"));

    assert_eq!(
        outline(&session),
        [
            vec!["system text", "assistant tool_call", "assistant tool_call", "tool tool_result", "tool tool_result"],
            vec!["assistant text"]
        ]
    );
    let turn = &session.turns[0];
    assert_eq!(turn.evaluation.as_ref().unwrap().as_str(), "ev-1");
    assert_eq!(turn.provider_payload.as_object().unwrap().get_str("id").as_deref(), Some("resp_1"));
    let Body::ToolCall(call) = &turn.blocks[1].body else { panic!() };
    assert_eq!(call.arguments, "{\"q\": \"rust\", \"n\": 12345678901234567890}");
    let Body::ToolResult(result) = &turn.blocks[3].body else { panic!() };
    assert_eq!((result.call.as_given(), result.name.as_deref()), (Some("c1"), Some("search")));
    assert_eq!(turn.blocks[3].message.time.as_ref().unwrap().as_str(), "2026-03-01T12:00:02+00:00");
    let prompt = session.prompt.unwrap();
    assert_eq!((prompt.ns.as_str(), prompt.key.as_str()), ("demo", "chat"));
    assert_eq!(session.slices, []);
}

#[test]
fn a_state_with_nothing_but_a_system_message_is_an_open_turn() {
    let session = session("wink.conversation", &case("wink.conversation", "01_system_only"));
    assert_eq!(outline(&session), [["system text"]]);
    assert_eq!(session.timing.created.unwrap().as_str(), "2026-03-01T12:00:00+00:00");
}

#[test]
fn calls_without_a_result_are_open() {
    let session = session("wink.conversation", &case("wink.conversation", "04_inner_messages_pending_tool"));
    assert_eq!(
        outline(&session),
        [["system text", "user text", "assistant tool_call", "assistant tool_call", "tool tool_result"]]
    );
    let open: Vec<_> = session.open_calls().iter().filter_map(|call| call.call.as_given()).collect();
    assert_eq!(open, ["c2"]);
}

#[test]
fn a_snapshot_with_a_conversation_is_told_by_it() {
    for (name, text) in super::cases("wink.conversation") {
        let found = sniff(&Input::new(text.as_bytes())).unwrap();
        assert_eq!((found.codec.spec().id, found.others), ("wink.conversation", vec!["wink.snapshot"]), "{name}");
    }
}

#[test]
fn the_two_formats_read_and_write_alike() {
    for name in ["01_system_only", "02_two_turns_with_tools", "04_inner_messages_pending_tool"] {
        let text = case("wink.conversation", name);
        assert_eq!(rewrite("wink.snapshot", &text), (text.clone(), vec![]), "{name}");
    }
}

/// What the specification's classes need not be given is left out where it is missing.
#[test]
fn the_least_that_the_specification_asks_for_is_read() {
    let state = r#"{"evaluation_id": "e", "prompt_key": "k", "prompt_ns": "n", "system_message": {"content": "Hi", "role": "system"}}"#;
    let types = "weakincentives.runtime.conversation:ConversationState";
    let text = format!(
        r#"{{"created_at": "2026-03-01", "slices": [{{"item_type": "{types}", "items": [{state}], "slice_type": "{types}"}}], "version": "1"}}"#
    );
    assert_eq!(outline(&session("wink.conversation", &text)), [["system text"]]);
    assert_eq!(rewrite("wink.conversation", &text), (text.clone(), vec![]));
    assert_eq!(rewrite("wink.snapshot", &text), (text.clone(), vec![]));
}

/// The fixture with one thing changed, which must come back byte for byte.
fn assert_survives(name: &str, from: &str, to: &str) {
    let text = case("wink.conversation", name);
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text, "{from}");
    assert_eq!(rewrite("wink.conversation", &changed), (changed.clone(), vec![]), "{from} -> {to}");
}

#[test]
fn what_a_state_need_not_hold_survives_both_ways() {
    let changes = [
        ("\"turn_number\": 2", "\"turn_number\": 7"),
        (", \"turn_number\": 2", ""),
        (
            "\"evaluation_id\": \"ev-1\", \"provider_payload\": null",
            "\"evaluation_id\": \"ev-9\", \"provider_payload\": null",
        ),
        ("\"evaluation_id\": \"ev-1\", \"prompt_key\"", "\"evaluation_id\": \"ev-0\", \"prompt_key\""),
        ("\"message_id\": \"00000000-0000-0000-0000-000000000006\", ", ""),
        ("\"created_at\": \"2026-03-01T12:00:04+00:00\", \"evaluation_id\"", "\"evaluation_id\""),
        ("\"provider_payload\": null, ", ""),
        ("\"tool_call_id\": \"c1\"", "\"tool_call_id\": null"),
        ("\"tool_call_id\": \"c1\"", "\"tool_call_id\": \"\""),
        ("\"call_id\": \"c1\"", "\"call_id\": \"\""),
        ("\"name\": \"search\"}", "\"name\": \"search\", \"status\": \"pending\"}"),
        ("\"role\": \"system\"", "\"role\": \"system\", \"style\": {\"a\": 1}"),
        ("\"state_id\": \"00000000-0000-0000-0000-000000000002\"", "\"state_id\": 5"),
        ("\"turn_number\": 1", "\"turn_number\": 1, \"unknown\": [1.0]"),
        ("\"name\": null, \"role\": \"assistant\"", "\"name\": \"ann\", \"role\": \"assistant\""),
        ("\"tool_call_id\": null, \"tool_calls\": []}, \"turns\"", "\"tool_calls\": []}, \"turns\""),
        ("\"content\": \"Done.\"", "\"content\": \"\""),
        (
            "\"weakincentives.runtime.conversation:ConversationState\": \"state\"",
            "\"weakincentives.runtime.conversation:ConversationState\": \"log\"",
        ),
        ("\"weakincentives.runtime.conversation:ConversationState\": \"state\", ", ""),
        ("\"role\": \"tool\"", "\"role\": \"user\""),
    ];
    for (from, to) in changes {
        assert_survives("02_two_turns_with_tools", from, to);
    }
}

#[test]
fn what_an_inner_message_need_not_hold_survives_both_ways() {
    let changes = [
        ("\"sequence\": 3", "\"sequence\": 9"),
        ("\"turn\": 0", "\"turn\": 4"),
        (", \"turn\": 1", ""),
        ("\"status\": \"pending\"", "\"status\": \"failed\""),
        ("\"status\": \"completed\"", "\"status\": \"failed\""),
        ("\"status\": \"completed\"", "\"status\": \"pending\""),
        (", \"status\": \"completed\"", ""),
        ("\"prompt_ns\": \"demo\", \"role\": \"user\"", "\"prompt_ns\": \"other\", \"role\": \"user\""),
        ("\"prompt_key\": \"chat\", ", ""),
        ("\"role\": \"user\"", "\"role\": \"user\", \"seen\": true"),
        ("\"tool_name\": \"search\"", "\"tool_name\": null"),
        ("\"evaluation_id\": \"ev-2\"", "\"evaluation_id\": \"ev-1\""),
        (
            "\"message_id\": \"00000000-0000-0000-0000-000000000010\"",
            "\"message_id\": \"00000000-0000-0000-0000-00000000000b\"",
        ),
        ("\"content\": \"res\"", "\"content\": 5"),
    ];
    for (from, to) in changes {
        assert_survives("04_inner_messages_pending_tool", from, to);
    }
}

#[test]
fn a_failed_call_is_an_error() {
    let text = case("wink.conversation", "04_inner_messages_pending_tool").replace("\"completed\"", "\"failed\"");
    let session = session("wink.conversation", &text);
    let Body::ToolResult(result) = &session.turns[0].blocks[4].body else { panic!() };
    assert_eq!(result.is_error, Some(true));
}

#[test]
fn of_several_evaluations_the_one_with_the_newest_system_message_is_the_conversation() {
    let text = case("wink.conversation", "04_inner_messages_pending_tool");
    let item = r#"{"content": "Old", "created_at": "2026-01-01T00:00:00+00:00", "evaluation_id": "ev-9", "message_id": "00000000-0000-0000-0000-0000000000aa", "prompt_key": "chat", "prompt_ns": "demo", "role": "system", "sequence": 0, "tool_call_id": null, "tool_calls": [], "tool_name": null, "turn": 0}"#;
    let after = text.replace("}], \"slice_type\"", &format!("}}, {item}], \"slice_type\""));
    let before = text.replace("\"items\": [", &format!("\"items\": [{item}, "));
    for text in [after, before] {
        let session = session("wink.conversation", &text);
        assert_eq!(session.turns[0].evaluation.as_ref().unwrap().as_str(), "ev-2");
        assert_eq!(session.slices[0].items.len(), 1);
        assert_eq!(rewrite("wink.conversation", &text), (text.clone(), vec![]));
    }
}

#[test]
fn a_conversation_of_another_shape_stays_data() {
    for (from, to) in [
        ("\"prompt_key\": \"chat\"", "\"prompt_key\": 5"),
        ("\"content\": \"You are", "\"content\": \"\\ud800 You are"),
    ] {
        let text = case("wink.conversation", "02_two_turns_with_tools").replacen(from, to, 1);
        let session = session("wink.conversation", &text);
        assert_eq!((session.turns.len(), session.slices.len()), (0, 1));
        assert!(super::encode("wink.snapshot", &decode("wink.snapshot", &text).unwrap().archive).losses.is_empty());
    }
}

fn call(id: CallId, name: &str) -> Block {
    Block::new(Author::Assistant, ToolCall { call: id, name: name.into(), arguments: "{}".into() })
}

fn answer(id: CallId, text: &str) -> Block {
    let parts = vec![Part::Text(Text { text: text.into() })];
    let result = ToolResult { call: id, name: None, parts, error: None, is_error: None, outcome: None };
    Block::new(Author::Tool, result)
}

fn turn(blocks: Vec<Block>) -> Turn {
    Turn { blocks, ..Turn::default() }
}

fn talk() -> Session {
    Session {
        id: Some(SessionId::new("s")),
        timing: turnkeep_model::Timing { updated: Some(Time::new("2026-01-01T00:00:00Z")), ..Default::default() },
        turns: vec![
            turn(vec![
                Block::text(Author::System, "Be brief."),
                Block::text(Author::User, "Hi").in_message(1),
                Block::text(Author::Assistant, "Looking").in_message(2),
                call(CallId::Minted(0), "f").in_message(2),
                answer(CallId::Minted(0), "1").in_message(3),
            ]),
            turn(vec![Block::text(Author::Assistant, "Done").in_message(4)]),
        ],
        ..Session::default()
    }
}

fn slice_types(bytes: &[u8]) -> Vec<String> {
    let document = json(std::str::from_utf8(bytes).unwrap());
    let slices = document.as_object().unwrap().get("slices").and_then(Json::as_array).unwrap().to_vec();
    slices.iter().map(|slice| slice.as_object().unwrap().get_str("slice_type").unwrap().into_owned()).collect()
}

#[test]
fn a_talk_with_a_user_is_stored_as_inner_messages_and_nothing_is_lost() {
    for format in ["wink.snapshot", "wink.conversation"] {
        let written = encode(format, &Archive::from(talk()));
        assert_eq!(written.losses, [], "{format}");
        assert_eq!(slice_types(&written.bytes), ["weakincentives.runtime.inner_messages:InnerMessage"]);
    }
}

#[test]
fn a_talk_without_a_user_is_stored_as_the_specifications_state() {
    let mut talk = talk();
    talk.turns[0].blocks.remove(1);
    talk.prompt = Some(PromptId { ns: "n".into(), key: "k".into(), ..PromptId::default() });
    let written = encode("wink.conversation", &Archive::from(talk));
    assert_eq!(written.losses, []);
    assert_eq!(slice_types(&written.bytes), ["weakincentives.runtime.conversation:ConversationState"]);
}

#[test]
fn the_specifications_state_is_written_when_asked_for_and_the_user_is_a_loss() {
    let codec = format::by_id("wink.conversation").unwrap();
    let written = codec.encode(&Archive::from(talk()), &EncodeOptions::default().with_variant("state")).unwrap();
    assert_eq!(slice_types(&written.bytes), ["weakincentives.runtime.conversation:ConversationState"]);
    let losses: Vec<_> = written.losses.iter().map(|loss| (loss.at.as_str(), loss.kind)).collect();
    assert_eq!(losses, [("turns[0].blocks[1]", LossKind::Dropped)]);
}

#[test]
fn what_a_message_cannot_hold_is_reported() {
    let mut talk = talk();
    talk.turns[0].model = Some("m".into());
    let thought = Reasoning { text: Some("hm".into()), ..Reasoning::default() };
    talk.turns[1].blocks.insert(0, Block::new(Author::Assistant, thought).in_message(4));
    talk.slices.push(Slice { name: "a:B".into(), items: vec![json("{}")], ..Slice::default() });
    let written = encode("wink.snapshot", &Archive::from(talk));
    let at: Vec<_> = written.losses.iter().map(|loss| loss.at.as_str()).collect();
    assert_eq!(at, ["turns[0].model", "turns[1].blocks[0]", "turns[1].blocks[1].message"]);
}

fn as_back(codec: &dyn Codec, archive: &Archive) -> (Archive, Vec<Loss>) {
    let written = codec.encode(archive, &EncodeOptions::default()).unwrap();
    let read = codec.decode(Input::new(&written.bytes), &DecodeOptions::default()).unwrap();
    (read.archive, written.losses)
}

/// Every format's reading of what it wrote differs from what it was given exactly where it said so.
#[test]
fn every_pair_is_honest() {
    let mut sessions: Vec<(String, Archive)> = vec![("talk".into(), talk().into())];
    for format in ["wink.snapshot", "wink.conversation", "wink.composite", "wink.slice", "wink.transcript"] {
        for (name, text) in super::cases(format) {
            sessions.push((format!("{format} {name}"), decode(format, &text).unwrap().archive));
        }
    }
    for (name, archive) in sessions {
        for codec in format::ALL.iter().filter(|codec| codec.spec().writes && codec.spec().reads) {
            let (back, losses) = as_back(*codec, &archive);
            let id = codec.spec().id;
            let changes = diff_archives(&archive, &back);
            for change in &changes {
                assert!(losses.iter().any(|loss| loss.covers(&change.at)), "{name} -> {id}: {change:?} is not told");
            }
            for loss in &losses {
                assert!(changes.iter().any(|change| loss.covers(&change.at)), "{name} -> {id}: {loss} is no change");
            }
        }
    }
}
