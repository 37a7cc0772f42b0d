//! What redaction hides, and what it leaves.

use turnkeep_model::policy::{Pipeline, Policy, Redact, RedactTarget};
use turnkeep_model::{
    Archive, Author, Block, Body, CallId, Journal, Json, LossKind, Reasoning, Session, Text, ToolCall, ToolResult,
    Turn, json,
};

fn of(blocks: Vec<Block>) -> Session {
    let blocks = blocks.into_iter().enumerate().map(|(at, block)| block.in_message(at as u32)).collect();
    Session { turns: vec![Turn { blocks, ..Turn::default() }], ..Session::default() }
}

fn call(arguments: &str) -> Block {
    Block::new(Author::Assistant, ToolCall { call: CallId::given("c1"), name: "f".into(), arguments: arguments.into() })
}

fn result(text: &str) -> Block {
    let parts = vec![Text { text: text.into() }.into()];
    Block::new(
        Author::Tool,
        ToolResult { call: CallId::given("c1"), name: None, parts, error: None, is_error: None, outcome: None },
    )
}

fn parse(text: &str) -> Json {
    json::parse(text).unwrap().into_json()
}

fn hidden(session: &mut Session, hidden: RedactTarget) -> Vec<String> {
    Redact::new([hidden]).apply(session).unwrap().into_iter().map(|loss| loss.at).collect()
}

fn text(session: &Session, block: usize) -> &str {
    session.turns[0].blocks[block].body.as_text().unwrap()
}

#[test]
fn equal_secrets_get_equal_placeholders() {
    let mut session = of(vec![
        Block::text(Author::User, "ada@example.com and grace@example.org"),
        Block::text(Author::Assistant, "grace@example.org, then ada@example.com"),
    ]);

    hidden(&mut session, RedactTarget::Secrets);

    assert_eq!(text(&session, 0), "[email-1] and [email-2]");
    assert_eq!(text(&session, 1), "[email-2], then [email-1]");
}

#[test]
fn a_placeholder_is_never_given_to_a_second_secret() {
    let mut session =
        of(vec![Block::text(Author::User, "[email-1] wrote"), Block::text(Author::User, "so did ada@example.com")]);

    hidden(&mut session, RedactTarget::Secrets);

    assert_eq!(text(&session, 1), "so did [email-2]");
}

