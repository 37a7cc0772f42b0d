//! Slim views: what the presets keep, what they never show, and what can be restored.

use proptest::prelude::*;
use turnkeep_codec::format::cognesy::Dialect;
use turnkeep_codec::format::cognesy::view::{Slimmed, read, restore, slim, write};
use turnkeep_codec::{DecodeOptions, Input, Mode, format};
use turnkeep_model::json::{Json, parse};
use turnkeep_model::status::{Completed, Continuation, Failed, InProgress, Stopped};
use turnkeep_model::view::{Slim, View};
use turnkeep_model::{
    Author, Block, Body, CallId, ErrorKind, Finish, FinishReason, LossKind, Number, Part, Reasoning, Session,
    SessionId, Status, StopReason, Text, Time, Timing, ToolCall, ToolResult, Turn, Usage,
};

fn object(text: &str) -> turnkeep_model::Object {
    parse(text).unwrap().into_json().as_object().unwrap().clone()
}

fn call(id: &str, arguments: &str) -> Block {
    let call = ToolCall { call: CallId::given(id), name: "SearchEntities".into(), arguments: arguments.into() };
    Block::new(Author::Assistant, call)
}

fn result(id: &str, text: &str) -> Block {
    let parts = vec![Part::Text(Text { text: text.into() })];
    let name = Some("SearchEntities".into());
    Block::new(
        Author::Tool,
        ToolResult { call: CallId::given(id), name, parts, error: None, is_error: None, outcome: None },
    )
}

fn turn(blocks: Vec<Block>, reason: FinishReason, total: u64, seconds: &str) -> Turn {
    Turn {
        blocks,
        finish: Some(Finish { reason, ..Finish::default() }),
        usage: Usage { total: Some(total), ..Usage::default() },
        timing: Timing { seconds: Number::parse(seconds), ..Timing::default() },
        ..Turn::default()
    }
}

/// A session with what the proposal's example shows.
fn session() -> Session {
    let mut last =
        turn(vec![Block::text(Author::Assistant, "Found 3.").in_message(3)], FinishReason::Stop, 300, "0.75");
    last.continuation = Some(Continuation {
        should_continue: Some(false),
        stop_reason: Some(StopReason::Completed),
        resolved_by: Some("ToolCallPresenceCheck".into()),
        ..Continuation::default()
    });
    Session {
        id: Some(SessionId::new("7f6d2a34-5b0e-4c58-9f0a-1d2c3b4a5e6f")),
        status: Some(Status::from(Completed {})),
        usage: Usage { input: Some(1200), output: Some(600), ..Usage::default() },
        timing: Timing {
            started: Some(Time::new("2026-01-16T10:00:00Z")),
            updated: Some(Time::new("2026-01-16T10:05:00Z")),
            seconds: Number::parse("45.2"),
            ..Timing::default()
        },
        metadata: object(r#"{"custom_key":"custom_value"}"#),
        turns: vec![
            turn(
                vec![
                    Block::text(Author::User, "Find dbplus.").in_message(0),
                    Block::text(Author::Assistant, "Searching.").in_message(1),
                    call("call_1", "{\"q\":\"dbplus\"}").in_message(1),
                    result("call_1", "3 entities").in_message(2),
                ],
                FinishReason::ToolCalls,
                500,
                "1.2505",
            ),
            last,
        ],
        ..Session::default()
    }
}

fn slimmed(session: &Session, config: &Slim) -> Slimmed {
    slim(session, config, Dialect::Proposal, Mode::Faithful).unwrap()
}

fn text(view: &View, dialect: Dialect) -> String {
    String::from_utf8(write(view, dialect)).unwrap()
}

/// Written by hand from the proposal's schema.
const FULL: &str = r#"{
    "agent_id": "7f6d2a34-5b0e-4c58-9f0a-1d2c3b4a5e6f",
    "parent_agent_id": null,
    "status": "completed",
    "step_count": 2,
    "usage": {
        "prompt": 1200,
        "completion": 600,
        "total": 1800
    },
    "execution": {
        "started_at": "2026-01-16T10:00:00Z",
        "updated_at": "2026-01-16T10:05:00Z",
        "cumulative_seconds": 45.2
    },
    "messages": [
        {
            "role": "user",
            "content": "Find dbplus.",
            "metadata": {}
        },
        {
            "role": "assistant",
            "content": "Searching.",
            "metadata": {
                "tool_calls": [
                    {
                        "id": "call_1",
                        "name": "SearchEntities"
                    }
                ]
            }
        },
        {
            "role": "tool",
            "content": "3 entities",
            "metadata": {
                "tool_call_id": "call_1",
                "tool_name": "SearchEntities"
            }
        },
        {
            "role": "assistant",
            "content": "Found 3.",
            "metadata": {}
        }
    ],
    "steps": [
        {
            "step_number": 1,
            "type": "tool_execution",
            "has_tool_calls": true,
            "finish_reason": "tool_calls",
            "errors": 0,
            "usage": {
                "total": 500
            },
            "duration_ms": 1250.5,
            "tool_calls": [
                {
                    "id": "call_1",
                    "name": "SearchEntities"
                }
            ]
        },
        {
            "step_number": 2,
            "type": "final",
            "has_tool_calls": false,
            "finish_reason": "stop",
            "errors": 0,
            "usage": {
                "total": 300
            },
            "duration_ms": 750.0,
            "tool_calls": []
        }
    ],
    "last_continuation": {
        "should_continue": false,
        "stop_reason": "completed",
        "resolved_by": "ToolCallPresenceCheck"
    },
    "metadata": {
        "custom_key": "custom_value"
    }
}
"#;

