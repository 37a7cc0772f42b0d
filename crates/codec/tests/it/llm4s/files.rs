//! Files of the library and files near to them.

use turnkeep_codec::{Confidence, Input, format, sniff};
use turnkeep_model::json::Json;
use turnkeep_model::{
    Author, Block, Body, CallId, ErrorKind, LossKind, Session, SessionId, Status, Time, ToolCall, Turn,
    status as states,
};

use super::{OLD, SESSION, STATE, at, compat, decode, encode, fixture, fixtures, parse, rewrite, session, told};

fn all(format: &str) -> Vec<(String, String)> {
    let folders = std::fs::read_dir(fixtures(format)).unwrap().flatten().filter(|entry| entry.path().is_dir());
    let cases = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
    cases.map(|case| (case.clone(), fixture(format, &case))).collect()
}

const SWAPPED: &str = "old_2025-11_resaved_tool_fields_swapped";

#[test]
fn every_file_comes_back_byte_for_byte() {
    let mut compared = 0;
    for (format, (case, text)) in [STATE, SESSION].into_iter().flat_map(|id| all(id).into_iter().map(move |c| (id, c)))
    {
        if case == SWAPPED {
            continue;
        }
        assert_eq!(rewrite(format, &text), (text, vec![]), "{case}");
        compared += 1;
    }
    assert!(compared >= 18);
}

#[test]
fn the_library_saves_its_own_files_as_they_are() {
    for case in [
        "01_basic_complete",
        "04_reasoning_high_budget",
        "07_waiting_for_tools",
        "08_failed",
        "11_usage_summary",
        "13_big_number_args",
        "14_args_non_object",
        "15_unicode_escapes",
    ] {
        let text = fixture(STATE, case);
        assert_eq!(compat(STATE, &text).unwrap(), text, "{case}");
    }
    for (case, text) in all(SESSION) {
        assert_eq!(compat(SESSION, &text).unwrap(), text, "{case}");
    }
}

#[test]
fn swapped_tool_fields_are_put_right_and_reported() {
    let (saved, losses) = rewrite(STATE, &fixture(STATE, SWAPPED));

    assert_eq!(saved, fixture(STATE, "old_2025-11_no_reasoning_no_usage"));
    assert_eq!(told(&losses), ["repaired turns[0].blocks[3]"]);
    let theirs = parse(&compat(STATE, &fixture(STATE, SWAPPED)).unwrap());
    assert_eq!(at(&theirs, "conversation.messages.2.content").to_text(), "\"call_123\"");
}

#[test]
fn a_handoff_is_kept_as_data() {
    let (session, losses) = session(STATE, &fixture(STATE, "09_handoff_requested"));

    let to = "handoff_to_agent_1a2b3c".to_owned();
    assert_eq!(
        session.status,
        Some(Status::Handoff(states::Handoff { to, reason: Some("needs specialist".to_owned()) }))
    );
    assert_eq!(losses, []);
}

