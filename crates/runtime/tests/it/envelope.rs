//! What is sent to a screen.

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{Json, Usage};
use turnkeep_runtime::Recorder;
use turnkeep_runtime::envelope::{AgentEnvelopes, Detail, Dialect, Envelope, native, summary_of_arguments};
use turnkeep_runtime::port::{Answer, ToolError};
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

pub(crate) fn payloads(envelopes: &[Envelope], kind: &str) -> Vec<String> {
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
        r#"{"step_number":1,"has_tool_calls":true,"errors":0,"finish_reason":"tool_calls","usage":{"prompt":500,"completion":150,"total":650},"duration_ms":0.0}"#
    );
}

#[test]
fn agent_tool_started_has_real_ids_and_a_summary_and_in_debug_the_arguments() {
    assert_eq!(
        payloads(&told(Detail::MINIMAL, false), "agent.tool.started"),
        [r#"{"tool_name":"act","tool_call_id":"c","args_summary":"n: 1"}"#]
    );
    assert_eq!(
        payloads(&told(Detail::DEBUG, false), "agent.tool.started"),
        [r#"{"tool_name":"act","tool_call_id":"c","args_summary":"n: 1","args":{"n":1}}"#]
    );
    assert_eq!(Detail::preset("full"), Detail::preset("debug"));
}

#[test]
fn agent_tool_completed_tells_success_error_and_result() {
    assert_eq!(
        payloads(&told(Detail::MINIMAL, false), "agent.tool.completed"),
        [
            r#"{"tool_name":"act","tool_call_id":"c","success":true,"error":null,"duration_ms":0.0,"result_summary":"c done"}"#
        ]
    );
    assert_eq!(
        payloads(&told(Detail::MINIMAL, true), "agent.tool.completed"),
        [
            r#"{"tool_name":"act","tool_call_id":"c","success":false,"error":"no luck","duration_ms":0.0,"result_summary":"no luck"}"#
        ]
    );
}

#[test]
fn agent_continuation_is_told_with_its_evaluations_only_on_request() {
    assert!(payloads(&told(Detail::STANDARD, false), "agent.continuation").is_empty());
    assert!(!payloads(&told(Detail::STANDARD, false), "agent.step.completed")[0].contains("continuation"));

    let traces = payloads(&told(Detail::DEBUG, false), "agent.continuation");

    assert!(traces[0].starts_with(r#"{"step_number":1,"should_continue":true,"stop_reason":"completed","resolved_by":"ToolCallPresenceCheck","evaluations":["#));
    assert!(traces[1].contains(r#"{"criterion":"ToolCallPresenceCheck","decision":"stop","reason":"No tool calls"}"#));
    let step = &payloads(&told(Detail::DEBUG, false), "agent.step.completed")[0];
    assert!(step.ends_with(r#""continuation":{"should_continue":true,"stop_reason":"completed","resolved_by":"ToolCallPresenceCheck"}}"#), "{step}");
}

#[test]
fn envelopes_name_channel_run_and_place() {
    let all = told(Detail::STANDARD, false);

    assert!(all.iter().all(|envelope| envelope.channel().as_str() == "agent.s" && envelope.execution.is_some()));
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
fn step_numbers_grow_over_the_session() {
    let store = memory();
    let agent = agent(vec![Answer::text("1"), Answer::text("2"), Answer::text("3")], vec![]);
    let session = turnkeep_model::Session { id: Some("s".into()), ..agent.session() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, ports())).unwrap();
    ["one", "two", "three"].into_iter().for_each(|said| drop(block_on(agent.run(&mut recorder, said)).unwrap()));
    let journal = block_on(store.journal(recorder.id())).unwrap();
    let mut envelopes = AgentEnvelopes::new("s".into(), Detail::MINIMAL);
    let told: Vec<Envelope> = journal.batches.iter().flat_map(|batch| envelopes.batch(batch)).collect();

    let numbers = |kind: &str, field: &str| -> Vec<u64> {
        let of_kind = told.iter().filter(|envelope| envelope.kind == kind);
        of_kind.filter_map(|envelope| envelope.payload.get(field)?.as_number()?.as_u64()).collect()
    };
    assert_eq!(numbers("agent.step.started", "step_number"), [1, 2, 3]);
    assert_eq!(numbers("agent.step.completed", "step_number"), [1, 2, 3]);
    assert_eq!(numbers("agent.status", "step_count"), [0, 1, 1, 2, 2, 3]);
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

#[test]
fn durations_are_milliseconds_of_the_whole_step_and_of_its_tools() {
    use std::time::Duration;
    let (store, clock) = (memory(), crate::kit::clock());
    let moving = clock.clone();
    let slow = Fake::new("slow", Effect::Pure, move |_| {
        moving.advance(Duration::from_millis(2000));
        Ok(turnkeep_runtime::port::ToolOutput::text("ok"))
    });
    let agent = agent(vec![calling(&[("c", "slow", "{}")]), Answer::text("done")], vec![slow]);
    let session = turnkeep_model::Session { id: Some("s".into()), ..agent.session() };
    let ports = crate::kit::ports_with(clock.clone());
    let mut recorder = block_on(Recorder::create(store.clone(), session, ports)).unwrap();
    clock.advance(Duration::from_millis(7));
    block_on(agent.run(&mut recorder, "go")).unwrap();
    let journal = block_on(store.journal(recorder.id())).unwrap();
    let mut envelopes = AgentEnvelopes::new("s".into(), Detail::MINIMAL);
    let told: Vec<Envelope> = journal.batches.iter().flat_map(|batch| envelopes.batch(batch)).collect();

    let duration = |kind: &str| -> Vec<Json> {
        let of_kind = told.iter().filter(|envelope| envelope.kind == kind);
        of_kind.filter_map(|envelope| envelope.payload.get("duration_ms").cloned()).collect()
    };

    assert_eq!(duration("agent.tool.completed"), [crate::kit::json("2000.0")]);
    assert_eq!(duration("agent.step.completed"), [crate::kit::json("2000.0"), crate::kit::json("0.0")]);
    let mut released = AgentEnvelopes::new("s".into(), Dialect::Released);
    let released: Vec<Envelope> = journal.batches.iter().flat_map(|batch| released.batch(batch)).collect();
    let tool = &payloads(&released, "agent.tool.completed")[0];
    assert!(tool.contains(r#""duration_ms":2000,"#), "{tool}");
}

#[test]
fn executions_of_a_session_are_told_apart_and_each_has_one_terminal_status() {
    let store = memory();
    let agent = agent(vec![Answer::text("1"), Answer::text("2")], vec![]);
    let session = turnkeep_model::Session { id: Some("s".into()), ..agent.session() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, ports())).unwrap();
    block_on(agent.run(&mut recorder, "one")).unwrap();
    block_on(agent.run(&mut recorder, "two")).unwrap();
    let journal = block_on(store.journal(recorder.id())).unwrap();
    let mut envelopes = AgentEnvelopes::new("s".into(), Detail::MINIMAL);
    let told: Vec<Envelope> = journal.batches.iter().flat_map(|batch| envelopes.batch(batch)).collect();

    for run in &recorder.session().runs {
        let own: Vec<Envelope> = told.iter().filter(|envelope| envelope.execution == run.id).cloned().collect();
        let statuses = payloads(&own, "agent.status");
        assert_eq!(statuses.len(), 2, "{statuses:?}");
        assert!(statuses[0].contains("in_progress") && statuses[1].contains("completed"), "{statuses:?}");
    }
    assert!(told.iter().all(|envelope| recorder.session().runs.iter().any(|run| run.id == envelope.execution)));
}

/// The events of all runs of a session, as lines of JSON without their times.
fn streamed(store: &std::sync::Arc<dyn turnkeep_store::Store>, id: &turnkeep_model::SessionId) -> Vec<String> {
    let journal = block_on(store.journal(id)).unwrap();
    let mut stream = turnkeep_runtime::compat::llm4s::Stream::default();
    let all: Vec<turnkeep_runtime::compat::llm4s::Streamed> =
        journal.batches.iter().flat_map(|batch| stream.batch(batch)).collect();
    assert!(all.iter().all(|one| one.time.is_some()));
    let untimed = |one: turnkeep_runtime::compat::llm4s::Streamed| {
        turnkeep_runtime::compat::llm4s::Streamed { time: None, ..one }.to_json().to_text()
    };
    all.into_iter().map(|one| untimed(one).replace(r#","timestamp":null"#, "")).collect()
}

#[test]
fn a_streaming_run_begins_once_counts_steps_from_0_and_ends_once() {
    let store = memory();
    let tool = Fake::new("act", Effect::Pure, |context| match context.call_id.as_given() {
        Some("a") => Ok(turnkeep_runtime::port::ToolOutput::text("fine")),
        _ => Err(ToolError::failed("no luck")),
    });
    let calls = calling(&[("a", "act", r#"{"n":1}"#), ("b", "act", "{}")]);
    let agent = agent(vec![calls, Answer::text("done")], vec![tool]);
    let mut recorder = block_on(Recorder::create(store.clone(), agent.session(), ports())).unwrap();
    block_on(agent.run(&mut recorder, "go")).unwrap();
    // The script is over: the next run fails.
    block_on(agent.run(&mut recorder, "and?")).unwrap();

    assert_eq!(
        streamed(&store, recorder.id()),
        [
            r#"{"type":"agent_started","query":"go","tool_count":1}"#,
            r#"{"type":"step_started","step":0}"#,
            r#"{"type":"step_completed","step":0,"has_tool_calls":true}"#,
            r#"{"type":"tool_call_started","id":"a","name":"act","arguments":"{\"n\":1}"}"#,
            r#"{"type":"tool_call_started","id":"b","name":"act","arguments":"{}"}"#,
            r#"{"type":"tool_call_completed","id":"a","name":"act","result":"fine","duration_ms":0}"#,
            r#"{"type":"tool_call_failed","id":"b","name":"act","error":"no luck","duration_ms":0}"#,
            r#"{"type":"step_started","step":1}"#,
            r#"{"type":"text_complete","text":"done"}"#,
            r#"{"type":"step_completed","step":1,"has_tool_calls":false}"#,
            r#"{"type":"agent_completed","steps":2,"duration_ms":0}"#,
            r#"{"type":"agent_started","query":"and?","tool_count":1}"#,
            r#"{"type":"step_started","step":0}"#,
            r#"{"type":"agent_failed","error":"the script has no answer 3","step":0}"#,
        ]
    );
}

#[test]
fn runs_that_hand_over_wait_or_are_stopped_end_with_one_event() {
    let ended = |prepare: fn(&mut Fake), steps: Option<u64>| {
        let store = memory();
        let mut tool = Fake::acting("act", Effect::Pure, &World::default());
        prepare(&mut tool);
        let agent = agent(vec![calling(&[("a", "act", "{}")]), Answer::text("done")], vec![tool]);
        let mut session = agent.session();
        session.options.limits.steps = steps.map(turnkeep_model::Number::from);
        let mut recorder = block_on(Recorder::create(store.clone(), session, ports())).unwrap();
        block_on(agent.run(&mut recorder, "go")).unwrap();
        (store, recorder)
    };
    let last = |(store, recorder): &(_, Recorder)| streamed(store, recorder.id()).pop().unwrap();
    let consent = |tool: &mut Fake| tool.consent = turnkeep_runtime::port::Consent::Needed { within: None };

    assert_eq!(last(&ended(consent, None)), r#"{"type":"agent_waiting","step":0}"#);
    let limited = ended(|_| (), Some(1));
    assert!(last(&limited).starts_with(r#"{"type":"agent_failed","error":"steps_limit""#), "{}", last(&limited));
    let (store, mut recorder) = ended(|_| (), None);
    let given = turnkeep_runtime::handoff(&mut recorder, store.clone(), "billing", None, Default::default());
    block_on(given).unwrap();
    assert_eq!(last(&(store, recorder)), r#"{"type":"handoff_completed","to":"billing"}"#);
}
