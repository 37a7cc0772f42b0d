//! geppetto's event lines.

use turnkeep_codec::format::geppetto::{EVENT_TYPES, EventLine, Piece, event_lines, event_lines_with, validate_event};
use turnkeep_model::event::{
    BlockAdded, Effect, ModelAsked, RunStarted, RunStopped, ToolIntended, ToolSettled, TurnClosed, TurnOpened,
};
use turnkeep_model::json;
use turnkeep_model::json::{Json, Object};
use turnkeep_model::{
    Author, Batch, Block, CallId, Entry, Event, Finish, FinishReason, Journal, Number, Outcome, Reasoning, Run, RunId,
    Seq, SessionId, StopReason, Text, Time, Timing, ToolCall, ToolResult, Usage,
};

fn object(text: &str) -> Object {
    match json::parse(text).unwrap().into_json() {
        Json::Object(object) => object,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_type_of_event_is_read_and_written() {
    for (kind, needed) in EVENT_TYPES {
        let ids: Vec<String> = needed.iter().map(|id| format!(r#""{id}":"x""#)).collect();
        let event = format!(
            r#"{{"type":"{kind}","meta":{{"message_id":"m"}},"correlation":{{{}}},"more":1.0}}"#,
            ids.join(",")
        );
        let with_time = format!(r#"{{"event":{event},"ts":1700000000000,"type":"{kind}"}}"#);
        let with_meta = format!(r#"{{"event":{event},"meta":{{"model":"m"}},"type":"{kind}"}}"#);

        for text in [&with_time, &with_meta] {
            let line = EventLine::parse(text).unwrap();
            assert_eq!((line.to_text().as_str(), line.kind().as_str()), (text.as_str(), *kind));
            assert_eq!(validate_event(line.event()), Vec::<&str>::new());
        }
        assert_eq!(EventLine::parse(&with_time).unwrap().at(), Some(1_700_000_000_000));
        assert_eq!(EventLine::parse(&with_meta).unwrap().at(), None);
    }
}

#[test]
fn unknown_types_keep_what_they_have() {
    let text =
        r#"{"event":{"type":"web-search-started","query":"\u00e9","n":1e400},"type":"web-search-started","x":[]}"#;
    let line = EventLine::parse(text).unwrap();

    assert_eq!(line.to_text(), text);
    assert_eq!(validate_event(line.event()), Vec::<&str>::new());
}

#[test]
fn ids_that_are_missing_are_named() {
    let missing = |text: &str| validate_event(&object(text));

    assert_eq!(missing(r#"{"type":"run-started"}"#), ["run_id"]);
    assert_eq!(
        missing(r#"{"type":"text-delta","correlation":{"run_id":"r","segment_id":" "}}"#),
        ["provider_call_id", "segment_id"]
    );
    assert_eq!(missing(r#"{"type":"tool-call-finished","correlation":{"tool_call_id":"c"}}"#), ["run_id"]);
    assert_eq!(missing(r#"{"type":"log"}"#), Vec::<&str>::new());
}

#[test]
fn a_line_that_is_none_is_named() {
    let error = EventLine::parse_all("{\"event\":{}}\n\n{\"type\":1}\n").unwrap_err();
    assert_eq!(error.at_line(), Some(3));
}

fn batch(seq: u64, events: Vec<Event>) -> Batch {
    let mut batch = Batch::new(Seq(seq), events.into_iter().map(Entry::from).collect());
    batch.time = Some(Time::new("2026-01-01T00:00:00.250Z"));
    batch
}

fn journal() -> Journal {
    let call = ToolCall { call: CallId::given("c1"), name: "weather".into(), arguments: r#"{"city":"Rome"}"#.into() };
    let thought = Reasoning { text: Some("Hm.".into()), ..Reasoning::default() };
    let result = ToolResult {
        call: CallId::given("c1"),
        name: None,
        parts: vec![Text { text: "sunny".into() }.into()],
        error: None,
        is_error: None,
        outcome: None,
    };
    let added = |author: Author, body: turnkeep_model::Body| {
        Event::from(BlockAdded { turn: 0, block: Block::new(author, body) })
    };
    let closed = TurnClosed {
        finish: Some(Finish { reason: FinishReason::ToolCalls, word: Some("tool_use".into()), ..Finish::default() }),
        usage: Some(Usage { input: Some(9), ..Usage::default() }),
        timing: Some(Timing { seconds: Number::parse("1.25"), ..Timing::default() }),
        model: Some("m".into()),
        ..TurnClosed::default()
    };
    let intended = ToolIntended {
        call: CallId::given("c1"),
        effect: Effect::Pure,
        key: None,
        attempt: Some(1),
        duplicate_of: None,
    };
    let stopped = RunStopped { reason: Some(StopReason::Completed), ..RunStopped::default() };
    let batches = vec![
        batch(
            1,
            vec![
                TurnOpened::default().into(),
                added(Author::User, Text { text: "Weather?".into() }.into()),
                RunStarted { run: Run { id: Some(RunId::new("r1")), ..Run::default() } }.into(),
                ModelAsked { turn: 0, attempt: Some(1), ..ModelAsked::default() }.into(),
            ],
        ),
        batch(
            5,
            vec![
                added(Author::Assistant, thought.into()),
                added(Author::Assistant, call.into()),
                closed.into(),
                intended.into(),
            ],
        ),
        batch(
            9,
            vec![ToolSettled::new(CallId::given("c1"), Outcome::Success).into(), added(Author::Tool, result.into())],
        ),
        batch(11, vec![stopped.into()]),
    ];
    Journal { session: Some(SessionId::new("s1")), batches, ..Journal::default() }
}

#[test]
fn a_journal_is_told_as_event_lines_with_all_their_ids() {
    let lines = event_lines(&journal());

    let kinds: Vec<String> = lines.iter().map(EventLine::kind).collect();
    let expected = [
        "run-started",
        "provider-call-started",
        "reasoning-segment-started",
        "reasoning-segment-finished",
        "tool-call-started",
        "tool-call-requested",
        "provider-call-finished",
        "tool-execution-started",
        "tool-result-ready",
        "tool-call-finished",
        "run-finished",
    ];
    assert_eq!(kinds, expected);
    let missing: Vec<&str> = lines.iter().flat_map(|line| validate_event(line.event())).collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert!(lines.iter().all(|line| line.at() == Some(1_767_225_600_250)));
    assert_eq!(
        EventLine::parse_all(&lines.iter().map(|line| line.to_text() + "\n").collect::<String>()).unwrap(),
        lines
    );
}

#[test]
fn the_end_of_a_provider_call_tells_its_outcome() {
    let lines = event_lines(&journal());
    let mut event = lines[6].event().clone();
    let meta = event.get("meta").unwrap().as_object().unwrap();
    assert_eq!(meta.get("usage"), event.get("usage"));
    ["meta", "correlation"].iter().for_each(|key| drop(event.remove(key)));

    let expected = r#"{"type":"provider-call-finished","stop_reason":"tool_use","finish_class":"tool_calls_pending","usage":{"input_tokens":9},"duration_ms":1250,"has_tool_calls":true}"#;
    assert_eq!(Json::Object(event).to_text(), expected);
}

#[test]
fn a_turn_that_is_closed_again_ends_no_call_of_the_provider() {
    let mut journal = journal();
    journal.batches.push(batch(12, vec![TurnClosed::default().into()]));

    let ends = event_lines(&journal).iter().filter(|line| line.kind() == "provider-call-finished").count();

    assert_eq!(ends, 1);
}

#[test]
fn a_call_that_a_crash_cut_off_ends_when_another_run_begins() {
    let mut journal = journal();
    journal.batches.truncate(1);
    let again = RunStarted { run: Run { id: Some(RunId::new("r2")), ..Run::default() } };
    journal.batches.push(batch(5, vec![again.into()]));
    let heard = [vec![Piece::Text("Sun".into())]];

    let lines = event_lines_with(&journal, &heard);

    let told = |line: &EventLine| {
        let ids = line.event().get("correlation").unwrap().as_object().unwrap();
        (line.kind(), ids.get_str("run_id").unwrap().into_owned())
    };
    let expected = [
        ("run-started", "r1"),
        ("provider-call-started", "r1"),
        ("text-segment-started", "r1"),
        ("text-delta", "r1"),
        ("provider-call-finished", "r1"),
        ("run-started", "r2"),
    ];
    assert_eq!(
        lines.iter().map(told).collect::<Vec<_>>(),
        expected.map(|(kind, run)| (kind.to_owned(), run.to_owned()))
    );
    assert_eq!(lines[4].event().get_str("finish_class").as_deref(), Some("interrupted"));
}

#[test]
fn pieces_make_up_the_text_they_are_of_and_what_they_lack_is_one_more() {
    let arguments = |index, text: &str| Piece::Arguments { index, text: text.into() };
    let heard = [vec![
        Piece::Reasoning("H".into()),
        arguments(0, r#"{"city""#),
        Piece::Reasoning("m.".into()),
        arguments(0, ":"),
    ]];

    let lines = event_lines_with(&journal(), &heard);

    let of = |kind: &str, whole: &str| -> Vec<(String, String)> {
        let events = lines.iter().filter(|line| line.kind() == kind).map(EventLine::event);
        let text = |event: &Object, key: &str| event.get_str(key).unwrap().into_owned();
        events.map(|event| (text(event, "delta"), text(event, whole))).collect()
    };
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(delta, whole)| ((*delta).to_owned(), (*whole).to_owned())).collect()
    };
    assert_eq!(of("reasoning-delta", "text"), pairs(&[("H", "H"), ("m.", "Hm.")]));
    let expected = pairs(&[(r#"{"city""#, r#"{"city""#), (":", r#"{"city":"#), (r#""Rome"}"#, r#"{"city":"Rome"}"#)]);
    assert_eq!(of("tool-call-arguments-delta", "arguments"), expected);
}

#[test]
fn all_public_event_lines_survive() {
    let Some(corpus) = std::env::var_os("TURNKEEP_CORPUS") else {
        println!("skipped: public event lines (TURNKEEP_CORPUS is not set)");
        return;
    };
    let folder = std::path::Path::new(&corpus).join("geppetto/gemini-smoke");
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let mut count = 0;
    for path in files.filter(|path| path.extension().is_some_and(|kind| kind == "ndjson")) {
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            let read = EventLine::parse(line).unwrap();
            assert_eq!(read.to_text(), line, "{}", path.display());
            assert_eq!(validate_event(read.event()), Vec::<&str>::new(), "{}", path.display());
            count += 1;
        }
    }
    assert!(count >= 100, "{count}");
}
