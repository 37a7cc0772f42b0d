//! What holds for every wire, by iterating the table of formats.

use std::collections::HashSet;

use turnkeep_codec::lint::{Severity, Strictness, lint, rules};
use turnkeep_codec::wire::{Delivery, Kind, Wire};
use turnkeep_codec::{EncodeOptions, Input, format};
use turnkeep_model::{Author, Block, Session, Turn};

/// A request that breaks a rule of every wire in its third line.
fn broken(wire: &dyn Wire) -> String {
    let history = wire.contract().history;
    format!("{{\n  \"{history}\": [\n    {{\"role\": \"nobody\", \"content\": 5}}\n  ]\n}}")
}

#[test]
fn every_finding_has_a_line_and_a_column() {
    for wire in format::wires() {
        let id = wire.spec().id;
        let found = lint(Input::new(broken(wire).as_bytes()), id, Strictness::Lax).unwrap();

        // What a request lacks stands where the request begins.
        let of_message = found.iter().filter(|finding| finding.at.contains("[0]")).map(|finding| finding.line);
        assert_eq!(of_message.collect::<HashSet<_>>(), HashSet::from([Some(3)]), "{id}: {found:#?}");
        assert!(found.iter().all(|finding| finding.line.is_some() && finding.column.is_some()), "{id}: {found:#?}");
    }
}

#[test]
fn every_finding_is_an_error_where_it_is_strict() {
    let warned = [
        ("ollama.chat", r#"{"messages":[{"role":"tool","content":"x"}]}"#),
        ("gemini.contents", r#"{"contents":[{"role":"user","parts":[]}]}"#),
        ("openai.chat", r#"{"messages":[{"role":"user","content":""}]}"#),
        ("openai.responses", r#"{"input":[{"role":"user","content":""}]}"#),
        ("anthropic.messages", r#"{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":"x"}]}"#),
        ("bedrock.converse", r#"{"messages":[{"role":"assistant","content":[{"text":"x"}]}]}"#),
    ];
    for wire in format::wires() {
        let id = wire.spec().id;
        let (_, body) = warned.iter().find(|(own, _)| *own == id).expect("a body that a rule of the wire warns of");
        let severities = |strictness| {
            let found = lint(Input::new(body.as_bytes()), id, strictness).unwrap();
            found.iter().map(|finding| finding.severity).collect::<HashSet<_>>()
        };

        assert_eq!(severities(Strictness::Lax), HashSet::from([Severity::Warning]), "{id}");
        assert_eq!(severities(Strictness::Strict), HashSet::from([Severity::Error]), "{id}");
    }
}

#[test]
fn the_request_of_an_exchange_is_judged_where_it_stands() {
    let body = r#"{"request": {"model": "m", "messages": [{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "x",
        "content": "b"}]}, "response": {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant",
        "content": "c"}, "finish_reason": "stop"}]}}"#;
    let found = lint(Input::new(body.as_bytes()), "openai.chat", Strictness::Lax).unwrap();
    let found: Vec<_> = found.iter().map(|finding| (finding.rule, finding.at.as_str(), finding.line)).collect();

    assert_eq!(found, [("OC-ORPHAN", "request.messages[1].tool_call_id", Some(1))]);
}

#[test]
fn no_two_rules_have_one_id() {
    let mut ids = HashSet::new();
    for wire in format::wires() {
        for rule in rules(wire.spec().id) {
            assert!(ids.insert(rule.id), "{}: {}", wire.spec().id, rule.id);
        }
    }
}

#[test]
fn every_wire_says_where_its_requests_go() {
    for wire in format::wires() {
        let contract = wire.contract();
        let paths = [Delivery::Whole, Delivery::Stream].map(|delivery| contract.route.path(delivery));

        assert!(paths.iter().all(|path| path.starts_with('/')), "{}", wire.spec().id);
        assert!(contract.framing.media_type().starts_with(contract.framing.accept()), "{}", wire.spec().id);
    }
}

#[test]
fn a_request_has_its_history_and_its_model_where_the_wire_says() {
    let turn = Turn { blocks: vec![Block::text(Author::User, "Hello?")], ..Turn::default() };
    let session = Session { turns: vec![turn], ..Session::default() };
    let mut options = EncodeOptions::default();
    options.model = Some("some-model".to_owned());
    for wire in format::wires() {
        let (body, _) = wire.next_request(&mut session.clone(), &options);
        let body = body.as_object().unwrap();
        let contract = wire.contract();

        assert!(body.get(contract.history).is_some_and(|history| history.as_array().is_some()), "{body:?}");
        assert_eq!(body.get_str(contract.naming.key()).as_deref(), Some("some-model"), "{}", wire.spec().id);
        let answered = wire.restore(&session, Kind::Request).request.unwrap();
        assert!(answered.as_object().unwrap().contains(contract.history), "{}", wire.spec().id);
    }
}