#[test]
fn full_is_the_schema_of_the_proposal() {
    let config = Slim { redact_tool_args: true, ..Slim::full() };

    assert_eq!(text(&slimmed(&session(), &config).view, Dialect::Proposal), FULL);
}

#[test]
fn presets_have_the_documented_limits() {
    let config = |max_messages, max_steps, max_content_length, results, steps, trace| Slim {
        max_messages,
        max_steps,
        max_content_length,
        include_tool_results: results,
        include_steps: steps,
        include_continuation_trace: trace,
        redact_tool_args: false,
    };

    assert_eq!(Slim::preset("minimal"), Some(config(20, 0, 500, false, false, false)));
    assert_eq!(Slim::preset("standard"), Some(config(50, 20, 2000, true, true, false)));
    assert_eq!(Slim::preset("full"), Some(config(100, 50, 5000, true, true, true)));
    assert_eq!((Slim::preset("huge"), Slim::default()), (None, Slim::standard()));
}

#[test]
fn minimal_omits_results_and_steps_and_keeps_every_key() {
    let minimal = slimmed(&session(), &Slim::minimal());

    let document = parse(&text(&minimal.view, Dialect::Proposal)).unwrap().into_json();
    let fields = document.as_object().unwrap();
    assert_eq!(fields.get("steps"), Some(&Json::Array(vec![])));
    assert_eq!(fields.get("last_continuation"), Some(&Json::Null));
    assert_eq!(minimal.view.messages[2].content, Json::from("[tool result omitted]"));
    assert_eq!(fields.iter().count(), 10);
    let redacted = minimal.losses.iter().filter(|loss| loss.kind == LossKind::Redacted);
    assert_eq!(redacted.map(|loss| loss.at.as_str()).collect::<Vec<_>>(), ["turns[0].blocks[3].parts"]);
}

#[test]
fn the_newest_are_kept_and_none_means_none() {
    let config = |max_messages, max_steps| Slim { max_messages, max_steps, ..Slim::standard() };
    let kept = |config: &Slim| {
        let view = slimmed(&session(), config).view;
        (view.messages.len(), view.steps.iter().map(|step| step.step_number).collect::<Vec<_>>(), view.step_count)
    };

    assert_eq!(kept(&config(1, 1)), (1, vec![2], 2), "steps are numbered as in the session");
    assert_eq!(kept(&config(0, 0)), (0, vec![], 2));
    assert_eq!(kept(&config(-3, i64::MIN)), (0, vec![], 2));
    assert_eq!(kept(&config(i64::MAX, i64::MAX)), (4, vec![1, 2], 2));
    let original = slim(&session(), &config(1, 1), Dialect::V1, Mode::Compat).unwrap().view;
    assert_eq!(original.steps[0].step_number, 1, "the original numbers those it lists");
}

#[test]
fn a_result_whose_call_is_cut_off_goes_too_unless_the_original_is_asked_for() {
    let config = Slim { max_messages: 2, ..Slim::standard() };

    let ours = slimmed(&session(), &config);
    let theirs = slim(&session(), &config, Dialect::V1, Mode::Compat).unwrap();

    let roles = |view: &View| view.messages.iter().map(|message| message.role.clone()).collect::<Vec<_>>();
    assert_eq!(roles(&ours.view), ["assistant"]);
    assert_eq!(roles(&theirs.view), ["tool", "assistant"]);
    assert!(ours.losses.iter().any(|loss| loss.at == "turns[0].blocks[3]" && loss.what.starts_with("the call")));
}

