//! Lucee AI sessions: what SerializeAISession writes comes back as it was, and what LoadAISession takes is read.

use std::fs;
use std::path::{Path, PathBuf};

use turnkeep_codec::format;
use turnkeep_codec::{Confidence, DecodeOptions, Decoded, EncodeOptions, Input, Target, convert, sniff};
use turnkeep_model::{Archive, Author, Block, Body, ErrorKind, Loss, LossKind, Media, Session, Summary, Turn, diff};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/lucee.session")
}

fn fixture(case: &str, file: &str) -> String {
    let path = fixtures().join(case).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn decode_with(text: &str, options: &DecodeOptions) -> turnkeep_model::Result<Decoded> {
    format::by_id("lucee.session").unwrap().decode(Input::new(text.as_bytes()), options)
}

fn decode(text: &str) -> Decoded {
    decode_with(text, &DecodeOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn session(text: &str) -> Session {
    decode(text).archive.sessions.remove(0)
}

fn refused(text: &str) -> turnkeep_model::Error {
    decode_with(text, &DecodeOptions::default()).unwrap_err()
}

fn encode(session: &Session) -> (String, Vec<Loss>) {
    let done = format::by_id("lucee.session").unwrap();
    let done = done.encode(&Archive::from(session.clone()), &EncodeOptions::default()).unwrap();
    (String::from_utf8(done.bytes).unwrap(), done.losses)
}

fn rewrite(text: &str) -> (String, Vec<Loss>) {
    let Decoded { archive, losses } = decode(text);
    let (text, more) = encode(archive.main_session().unwrap());
    (text, losses.into_iter().chain(more).collect())
}

fn compat(text: &str) -> turnkeep_model::Result<String> {
    let target = Target::parse("lucee.session").unwrap();
    let (decoding, encoding) = (DecodeOptions::compat(), EncodeOptions::compat());
    let done = convert(Input::new(text.as_bytes()), Some(target.codec), &target, &decoding, &encoding)?;
    Ok(String::from_utf8(done.bytes).unwrap())
}

/// A document around some exchanges.
fn with_history(items: &str) -> String {
    format!(
        r#"{{"temperature":null,"limit":-1,"connectionTimeout":-1,"socketTimeout":-1,"systemMessage":null,"history":[{items}]}}"#
    )
}

#[test]
fn every_fixture_is_named_here() {
    let good = ["json5", "multipart", "session_basic", "session_defaults_null_temperature"];
    let more = ["session_third_party_engine_no_system_message", "tags_and_metadata", "upper_case"];
    let bad = ["bad_missing_answer", "bad_missing_history", "bad_part_struct_null_content"];
    let mut expected: Vec<_> = good.iter().chain(&more).chain(&bad).map(ToString::to_string).collect();
    let found = fs::read_dir(fixtures()).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let mut found: Vec<String> = found.collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

/// U1-U4, U18, U21, U23, U26: what is well-formed comes back byte for byte, with nothing lost.
macro_rules! comes_back {
    ($($case:ident)*) => {$(
        #[test]
        fn $case() {
            let text = fixture(stringify!($case), "input.json");

            assert_eq!(rewrite(&text), (text.clone(), vec![]));
            let found = sniff(&Input::new(text.as_bytes())).unwrap();
            assert_eq!((found.codec.spec().id, found.guess.confidence), ("lucee.session", Confidence::Certain));
            assert_eq!(found.others, Vec::<&str>::new());
        }
    )*};
}

comes_back! {
    multipart session_basic session_defaults_null_temperature session_third_party_engine_no_system_message
    tags_and_metadata upper_case
}

/// U12, U19: what LoadAISession refuses is refused in its words when asked for.
macro_rules! is_refused_in_their_words {
    ($($case:ident)*) => {$(
        #[test]
        fn $case() {
            let text = fixture(stringify!($case), "input.json");

            let error = compat(&text).unwrap_err();

            assert_eq!(error.to_string(), fixture(stringify!($case), "compat.error.txt").trim_end());
        }
    )*};
}

is_refused_in_their_words! { bad_missing_answer bad_missing_history bad_part_struct_null_content }

#[test]
fn basic_becomes_turns() {
    let session = session(&fixture("session_basic", "input.json"));

    let words: Vec<_> = session
        .blocks()
        .map(|(turn, block)| (turn, block.author.as_str(), block.message.ordinal, block.body.as_text().unwrap()))
        .collect();
    assert_eq!(
        words,
        [
            (0, "system", 0, "Answer as succinctly as possible."),
            (0, "user", 1, "What is the capital of France?"),
            (0, "assistant", 2, "Paris"),
            (1, "user", 3, "What is the capital of Switzerland?"),
            (1, "assistant", 4, "Bern"),
        ]
    );
    let number = |number: &Option<turnkeep_model::Number>| number.as_ref().unwrap().to_string();
    assert_eq!(number(&session.options.temperature), "0.7");
    assert_eq!(number(&session.options.limits.exchanges), "100");
    assert_eq!(number(&session.options.connect_timeout_ms), "2000");
    assert_eq!(number(&session.options.socket_timeout_ms), "30000");
    assert!(session.extra.is_empty());
}

#[test]
fn multipart_becomes_blocks() {
    let session = session(&fixture("multipart", "input.json"));

    let first = &session.turns[0].blocks;
    assert_eq!(first[0].body.as_text(), Some("What is on this picture?"));
    let Body::Media(media) = &first[1].body else { panic!("no media") };
    assert_eq!((media.media_type.as_deref(), media.inline.as_deref()), (Some("image/png"), Some("iVBORw0KGgo=")));
    assert_eq!(first[2].body.as_text(), Some(r#"{"objects":["cat"],"score":0.90,"rest":{}}"#));
    assert_eq!(first[0].message.ordinal, first[1].message.ordinal);
    assert_eq!(session.turns[2].blocks.len(), 1, "a null answer is none");
    assert_eq!(session.options.temperature.as_ref().unwrap().as_str(), "0.0");
}

#[test]
fn json5_is_read_and_written_as_json() {
    let text = fixture("json5", "input.json5");
    assert_eq!(sniff(&Input::new(text.as_bytes())).unwrap().codec.spec().id, "lucee.session");

    let (saved, losses) = rewrite(&text);

    let expected = "{\n  \"Temperature\": 0.5,\n  \"limit\": 20,\n  \"history\": [\n    {\n      \"question\": \"What's up?\",\n      \
                    \"answer\": \"Not much.\"\n    },\n    {\n      \"Question\": \"And now?\",\n      \"ANSWER\": \"Still nothing.\"\n    }\n  ]\n}\n";
    assert_eq!(saved, expected);
    let what: Vec<_> = losses.iter().map(|loss| loss.what.as_str()).collect();
    assert_eq!(what, ["comments are not kept (3)"]);
    assert_eq!(rewrite(&saved), (saved.clone(), vec![]));
}

#[test]
fn layouts_come_back() {
    let pretty = fixture("session_basic", "input.json");
    let unended = pretty.trim_end().to_owned();
    let crlf = pretty.replace('\n', "\r\n");
    let compact = with_history(r#"{"question":"a","answer":"b"}"#);
    for text in [unended, crlf, compact.clone(), format!("{compact}\n")] {
        assert_eq!(rewrite(&text), (text.clone(), vec![]));
    }
}

#[test]
fn compact_can_be_asked_for() {
    let target = Target::parse("lucee.session:compact").unwrap();
    let text = fixture("session_basic", "input.json");
    let options = (DecodeOptions::default(), EncodeOptions::default());

    let done = convert(Input::new(text.as_bytes()), None, &target, &options.0, &options.1).unwrap();

    let saved = String::from_utf8(done.bytes).unwrap();
    assert!(saved.starts_with(r#"{"temperature":0.7,"limit":100,"#), "{saved}");
    let places: Vec<_> = done.losses.iter().map(|loss| loss.at.as_str()).collect();
    assert_eq!((saved.lines().count(), places), (1, vec!["extra"]));
}

#[test]
fn a_text_only_reader_can_be_served() {
    let target = Target::parse("lucee.session:text").unwrap();
    let text = fixture("multipart", "input.json");
    let options = (DecodeOptions::default(), EncodeOptions::default());

    let done = convert(Input::new(text.as_bytes()), None, &target, &options.0, &options.1).unwrap();

    let back = session(&String::from_utf8(done.bytes).unwrap());
    let texts: Vec<_> = back.blocks().map(|(_, block)| block.body.as_text().unwrap()).collect();
    let json = r#"{"objects":["cat"],"score":0.90,"rest":{}}"#;
    let asked = ["What is on this picture?", json, "In two parts, please.", "First.\n\n*Second.*", "Are you there?"];
    assert_eq!(texts, asked);
    assert!(done.losses.iter().any(|loss| loss.at == "turns[0].blocks[1]" && loss.kind == LossKind::Dropped));
}

#[test]
fn a_history_longer_than_its_limit_is_kept() {
    let items = [r#"{"question":"a","answer":"b"}"#; 3].join(",");
    let text = with_history(&items).replace("\"limit\":-1", "\"limit\":1");

    assert_eq!(session(&text).turns.len(), 3);
    assert_eq!(rewrite(&text), (text.clone(), vec![]));
}

#[test]
fn unknown_fields_survive_anywhere() {
    let text = r#"{"v":1,"temperature":0.5,"x":{"a":[1.0,1e400]},"history":[{"id":7,"question":[{"index":0,"type":"text","contenttype":"text/plain","content":"a","file":null}],"answer":"b","at":"now"}],"limit":5,"Z":"\ud800"}"#;

    assert_eq!(rewrite(text), (text.to_owned(), vec![]));
}

#[test]
fn settings_that_say_nothing_are_left_to_the_endpoint() {
    let text =
        r#"{"temperature":-1,"limit":0,"connectionTimeout":-5,"socketTimeout":null,"systemMessage":"  ","history":[]}"#;

    let Decoded { archive, losses } = decode(text);

    let session = &archive.sessions[0];
    assert_eq!((session.options.temperature.clone(), session.options.limits.exchanges.clone()), (None, None));
    assert_eq!((session.options.connect_timeout_ms.clone(), session.turns.len()), (None, 0));
    assert_eq!((losses, rewrite(text).0), (vec![], text.to_owned()));
}

#[test]
fn settings_of_another_type_are_told() {
    let text = r#"{"temperature":"hot","limit":"20","connectionTimeout":true,"socketTimeout":{},"systemMessage":42,"history":[]}"#;

    let Decoded { archive, losses } = decode(text);

    let session = &archive.sessions[0];
    assert_eq!(session.options.limits.exchanges.as_ref().unwrap().as_str(), "20");
    assert_eq!(session.turns[0].blocks[0].body.as_text(), Some("42"));
    let places: Vec<_> = losses.iter().map(|loss| loss.at.as_str()).collect();
    let expected = [
        "options.temperature",
        "options.limits.exchanges",
        "options.connect_timeout_ms",
        "options.socket_timeout_ms",
        "turns[0].blocks[0].text",
    ];
    assert_eq!(places, expected);
    assert!(losses.iter().all(|loss| loss.kind == LossKind::Coerced));
    assert_eq!(rewrite(text).0, text);
}

#[test]
fn a_temperature_of_zero_is_honoured_unless_lucee_is_asked() {
    for zero in ["0", "0.0", "-0", "0e5"] {
        let text = with_history("").replace("\"temperature\":null", &format!("\"temperature\":{zero}"));
        assert_eq!(session(&text).options.temperature.unwrap().as_str(), zero);
        assert_eq!(rewrite(&text).0, text);
        assert!(compat(&text).unwrap().starts_with("{\n  \"temperature\": null,"), "{zero}");
    }
}

#[test]
fn scalars_are_read_as_text_and_told() {
    let text = with_history(r#"{"question":1.50,"answer":true},{"question":null,"answer":"b"}"#);

    let Decoded { archive, losses } = decode(&text);

    let texts: Vec<_> = archive.sessions[0].blocks().map(|(_, block)| block.body.as_text().unwrap()).collect();
    assert_eq!(texts, ["1.50", "true", "b"]);
    let places: Vec<_> = losses.iter().map(|loss| (loss.at.as_str(), loss.kind)).collect();
    let coerced = LossKind::Coerced;
    assert_eq!(
        places,
        [("turns[0].blocks[0].text", coerced), ("turns[0].blocks[1].text", coerced), ("turns[1]", coerced)]
    );
    assert_eq!(rewrite(&text).0, text);
}

#[test]
fn a_lost_structured_content_does_not_lose_the_session() {
    let text = fixture("bad_part_struct_null_content", "input.json");

    let Decoded { archive, losses } = decode(&text);

    assert_eq!(archive.sessions[0].turns.len(), 1);
    let found: Vec<_> = losses.iter().map(|loss| (loss.at.as_str(), loss.kind)).collect();
    assert_eq!(found, [("turns[0].blocks[1].text", LossKind::Dropped)]);
    assert!(rewrite(&text).0.contains("\"content\": null"));
}

#[test]
fn a_text_that_claims_to_be_json_survives() {
    let part = |kind: &str| format!(r#"{{"contenttype":"application/json","type":"{kind}","content":"{{\"a\": 1}}"}}"#);
    for kind in ["struct", "text"] {
        let text = with_history(&format!(r#"{{"question":"q","answer":[{}]}}"#, part(kind)));
        assert_eq!(session(&text).turns[0].blocks[1].body.as_text(), Some(r#"{"a": 1}"#));
        assert_eq!(rewrite(&text), (text.clone(), vec![]));
    }
}

#[test]
fn bad_documents_are_refused_with_place_line_and_remedy() {
    let part = |part: &str| format!("{{\n\"history\":[{{\"question\":\"a\",\n\"answer\":[{part}]}}]}}");
    let cases = [
        (fixture("bad_missing_history", "input.json"), "", 1),
        (fixture("bad_missing_answer", "input.json"), "history[0]", 1),
        ("{\n\"history\":\n{}}".to_owned(), "history", 3),
        ("[1]".to_owned(), "", 1),
        ("{\"history\":[\n1]}".to_owned(), "history[0]", 2),
        ("{\"history\":[{\"question\":{},\n\"answer\":1}]}".to_owned(), "history[0].question", 1),
        (part(r#"{"contenttype":"text/plain","content":""}"#), "history[0].answer[0]", 3),
        (part(r#"{"type":"text","content":""}"#), "history[0].answer[0]", 3),
        (part(r#"{"type":"text","contenttype":"text/plain"}"#), "history[0].answer[0]", 3),
        (part(r#"{"type":"text","contenttype":1,"content":""}"#), "history[0].answer[0].contenttype", 3),
        (part(r#"{"type":"struct","contenttype":"a/b","content":1}"#), "history[0].answer[0].content", 3),
        (part(r#"{"type":"binary","contenttype":"a/b","content":"%%"}"#), "history[0].answer[0].content", 3),
        (part("7"), "history[0].answer[0]", 3),
    ];
    for (text, path, line) in cases {
        let error = refused(&text);
        assert_eq!((error.kind(), error.at_path(), error.at_line()), (ErrorKind::Corrupt, path, Some(line)), "{text}");
        assert!(error.remedy().is_some(), "{text}");
    }
}

#[test]
fn a_text_that_is_no_json5_is_refused_with_its_line() {
    for (text, line) in [("{\n\"history\": [,]}", 2), ("{\"history\":\n[", 2), ("", 1), ("hello", 1)] {
        let error = refused(text);
        assert_eq!((error.kind(), error.at_line()), (ErrorKind::Corrupt, Some(line)), "{text}: {error}");
    }
}

#[test]
fn unknown_kinds_of_parts_are_kept_and_are_bytes_to_lucee() {
    let text = with_history(
        r#"{"question":[{"contenttype":"audio/wav","type":"sound","content":"UklGRg=="}],"answer":[{"contenttype":"x/y","type":"later","content":{"a":1}}]}"#,
    );
    assert_eq!(rewrite(&text), (text.clone(), vec![]));

    let sound = text.replace(r#"[{"contenttype":"x/y","type":"later","content":{"a":1}}]"#, "\"ok\"");
    assert!(compat(&sound).unwrap().contains("\"type\": \"binary\""));
    assert!(compat(&text).is_err());
}

#[test]
fn lucee_itself_keeps_nothing_it_does_not_know() {
    let text = fixture("tags_and_metadata", "input.json");

    let saved = compat(&text).unwrap();

    let expected = text
        .replace("  Be brief. ", "Be brief.")
        .replace(",\n      \"rating\": 5", "")
        .split_once(",\n  \"tags\"")
        .map(|(before, _)| format!("{before}\n}}\n"))
        .unwrap();
    assert_eq!(saved, expected);
    assert_eq!(compat(&saved).unwrap(), saved);
}

#[test]
fn repeated_keys_are_told() {
    let text = r#"{"history":[{"question":"a","answer":"b"}],"History":[]}"#;

    let (saved, losses) = rewrite(text);

    assert_eq!(saved, r#"{"History":[]}"#);
    assert_eq!(losses.iter().map(|loss| loss.kind).collect::<Vec<_>>(), [LossKind::Dropped]);
}

fn turn(blocks: Vec<Block>) -> Turn {
    Turn { blocks, ..Turn::default() }
}

/// A session that has more than Lucee can hold.
fn rich() -> Session {
    let call = r#"{"turns":[
        {"blocks":[
            {"author":"system","message":{"ordinal":0},"type":"text","text":"Be brief."},
            {"author":"user","message":{"ordinal":1},"type":"text","text":"Weather?"},
            {"author":"assistant","message":{"ordinal":2},"type":"reasoning","text":"hm"},
            {"author":"assistant","message":{"ordinal":2},"type":"text","text":"Let me look."},
            {"author":"assistant","message":{"ordinal":2},"type":"tool_call","call":"c1","name":"weather","arguments":"{}"},
            {"author":"tool","message":{"ordinal":3},"type":"tool_result","call":"c1","parts":[{"type":"text","text":"rain"}]}]},
        {"blocks":[{"author":"assistant","message":{"ordinal":4},"type":"text","text":"Rain."}]},
        {"blocks":[{"author":"user","message":{"ordinal":5},"type":"text","text":"Thanks"}]}]}"#;
    let text = format!(r#"{{"turnkeep":1,"sessions":[{call}]}}"#);
    let decoded = format::by_id("turnkeep").unwrap().decode(Input::new(text.as_bytes()), &DecodeOptions::default());
    decoded.unwrap().archive.sessions.remove(0)
}

#[test]
fn a_session_with_tools_becomes_readable_exchanges() {
    let (text, losses) = encode(&rich());

    let expected = "{\n  \"temperature\": null,\n  \"limit\": -1,\n  \"connectionTimeout\": -1,\n  \"socketTimeout\": -1,\n  \
                    \"systemMessage\": \"Be brief.\",\n  \"history\": [\n    {\n      \"question\": \"Weather?\",\n      \
                    \"answer\": \"Let me look.\\n\\nRain.\"\n    },\n    {\n      \"question\": \"Thanks\",\n      \"answer\": null\n    }\n  ]\n}\n";
    assert_eq!(text, expected);
    let covered = |path: &str| losses.iter().any(|loss| loss.covers(path));
    assert!(covered("turns[0].blocks[2]") && covered("turns[0].blocks[4]") && covered("turns[0].blocks[5]"));
    assert!(compat(&text).is_ok());
}

#[test]
fn media_become_parts_and_summaries_exchanges() {
    let image = Media { media_type: Some("image/png".into()), inline: Some("AAAA".into()), ..Media::default() };
    let linked = Media { url: Some("https://example.org/a.png".into()), ..Media::default() };
    let session = Session {
        turns: vec![
            turn(vec![Block::new(Author::User, Summary { text: "They met.".into(), ..Summary::default() })]),
            turn(vec![
                Block::text(Author::User, "See:").in_message(1),
                Block::new(Author::User, image).in_message(1),
                Block::new(Author::User, linked).in_message(1),
                Block::text(Author::Assistant, "A cat.").in_message(2),
            ]),
        ],
        ..Session::default()
    };

    let (text, losses) = encode(&session);

    let back = self::session(&text);
    assert!(
        matches!(&back.turns[0].blocks[..], [Block { body: Body::Summary(summary), .. }] if summary.text == "They met.")
    );
    assert_eq!(back.turns[1].blocks.len(), 3);
    assert!(!losses.iter().any(|loss| loss.covers("turns[0].blocks[0]")), "{losses:?}");
    assert!(losses.iter().any(|loss| loss.covers("turns[1].blocks[2]")), "{losses:?}");
    assert!(!losses.iter().any(|loss| loss.covers("turns[1].blocks[1]")), "{losses:?}");
}

#[test]
fn writing_is_stable_and_losses_are_honest() {
    let mut sessions = vec![rich(), Session::default()];
    for case in ["multipart", "tags_and_metadata", "upper_case"] {
        sessions.push(session(&fixture(case, "input.json")));
    }
    let spaced = Block::text(Author::System, "  spaced\n");
    let alone = Block::text(Author::Assistant, "I begin.").in_message(1);
    sessions.push(Session { turns: vec![turn(vec![spaced, alone])], ..Session::default() });
    sessions.push(Session { turns: vec![Turn::default()], ..Session::default() });
    for session in sessions {
        let (text, losses) = encode(&session);
        let back = self::session(&text);
        let changes = diff(&session, &back);
        for change in &changes {
            assert!(losses.iter().any(|loss| loss.covers(&change.at)), "not told: {}", change.at);
        }
        assert_eq!(losses.len(), changes.len(), "{losses:#?}\n{changes:#?}");
        assert_eq!(encode(&back).0, text);
    }
}

#[test]
fn converts_from_and_to_every_format() {
    for case in ["multipart", "session_basic", "tags_and_metadata"] {
        let text = fixture(case, "input.json");
        let Decoded { archive, .. } = decode(&text);
        for codec in format::ALL.iter().filter(|codec| codec.spec().reads && codec.spec().writes) {
            let id = codec.spec().id;
            let done =
                codec.encode(&archive, &EncodeOptions::default()).unwrap_or_else(|error| panic!("{id}: {error}"));
            let back = codec.decode(Input::new(&done.bytes), &DecodeOptions::default());
            let back = back.unwrap_or_else(|error| panic!("{id}: {error}"));
            let (again, _) = encode(back.archive.main_session().unwrap());
            if done.losses.is_empty() {
                assert_eq!(again, text, "{id}");
            }
        }
    }
}
