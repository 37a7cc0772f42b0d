//! What is sent to a screen.

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{Json, Usage};
use turnkeep_runtime::Recorder;
use turnkeep_runtime::envelope::{AgentEnvelopes, Detail, Envelope, native, summary_of_arguments};
use turnkeep_runtime::port::{Answer, Delta, ToolError};
use turnkeep_store::StoreExt;

use crate::kit::{Fake, World, agent, calling, memory, ports};

fn told(detail: Detail, fails: bool) -> Vec<Envelope> {
    let world = World::default();
    let tool = match fails {
        true => Fake::new("act", Effect::Pure, |_| Err(ToolError::failed("no luck"))),
        false => Fake::acting("act", Effect::Pure, &world),
    };
    let mut calls = calling(&[("c", "act", r#"{"n":1}"#)]);
    calls.usage = Usage { input: Some(500), output: Some(150), ..Usage::default() };
    let agent = agent(vec![calls, Answer::text("done")], vec![tool]);
    let store = memory();
    let mut session = agent.session();
    session.id = Some("s".into());
    let mut recorder = block_on(Recorder::create(store.clone(), session, ports())).unwrap();
    block_on(agent.run(&mut recorder, "go")).unwrap();
    let journal = block_on(store.journal(recorder.id())).unwrap();
    let mut envelopes = AgentEnvelopes::new("s".into(), detail);
    journal.batches.iter().flat_map(|batch| envelopes.batch(batch)).collect()
}

fn payloads(envelopes: &[Envelope], kind: &str) -> Vec<String> {
    let of_kind = envelopes.iter().filter(|envelope| envelope.kind == kind);
    of_kind.map(|envelope| Json::Object(envelope.payload.clone()).to_text()).collect()
}

#[test]
fn a_run_is_told_in_order_with_one_terminal_status() {
    let kinds: Vec<String> = told(Detail::STANDARD, false).into_iter().map(|envelope| envelope.kind).collect();

    assert_eq!(
        kinds,
        [
            "agent.status",
            "agent.step.started",
            "agent.tool.started",
            "agent.tool.completed",
            "agent.step.completed",
            "agent.step.started",
            "agent.step.completed",
            "agent.status",
        ]
    );
}

#[test]
fn agent_status_has_step_count_error_and_last_response() {
    assert_eq!(
        payloads(&told(Detail::MINIMAL, false), "agent.status"),
        [
            r#"{"status":"in_progress","step_count":0,"error_message":null,"last_response":null}"#,
            r#"{"status":"completed","step_count":2,"error_message":null,"last_response":"done"}"#,
        ]
    );
}

#[test]
fn agent_step_started_has_messages_and_tools() {
    assert_eq!(
        payloads(&told(Detail::MINIMAL, false), "agent.step.started"),
        [
            r#"{"step_number":1,"message_count":1,"available_tools":["act"]}"#,
            r#"{"step_number":2,"message_count":3,"available_tools":["act"]}"#,
        ]
    );
}

#[test]
fn agent_step_completed_has_usage_finish_and_duration() {
    assert_eq!(
        payloads(&told(Detail::MINIMAL, false), "agent.step.completed")[0],
        r#"{"step_number":1,"has_tool_calls":true,"errors":0,"finish_reason":"tool_calls","usage":{"prompt":500,"completion":150,"total":650},"duration_ms":0}"#
    );
}

#[test]
fn agent_tool_started_has_real_ids_and_a_summary_or_the_arguments() {
    assert_eq!(
        payloads(&told(Detail::MINIMAL, false), "agent.tool.started"),
        [r#"{"tool_name":"act","tool_call_id":"c","args_summary":"n: 1"}"#]
    );
    assert_eq!(
        payloads(&told(Detail::FULL, false), "agent.tool.started"),
        [r#"{"tool_name":"act","tool_call_id":"c","args":{"n":1}}"#]
    );
}

#[test]
fn agent_tool_completed_tells_success_error_and_result() {
    assert_eq!(
        payloads(&told(Detail::MINIMAL, false), "agent.tool.completed"),
        [
            r#"{"tool_name":"act","tool_call_id":"c","success":true,"error":null,"duration_ms":0,"result_summary":"c done"}"#
        ]
    );
    assert_eq!(
        payloads(&told(Detail::MINIMAL, true), "agent.tool.completed"),
        [
            r#"{"tool_name":"act","tool_call_id":"c","success":false,"error":"no luck","duration_ms":0,"result_summary":"no luck"}"#
        ]
    );
}

#[test]
fn agent_continuation_is_told_with_its_evaluations_only_on_request() {
    assert!(payloads(&told(Detail::STANDARD, false), "agent.continuation").is_empty());

    let traces = payloads(&told(Detail::FULL, false), "agent.continuation");

    assert!(traces[0].starts_with(r#"{"step_number":1,"should_continue":true,"stop_reason":"completed","resolved_by":"ToolCallPresenceCheck","evaluations":["#));
    assert!(traces[1].contains(r#"{"criterion":"ToolCallPresenceCheck","decision":"stop","reason":"No tool calls"}"#));
}

#[test]
fn agent_stream_chunks_are_numbered_and_skip_nothing_but_the_empty() {
    let mut envelopes = AgentEnvelopes::new("s".into(), Detail::STANDARD);
    let time = || "2026-01-16T10:05:00.123Z".into();
    let chunks = ["Here", "", " is"].map(|text| envelopes.delta(&Delta::Text(text.into()), time()));

    let told: Vec<String> = chunks.into_iter().flatten().map(|envelope| envelope.to_json().to_text()).collect();

    assert_eq!(
        told,
        [
            r#"{"type":"agent.stream.chunk","session_id":"s","execution_id":null,"timestamp":"2026-01-16T10:05:00.123Z","payload":{"chunk":"Here","is_complete":false,"tokens_delta":null,"index":0}}"#,
            r#"{"type":"agent.stream.chunk","session_id":"s","execution_id":null,"timestamp":"2026-01-16T10:05:00.123Z","payload":{"chunk":" is","is_complete":false,"tokens_delta":null,"index":1}}"#,
        ]
    );
    assert_eq!(AgentEnvelopes::new("s".into(), Detail::MINIMAL).delta(&Delta::Text("x".into()), time()), None);
}

#[test]
fn envelopes_name_channel_run_and_place() {
    let all = told(Detail::STANDARD, false);

    assert!(all.iter().all(|envelope| envelope.channel() == "agent.s" && envelope.execution.is_some()));
    assert!(all.windows(2).all(|pair| pair[0].seq <= pair[1].seq));
}

#[test]
fn summaries_follow_their_rules() {
    let table = [
        (r#"{"query":"dbplus","types":["program"]}"#, Some("query: 'dbplus', types: [\"program\"]".to_owned())),
        (r#"{"a":1,"b":2,"c":3,"d":4}"#, Some("a: 1, b: 2, c: 3".to_owned())),
        (r#"{"t":"0123456789012345678901234567890123"}"#, Some("t: '01234567890123456789012345...".to_owned())),
        ("not json", None),
        ("[1]", None),
    ];
    for (arguments, expected) in table {
        assert_eq!(summary_of_arguments(arguments), expected, "{arguments}");
    }
}

#[test]
fn native_envelopes_are_the_records() {
    let store = memory();
    let recorder = block_on(Recorder::create(store.clone(), Default::default(), ports())).unwrap();
    let journal = block_on(store.journal(recorder.id())).unwrap();

    let kinds: Vec<String> =
        journal.batches.iter().flat_map(|batch| native(recorder.id(), batch)).map(|envelope| envelope.kind).collect();

    assert_eq!(kinds, ["session.opened", "run.started", "session.changed"]);
}