#[test]
fn texts_are_cut_at_characters_and_parts_are_not_cut() {
    let long = |text: &str, limit| {
        let block = Block::text(Author::User, text);
        let session = Session { turns: vec![Turn { blocks: vec![block], ..Turn::default() }], ..Session::default() };
        let config = Slim { max_content_length: limit, ..Slim::standard() };
        slimmed(&session, &config).view.messages[0].content.clone()
    };

    assert_eq!(long("äöü", 2), Json::from("äö..."));
    assert_eq!(long("äöü", 3), Json::from("äöü"));
    assert_eq!(long("äöü", 0), Json::from("äöü"));
    assert_eq!(long("äöü", -1), Json::from("äöü"));
    assert_eq!(long("ae\u{301}x", 2), Json::from("a..."), "an accent stays with its letter");
    assert_eq!(long("👩\u{200d}🚀 go", 2), Json::from("..."), "one picture is one picture");
    let image = turnkeep_model::Media { url: Some("https://example.org/a.png".into()), ..Default::default() };
    let blocks = vec![Block::text(Author::User, "long text"), Block::new(Author::User, image)];
    let session = Session { turns: vec![Turn { blocks, ..Turn::default() }], ..Session::default() };
    let view = slimmed(&session, &Slim { max_content_length: 3, ..Slim::standard() }).view;
    assert!(view.messages[0].content.to_text().contains("long text"));
}

#[test]
fn the_original_cuts_bytes_and_fails_where_that_breaks_a_character() {
    let block = |text: &str| Block::text(Author::User, text);
    let session =
        |text| Session { turns: vec![Turn { blocks: vec![block(text)], ..Turn::default() }], ..Session::default() };
    let config = Slim { max_content_length: 3, ..Slim::standard() };

    let fine = slim(&session("abcd"), &config, Dialect::V1, Mode::Compat).unwrap().view;
    let broken = slim(&session("abäd"), &config, Dialect::V1, Mode::Compat).unwrap_err();

    assert_eq!(fine.messages[0].content, Json::from("abc..."));
    assert_eq!(
        (broken.kind(), broken.to_string()),
        (ErrorKind::Corrupt, "Malformed UTF-8 characters, possibly incorrectly encoded".into())
    );
}

#[test]
fn dialects_differ_as_released() {
    let config = Slim::full();
    let old = slim(&session(), &config, Dialect::V1, Mode::Faithful).unwrap().view;
    let january = slim(&session(), &config, Dialect::January, Mode::Faithful).unwrap().view;

    let (old, january) = (text(&old, Dialect::V1), text(&january, Dialect::January));

    for part in ["\"input\": 1200", "\"cacheWrite\": 0", "\"final_response\"", "\"metadata\": []", "\"started_at\""] {
        assert!(old.contains(part), "{part}");
    }
    for part in ["\"created_at\"", "\"_metadata\": []", "\"arguments\": \"{\\\"q\\\":\\\"dbplus\\\"}\""] {
        assert!(january.contains(part), "{part} in {january}");
    }
    assert!(!old.contains("duration_ms") && !january.contains("cumulative_seconds"));
    for document in [old, january] {
        let codec = format::by_id("cognesy.slim").unwrap();
        assert!(codec.decode(Input::new(document.as_bytes()), &DecodeOptions::default()).is_ok());
    }
}

#[test]
fn statuses_and_reasons_outside_the_closed_lists_are_told() {
    let mut odd = session();
    odd.status = Some(Status::from(Stopped {}));
    odd.turns[1].finish = Some(Finish { reason: FinishReason::ContentFilter, ..Finish::default() });
    let told = |session: &Session| {
        let Slimmed { view, losses } = slimmed(session, &Slim::full());
        let coerced = losses.into_iter().filter(|loss| matches!(loss.kind, LossKind::Coerced | LossKind::Synthesised));
        (
            view.status,
            view.steps.last().unwrap().finish_reason.clone().unwrap(),
            coerced.map(|loss| loss.at).collect::<Vec<_>>(),
        )
    };

    assert_eq!(
        told(&odd),
        ("completed".into(), "error".into(), vec!["status".into(), "turns[1].finish.reason".into()])
    );
    odd.status = None;
    odd.turns[1].finish = session().turns[1].finish.clone();
    assert_eq!(told(&odd), ("completed".into(), "stop".into(), vec!["status".into()]));
    odd.status = Some(Status::from(Failed { error: "boom".into() }));
    let failed = slimmed(&odd, &Slim::full());
    assert_eq!(failed.view.status, "failed");
    assert!(failed.losses.iter().any(|loss| loss.at == "status.error"));
    odd.status = Some(Status::from(InProgress {}));
    assert_eq!(told(&odd).0, "in_progress");
}

