//! What single events change.

use turnkeep_model::event::SessionChanged;
use turnkeep_model::json::Object;
use turnkeep_model::shape::FlatShape;
use turnkeep_model::{
    Author, Block, Options, PromptId, ResponseFormat, Session, Time, Timing, ToolSpec, Turn, apply, diff, status,
};

/// A session with something in every place that a change could touch.
fn full() -> Session {
    let mut metadata = Object::new();
    metadata.set("kept", true);
    let blocks = vec![Block::text(Author::System, "Be brief.").in_message(0)];
    Session {
        title: Some("old".into()),
        prompt: Some(PromptId { ns: "n".into(), key: "k".into(), ..PromptId::default() }),
        options: Options::default().with_temperature(0.1),
        tools: vec![ToolSpec { name: "old".into(), ..ToolSpec::default() }],
        response_format: Some(ResponseFormat { name: Some("old".into()), ..ResponseFormat::default() }),
        status: Some(status::Pending {}.into()),
        timing: Timing { created: Some(Time::new("2026-01-01T00:00:00Z")), ..Timing::default() },
        tags: vec![("old".into(), "old".into())],
        metadata,
        turns: vec![Turn { blocks, ..Turn::default() }],
        ..Session::default()
    }
}

/// One change for every field, by its name.
fn changes() -> Vec<(&'static str, SessionChanged)> {
    let none = SessionChanged::default;
    let tool = ToolSpec { name: "new".into(), ..ToolSpec::default() };
    let prompt = PromptId { ns: "n".into(), key: "new".into(), ..PromptId::default() };
    let form = ResponseFormat { name: Some("new".into()), ..ResponseFormat::default() };
    let timing = Timing { created: Some(Time::new("2026-01-02T00:00:00Z")), ..Timing::default() };
    vec![
        ("title", SessionChanged { title: Some("new".into()), ..none() }),
        ("prompt", SessionChanged { prompt: Some(prompt), ..none() }),
        ("options", SessionChanged { options: Some(Options::default().with_temperature(0.5)), ..none() }),
        ("tools", SessionChanged { tools: Some(vec![tool]), ..none() }),
        ("response_format", SessionChanged { response_format: Some(form), ..none() }),
        ("status", SessionChanged { status: Some(status::Completed {}.into()), ..none() }),
        ("timing", SessionChanged { timing: Some(timing), ..none() }),
        ("tags", SessionChanged { tags: Some(vec![("new".into(), "new".into())]), ..none() }),
        ("metadata", SessionChanged { metadata: Some(Object::new()), ..none() }),
    ]
}

#[test]
fn every_change_touches_only_its_field() {
    let named: Vec<&str> = changes().iter().map(|(name, _)| *name).collect();
    assert_eq!(named, SessionChanged::FIELDS);
    for (name, change) in changes() {
        let before = full();
        let mut after = before.clone();
        apply(&mut after, &change.into()).unwrap();

        let places: Vec<String> = diff(&before, &after).into_iter().map(|change| change.at).collect();
        assert!(!places.is_empty() && places.iter().all(|at| at.starts_with(name)), "{name}: {places:?}");
    }
}
