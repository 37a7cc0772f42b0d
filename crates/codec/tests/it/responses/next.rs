//! The next request of any session is valid.

use proptest::prop_assert;
use turnkeep_codec::wire::repair::INTERRUPTED;
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, format};
use turnkeep_model::json::{self, Node};
use turnkeep_model::{
    Archive, Author, Block, CallId, Data, Json, Media, Part, Reasoning, Scope, Session, ToolCall, ToolResult, Turn,
};
use turnkeep_testkit::golden::Case;
use turnkeep_testkit::{for_all, generate};

use super::corpus::{bytes, records};
use super::rules::{errors, target};
use super::{ID, codec};

#[test]
fn the_next_request_of_every_recorded_body_lints_clean() {
    let Some(records) = records("the_next_request_of_every_recorded_body_lints_clean") else { return };
    let mut options = EncodeOptions::default();
    options.as_request = true;
    let (mut all, mut wrong) = (0, Vec::new());
    for record in &records {
        let decoded = codec().decode(Input::new(&bytes(&record.body)), &DecodeOptions::default()).unwrap();
        let encoded = codec().encode(&decoded.archive, &options).unwrap();
        let text = String::from_utf8(encoded.bytes).unwrap();
        let body = json::parse(&text).map(Node::into_json).unwrap();
        all += 1;
        let mut found = errors(&body, target(record));
        // What was refused for other reasons than its history is not repaired, and an answer of nothing asks nothing.
        found.retain(|error| {
            !["OR-FILE", "OR-TEMP", "OR-STRICT", "OR-NOINPUT", "OR-EFFORT"].iter().any(|rule| error.starts_with(rule))
        });
        if !found.is_empty() {
            wrong.push(format!("{}: {found:?}", record.id));
        }
    }
    println!("{all} next requests: {} do not lint clean", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether lint finds nothing to refuse in the next request of a session, but that there is none.
fn refused(archive: &Archive) -> Vec<String> {
    let encoded = codec().encode(archive, &EncodeOptions::default()).unwrap();
    let text = String::from_utf8(encoded.bytes).unwrap();
    let body = json::parse(&text).map(Node::into_json).unwrap();
    let mut found = errors(&body, ID);
    found.retain(|error| !error.starts_with("OR-NOINPUT"));
    found
}

#[test]
fn the_request_of_any_session_lints_clean() {
    for_all(300, &generate::session(), |session| {
        let found = refused(&Archive::from(session));
        prop_assert!(found.is_empty(), "{found:#?}");
        Ok(())
    });
}

#[test]
fn the_request_of_every_fixture_lints_clean() {
    let mut all = 0;
    for other in format::ALL.iter().filter(|other| other.spec().id != ID) {
        for case in Case::all(other.spec().id) {
            let Ok(decoded) = other.decode(Input::new(&case.input), &DecodeOptions::default()) else { continue };
            all += 1;
            assert_eq!(refused(&decoded.archive), Vec::<String>::new(), "{} {}", other.spec().id, case.name);
        }
    }
    assert!(all > 0);
}

/// The next request of a session, and its losses as `kind place`.
fn next(session: Session) -> (Json, Vec<String>) {
    let encoded = codec().encode(&Archive::from(session), &EncodeOptions::default()).unwrap();
    let text = String::from_utf8(encoded.bytes).unwrap();
    let losses = encoded.losses.iter().map(|loss| format!("{} {}", loss.kind, loss.at)).collect();
    (json::parse(&text).map(Node::into_json).unwrap(), losses)
}

fn session(blocks: Vec<Block>) -> Session {
    let turn = Turn { provider: Some("anthropic".into()), model: Some("claude-9".into()), blocks, ..Turn::default() };
    Session { turns: vec![turn], ..Session::default() }
}

fn call(id: &str) -> Block {
    let call = ToolCall { call: CallId::given(id), name: "f".into(), arguments: "{ \"a\":1 }".into() };
    Block::new(Author::Assistant, call)
}

fn result(id: &str, parts: Vec<Part>) -> ToolResult {
    ToolResult { call: CallId::given(id), name: None, parts, error: None, is_error: None, outcome: None }
}

fn parsed(text: &str) -> Json {
    json::parse(text).map(Node::into_json).unwrap()
}

fn input(body: &Json) -> Json {
    body.as_object().unwrap().get("input").unwrap().clone()
}

#[test]
fn a_foreign_history_is_made_valid() {
    let reasoning = Reasoning { text: Some("Hm.".into()), signature: Some("c2ln".into()), ..Reasoning::default() };
    let long = "toolu_".repeat(20);
    let sound = Media { media_type: Some("audio/wav".into()), inline: Some("AAAA".into()), ..Media::default() };
    let failed = ToolResult {
        error: Some("no such city".into()),
        ..result(&long, vec![Data { json: parsed("{\"n\":1.0}") }.into()])
    };
    let session = session(vec![
        Block::text(Author::System, "Be brief.").in_message(0),
        Block::text(Author::User, "").in_message(1),
        Block::new(Author::User, sound).in_message(1),
        Block { item_id: Some("item_7".into()), ..Block::new(Author::Assistant, reasoning) }.in_message(2),
        call(&long).in_message(2),
        call("b").in_message(2),
        Block::new(Author::Tool, failed).in_message(3),
        Block::new(Author::Tool, result("nobody", Vec::new())).in_message(3),
    ]);
    let (body, losses) = next(session);

    assert_eq!(body.as_object().unwrap().get_str("instructions").unwrap(), "Be brief.");
    let id = input(&body).as_array().unwrap()[1].as_object().unwrap().get_str("call_id").unwrap().into_owned();
    assert!(id.len() <= 64, "{id}");
    let expected = format!(
        r#"[{{"role":"user","content":"[audio/wav of 3 bytes: not sent, this model cannot take it]"}},
        {{"type":"function_call","call_id":"{id}","name":"f","arguments":"{{ \"a\":1 }}"}},
        {{"type":"function_call","call_id":"b","name":"f","arguments":"{{ \"a\":1 }}"}},
        {{"type":"function_call_output","call_id":"{id}","output":[
            {{"type":"input_text","text":"Error: no such city"}},{{"type":"input_text","text":"{{\"n\":1.0}}"}}]}},
        {{"type":"function_call_output","call_id":"b","output":"{INTERRUPTED}"}}]"#
    );
    assert_eq!(input(&body), parsed(&expected));
    for loss in
        ["synthesised extra", "repaired turns[0].blocks[1]", "dropped turns[0].blocks[3]", "dropped turns[0].blocks[7]"]
    {
        assert!(losses.iter().any(|other| other == loss), "{loss} in {losses:#?}");
    }
}

#[test]
fn encrypted_reasoning_goes_back_to_its_vendor_only() {
    let scope = |provider: &str| Scope { provider: Some(provider.into()), ..Scope::default() };
    let reasoning = |provider: &str| {
        let body = Reasoning { encrypted: Some("gAAAA=".into()), scope: Some(scope(provider)), ..Reasoning::default() };
        Block { item_id: Some("rs_1".into()), ..Block::new(Author::Assistant, body) }.in_message(1)
    };
    let history = |provider: &str| {
        let said = Block { item_id: Some("msg_1".into()), ..Block::text(Author::Assistant, "Hi!") }.in_message(1);
        let mut session = session(vec![Block::text(Author::User, "hi").in_message(0), reasoning(provider), said]);
        session.turns[0].provider = Some(provider.into());
        session.turns[0].model = Some("gpt-5".into());
        session
    };

    let (home, _) = next(history("openai"));
    let (away, losses) = next(history("xai"));

    assert_eq!(
        input(&home),
        parsed(
            r#"[{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAA="},
            {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hi!"}]}]"#
        )
    );
    assert_eq!(input(&away), parsed(r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"Hi!"}]"#));
    assert!(losses.contains(&"dropped turns[0].blocks[1]".to_owned()), "{losses:#?}");
    assert!(losses.contains(&"dropped turns[0].blocks[2].item_id".to_owned()), "{losses:#?}");
}

#[test]
fn an_exchange_goes_on_where_it_stopped() {
    let exchange = include_bytes!("../../../../../fixtures/openai.responses/exchange/input.json");
    let decoded = codec().decode(Input::new(exchange), &DecodeOptions::default()).unwrap();
    let mut options = EncodeOptions::default();
    options.as_request = true;
    let encoded = codec().encode(&decoded.archive, &options).unwrap();
    let body = parsed(&String::from_utf8(encoded.bytes).unwrap());

    let expected = format!(
        r#"[{{"role":"system","content":"Use the tools."}},{{"role":"user","content":"How warm is it in Oslo?"}},
        {{"type":"function_call","id":"fc_04","call_id":"call_oslo","name":"get_weather","arguments":"{{\"city\":\"Oslo\"}}","status":"completed"}},
        {{"type":"function_call_output","call_id":"call_oslo","output":"{INTERRUPTED}"}}]"#
    );
    assert_eq!(input(&body), parsed(&expected));
    assert_eq!(body.as_object().unwrap().get_str("model").unwrap(), "gpt-4.1");
}
