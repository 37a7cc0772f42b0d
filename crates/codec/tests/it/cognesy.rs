//! instructor-php documents: fixtures of the real program, the proposal's example, and what it refuses.

use std::fs;
use std::path::{Path, PathBuf};

use turnkeep_codec::format::{self, cognesy};
use turnkeep_codec::{DecodeOptions, Decoded, EncodeOptions, Input, Target, sniff};
use turnkeep_model::json::{self, Json, Object};
use turnkeep_model::status::Decision;
use turnkeep_model::{
    Author, Block, Body, CallId, Error, ErrorKind, Loss, LossKind, Part, Session, Side, StopReason, ToolCall,
    ToolResult, Turn, diff,
};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn fixture(format: &str, case: &str) -> String {
    let ending = if format == "cognesy.jsonl" { "jsonl" } else { "json" };
    let path = fixtures().join(format).join(case).join(format!("input.{ending}"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn decode(text: &str, format: &str) -> Decoded {
    read(text, format).unwrap()
}

fn read(text: &str, format: &str) -> Result<Decoded, Error> {
    format::by_id(format)?.decode(Input::new(text.as_bytes()), &DecodeOptions::default())
}

fn main_session(text: &str, format: &str) -> Session {
    decode(text, format).archive.main_session().unwrap().clone()
}

/// The text after reading it as `from` and writing it as `target`, and the losses of the writer.
fn rewrite(text: &str, from: &str, target: &str) -> (String, Vec<Loss>) {
    // The codec itself: it takes what the program takes, also what nobody would recognise as its document.
    let target = Target::parse(target).unwrap();
    let codec = format::by_id(from).unwrap();
    let read = codec.decode(Input::new(text.as_bytes()), &DecodeOptions::default()).unwrap();
    let done = turnkeep_codec::encode(&read.archive, &target, &EncodeOptions::default()).unwrap();
    (String::from_utf8(done.bytes).unwrap(), done.losses)
}

/// Equal texts; where they differ, what stands around the first difference.
#[track_caller]
fn assert_same_text(written: &str, text: &str) {
    if let Some((written, text)) = difference(written, text) {
        panic!("written: …{written}…\n    read: …{text}…");
    }
}

fn difference(a: &str, b: &str) -> Option<(String, String)> {
    if a == b {
        return None;
    }
    let at = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.chars().skip(at.saturating_sub(120)).take(240).collect();
    Some((around(a), around(b)))
}

#[track_caller]
fn assert_returns(text: &str, format: &str) {
    let (written, losses) = rewrite(text, format, format);
    assert_same_text(&written, text);
    assert_eq!(losses, []);
}

/// Every case of every format, so that a fixture without a test fails the build.
macro_rules! cases {
    ($($name:ident: $format:literal / $case:literal, $generation:expr;)*) => {
        const CASES: &[(&str, &str)] = &[$(($format, $case)),*];

        mod returns {
            $(#[test] fn $name() {
                let text = super::fixture($format, $case);
                super::assert_returns(&text, $format);
                super::assert_found(&text, $format, $generation);
                super::assert_returns_by_way_of_native(&text, $format);
            })*
        }
    };
}

cases! {
    state_empty: "cognesy.state" / "empty", Some("v2");
    state_everything: "cognesy.state" / "everything", Some("v2");
    state_error_step: "cognesy.state" / "error_step", Some("v2");
    state_final_response: "cognesy.state" / "final_response", Some("v2");
    state_tool_call: "cognesy.state" / "tool_call", Some("v2");
    state_january: "cognesy.state" / "january_2026", Some("2026-01");
    state_v1: "cognesy.state" / "v1_18", Some("v1.18");
    state_messages: "cognesy.state" / "message_list", Some("messages");
    slim_full: "cognesy.slim" / "full", Some("2026-01");
    slim_minimal: "cognesy.slim" / "minimal", Some("2026-01");
    slim_standard: "cognesy.slim" / "standard", Some("2026-01");
    slim_v1: "cognesy.slim" / "v1_18_full", Some("v1.18");
    slim_proposal: "cognesy.slim" / "spec_example", Some("proposal");
    continuation: "cognesy.continuation" / "standard", None;
    session_stored: "cognesy.session" / "stored", None;
    session_forked: "cognesy.session" / "forked", None;
    jsonl_branched: "cognesy.jsonl" / "branched", None;
}

#[track_caller]
fn assert_found(text: &str, format: &str, generation: Option<&str>) {
    let found = sniff(&Input::new(text.as_bytes())).unwrap();
    assert_eq!(found.codec.spec().id, format);
    assert_eq!(found.others, Vec::<&str>::new());
    assert_eq!(found.guess.generation.as_deref(), generation);
}

#[track_caller]
fn assert_returns_by_way_of_native(text: &str, format: &str) {
    for native in ["turnkeep", "turnkeep.yaml"] {
        let (there, losses) = rewrite(text, format, native);
        assert_eq!(losses, []);
        assert_eq!(rewrite(&there, native, format), (text.to_owned(), vec![]), "by way of {native}");
    }
}

#[test]
fn every_fixture_is_a_case() {
    let mut found = Vec::new();
    for format in ["cognesy.state", "cognesy.slim", "cognesy.continuation", "cognesy.session", "cognesy.jsonl"] {
        for case in fs::read_dir(fixtures().join(format)).unwrap().flatten() {
            let has_input = fs::read_dir(case.path())
                .unwrap()
                .flatten()
                .any(|file| file.file_name().to_string_lossy().starts_with("input."));
            if has_input {
                found.push((format.to_owned(), case.file_name().into_string().unwrap()));
            }
        }
    }
    found.sort();
    let mut listed: Vec<_> = CASES.iter().map(|(format, case)| ((*format).to_owned(), (*case).to_owned())).collect();
    listed.sort();
    assert_eq!(found, listed);
}

/// Every object in a value, by its path of steps.
fn objects(value: &Json, path: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    let inner: Vec<&Json> = match value {
        Json::Object(object) => {
            found.push(path.clone());
            object.iter().map(|(_, value)| value).collect()
        }
        Json::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    for (at, value) in inner.into_iter().enumerate() {
        path.push(at);
        objects(value, path, found);
        path.pop();
    }
}

/// The value with the object at a path changed.
fn changed(value: &Json, path: &[usize], change: &dyn Fn(Object) -> Object) -> Json {
    let Some((first, rest)) = path.split_first() else {
        return match value {
            Json::Object(object) => Json::Object(change(object.clone())),
            other => other.clone(),
        };
    };
    let inside = |at: usize, inner: &Json| if at == *first { changed(inner, rest, change) } else { inner.clone() };
    match value {
        Json::Object(object) => {
            Json::Object(object.iter().enumerate().map(|(at, (key, inner))| (key.clone(), inside(at, inner))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().enumerate().map(|(at, inner)| inside(at, inner)).collect()),
        other => other.clone(),
    }
}

/// The documents of a fixture, parsed: one, or one a line.
fn documents(format: &str, case: &str) -> Vec<Json> {
    let text = fixture(format, case);
    let texts: Vec<&str> = if format == "cognesy.jsonl" { text.lines().collect() } else { vec![&text] };
    texts.into_iter().map(|text| json::parse(text).unwrap().into_json()).collect()
}

/// Runs `check` over every fixture with one object changed, for every object.
fn for_each_change(changes: &dyn Fn(&Object) -> Vec<Object>, check: &dyn Fn(&str, &str)) {
    // The others hold nothing that these do not, only more of it.
    let repeats = ["full", "standard", "minimal", "error_step", "stored"];
    for (format, case) in
        CASES.iter().filter(|(format, case)| *format == "cognesy.continuation" || !repeats.contains(case))
    {
        let documents = documents(format, case);
        for (index, document) in documents.iter().enumerate() {
            let mut places = Vec::new();
            objects(document, &mut Vec::new(), &mut places);
            for place in places {
                let made = std::cell::RefCell::new(Vec::new());
                changed(document, &place, &|object| {
                    *made.borrow_mut() = changes(&object);
                    object
                });
                for object in made.into_inner() {
                    let one = changed(document, &place, &|_| object.clone());
                    let mut all = documents.clone();
                    all.splice(index..=index, [one]);
                    let text = all.iter().map(|document| format!("{}\n", document.to_text())).collect::<String>();
                    check(&text, format);
                }
            }
        }
    }
}

fn with_pair_at(object: &Object, at: usize, key: &str, value: &Json) -> Object {
    let mut pairs: Vec<_> = object.clone().into_iter().collect();
    pairs.insert(at, (key.into(), value.clone()));
    pairs.into_iter().collect()
}

#[test]
fn unknown_fields_return_wherever_they_stand() {
    let odd = json::parse(r#"{"deep":[1.0,null,{"empty":[]}]}"#).unwrap().into_json();
    let changes = |object: &Object| {
        [0, object.len() / 2, object.len()].into_iter().map(|at| with_pair_at(object, at, "x_unknown", &odd)).collect()
    };
    for_each_change(&changes, &assert_returns);
}

#[test]
fn odd_values_return_wherever_they_are_accepted() {
    let odd = ["null", "[]", "{}", "\"\"", "\"odd\"", "7", "[\"x\"]"];
    let odd: Vec<Json> = odd.iter().map(|text| json::parse(text).unwrap().into_json()).collect();
    let turn = std::cell::Cell::new(0);
    let changes = |object: &Object| {
        let mut made = Vec::new();
        for at in 0..object.len() {
            let rest = || object.iter().enumerate().filter(move |(index, _)| *index != at).map(|(_, pair)| pair);
            made.push(rest().map(|(key, value)| (key.clone(), value.clone())).collect::<Object>());
            let mut rotated: Vec<_> = object.clone().into_iter().collect();
            rotated.rotate_left(at);
            made.push(rotated.into_iter().collect());
            // One odd value a place; which one differs from object to object.
            let value = &odd[(turn.get() + at) % odd.len()];
            let pair = |(index, (key, held)): (usize, (&turnkeep_model::JsonString, &Json))| {
                (key.clone(), if index == at { value.clone() } else { held.clone() })
            };
            made.push(object.iter().enumerate().map(pair).collect());
        }
        turn.set(turn.get() + 1);
        made
    };
    for_each_change(&changes, &|text, format| {
        if read(text, format).is_ok() {
            assert_returns(text, format);
        }
    });
}

/// Formats of every family, with a document each.
fn one_of_each() -> Vec<(&'static str, Session)> {
    CASES.iter().map(|(format, case)| (*format, main_session(&fixture(format, case), format))).collect()
}

/// Every difference between what was given and what a reader of the written finds, is a reported loss, and none else.
#[track_caller]
fn assert_honest(session: &Session, target: &Target) {
    let mut options = EncodeOptions::default();
    options.variant = target.variant.clone();
    let id = target.codec.spec().id;
    let encoded =
        target.codec.encode(&session.clone().into(), &options).unwrap_or_else(|error| panic!("{id}: {error}"));
    let input = Input::new(&encoded.bytes);
    let back = target.codec.decode(input, &DecodeOptions::default()).unwrap_or_else(|error| panic!("{id}: {error}"));
    let found = diff(session, back.archive.main_session().unwrap());
    let mut found: Vec<&str> = found.iter().map(|change| change.at.as_str()).collect();
    let mut told: Vec<&str> = encoded.losses.iter().map(|loss| loss.at.as_str()).filter(|at| *at != "seq").collect();
    found.sort_unstable();
    told.sort_unstable();
    assert_eq!(told, found, "{id}");
    let again = target.codec.encode(&back.archive, &options).unwrap();
    assert_same_text(&String::from_utf8(again.bytes).unwrap(), &String::from_utf8(encoded.bytes).unwrap());
}

/// Every way in which a session can be written as one of these formats.
fn targets() -> Vec<Target> {
    let mut targets = Vec::new();
    for codec in format::ALL.iter().filter(|codec| codec.spec().id.starts_with("cognesy.")) {
        targets.push(Target { codec: *codec, variant: None });
        targets.extend(
            codec.spec().variants.iter().map(|word| Target { codec: *codec, variant: Some((*word).to_owned()) }),
        );
    }
    targets
}

#[test]
fn every_session_can_be_written_as_every_format_and_the_report_is_true() {
    for (_, session) in one_of_each() {
        targets().iter().for_each(|target| assert_honest(&session, target));
    }
}

/// A session with something of everything, as no format here would have made it.
fn foreign() -> Session {
    let mut session = main_session(&fixture("cognesy.slim", "spec_example"), "cognesy.slim");
    session = Session { metadata: session.metadata, ..Session::default() };
    let call = ToolCall { call: CallId::given("c 1"), name: "f".into(), arguments: "{ \"a\": 1 }".into() };
    let broken = ToolCall { call: CallId::Minted(1), name: "g".into(), arguments: "{oops".into() };
    let answer = |call: &ToolCall, error: Option<&str>| ToolResult {
        call: call.call.clone(),
        name: Some(call.name.clone()),
        parts: if error.is_some() {
            vec![]
        } else {
            vec![Part::Data(turnkeep_model::Data { json: Json::from(3_u64) })]
        },
        error: error.map(str::to_owned),
        is_error: error.map(|_| true),
        outcome: None,
    };
    let thought =
        turnkeep_model::Reasoning { text: Some("hm".into()), signature: Some("s".into()), ..Default::default() };
    let image = turnkeep_model::Media {
        media_type: Some("image/png".into()),
        inline: Some("AAAA".into()),
        ..Default::default()
    };
    let results = [
        Block::new(Author::Tool, answer(&call, None)).in_message(3),
        Block::new(Author::Tool, answer(&broken, Some("no"))).in_message(3),
    ];
    let mut first = Turn {
        id: Some("turn one".into()),
        model: Some("m".into()),
        finish: Some(turnkeep_model::Finish { reason: turnkeep_model::FinishReason::ToolCalls, ..Default::default() }),
        blocks: vec![
            Block::text(Author::System, "Be brief.").in_message(0),
            Block::text(Author::User, "Look: é/…").in_message(1),
            Block::new(Author::User, image).in_message(1),
            Block::new(Author::Assistant, thought).in_message(2),
            Block::text(Author::Assistant, "Let me see.").in_message(2),
            Block::new(Author::Assistant, call).in_message(2),
            Block::new(Author::Assistant, broken).in_message(2),
        ],
        ..Turn::default()
    };
    first.blocks.extend(results);
    first.usage.input = Some(7);
    first.usage.output = Some(0);
    first.timing.seconds = turnkeep_model::Number::parse("1.5");
    first.provider_payload = json::parse(r#"{"id":"x"}"#).unwrap().into_json();
    first.errors.push(turnkeep_model::status::TurnError {
        message: "boom".into(),
        class: Some("Gone\\Class".into()),
        ..Default::default()
    });
    let second = Turn {
        blocks: vec![
            Block::text(Author::Assistant, "").in_message(4),
            Block::text(Author::Other("narrator".into()), "x").in_message(5),
        ],
        ..Turn::default()
    };
    session.id = Some("not a uuid".into());
    session.options = turnkeep_model::Options::default().with_temperature(0.5).with_max_tokens(9);
    session.tags = vec![("env".into(), "prod".into())];
    session.turns = vec![first, second];
    session
}

#[test]
fn foreign_sessions_are_written_whole_and_the_report_is_true() {
    let mut sessions = vec![Session::default(), foreign()];
    for case in fs::read_dir(fixtures().join("geppetto.turn")).unwrap().flatten() {
        let text = fs::read_to_string(case.path().join("input.yaml")).unwrap_or_default();
        let turn =
            format::by_id("geppetto.turn").unwrap().decode(Input::new(text.as_bytes()), &DecodeOptions::default());
        sessions.extend(turn.ok().and_then(|turn| turn.archive.main_session().cloned()));
    }
    assert!(sessions.len() > 8);
    for session in &sessions {
        targets().iter().for_each(|target| assert_honest(session, target));
    }
}

#[test]
fn every_document_can_be_written_in_every_other_format() {
    for (format, session) in one_of_each() {
        for codec in format::ALL.iter().filter(|codec| codec.spec().writes) {
            let encoded = codec.encode(&session.clone().into(), &EncodeOptions::default());
            assert!(encoded.is_ok(), "{format} to {}", codec.spec().id);
        }
    }
}

#[test]
fn only_one_format_is_certain_of_any_fixture() {
    let mut seen = 0;
    for format in fs::read_dir(fixtures()).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        for case in fs::read_dir(format.path()).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
            for file in fs::read_dir(case.path()).unwrap().flatten() {
                let Ok(bytes) = fs::read(file.path()) else { continue };
                let certain = format::ALL
                    .iter()
                    .filter(|codec| codec.sniff(&Input::new(&bytes)).confidence == turnkeep_codec::Confidence::Certain);
                let certain: Vec<_> = certain.map(|codec| codec.spec().id).collect();
                assert!(certain.len() <= 1, "{}: {certain:?}", file.path().display());
                seen += 1;
            }
        }
    }
    assert!(seen > 30);
}

#[test]
fn events_are_no_sessions() {
    let envelope = r#"{"type":"agent.status","session_id":"s","execution_id":"e","timestamp":"2026-01-16T10:05:00.123Z","payload":{"status":"completed"}}"#;
    let lines = format!("{envelope}\n{envelope}\n");
    let raw = r#"[{"event":"AgentExecutionStarted","data":{"agentId":"a","executionId":"e","messages":1,"tools":0}}]"#;
    let outcome = fs::read_to_string(fixtures().join("cognesy.continuation/outcome_forbid/outcome.json")).unwrap();
    for text in [envelope, &lines, raw, &outcome] {
        let claimed = format::ALL.iter().filter(|codec| codec.spec().id.starts_with("cognesy."));
        for codec in claimed {
            assert_eq!(
                codec.sniff(&Input::new(text.as_bytes())).confidence,
                turnkeep_codec::Confidence::No,
                "{}",
                codec.spec().id
            );
        }
    }
}

fn compat(text: &str, format: &str) -> Result<Decoded, Error> {
    format::by_id(format)?.decode(Input::new(text.as_bytes()).named("s.json"), &DecodeOptions::compat())
}

/// A document that the program refuses: what is replaced in a fixture, its verdict, and where we doubt.
struct Bad {
    format: &'static str,
    case: &'static str,
    from: &'static str,
    to: &'static str,
    verdict: &'static str,
    place: &'static str,
}

macro_rules! verdicts {
    ($($name:ident: $format:literal / $case:literal, $from:literal => $to:literal, $verdict:literal, $place:literal;)*) => {
        mod refuses {
            $(#[test] fn $name() {
                super::assert_refused(&super::Bad {
                    format: $format, case: $case, from: $from, to: $to, verdict: $verdict, place: $place,
                });
            })*
        }
    };
}

verdicts! {
    bad_agent_id: "cognesy.state" / "empty", "c411b664-0a84-4785-bf5a-c0bf9567e62a" => "agent-1", "Invalid UUID: agent-1", "id";
    bad_parent_id: "cognesy.state" / "empty", "\"parentAgentId\": null" => "\"parentAgentId\": \"x\"", "Invalid UUID: x", "parent";
    bad_date: "cognesy.state" / "empty", "\"createdAt\": \"2026-11-15T23:43:44+00:00\"" => "\"createdAt\": \"not-a-date\"",
        "Failed to parse time string (not-a-date) at position 0 (n): The timezone could not be found in the database", "timing.created";
    unknown_role: "cognesy.state" / "final_response", "\"role\": \"user\"" => "\"role\": \"oracle\"", "Invalid message role: oracle", "turns";
    unknown_status: "cognesy.state" / "final_response", "\"status\": \"completed\"" => "\"status\": \"paused\"",
        "\"paused\" is not a valid backing value for enum Cognesy\\Agents\\Enums\\ExecutionStatus", "status";
    unknown_stop_reason: "cognesy.state" / "final_response", "\"stop_signals\": []" => "\"stop_signals\": [{\"reason\": \"tired\", \"message\": \"\", \"context\": [], \"source\": null}]",
        "\"tired\" is not a valid backing value for enum Cognesy\\Agents\\Continuation\\StopReason", "turns";
    stopped_was_unknown_in_january: "cognesy.state" / "january_2026", "\"status\": \"in_progress\"" => "\"status\": \"stopped\"",
        "\"stopped\" is not a valid backing value for enum Cognesy\\Agents\\Enums\\ExecutionStatus", "status";
    session_status: "cognesy.session" / "forked", "\"status\": \"active\"" => "\"status\": \"asleep\"",
        "Invalid session file [s.json]: Deserialization failed: \"asleep\" is not a valid backing value for enum Cognesy\\Agents\\Session\\Enums\\SessionStatus", "extra";
    slim_status: "cognesy.slim" / "minimal", "\"status\": \"completed\"" => "\"status\": \"paused\"",
        "\"paused\" is not a valid backing value for enum Cognesy\\Agents\\Enums\\ExecutionStatus", "status";
}

/// The program's words in compat mode; otherwise the text is kept, written back, and a loss says where it stands.
#[track_caller]
fn assert_refused(bad: &Bad) {
    let original = fixture(bad.format, bad.case);
    let text = original.replacen(bad.from, bad.to, 1);
    assert_ne!(text, original);

    assert_eq!(compat(&text, bad.format).unwrap_err().to_string(), bad.verdict);
    assert!(compat(&original, bad.format).is_ok());
    let kept = decode(&text, bad.format);
    assert!(
        kept.losses.iter().any(|loss| (loss.kind, loss.at.as_str()) == (LossKind::Coerced, bad.place)),
        "{:?}",
        kept.losses
    );
    let spelled = json::parse(&text).unwrap().into_json();
    let (written, _) = rewrite(&text, bad.format, bad.format);
    assert_eq!(json::parse(&written).unwrap().into_json(), spelled);
}

#[test]
fn a_session_file_needs_its_three_parts_and_a_safe_name() {
    let text = fixture("cognesy.session", "forked");
    for (key, hidden) in [("header", "heder"), ("definition", "definitoin"), ("state", "stat")] {
        let text = text.replacen(&format!("\"{key}\": {{"), &format!("\"{hidden}\": {{"), 1);
        let error = read(&text, "cognesy.session").unwrap_err();
        assert_eq!((error.kind(), error.at_path()), (ErrorKind::Corrupt, key));
        assert!(error.remedy().is_some());
        let verdict = format!("Invalid session file [s.json]: Missing or invalid {key}");
        assert_eq!(compat(&text, "cognesy.session").unwrap_err().to_string(), verdict);
    }
    assert_eq!(
        compat("{\"header\":", "cognesy.session").unwrap_err().to_string(),
        "Invalid session file [s.json]: Invalid JSON"
    );
    let traversal = text.replace("forked-1", "../forked");
    let error = read(&traversal, "cognesy.session").unwrap_err();
    assert_eq!((error.at_path(), error.at_line()), ("header.sessionId", Some(3)));
    let verdict = "Invalid session file [s.json]: Deserialization failed: Invalid session ID: ../forked";
    assert_eq!(compat(&traversal, "cognesy.session").unwrap_err().to_string(), verdict);
}

#[test]
fn what_is_no_list_of_messages_is_refused_with_its_place() {
    let text = "{\"agent_id\": \"a\",\n \"messages\": {\"0\": 1}}";
    let error = read(text, "cognesy.slim").unwrap_err();
    assert_eq!((error.kind(), error.at_path(), error.at_line()), (ErrorKind::Corrupt, "messages", Some(2)));

    let text = "{\"agentId\": \"a\", \"context\": {\"messageStore\": {\"sections\": [{\"name\": \"messages\", \"messages\": [\n7]}]}}}";
    let error = read(text, "cognesy.state").unwrap_err();
    assert_eq!((error.at_path(), error.at_line()), ("context.messageStore.sections[0].messages[0]", Some(2)));
    assert!(error.remedy().is_some());
}

#[test]
fn an_empty_state_and_unknown_keys_are_accepted() {
    for text in ["{}", "[]", r#"{"execution":{}}"#, r#"{"execution":[]}"#, r#"{"later":[1]}"#, r#"{"context":[]}"#] {
        assert_returns(text, "cognesy.state");
        assert!(compat(text, "cognesy.state").is_ok(), "{text}");
    }
    assert_eq!(main_session("{}", "cognesy.state").runs, []);
}

#[test]
fn steps_become_turns_with_their_calls_results_and_counts() {
    let session = main_session(&fixture("cognesy.state", "tool_call"), "cognesy.state");

    assert_eq!(session.turns.len(), 2);
    let [first, second] = session.turns.as_slice() else { panic!() };
    let kinds: Vec<&str> = first.blocks.iter().map(|block| block.body.kind()).collect();
    assert_eq!(kinds, ["text", "text", "tool_call", "tool_result"]);
    assert_eq!(first.id.as_ref().unwrap().as_str(), "6788b834-08d6-4db6-bc34-311fac792ef1");
    assert_eq!((first.usage.input, first.usage.output), (Some(100), Some(20)));
    assert_eq!(first.timing.seconds.as_ref().unwrap().as_str(), "0.00021386146545410156");
    assert_eq!(second.blocks[0].body.as_text(), Some("Found 3."));
    assert_eq!(first.run, session.runs[0].id);
    assert!(session.blocks().all(|(_, block)| block.metadata.is_empty()), "tags of a step follow from its turn");
    let Body::ToolResult(result) = &first.blocks[3].body else { panic!() };
    let [Part::Data(data)] = result.parts.as_slice() else { panic!("{result:?}") };
    assert_eq!(data.json.as_object().unwrap().get_str("top").as_deref(), Some("Łódź"));
}

#[test]
fn errors_and_outcomes_are_kept_as_data() {
    let failed = main_session(&fixture("cognesy.state", "error_step"), "cognesy.state");
    let error = &failed.turns.last().unwrap().errors[0];
    assert_eq!(
        (error.message.as_str(), error.class.as_deref()),
        ("Scenario step marked as error", Some("RuntimeException"))
    );

    let text = fixture("cognesy.state", "error_step").replace("\"RuntimeException\"", "\"No\\\\Such\\\\Class\"");
    assert_returns(&text, "cognesy.state");

    let january = main_session(&fixture("cognesy.state", "january_2026"), "cognesy.state");
    let outcome = january.turns.last().unwrap().continuation.as_ref().unwrap();
    assert_eq!(outcome.stop_reason, Some(StopReason::StepsLimit));
    assert_eq!(outcome.evaluations[0].criterion, "App\\StepsLimit");
}

#[test]
fn an_outcome_is_read_written_and_resolved() {
    let text = fs::read_to_string(fixtures().join("cognesy.continuation/outcome_forbid/outcome.json")).unwrap();
    let value = json::parse(&text).unwrap().into_json();

    let outcome = cognesy::read_continuation_outcome(&value).unwrap();

    assert_eq!((outcome.decision.clone(), outcome.should_continue), (Some(Decision::Forbid), Some(false)));
    assert_eq!(cognesy::write_continuation_outcome(&outcome), value);
    use Decision::{Allow, Forbid, Request, Stop};
    let table: [(&[Decision], bool); 6] = [
        (&[], false),
        (&[Allow, Request, Forbid], false),
        (&[Stop, Request], true),
        (&[Allow, Stop], false),
        (&[Allow], true),
        (&[Stop], false),
    ];
    for (decisions, goes_on) in table {
        assert_eq!(cognesy::resolve(decisions), goes_on, "{decisions:?}");
    }
}

#[test]
fn a_state_does_not_grow_however_often_it_is_saved() {
    for case in ["tool_call", "error_step"] {
        let mut text = fixture("cognesy.state", case);
        let first = text.clone();
        for _ in 0..3 {
            text = rewrite(&text, "cognesy.state", "cognesy.state").0;
        }
        assert_same_text(&text, &first);
    }
}

#[test]
fn legacy_ends_of_tool_executions_return() {
    let text = fixture("cognesy.state", "tool_call");
    let at = text.find("\"toolExecutions\": [\n").unwrap();
    let (before, after) = text.split_at(at);
    assert_returns(&format!("{before}{}", after.replacen("\"completedAt\"", "\"endedAt\"", 1)), "cognesy.state");
}

#[test]
fn a_slim_snapshot_is_never_known_to_be_whole() {
    for case in ["full", "minimal", "standard", "v1_18_full", "spec_example"] {
        let losses = decode(&fixture("cognesy.slim", case), "cognesy.slim").losses;
        let truncated: Vec<_> = losses.iter().filter(|loss| loss.kind == LossKind::Truncated).collect();
        assert_eq!(truncated.len(), 1, "{case}");
        assert_eq!((truncated[0].at.as_str(), truncated[0].side), ("turns", Side::Decode));
    }
    let minimal = decode(&fixture("cognesy.slim", "minimal"), "cognesy.slim").losses;
    assert!(minimal.iter().any(|loss| loss.kind == LossKind::Redacted && loss.at == "turns[0].blocks[3].parts"));
}

#[test]
fn a_slim_snapshot_gives_back_what_resuming_needs() {
    for case in ["full", "v1_18_full", "spec_example"] {
        let session = main_session(&fixture("cognesy.slim", case), "cognesy.slim");
        assert!(session.id.is_some() && session.status.is_some() && !session.metadata.is_empty(), "{case}");
        let call = session.blocks().find_map(|(_, block)| match &block.body {
            Body::ToolCall(call) => Some(call.clone()),
            _ => None,
        });
        let call = call.unwrap();
        assert!(call.call.as_given().is_some(), "{case}");
        assert_eq!(session.open_calls(), Vec::<&ToolCall>::new(), "{case}: results keep their calls");
    }
    let session = main_session(&fixture("cognesy.slim", "spec_example"), "cognesy.slim");
    assert_eq!((session.usage.input, session.usage.output, session.usage.total), (Some(1200), Some(600), Some(1800)));
    assert_eq!(session.turns[0].timing.seconds.as_ref().unwrap().as_str(), "1.2505");
}

#[test]
fn slim_dialects_are_written_on_demand() {
    let text = fixture("cognesy.slim", "full");
    let (proposal, _) = rewrite(&text, "cognesy.slim", "cognesy.slim:proposal");
    for part in ["\"prompt\": 230", "\"started_at\"", "\"metadata\": {}", "\"type\": \"final\""] {
        assert!(proposal.contains(part), "{part} in {proposal}");
    }
    let (old, _) = rewrite(&proposal, "cognesy.slim", "cognesy.slim:v1.18");
    for part in ["\"cacheRead\": 0", "\"started_at\"", "\"metadata\": []", "\"type\": \"final_response\""] {
        assert!(old.contains(part), "{part} in {old}");
    }
    let (back, _) = rewrite(&old, "cognesy.slim", "cognesy.slim:2026-01");
    assert_same_text(&back, &text);
}

#[test]
fn a_continuation_snapshot_may_hold_its_messages_in_three_ways() {
    let message = r#"{"role":"user","content":"hi"}"#;
    for store in [
        format!(r#""messageStore":{{"sections":[{{"name":"messages","messages":[{message}]}}],"parameters":[]}}"#),
        format!(r#""message_store":{{"sections":[{{"name":"messages","messages":[{message}]}}],"parameters":[]}}"#),
        format!(r#""messages":[{message}]"#),
    ] {
        let text = format!(
            r#"{{"version":1,"agent_id":"a","parent_agent_id":null,"status":"completed","metadata":[],{store}}}"#
        );
        assert_eq!(sniff(&Input::new(text.as_bytes())).unwrap().codec.spec().id, "cognesy.continuation");
        assert_eq!(main_session(&text, "cognesy.continuation").blocks().count(), 1);
        assert_returns(&text, "cognesy.continuation");
    }
    let restored = compat(&fixture("cognesy.continuation", "standard"), "cognesy.continuation").unwrap();
    assert_eq!(restored.archive.sessions[0].status.as_ref().unwrap().kind(), "in_progress");
    let newer = fixture("cognesy.continuation", "standard").replacen("\"version\": 1", "\"version\": 2", 1);
    assert_eq!(read(&newer, "cognesy.continuation").unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn the_limits_of_a_continuation_snapshot_are_policies() {
    use turnkeep_model::policy::{Pipeline, Truncate, Unit, Window};
    let say = |author, text: String| Turn { blocks: vec![Block::text(author, text)], ..Turn::default() };
    let talk = |index: u32| {
        say(if index.is_multiple_of(2) { Author::User } else { Author::Assistant }, format!("{index:03000}"))
    };
    let mut session = Session { turns: (0..80).map(talk).collect(), ..Session::default() };
    for (turn, ordinal) in session.turns.iter_mut().zip(0..) {
        turn.blocks[0].message.ordinal = ordinal;
    }
    let limits = Pipeline::new().window(Window::last(50, Unit::Blocks)).truncate(Truncate::to(2000).in_bytes());

    let losses = limits.apply(&mut session).unwrap();

    let codec = format::by_id("cognesy.continuation").unwrap();
    let written = codec.encode(&session.into(), &EncodeOptions::default()).unwrap();
    let text = String::from_utf8(written.bytes).unwrap();
    let kept = main_session(&text, "cognesy.continuation");
    let lengths: Vec<usize> = kept.blocks().filter_map(|(_, block)| block.body.as_text()).map(str::len).collect();
    assert_eq!((lengths.len(), lengths.iter().all(|length| *length <= 2003)), (50, true), "{lengths:?}");
    assert!(losses.len() >= 80, "{}", losses.len());
}

#[test]
fn sections_keep_their_names_and_a_summary_comes_first() {
    let message = |role: &str, text: &str| format!(r#"{{"role":"{role}","content":"{text}"}}"#);
    let section = |name: &str, message: String| format!(r#"{{"name":"{name}","messages":[{message}]}}"#);
    let sections = [
        section("messages", message("user", "now")),
        section("buffer", message("user", "before")),
        section("summary", message("system", "long ago")),
        r#"{"name":"notes","messages":[]}"#.to_owned(),
    ];
    let text =
        format!(r#"{{"agentId":"x","messageStore":{{"sections":[{}],"parameters":{{"a":1}}}}}}"#, sections.join(","));

    let session = main_session(&text, "cognesy.state");

    let blocks: Vec<_> = session.in_message_order().into_iter().map(|(_, _, block)| block.body.kind()).collect();
    assert_eq!(blocks, ["summary", "text", "text"]);
    assert_returns(&text, "cognesy.state");
}

#[test]
fn branches_are_sessions_and_labels_are_tags() {
    let Decoded { archive, losses } = decode(&fixture("cognesy.jsonl", "branched"), "cognesy.jsonl");

    assert_eq!(losses, []);
    assert_eq!((archive.sessions.len(), archive.main), (2, 1));
    let said: Vec<Vec<_>> = archive
        .sessions
        .iter()
        .map(|session| session.blocks().filter_map(|(_, block)| block.body.as_text()).collect())
        .collect();
    assert_eq!(said, [vec!["hello", "hi"], vec!["hello", "alternative branch"]]);
    let main = archive.main_session().unwrap();
    assert_eq!(main.tags, [("checkpoint-1".to_owned(), "6956c68e-be8a-4f29-a6f9-5fcea29fd922".to_owned())]);
    assert_eq!(archive.sessions[0].parent.as_ref().map(|parent| &parent.session), main.id.as_ref());
}

fn storage(records: &[&str]) -> String {
    let head = r#"{"type":"session","version":1,"id":"s","createdAt":"2026-01-01T00:00:00+00:00","leafId":null}"#;
    [head].iter().chain(records).map(|record| format!("{record}\n")).collect()
}

fn stored(id: u8, parent: Option<u8>, role: &str) -> String {
    let id = format!("00000000-0000-4000-8000-0000000000{id:02}");
    let parent =
        parent.map_or("null".to_owned(), |parent| format!("\"00000000-0000-4000-8000-0000000000{parent:02}\""));
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"section":"messages","timestamp":null,"data":{{"id":"{id}","role":"{role}","content":"m"}}}}"#
    )
}

#[test]
fn a_damaged_storage_is_read_as_far_as_it_goes() {
    let [one, two, three] = [stored(1, None, "user"), stored(2, Some(1), "oracle"), stored(3, Some(2), "assistant")];
    let whole = storage(&[&one, &two, &three, r#"{"type":"later","x":1}"#]);
    assert_eq!(decode(&whole, "cognesy.jsonl").losses, []);
    assert_eq!(rewrite(&whole, "cognesy.jsonl", "cognesy.jsonl").1, []);

    let torn = format!("{}{{\"type\":\"mess", storage(&[&one, "{broken", &three]));
    let read = decode(&torn, "cognesy.jsonl");
    let what: Vec<_> = read.losses.iter().map(|loss| loss.what.as_str()).collect();
    assert_eq!(what, ["line 3 is not a JSON object and was skipped", "line 5 is not a JSON object and was skipped"]);

    let strict = compat(&whole, "cognesy.jsonl").unwrap();
    assert_eq!(strict.losses[0].what, "line 3 is a message that is not read: Invalid message role: oracle");
    let main = strict.archive.main_session().unwrap();
    assert_eq!(main.blocks().count(), 2, "the path goes on past the message that was set aside");
}

#[test]
fn a_storage_that_stands_at_an_older_message_says_so() {
    let [one, two] = [stored(1, None, "user"), stored(2, Some(1), "assistant")];
    let at_first =
        storage(&[&one, &two]).replace("\"leafId\":null", "\"leafId\":\"00000000-0000-4000-8000-000000000001\"");

    let archive = decode(&at_first, "cognesy.jsonl").archive;

    assert_eq!(archive.main_session().unwrap().blocks().count(), 1);
    let written = rewrite(&at_first, "cognesy.jsonl", "cognesy.jsonl").0;
    assert!(written.lines().next() == at_first.lines().next());
}

#[test]
fn what_is_added_to_a_storage_is_attached_where_it_stands() {
    let [one, two] = [stored(1, None, "user"), stored(2, Some(1), "assistant")];
    // Moving in the storage is its `leafId`: here back to the first message.
    for (leaf, parent) in [("null", 2), ("\"00000000-0000-4000-8000-000000000001\"", 1)] {
        let text = storage(&[&one, &two]).replace("\"leafId\":null", &format!("\"leafId\":{leaf}"));
        let mut archive = decode(&text, "cognesy.jsonl").archive;
        let main = archive.main as usize;
        let mut more = Block::text(Author::User, "more");
        more.message.ordinal = 7;
        archive.sessions[main].turns.push(Turn { blocks: vec![more], ..Turn::default() });

        let written = format::by_id("cognesy.jsonl").unwrap().encode(&archive, &EncodeOptions::default()).unwrap();
        let written = String::from_utf8(written.bytes).unwrap();

        let added = written.lines().find(|line| line.contains("\"more\"")).unwrap();
        let parent = format!("\"parentId\":\"00000000-0000-4000-8000-0000000000{parent:02}\"");
        assert!(added.contains(&parent), "{leaf}: {added}");
        let said = main_session(&written, "cognesy.jsonl");
        let last = said.blocks().filter_map(|(_, block)| block.body.as_text()).last();
        assert_eq!(last, Some("more"), "{leaf}");
    }
}

#[test]
fn a_message_that_is_its_own_ancestor_ends_the_path() {
    let [one, two] = [stored(1, Some(2), "user"), stored(2, Some(1), "assistant")];

    assert_eq!(decode(&storage(&[&one, &two]), "cognesy.jsonl").archive.sessions.len(), 1);
}

#[test]
fn of_keys_that_stand_twice_the_last_value_is_kept() {
    let (first, last) = ("00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002");
    let text = format!(r#"{{"zzz":1,"agentId":"{first}","agentId":"{last}","zzz":2}}"#);

    let (written, losses) = rewrite(&text, "cognesy.state", "cognesy.state");

    assert_eq!(written, format!(r#"{{"zzz":2,"agentId":"{last}"}}"#));
    assert_eq!(losses, []);
}

#[test]
fn keys_that_stand_twice_are_told() {
    let text = r#"{"agent_id":"a","messages":[],"status":"failed","status":"completed","step_count":0,"usage":[],"execution":[]}"#;

    let read = decode(text, "cognesy.slim");

    assert!(
        read.losses
            .iter()
            .any(|loss| loss.kind == LossKind::Dropped && loss.what.starts_with("`status` stands more than once"))
    );
    assert_eq!(read.archive.sessions[0].status.as_ref().unwrap().kind(), "completed");
}

#[test]
fn the_definition_lends_its_system_prompt() {
    let session = main_session(&fixture("cognesy.session", "forked"), "cognesy.session");

    assert_eq!(session.turns[0].blocks[0].author, Author::System);
    assert_eq!(session.turns[0].blocks[0].body.as_text(), Some("You are a test agent."));
    assert_eq!(session.parent.unwrap().session.as_str(), "demo-session");
    let (state, _) = rewrite(&fixture("cognesy.session", "forked"), "cognesy.session", "cognesy.state");
    assert!(
        state.contains("\"systemPrompt\": \"You are a test agent.\"")
            && state.contains("9bb63541-fa6d-495c-bcc1-c06a774e8af9")
    );
}

#[test]
fn a_foreign_state_is_one_that_the_program_accepts() {
    for (format, _) in CASES.iter().filter(|(format, _)| *format != "cognesy.jsonl") {
        let target = Target::parse(format).unwrap();
        let bytes = target.codec.encode(&foreign().into(), &EncodeOptions::default()).unwrap().bytes;
        let text = String::from_utf8(bytes).unwrap().replace("narrator", "user");
        assert!(compat(&text, format).is_ok(), "{format}: {}", compat(&text, format).unwrap_err());
    }
}

#[test]
fn calls_that_messages_hold_are_not_held_twice() {
    let session = main_session(&fixture("cognesy.state", "everything"), "cognesy.state");

    let kinds: Vec<Vec<&str>> =
        session.turns.iter().map(|turn| turn.blocks.iter().map(|block| block.body.kind()).collect()).collect();
    let asked = ["text", "media", "media", "reasoning", "tool_call", "tool_call", "tool_result", "tool_result"];
    assert_eq!(kinds, [vec!["text", "summary", "text"], asked.to_vec(), vec!["text"]]);
    let [_, step, last] = session.turns.as_slice() else { panic!() };
    assert_eq!(step.provider_payload, Json::from(r#"{"id":"r-1"}"#));
    assert_eq!((step.usage.cached_read, step.usage.reasoning), (Some(64), Some(8)));
    assert_eq!(session.runs.last().and_then(|run| run.stop_reason.clone()), Some(StopReason::TimeLimit));
    assert_eq!(last.continuation.as_ref().unwrap().signals[0].source.as_deref(), Some("App\\Hooks\\FinishReason"));
    assert_eq!(session.options.temperature.as_ref().unwrap().as_str(), "0.2");
    assert!(session.response_format.is_some());
    assert_eq!(session.open_calls(), Vec::<&ToolCall>::new());
}