#[test]
fn required_fields_that_are_missing_are_named_and_others_default() {
    for key in ["agent_id", "status", "step_count", "usage", "execution", "messages"] {
        let mut fields = parse(FULL).unwrap().into_json().as_object().unwrap().clone();
        fields.remove(key);
        let text = Json::Object(fields).to_text();

        let error = read(Input::new(text.as_bytes())).unwrap_err();
        let decoded =
            format::by_id("cognesy.slim").unwrap().decode(Input::new(text.as_bytes()), &DecodeOptions::default());

        assert_eq!((error.kind(), error.at_path()), (ErrorKind::Corrupt, key));
        assert!(error.to_string().contains(&format!("`{key}` is missing")), "{error}");
        assert_eq!(decoded.unwrap_err().at_path(), key);
    }
    let mut fields = parse(FULL).unwrap().into_json().as_object().unwrap().clone();
    for key in ["parent_agent_id", "steps", "last_continuation", "metadata"] {
        fields.remove(key);
    }
    let view = read(Input::new(Json::Object(fields).to_text().as_bytes())).unwrap();
    assert_eq!((view.steps.len(), view.last_continuation, view.metadata.len()), (0, None, 0));
}

#[test]
fn a_view_that_is_read_is_the_view_that_was_written() {
    let view = slimmed(&session(), &Slim::full()).view;

    assert_eq!(read(Input::new(text(&view, Dialect::Proposal).as_bytes())).unwrap(), view);
}

#[test]
fn what_is_restored_goes_on_after_the_steps_that_were_counted() {
    let config = Slim { max_messages: 1, ..Slim::standard() };
    let view = slimmed(&session(), &config).view;

    let (mut restored, losses) = restore(&view);

    assert_eq!(restored.id, session().id);
    assert_eq!(restored.status, session().status);
    assert_eq!((restored.usage.input, restored.usage.output), (Some(1200), Some(600)));
    assert_eq!(restored.metadata, session().metadata);
    assert_eq!(restored.blocks().count(), 1);
    assert!(losses.iter().any(|loss| loss.kind == LossKind::Truncated && loss.at == "turns"));
    let more =
        vec![Block::text(Author::User, "And?").in_message(9), Block::text(Author::Assistant, "Done.").in_message(10)];
    restored.turns.push(turn(more, FinishReason::Stop, 7, "1"));
    let next = slimmed(&restored, &Slim::standard()).view;
    assert_eq!(next.step_count, 3);
    assert_eq!(next.steps.last().unwrap().step_number, 3);
}

#[test]
fn restored_calls_have_their_results() {
    let view = slimmed(&session(), &Slim::standard()).view;

    let (restored, _) = restore(&view);

    let arguments = restored.blocks().find_map(|(_, block)| match &block.body {
        Body::ToolCall(call) => Some(call.arguments.clone()),
        _ => None,
    });
    assert_eq!(arguments.as_deref(), Some("{\"q\":\"dbplus\"}"));
    assert!(restored.open_calls().is_empty());
}

/// A word that no view may show.
const MARK: &str = "PLANTED-7b1f";

/// Plants the word wherever a view must not show it.
fn plant(session: &mut Session) {
    let raw = || parse(&format!("{{\"x\":\"{MARK}\"}}")).unwrap().into_json();
    let fields = || object(&format!("{{\"x\":\"{MARK}\"}}"));
    let dirty = |extra: &mut turnkeep_model::Extra| {
        for name in ["cognesy", "cognesy.slim", "openai.chat", "turnkeep"] {
            extra.part_mut(name).fields = fields();
            extra.part_mut(name).spelling.set("kind", MARK);
        }
    };
    session.logs.push(MARK.into());
    session.title = Some(MARK.into());
    session.slices.push(turnkeep_model::Slice { name: MARK.into(), items: vec![raw()], ..Default::default() });
    dirty(&mut session.extra);
    dirty(&mut session.usage.extra);
    dirty(&mut session.timing.extra);
    for turn in &mut session.turns {
        turn.provider_payload = raw();
        turn.data = fields();
        turn.metadata = fields();
        dirty(&mut turn.extra);
        dirty(&mut turn.usage.extra);
        let opaque = Reasoning {
            text: Some(MARK.into()),
            signature: Some(MARK.into()),
            encrypted: Some(MARK.into()),
            ..Reasoning::default()
        };
        for block in &mut turn.blocks {
            dirty(&mut block.extra);
            dirty(&mut block.message.extra);
            block.item_id = Some(turnkeep_model::ItemId::new(MARK));
            if let Body::ToolResult(result) = &mut block.body {
                result.parts.push(Part::Other { kind: MARK.into(), raw: fields() });
            }
        }
        turn.blocks.push(Block::new(Author::Assistant, opaque).in_message(90));
        for kind in ["message", "content", "tool_call", "server_tool_use"] {
            turn.blocks
                .push(Block::new(Author::Assistant, Body::Other { kind: kind.into(), raw: raw() }).in_message(91));
        }
    }
}

