//! Raw events of instructor-php against the envelopes that the program made of them.

use turnkeep_model::policy::{Redact, RedactTarget};
use turnkeep_model::{ErrorKind, Json};
use turnkeep_runtime::envelope::{Detail, Dialect, Envelope, EnvelopeOptions, InstructorEvents};

use crate::kit::json;

fn fixture(name: &str) -> String {
    let path = format!("{}/../../fixtures/instructor-php/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn made(name: &str, detail: Detail, dialect: Dialect) -> Vec<Envelope> {
    let options = EnvelopeOptions { dialect, ..detail.into() };
    InstructorEvents::new(Some("session-1".into()), options).read(&fixture(name)).unwrap()
}

/// The program's envelopes: type and payload. Its second terminal status is left out, and where it tells nothing (the id of
/// a call, the summary of a result) anything is right.
fn expected(name: &str, ours: &[Envelope]) -> Vec<(String, Json)> {
    let lines: Vec<Json> = fixture(name).lines().map(json).collect();
    let without_second_end = lines.len() - 1;
    let one = |(line, own): (&Json, &Envelope)| {
        let envelope = line.as_object().unwrap().get("envelope").unwrap().as_object().unwrap();
        let mut payload = envelope.get("payload").unwrap().as_object().unwrap().clone();
        for stub in ["tool_call_id", "result_summary"] {
            if payload.get(stub) == Some(&Json::Null) {
                payload.set(stub, own.payload.get(stub).unwrap().clone());
            }
        }
        (envelope.get_str("type").unwrap().into_owned(), Json::Object(payload))
    };
    lines.iter().take(without_second_end).zip(ours).map(one).collect()
}

#[test]
fn raw_events_become_the_envelopes_of_the_program() {
    let table = [
        ("raw_events_tool_call.json", "envelopes_tool_call_standard.ndjson", Detail::STANDARD),
        ("raw_events_final_response.json", "envelopes_final_response_debug.ndjson", Detail::DEBUG),
    ];
    for (raw, envelopes, detail) in table {
        let ours = made(raw, detail, Dialect::Released);
        let told: Vec<(String, Json)> =
            ours.iter().map(|one| (one.kind.clone(), Json::Object(one.payload.clone()))).collect();
        assert_eq!(told, expected(envelopes, &ours), "{raw}");
        assert_eq!(fixture(envelopes).lines().count(), ours.len() + 1, "{raw}");
        assert!(
            ours.iter()
                .all(|one| one.event_name() == "instructor.agent.event" && one.channel().as_str() == "agent.session-1")
        );
    }
}

#[test]
fn raw_events_become_the_specified_envelopes() {
    let told = made("raw_events_tool_call.json", Detail::STANDARD, Dialect::Specified);

    let all: Vec<String> =
        told.iter().map(|one| format!("{} {}", one.kind, Json::Object(one.payload.clone()).to_text())).collect();
    assert_eq!(
        all,
        [
            r#"agent.status {"status":"in_progress","step_count":0,"error_message":null,"last_response":null}"#,
            r#"agent.step.started {"step_number":1,"message_count":1,"available_tools":[]}"#,
            r#"agent.tool.started {"tool_name":"search","tool_call_id":"b9ddcd1a-717f-4a6b-9ef6-d15bba8b49e7","args_summary":"q: 'a \"quoted\" and rather long..., types: [\"program\",\"lead\"], limit: 10"}"#,
            r#"agent.tool.completed {"tool_name":"search","tool_call_id":"b9ddcd1a-717f-4a6b-9ef6-d15bba8b49e7","success":true,"error":null,"duration_ms":1.0,"result_summary":"{\"hits\":3,\"top\":\"Łódź\"}"}"#,
            r#"agent.step.completed {"step_number":1,"has_tool_calls":true,"errors":0,"finish_reason":"other","usage":{"prompt":100,"completion":20,"total":120},"duration_ms":0.054836273193359375}"#,
            r#"agent.step.started {"step_number":2,"message_count":2,"available_tools":[]}"#,
            r#"agent.step.completed {"step_number":2,"has_tool_calls":false,"errors":0,"finish_reason":"other","usage":{"prompt":130,"completion":5,"total":135},"duration_ms":0.0059604644775390625}"#,
            r#"agent.status {"status":"completed","step_count":2,"error_message":null,"last_response":"Found 3."}"#,
        ]
    );
}

/// The words of every status of these events, released.
fn statuses(lines: &str) -> Vec<String> {
    let mut events = InstructorEvents::new(None, Dialect::Released);
    let told = events.read(lines).unwrap();
    let of_status = told.iter().filter(|one| one.kind == "agent.status");
    of_status.map(|one| one.payload.get_str("status").unwrap().into_owned()).collect()
}

#[test]
fn stop_reasons_have_their_words_and_one_end() {
    let step = |errors: u64| {
        format!(
            r#"{{"event":"AgentStepStarted","data":{{"executionId":"e","step":1}}}}
{{"event":"Cognesy\\Agents\\Events\\AgentStepCompleted","data":{{"executionId":"e","step":1,"hasToolCalls":false,"errors":{errors},"errorMessages":"no luck"}}}}
"#
        )
    };
    let signal = |reason: &str| {
        format!(
            r#"{{"event":"StopSignalReceived","data":{{"reason":"{reason}"}}}}
{{"event":"ContinuationEvaluated","data":{{"executionId":"e","step":1,"status":"Stop Signals: 1","resolvedBy":"x"}}}}
{{"event":"AgentExecutionStopped","data":{{"executionId":"e","stopReason":"{reason}"}}}}
"#
        )
    };
    let table =
        [("completed", "completed"), ("error", "failed"), ("user_requested", "cancelled"), ("steps_limit", "stopped")];
    for (reason, word) in table {
        assert_eq!(statuses(&format!("{}{}", step(0), signal(reason))), ["processing", word], "{reason}");
    }
    assert_eq!(statuses(&format!("{}{}", step(1), signal("completed"))), ["processing", "failed"]);
    let failed = r#"{"event":"AgentExecutionFailed","data":{"executionId":"e","error":"broken"}}"#;
    assert_eq!(statuses(&format!("{}{failed}\n{}", step(0), signal("completed"))), ["processing", "failed"]);
}

#[test]
fn executions_at_once_are_kept_apart_and_pieces_find_theirs() {
    let lines = r#"{"event":"InferenceRequestStarted","data":{"executionId":"a","inferenceExecutionId":"ia"}}
{"event":"InferenceRequestStarted","data":{"executionId":"b","inferenceExecutionId":"ib"}}
{"event":"PartialInferenceDeltaCreated","data":{"inferenceExecutionId":"ia","contentDelta":"one"}}
{"event":"PartialInferenceDeltaCreated","data":{"inferenceExecutionId":"ib","contentDelta":"two"}}
{"event":"PartialInferenceDeltaCreated","data":{"inferenceExecutionId":"ia","contentDelta":""}}
{"event":"PartialInferenceDeltaCreated","data":{"inferenceExecutionId":"nobody","contentDelta":"lost"}}
{"event":"PartialInferenceDeltaCreated","data":{"inferenceExecutionId":"ia","contentDelta":" more"}}
"#;
    let told = InstructorEvents::new(Some("s".into()), Dialect::Released).read(lines).unwrap();

    let all: Vec<(String, String)> = told
        .iter()
        .map(|one| (one.execution.as_ref().unwrap().to_string(), Json::Object(one.payload.clone()).to_text()))
        .collect();
    let chunk = |text: &str, index: u64| format!(r#"{{"content":"{text}","is_complete":false,"chunk_index":{index}}}"#);
    assert_eq!(all, [("a".into(), chunk("one", 0)), ("b".into(), chunk("two", 0)), ("a".into(), chunk(" more", 1))]);
}

#[test]
fn raw_events_are_redacted_too() {
    let redact = Redact::new([RedactTarget::ToolArgs, RedactTarget::ToolResults]);
    let options = EnvelopeOptions { redact, ..Detail::DEBUG.into() };
    let told = InstructorEvents::new(None, options).read(&fixture("raw_events_tool_call.json")).unwrap();

    let all: String = told.iter().map(|one| one.to_json().to_text()).collect();
    assert!(!all.contains("quoted") && !all.contains("hits"), "{all}");
}

#[test]
fn what_is_no_event_is_refused_by_its_number() {
    let refused = |text: &str| {
        let error = InstructorEvents::new(None, Detail::STANDARD).read(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotThisFormat);
        error.to_string()
    };

    assert_eq!(refused("[]"), "there is no event");
    assert_eq!(refused(r#"{"messages":[]}"#), "item 1 is no event of instructor-php");
    assert_eq!(refused("{\"event\":\"AgentStepStarted\",\"data\":{}}\nnot json"), "line 2 is no JSON");
}