#[test]
fn missing_keys_are_filled_and_each_is_reported() {
    let (saved, losses) = rewrite(STATE, r#"{"conversation":{},"completionOptions":{"topP":0.5}}"#);

    assert_eq!(
        told(&losses),
        [
            "synthesised turns",
            "synthesised turns",
            "synthesised initial_query",
            "synthesised status",
            "synthesised logs",
            "synthesised options.temperature",
            "synthesised options.presence_penalty",
            "synthesised options.frequency_penalty",
            "synthesised options.max_tokens",
        ]
    );
    assert_eq!(
        saved,
        r#"{"conversation":{"messages":[]},"initialQuery":null,"status":"InProgress","logs":[],"systemMessage":null,"completionOptions":{"temperature":0.7,"topP":0.5,"maxTokens":null,"presencePenalty":0,"frequencyPenalty":0}}"#
    );
    assert!(compat(STATE, &saved).is_ok());
}

#[test]
fn null_where_something_is_wanted_is_repaired() {
    let assistant = r#"{"type":"assistant","data":{"contentOpt":"a","toolCalls":null}}"#;
    let cases = [
        (OLD.replace("{\"messages\":[]}", "null"), "repaired turns"),
        (OLD.replace("\"messages\":[]", "\"messages\":null"), "repaired turns"),
        (OLD.replace("0.0}}", "0.0},\"usageSummary\":null}"), "repaired usage"),
        (OLD.replace("\"messages\":[]", &format!("\"messages\":[{assistant}]")), "repaired turns[0].blocks[0]"),
    ];
    for (text, expected) in cases {
        let (saved, losses) = rewrite(STATE, &text);
        assert_eq!(told(&losses), [expected]);
        assert!(!saved.contains("\"toolCalls\":null") && !saved.contains("\"messages\":null"));
        assert_eq!(rewrite(STATE, &saved), (saved, vec![]));
    }
}

#[test]
fn values_of_a_wrong_type_are_kept_and_reported() {
    let content = r#""messages":[{"type":"assistant","data":{"contentOpt":["x"],"toolCalls":[]}}]"#;
    let cases = [
        (OLD.replace("\"initialQuery\":null", "\"initialQuery\":5"), "coerced initial_query"),
        (OLD.replace("\"systemMessage\":null", "\"systemMessage\":{\"content\":\"x\"}"), "coerced turns"),
        (OLD.replace("\"maxTokens\":null", "\"maxTokens\":\"16000\""), "coerced options.max_tokens"),
        (OLD.replace("0.0}}", "0.0,\"budgetTokens\":[1]}}"), "coerced options.budget_tokens"),
        (OLD.replace("\"Complete\"", "\"complete\""), "coerced status"),
        (OLD.replace("\"Complete\"", "3"), "coerced status"),
        (OLD.replace("\"Complete\"", "{\"type\":\"X\",\"y\":1}"), "coerced status"),
        (OLD.replace("\"messages\":[]", content), "coerced turns[0].blocks[0]"),
        (OLD.replace("0.0}}", "0.0},\"usageSummary\":{\"requestCount\":2.5}}"), "coerced usage.requests"),
        (OLD.replace("0.0}}", "0.0},\"usageSummary\":{\"inputTokens\":-1}}"), "coerced usage.input"),
        (OLD.replace("0.0}}", "0.0},\"usageSummary\":{\"totalCost\":true}}"), "coerced usage.cost"),
        (
            OLD.replace("0.0}}", "0.0},\"usageSummary\":{\"byModel\":{\"m\":{\"totalCost\":0.5}}}}"),
            "coerced usage.by_model[0].cost",
        ),
    ];
    for (text, expected) in cases {
        let (saved, losses) = rewrite(STATE, &text);
        assert_eq!(saved, text);
        assert_eq!(told(&losses), [expected], "{text}");
    }
}

#[test]
fn odd_spellings_come_back_without_a_loss() {
    let summary = |usage: &str| OLD.replace("0.0}}", &format!("0.0}},\"usageSummary\":{usage}}}"));
    let texts = [
        OLD.replace("0.7", "7e-1").replace("1.0", "1.00"),
        OLD.replace("0.0}}", "0.0,\"reasoning\":\" HIGH \"}}"),
        OLD.replace("\"maxTokens\":null", "\"maxTokens\":99999999999"),
        OLD.replace("\"Complete\"", "{\"type\":\"Failed\"}"),
        OLD.replace("\"Complete\"", "{\"error\":\"e\",\"type\":\"Failed\",\"code\":7}"),
        OLD.replace("\"Complete\"", "{\"type\":\"HandoffRequested\",\"handoffId\":\"h\"}"),
        OLD.replace("\"Complete\"", "{\"type\":\"HandoffRequested\",\"handoffId\":\"h\",\"reason\":null}"),
        OLD.replace("\"messages\":[]", "\"messages\":[{\"type\":\"assistant\",\"data\":{}}]"),
        OLD.replace("\"messages\":[]", r#""messages":[{"data":{"toolCalls":[],"contentOpt":""},"type":"assistant"}]"#),
        OLD.replace(
            "\"messages\":[]",
            r#""messages":[{"type":"assistant","data":{"contentOpt":null,"toolCalls":[]}}]"#,
        ),
        summary("{\"requestCount\":0,\"inputTokens\":\"2\",\"totalCost\":\"0.50\",\"byModel\":{}}"),
        summary("{\"inputTokens\":\"9007199254740993\",\"totalCost\":1E-10}"),
        summary("{\"outputTokens\":9007199254740993,\"byModel\":{\"m\":{},\"n\":{\"totalCost\":\"1\"}}}"),
        format!("{OLD}\n"),
    ];
    for text in texts {
        assert_eq!(rewrite(STATE, &text), (text, vec![]));
    }
}

#[test]
fn exact_integers_survive() {
    let call = r#"{"type":"assistant","data":{"contentOpt":"","toolCalls":[{"id":"c","name":"t","arguments":{"id":9007199254740993,"t":1e-7,"a":1,"a":2}}]}}"#;
    let text = OLD.replace("\"messages\":[]", &format!("\"messages\":[{call}]"));

    assert_eq!(rewrite(STATE, &text), (text, vec![]));
}

#[test]
fn unknown_fields_survive_at_every_level() {
    let state = r#"{"a":{"deep":[1.0]},"conversation":{"messages":[{"type":"user","content":"u","b":1},{"c":2,"type":"assistant","data":{"contentOpt":"x","d":3,"toolCalls":[{"id":"i","name":"n","arguments":{"e":4},"f":5}],"g":6}},{"type":"tool","toolCallId":"i","content":"r","h":7}],"i":8},"initialQuery":"q","status":{"type":"Failed","error":"e","j":9},"logs":["l"],"systemMessage":"s","completionOptions":{"temperature":0.7,"topP":1,"maxTokens":null,"presencePenalty":0,"frequencyPenalty":0,"reasoning":null,"budgetTokens":null,"k":10},"usageSummary":{"requestCount":1,"l":11,"byModel":{"m":{"requestCount":1,"m":12}}},"n":13}"#;
    assert_eq!(rewrite(STATE, state), (state.to_owned(), vec![]));

    let session = r#"{"sessionId":"s","a":1,"sessionDir":"/d","created":"2026-03-01T12:30Z","status":6,"agentState":{"conversation":{"messages":[],"b":2},"c":3,"initialQuery":7,"status":"Complete","logs":[],"toolNames":["t",5]},"d":4}"#;
    let (saved, losses) = rewrite(SESSION, session);
    assert_eq!(saved, session);
    assert_eq!(told(&losses), ["coerced initial_query", "coerced tools"]);
}

#[test]
fn keys_that_stand_twice_are_reported() {
    let (saved, losses) = rewrite(STATE, &OLD.replace("\"logs\":[]", "\"logs\":[\"a\"],\"logs\":[\"b\"]"));

    assert_eq!(saved, OLD.replace("\"logs\":[]", "\"logs\":[\"b\"]"));
    assert_eq!(losses.iter().map(|loss| loss.kind).collect::<Vec<_>>(), [LossKind::Dropped]);
}

#[test]
fn refusals_name_the_place_the_line_and_a_remedy() {
    let pretty = fixture(STATE, "07_waiting_for_tools");
    let cases = [
        (pretty.replace("\"type\": \"user\"", "\"type\": \"developer\""), "conversation.messages[0].type", 5),
        (pretty.replace("\"id\": \"call_124\",", ""), "conversation.messages[1].data.toolCalls[1]", 20),
        (pretty.replace("\"temperature\": 0.7", "\"temperature\": \"0.7\""), "completionOptions.temperature", 47),
        (pretty.replace("\"logs\": []", "\"logs\": [\n1]"), "logs[0]", 45),
    ];
    for (text, path, line) in cases {
        let error = decode(STATE, &text).unwrap_err();
        assert_eq!((error.kind(), error.at_path(), error.at_line()), (ErrorKind::Corrupt, path, Some(line)), "{error}");
        assert!(error.remedy().is_some() && !error.to_string().contains("London"));
    }
}

#[test]
fn damaged_files_are_told_apart() {
    let text = fixture(STATE, "01_basic_complete");
    let kind = |text: &str| {
        let error = decode(STATE, text).unwrap_err();
        (error.kind(), error.at_line())
    };

    assert_eq!(kind(&text[..100]), (ErrorKind::Corrupt, Some(7)));
    assert_eq!(kind(&text.replace("\"usageSummary\": {}", "\"usageSummary\": {},")), (ErrorKind::Corrupt, Some(34)));
    assert_eq!(kind("[]"), (ErrorKind::NotThisFormat, Some(1)));
    assert_eq!(kind("{}"), (ErrorKind::NotThisFormat, Some(1)));
    assert_eq!(decode(SESSION, "[]").unwrap_err().kind(), ErrorKind::NotThisFormat);
}

#[test]
fn sessions_are_refused_in_the_librarys_words() {
    let text = fixture(SESSION, "failed");
    let message = |text: &str| compat(SESSION, text).unwrap_err().to_string();

    assert_eq!(message("{"), "Failed to deserialize JSON to JSON");
    assert_eq!(message("[1]"), "Expected ujson.Obj (data: [1])");
    assert_eq!(message("{}"), "Failed to deserialize JSON to SessionState");
    assert_eq!(message(&text.replace("45.123456", "45.123456Z")), "Failed to deserialize JSON to SessionState");
    let empty = r#"{"sessionId":"s","sessionDir":"d","created":"2026-03-01T12:30","agentState":null}"#;
    assert_eq!(message(empty), "No agent state to save");
    assert_eq!(rewrite(SESSION, empty), (empty.to_owned(), vec![]));
}

#[test]
fn a_session_knows_its_id_time_and_tools() {
    let (session, _) = session(SESSION, &fixture(SESSION, "Untitled_Session"));

    assert_eq!(session.id.as_ref().map(SessionId::as_str), Some("7d9f2c1e-0000-4000-8000-000000000001"));
    assert_eq!(session.timing.created.as_ref().map(Time::as_str), Some("2026-03-01T12:30:45.123456"));
    assert_eq!(session.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["get_weather"]);
    let (saved, losses) = encode(STATE, &session);
    assert!(
        told(&losses).contains(&"dropped id".to_owned()) && told(&losses).contains(&"dropped tools".to_owned()),
        "{losses:?}"
    );
    assert!(compat(STATE, &saved).is_ok());
}

#[test]
fn sniffing_names_the_generation() {
    let generation =
        |case: &str| sniff(&Input::new(fixture(STATE, case).as_bytes())).unwrap().guess.generation.unwrap();

    assert_eq!(generation("01_basic_complete"), "since 2026-02, with usage");
    assert_eq!(generation(SWAPPED), "2025-11, without reasoning and usage");
    assert_eq!(generation("spec_json_format"), "since 2025-12, with reasoning");
    for (format, (case, text)) in [STATE, SESSION].into_iter().flat_map(|id| all(id).into_iter().map(move |c| (id, c)))
    {
        let found = sniff(&Input::new(text.as_bytes())).unwrap();
        assert_eq!((found.codec.spec().id, found.guess.confidence), (format, Confidence::Certain), "{case}");
    }
}

#[test]
fn sessions_from_elsewhere_fit_with_losses_that_say_what_does_not() {
    let call = |call: CallId| {
        Block::new(Author::Assistant, ToolCall { call, name: "t".to_owned(), arguments: "not json".to_owned() })
    };
    let session = Session {
        turns: vec![Turn {
            blocks: vec![
                Block::text(Author::System, "s").in_message(0),
                Block::text(Author::User, "u").in_message(1),
                call(CallId::Minted(0)).in_message(2),
            ],
            ..Turn::default()
        }],
        ..Session::default()
    };

    let (saved, losses) = encode(STATE, &session);

    let json = parse(&saved);
    assert_eq!(at(&json, "systemMessage").to_text(), "\"s\"");
    assert_eq!(at(&json, "status").to_text(), "\"WaitingForTools\"");
    assert_eq!(at(&json, "conversation.messages.1.data.toolCalls.0.arguments").to_text(), "\"not json\"");
    assert_eq!(
        told(&losses),
        [
            "renamed turns[0].blocks[2].call",
            "synthesised options",
            "synthesised status",
            "coerced turns[0].blocks[2].arguments",
        ]
    );
    assert!(compat(STATE, &saved).is_ok());
}

#[test]
fn every_file_converts_to_every_format() {
    for (from, (case, text)) in [STATE, SESSION].into_iter().flat_map(|id| all(id).into_iter().map(move |c| (id, c))) {
        let (own, _) = session(from, &text);
        for codec in format::ALL.iter().filter(|codec| codec.spec().writes) {
            let encoded = codec.encode(&own.clone().into(), &Default::default());
            assert!(encoded.is_ok(), "{case} to {}", codec.spec().id);
        }
    }
}

#[test]
fn a_state_survives_the_native_formats() {
    for native in ["turnkeep", "turnkeep.yaml", "turnkeep.jsonl"] {
        for (case, text) in all(STATE).into_iter().filter(|(case, _)| case != SWAPPED) {
            let (own, _) = session(STATE, &text);
            let (kept, _) = encode(native, &own);
            assert_eq!(encode(STATE, &session(native, &kept).0), (text, vec![]), "{case} through {native}");
        }
    }
}

#[test]
fn calls_and_results_are_one_turn() {
    let (session, _) = session(STATE, &fixture(STATE, "old_2025-11_no_reasoning_no_usage"));

    let turns: Vec<Vec<&str>> =
        session.turns.iter().map(|turn| turn.blocks.iter().map(|block| block.body.kind()).collect()).collect();
    assert_eq!(turns, [vec!["text", "text", "tool_call", "tool_result"], vec!["text"]]);
    assert!(session.blocks().all(|(_, block)| !matches!(&block.body, Body::Other { .. })));
}

#[test]
fn tools_and_handoffs_are_never_written() {
    let tool = turnkeep_model::ToolSpec { name: "get_weather".into(), ..Default::default() };
    let handoff = Status::from(states::Handoff { to: "billing".into(), reason: None });
    let session = Session { tools: vec![tool], status: Some(handoff), ..session(STATE, OLD).0 };

    let (saved, losses) = encode(STATE, &session);

    let document = parse(&saved);
    let keys = |json: &Json| -> Vec<String> {
        json.as_object().unwrap().iter().map(|(key, _)| key.to_str_lossy().into_owned()).collect()
    };
    for written in [keys(&document), keys(at(&document, "completionOptions"))] {
        assert!(
            !written.iter().any(|key| ["tools", "availableHandoffs", "handoffs"].contains(&key.as_str())),
            "{written:?}"
        );
    }
    assert!(!saved.contains("get_weather"), "{saved}");
    assert_eq!(told(&losses), ["dropped tools"]);
}

#[test]
fn errors_are_not_classed_by_their_text() {
    for words in ["401 Unauthorized", "429 Too Many Requests: rate limit", "context length exceeded", "not found"] {
        let text = OLD.replace("\"Complete\"", &format!(r#"{{"type":"Failed","error":"{words}"}}"#));
        let (session, _) = session(STATE, &text);
        assert_eq!(session.status, Some(Status::from(states::Failed { error: words.into() })), "{words}");
        assert!(session.turns.iter().all(|turn| turn.errors.is_empty()), "{words}");

        let damaged = |text: &str| decode(STATE, text).unwrap_err().kind();
        let message = format!(r#"{{"conversation":{{"messages":[{{"role":"user","content":"{words}"}}"#);
        assert_eq!(damaged(&message), ErrorKind::Corrupt, "{words}");
    }
}