#[test]
fn no_preset_shows_raw_payloads_extras_or_thinking() {
    let mut planted = session();
    plant(&mut planted);
    for preset in Slim::PRESETS {
        for dialect in [Dialect::Proposal, Dialect::V1, Dialect::January] {
            for mode in [Mode::Faithful, Mode::Compat] {
                let made = slim(&planted, &Slim::preset(preset).unwrap(), dialect, mode).unwrap();
                assert!(!text(&made.view, dialect).contains(MARK), "{preset} {dialect:?} {mode:?}");
                assert_eq!(made.view.messages.len(), 4, "{preset}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_block_is_in_the_view_or_told(session in turnkeep_testkit::generate::history(), n in 0..6_i64) {
        let config = Slim { max_messages: n, max_steps: n, ..Slim::full() };
        let Slimmed { view, losses } = slimmed(&session, &config);

        prop_assert!(view.messages.len() <= usize::try_from(n).unwrap());
        let shown: usize = view.messages.iter().map(|_| 1).sum();
        prop_assert!(shown <= session.blocks().count());
        for (t, turn) in session.turns.iter().enumerate() {
            for (b, block) in turn.blocks.iter().enumerate() {
                let at = format!("turns[{t}].blocks[{b}]");
                let told = losses.iter().any(|loss| loss.covers(&at));
                let text = block.body.as_text().filter(|text| !text.is_empty());
                let shown = text.is_none_or(|text| view.messages.iter().any(|message| message.content.to_text().contains(&Json::from(text).to_text().trim_matches('"').to_owned())));
                prop_assert!(told || shown, "{at} is neither shown nor told");
            }
        }
    }

    #[test]
    fn what_is_cut_leaves_a_history_that_vendors_take(session in turnkeep_testkit::generate::history(), n in 0..6_i64) {
        let config = Slim { max_messages: n, ..Slim::full() };
        let (restored, _) = restore(&slimmed(&session, &config).view);

        for wire in WIRES {
            prop_assert!(refusals(&restored, wire).is_empty(), "{wire}");
        }
    }

    #[test]
    fn condensing_leaves_a_history_that_vendors_take_and_tells_every_difference(session in turnkeep_testkit::generate::history(), keep in 0..3_usize) {
        use turnkeep_model::policy::condense::{self, CondenseSettings, estimate};
        let settings = CondenseSettings { keep, budget: None };
        let mut after = session.clone();
        if let Ok(plan) = condense::plan(&session, &settings, &estimate) {
            let text = condense::extract(&session.turns[plan.turns()], plan.target, &estimate);
            let text = if text.is_empty() { "It was short.".to_owned() } else { text };
            if condense::check(&session, &plan, &text, &estimate).is_ok() {
                let losses = condense::apply(&mut after, &plan, text.as_str());
                for change in turnkeep_model::diff(&session, &after) {
                    prop_assert!(losses.iter().any(|loss| loss.covers(&change.at)), "{} is not told in {losses:?}", change.at);
                }
                prop_assert!(condense::plan(&after, &settings, &estimate).is_err(), "nothing is left to condense");
            }
        }
        for wire in WIRES {
            let known = refusals(&session, wire);
            prop_assert!(refusals(&after, wire).iter().all(|rule| known.contains(rule)), "{wire}");
        }
    }
}

const WIRES: [&str; 6] =
    ["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];

/// The rules that the next request of a session would break at a vendor.
fn refusals(session: &Session, wire: &str) -> Vec<&'static str> {
    let mut options = turnkeep_codec::EncodeOptions::default();
    options.as_request = true;
    let target = turnkeep_codec::Target::parse(wire).unwrap();
    let written = turnkeep_codec::encode(&session.clone().into(), &target, &options).unwrap();
    if crate::policies::says_nothing(&written.bytes) {
        return Vec::new();
    }
    let findings = turnkeep_codec::lint::lint(Input::new(&written.bytes), wire, Default::default()).unwrap();
    let errors = findings.into_iter().filter(|finding| finding.severity == turnkeep_codec::lint::Severity::Error);
    errors.map(|finding| finding.rule).collect()
}