#[test]
fn arguments_stay_json_and_their_escapes_hide_nothing() {
    let mut session = of(vec![call(
        r#"{"to":"a\nada@example.com","pay":4111111111111111,"at":"grace\u0040example.org","password":"hunter2!"}"#,
    )]);

    let told = hidden(&mut session, RedactTarget::Secrets);

    let Body::ToolCall(call) = &session.turns[0].blocks[0].body else { panic!("a call") };
    assert_eq!(call.arguments, r#"{"to":"a\n[email-1]","pay":"[card-1]","at":"[email-2]","password":"[s1]"}"#);
    assert_eq!(told, ["turns[0].blocks[0].arguments"]);
}

#[test]
fn every_corner_of_a_session_is_looked_into() {
    const MAIL: &str = "ada@example.com";
    let mut session = of(vec![
        Block::new(Author::User, Body::Other { kind: "x".into(), raw: parse(&format!(r#"{{"{MAIL}":["{MAIL}"]}}"#)) }),
        Block::new(
            Author::User,
            turnkeep_model::Media {
                name: Some(MAIL.into()),
                url: Some(format!("https://x.example/?u={MAIL}")),
                ..Default::default()
            },
        ),
    ]);
    session.title = Some(MAIL.into());
    session.tags.push(("owner".into(), MAIL.into()));
    session.logs.push(MAIL.into());
    session.initial_query = Some(MAIL.into());
    session.metadata.set("a", MAIL);
    session.options.stop.push(MAIL.into());
    session.options.extra.part_mut("f").fields.set("x", MAIL);
    session.extra.part_mut("f").spelling.set("x", MAIL);
    session.slices.push(turnkeep_model::Slice { name: "s".into(), items: vec![MAIL.into()], ..Default::default() });
    session.turns[0].provider_payload = parse(&format!(r#"{{"text":"{{\"to\":\"{MAIL}\"}}"}}"#));
    session.turns[0].data.set("d", MAIL);
    session.turns[0].blocks[0].message.name = Some(MAIL.into());
    session.turns[0].blocks[0].message.extra.part_mut("f").fields.set("x", MAIL);
    session.turns[0].blocks[1].metadata.set("m", MAIL);
    let mut archive = Archive::from(session.clone());
    archive.extra.part_mut("f").fields.set("x", MAIL);
    archive.journal = Some(Box::new(Journal::of(&session)));

    let losses = Pipeline::new().redact(Redact::new([RedactTarget::Secrets])).apply_to(&mut archive).unwrap();

    let left = format!("{}{:?}", archive.to_json(json::Layout::Compact), archive.journal);
    assert!(!left.contains(MAIL), "{left}");
    assert_eq!(archive.journal, None);
    assert!(losses.iter().any(|loss| loss.at == "extra.f"), "{losses:?}");
    assert!(losses.iter().any(|loss| loss.at == "journal"), "{losses:?}");
}

#[test]
fn a_signature_goes_with_the_thought_it_signed() {
    let thought = Reasoning {
        text: Some("mail ada@example.com".into()),
        signature: Some("EqQBCgIYAhIM".repeat(4)),
        ..Reasoning::default()
    };
    let other =
        Reasoning { text: Some("hm".into()), signature: Some("EqQBCgIYAhIM".repeat(4)), ..Reasoning::default() };
    let mut session = of(vec![Block::new(Author::Assistant, thought), Block::new(Author::Assistant, other.clone())]);
    session.turns[0].blocks[0].extra.part_mut("anthropic.messages").fields.set("cache_control", "x");

    let losses = Redact::new([RedactTarget::Secrets]).apply(&mut session).unwrap();

    let told: Vec<_> = losses.iter().map(|loss| (loss.kind, loss.at.as_str())).collect();
    assert_eq!(
        told,
        [
            (LossKind::Redacted, "turns[0].blocks[0].text"),
            (LossKind::Dropped, "turns[0].blocks[0].signature"),
            (LossKind::Dropped, "turns[0].blocks[0].extra"),
        ]
    );
    assert_eq!(session.turns[0].blocks[1].body, Body::Reasoning(other));
}

#[test]
fn tool_calls_are_reduced_to_id_and_name_wherever_they_stand() {
    let mut session = of(vec![call(r#"{"q":"marker"}"#)]);
    session.turns[0].provider_payload = parse(
        r#"{"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{\"q\":\"marker\"}"}}],
        "content":[{"type":"tool_use","id":"c1","name":"f","input":{"q":"marker"}}],
        "parts":[{"functionCall":{"name":"f","args":{"q":"marker"}}}]}"#,
    );

    let told = hidden(&mut session, RedactTarget::ToolArgs);

    assert!(!Archive::from(session.clone()).to_json(json::Layout::Compact).contains("marker"));
    assert!(
        matches!(&session.turns[0].blocks[0].body, Body::ToolCall(call) if call.arguments == "{}" && call.name == "f")
    );
    assert!(told.contains(&"turns[0].blocks[0].arguments".to_owned()), "{told:?}");
}

#[test]
fn results_are_left_out_wherever_they_stand() {
    let mut session = of(vec![call("{}"), result("marker marker marker marker"), result("short marker")]);
    session.turns[0].provider_payload = parse(
        r#"{"a":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"marker"}]}],
        "b":[{"role":"tool","tool_call_id":"c1","content":"marker"}],"c":{"toolResult":{"content":[{"text":"marker"}]}}}"#,
    );

    hidden(&mut session, RedactTarget::ToolResults);

    assert!(!Archive::from(session.clone()).to_json(json::Layout::Compact).contains("marker"));
    let Body::ToolResult(long) = &session.turns[0].blocks[1].body else { panic!("a result") };
    assert_eq!(long.parts, [Text { text: "[tool result omitted]".into() }.into()]);
    let Body::ToolResult(short) = &session.turns[0].blocks[2].body else { panic!("a result") };
    assert_eq!(short.parts, [Text { text: "[omitted]".into() }.into()]);
}

#[test]
fn encrypted_content_is_hidden_at_any_depth_and_the_turn_is_marked() {
    let raw = parse(r#"{"items":[{"encrypted_content":"0123456789abcdef"}]}"#);
    let mut session = of(vec![Block::new(Author::Assistant, Body::Other { kind: "x".into(), raw })]);

    let told = hidden(&mut session, RedactTarget::EncryptedContent);

    let turn = &session.turns[0];
    assert_eq!(told, ["turns[0].blocks[0].raw.items[0].encrypted_content"]);
    assert_eq!(turn.metadata.get("redacted"), Some(&Json::Bool(true)));
    assert!(matches!(&turn.blocks[0].body, Body::Other { raw, .. } if raw.to_text().contains("01-****16****-ef")));
}

#[test]
fn patterns_that_could_run_for_ever_are_refused() {
    let refused = |pattern: &str| Redact::default().with_pattern(pattern).unwrap_err();

    for pattern in
        ["(", "a{1000}{1000}{1000}", "(?:(?:a{500}){500}){500}", "", "a*", "x?", "[z-a]", "(?<n", &"a".repeat(5000)]
    {
        assert!(refused(pattern).remedy().is_some(), "{pattern}");
    }
    let evil = Redact::default().with_pattern("(a+)+$").unwrap();
    let mut session = of(vec![Block::text(Author::User, format!("{}b", "a".repeat(20_000)))]);
    assert!(evil.apply(&mut session).unwrap().is_empty());
}
