//! Dialects, old names, statuses, what is hidden, and what waits for a person.

use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::policy::{Redact, RedactTarget};
use turnkeep_model::{Json, Session};
use turnkeep_runtime::Recorder;
use turnkeep_runtime::envelope::{AgentEnvelopes, Detail, Dialect, Envelope, EnvelopeOptions, OldNames};
use turnkeep_runtime::port::Answer;
use turnkeep_store::StoreExt;

use crate::envelope::payloads;
use crate::kit::{Fake, World, agent, calling, memory, ports};

/// The envelopes of a run that calls a tool and answers, made in a way of its own.
fn told_as(options: impl Into<EnvelopeOptions>) -> Vec<Envelope> {
    let tool = Fake::acting("act", Effect::Pure, &World::default());
    let agent = agent(vec![calling(&[("c", "act", r#"{"n":1}"#)]), Answer::text("ada@example.com")], vec![tool]);
    let store = memory();
    let session = Session { id: Some("s".into()), ..agent.session() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, ports())).unwrap();
    block_on(agent.run(&mut recorder, "go")).unwrap();
    let journal = block_on(store.journal(recorder.id())).unwrap();
    let mut envelopes = AgentEnvelopes::new("s".into(), options);
    journal.batches.iter().flat_map(|batch| envelopes.batch(batch)).collect()
}

#[test]
fn the_released_dialect_has_its_own_words_for_everything() {
    let told = told_as(EnvelopeOptions { dialect: Dialect::Released, ..Detail::DEBUG.into() });

    let all: Vec<String> =
        told.iter().map(|one| format!("{} {}", one.kind, Json::Object(one.payload.clone()).to_text())).collect();
    assert_eq!(
        all,
        [
            r#"agent.status {"status":"processing","previous_status":"idle"}"#,
            r#"agent.step.started {"step_number":1,"message_count":1,"available_tools":1}"#,
            r#"agent.tool.started {"tool_name":"act","tool_call_id":"c","args":{"n":1}}"#,
            r#"agent.tool.completed {"tool_name":"act","tool_call_id":"c","success":true,"error":null,"duration_ms":0,"result_summary":"c done"}"#,
            r#"agent.step.completed {"step_number":1,"has_tool_calls":true,"errors":0,"finish_reason":"tool_calls","usage":{"input":0,"output":0,"cacheWrite":0,"cacheRead":0,"reasoning":0},"duration_ms":0.0}"#,
            r#"agent.continuation {"step_number":1,"should_stop":false,"stop_reason":null,"resolved_by":"ToolCallPresenceCheck"}"#,
            r#"agent.step.started {"step_number":2,"message_count":3,"available_tools":1}"#,
            r#"agent.step.completed {"step_number":2,"has_tool_calls":false,"errors":0,"finish_reason":"stop","usage":{"input":0,"output":0,"cacheWrite":0,"cacheRead":0,"reasoning":0},"duration_ms":0.0}"#,
            r#"agent.continuation {"step_number":2,"should_stop":true,"stop_reason":null,"resolved_by":"aggregate"}"#,
            r#"agent.status {"status":"completed","previous_status":"processing"}"#,
        ]
    );
    assert!(told.iter().all(|one| one.event_name() == "instructor.agent.event"));
    assert!(!told[0].to_json().to_text().contains("seq"));
}

#[test]
fn old_names_stand_beside_the_specified_ones_on_request() {
    let told = told_as(EnvelopeOptions { old_names: OldNames::Beside, ..Detail::MINIMAL.into() });

    assert_eq!(
        payloads(&told, "agent.tool.started"),
        [r#"{"tool_name":"act","tool_call_id":"c","args_summary":"n: 1","tool":"act","toolCallId":"c"}"#]
    );
    let step = &payloads(&told, "agent.step.completed")[0];
    assert!(
        step.contains(r#""stepNumber":1,"hasToolCalls":true,"errorCount":0,"finishReason":"tool_calls""#),
        "{step}"
    );
}

#[test]
fn what_is_to_be_hidden_is_hidden_before_anything_leaves() {
    let redact = Redact::new([RedactTarget::Secrets, RedactTarget::ToolArgs, RedactTarget::ToolResults]);
    let told = told_as(EnvelopeOptions { redact, ..Detail::DEBUG.into() });

    assert!(payloads(&told, "agent.tool.started")[0].contains(r#""args_summary":"","args":{}"#));
    assert!(told.iter().all(|one| !one.to_json().to_text().contains("c done")));
    assert!(payloads(&told, "agent.status")[1].contains(r#""last_response":"[email-1]""#));
    assert!(told.iter().all(|one| !one.to_json().to_text().contains("ada@")));
}

#[test]
fn every_status_has_one_of_three_words_and_says_what_they_do_not() {
    use turnkeep_model::status::*;
    let table: [(Status, &str, Option<&str>); 8] = [
        (Pending {}.into(), "in_progress", Some("pending")),
        (InProgress {}.into(), "in_progress", None),
        (WaitingForTools {}.into(), "in_progress", Some("waiting_for_tools")),
        (WaitingForHuman {}.into(), "in_progress", Some("waiting_for_human")),
        (Completed {}.into(), "completed", None),
        (Stopped {}.into(), "completed", Some("stopped")),
        (Failed { error: "no".into() }.into(), "failed", None),
        (Handoff { to: "b".into(), reason: None }.into(), "completed", Some("handoff")),
    ];
    for (status, word, state) in table {
        let stopped = turnkeep_model::event::RunStopped { status: Some(status.clone()), ..Default::default() };
        let events = vec![turnkeep_model::Event::from(stopped).into()];
        let mut envelopes = AgentEnvelopes::new("s".into(), Detail::MINIMAL);
        let told = envelopes.batch(&turnkeep_model::Batch::new(turnkeep_model::Seq(1), events));
        assert_eq!(told.len(), 1, "{status:?}");
        assert_eq!(told[0].payload.get_str("status").as_deref(), Some(word), "{status:?}");
        assert_eq!(told[0].payload.get_str("state").as_deref(), state, "{status:?}");
    }
}

#[test]
fn a_call_that_waits_reaches_the_screen_with_what_is_to_be_approved() {
    use turnkeep_runtime::human::{ConsentDecision, approval_digest, decide};
    let mut tool = Fake::acting("act", Effect::Once, &World::default());
    tool.consent = turnkeep_runtime::port::Consent::Needed { within: None };
    let agent = agent(vec![calling(&[("c", "act", r#"{"n":1}"#)]), Answer::text("done")], vec![tool]);
    let (store, ports) = (memory(), ports());
    let session = Session { id: Some("s".into()), ..agent.session() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, ports.clone())).unwrap();
    block_on(agent.run(&mut recorder, "go")).unwrap();
    let call = turnkeep_model::CallId::given("c");
    let other = ConsentDecision { digest: Some(approval_digest("act", r#"{"n":2}"#)), ..ConsentDecision::approve() };
    let refused = block_on(decide(&*store, recorder.id(), &call, &other, &ports)).unwrap_err();
    assert_eq!(refused.kind(), turnkeep_model::ErrorKind::Mismatch);
    let digest = approval_digest("act", r#"{ "n": 1 }"#);
    let shown = ConsentDecision { digest: Some(digest.clone()), ..ConsentDecision::approve() };
    block_on(decide(&*store, recorder.id(), &call, &shown, &ports)).unwrap();
    let journal = block_on(store.journal(recorder.id())).unwrap();
    let mut envelopes = AgentEnvelopes::new("s".into(), Detail::MINIMAL);
    let told: Vec<Envelope> = journal.batches.iter().flat_map(|batch| envelopes.batch(batch)).collect();

    let waiting = format!(
        r#""waiting":[{{"tool_call_id":"c","tool_name":"act","args":{{"n":1}},"for":"consent","digest":"{digest}","expires":null,"reason":null}}]"#
    );
    let statuses = payloads(&told, "agent.status");
    assert_eq!(statuses.len(), 4, "{statuses:?}");
    assert!(statuses[1].contains(&waiting) && !statuses[1].contains("state"), "{statuses:?}");
    assert!(statuses[2].contains(&waiting) && statuses[2].contains(r#""state":"waiting_for_human""#), "{statuses:?}");
    assert!(!statuses[3].contains("waiting\":"), "{statuses:?}");
}

#[test]
fn the_digest_of_an_approval_is_sha_256_of_the_canonical_call() {
    // printf '%s' '{"arguments":{"n":1},"tool":"act"}' | sha256sum
    assert_eq!(
        turnkeep_runtime::human::approval_digest("act", r#"{"n":1}"#),
        "91969b7dc40f67232ad4125cf8abc5973349016a219f7cb38593279dec1ba9e5"
    );
}
