//! A mock server of others that speaks the vendors' wires (npm `@copilotkit/aimock`). `cargo xtask external` starts it
//! with our fixtures, and `TURNKEEP_AIMOCK` holds its address.

use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use turnkeep_model::{Block, Body, FinishReason, Part};
use turnkeep_provider::auth::Credentials;
use turnkeep_provider::{
    Header, HeaderValue, Provider, ProviderError, ProviderErrorKind, Retry, Secret, Streaming, Timeouts, WireModel,
};
use turnkeep_runtime::Recorder;
use turnkeep_runtime::port::NoDeltas;
use turnkeep_store::StoreExt;

use crate::kit::{self, Heard, Impatient};
use crate::stage;

/// Every door of the mock that we have a key to: the wire, who is asked there, a model that thinks, and its path.
const DOORS: &[(&str, &str, &str, &str)] = &[
    ("openai.chat", "vllm", "qwen3", ""),
    ("openai.chat", "openrouter", "openai/gpt-5", "/api/v1"),
    ("openai.chat", "azure", "gpt-5", ""),
    ("openai.responses", "openai", "gpt-5", ""),
    ("anthropic.messages", "anthropic", "claude-sonnet-4-5", ""),
    ("gemini.contents", "google", "gemini-2.5-pro", ""),
    ("gemini.contents", "google", "gemini-2.5-pro", "/v1/projects/p/locations/l/publishers/google"),
    ("ollama.chat", "ollama", "qwen3", ""),
    ("bedrock.converse", "bedrock", "anthropic.claude-sonnet-4-5-v1:0", ""),
];

/// A model at a door of the mock.
struct Door {
    name: String,
    wire: &'static str,
    streaming: Streaming,
    model: WireModel,
}

/// Every door, streamed and not; nothing, and a line that says so, where there is no mock.
fn doors(test: &str) -> Vec<Door> {
    let Ok(url) = std::env::var("TURNKEEP_AIMOCK") else {
        println!("skipped: {test} (TURNKEEP_AIMOCK is not set; `cargo xtask external` starts the mock server)");
        return Vec::new();
    };
    let both = |door| [Streaming::On, Streaming::Off].map(|streaming| opened(&url, door, streaming));
    DOORS.iter().flat_map(both).collect()
}

fn opened(url: &str, door: &(&'static str, &str, &str, &str), streaming: Streaming) -> Door {
    let (wire, provider, model, path) = *door;
    let provider = Provider::by_name(provider).unwrap();
    let name = format!("{wire} of {}{path}, streaming {streaming:?}", provider.name);
    let model = WireModel::new(provider, model, Arc::new(kit::http())).unwrap().with_wire(wire).unwrap();
    let model = model
        .with_base_url(format!("{url}{path}"))
        .with_credentials(Credentials::Key(Secret::new("sk-planted-key")))
        .with_streaming(streaming)
        .with_retry(Retry::never());
    // Deployments are asked for with a version.
    let model = if provider.name == "azure" { model.with_api_version("2024-10-21") } else { model };
    Door { name, wire, streaming, model }
}

impl Door {
    fn header(&self, name: &str, value: &str) -> WireModel {
        self.model.clone().with_header(Header { name: name.to_owned(), value: HeaderValue::Plain(value.to_owned()) })
    }

    /// What is expected of a text after a thought. The mock tells thoughts to users of Ollama under a name that Ollama
    /// does not have.
    fn thought<'a>(&self, thought: &'a str, text: &'a str) -> Vec<(&'a str, &'a str)> {
        let thinks = (self.wire != "ollama.chat").then_some(("reasoning", thought));
        thinks.into_iter().chain([("text", text)]).collect()
    }
}

/// What blocks say, each with its kind.
fn said<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> Vec<(&'a str, String)> {
    blocks.into_iter().map(|block| (block.body.kind(), words(&block.body))).collect()
}

fn words(body: &Body) -> String {
    match body {
        Body::Text(text) => text.text.clone(),
        Body::Reasoning(thought) => thought.text.clone().unwrap_or_else(|| thought.summary.concat()),
        Body::ToolCall(call) => format!("{} {}", call.name, call.arguments_json().unwrap().to_text()),
        Body::ToolResult(result) => result.parts.iter().map(part).collect(),
        other => panic!("{other:?} was not expected"),
    }
}

fn part(part: &Part) -> &str {
    if let Part::Text(text) = part { &text.text } else { panic!("{part:?} was not expected") }
}

fn owned<'a>(said: &[(&'a str, &str)]) -> Vec<(&'a str, String)> {
    said.iter().map(|(kind, text)| (*kind, (*text).to_owned())).collect()
}

#[test]
fn the_mock_answers_on_every_wire_with_thoughts_and_text() {
    let doors = doors("the_mock_answers_on_every_wire_with_thoughts_and_text");
    for door in &doors {
        let heard = Heard::default();

        let answer =
            kit::ask(&door.model, &kit::question(), &heard).unwrap_or_else(|error| panic!("{}: {error}", door.name));

        let text = "Sunny, and it stays so until the evening.";
        let expected = door.thought("The sky is blue, and there is no wind.", text);
        assert_eq!(said(&answer.blocks), owned(&expected), "{}", door.name);
        assert_eq!(answer.finish.map(|finish| finish.reason), Some(FinishReason::Stop), "{}", door.name);
        assert_eq!(answer.losses, [], "{}", door.name);
        let arrived = if door.streaming == Streaming::On { text } else { "" };
        assert_eq!(heard.text(), arrived, "{}", door.name);
    }
    println!("{} answers of the mock server read by models", doors.len());
}

#[test]
fn an_agent_calls_tools_at_the_mock_on_every_wire() {
    let doors = doors("an_agent_calls_tools_at_the_mock_on_every_wire");
    for door in &doors {
        let store = turnkeep_store::open("memory:").unwrap();
        let agent = stage::agent(door.model.clone());
        let mut recorder = block_on(Recorder::create(store.clone(), agent.session(), stage::ports())).unwrap();

        block_on(agent.run(&mut recorder, "How is the weather in Ulm and Oslo?"))
            .unwrap_or_else(|error| panic!("{}: {error}", door.name));

        let loaded = block_on(store.load(recorder.id())).unwrap().session;
        assert_eq!(loaded, *recorder.session(), "{}", door.name);
        let mut expected = vec![("text", "How is the weather in Ulm and Oslo?")];
        expected.extend(door.thought("I need the weather.", "I look it up."));
        expected.extend([
            ("tool_call", r#"weather {"city":"Ulm"}"#),
            ("tool_call", r#"weather {"city":"Oslo"}"#),
            ("tool_result", "sunny in Ulm"),
            ("tool_result", "sunny in Oslo"),
        ]);
        expected.extend(door.thought("Now I know it.", "Sunny in both."));
        assert_eq!(said(loaded.blocks().map(|(_, block)| block)), owned(&expected), "{}", door.name);
    }
    println!("{} agents called two tools at the mock server", doors.len());
}

#[test]
fn the_mock_takes_an_image_on_every_wire() {
    let doors = doors("the_mock_takes_an_image_on_every_wire");
    for door in &doors {
        let answer =
            kit::ask(&door.model, &kit::picture(), &NoDeltas).unwrap_or_else(|error| panic!("{}: {error}", door.name));

        assert_eq!(said(&answer.blocks), owned(&[("text", "A single dot.")]), "{}", door.name);
    }
    println!("{} images taken by the mock server", doors.len());
}

fn error(model: &WireModel, text: &str) -> ProviderError {
    kit::ask(model, &kit::said(text), &NoDeltas).unwrap_err()
}

#[test]
fn errors_of_the_mock_are_told_on_every_wire() {
    let statuses = [
        (400, ProviderErrorKind::Invalid),
        (401, ProviderErrorKind::Unauthorized),
        (403, ProviderErrorKind::Forbidden),
        (404, ProviderErrorKind::NotFound),
        (413, ProviderErrorKind::RequestTooLarge),
        (429, ProviderErrorKind::RateLimited),
        (500, ProviderErrorKind::ServerError),
        (503, ProviderErrorKind::Unavailable),
        (529, ProviderErrorKind::Overloaded),
    ];
    let doors = doors("errors_of_the_mock_are_told_on_every_wire");
    for door in &doors {
        for (status, kind) in statuses {
            let error = error(&door.model, &format!("answer with {status}"));

            let wait = (status == 429).then_some(Duration::from_secs(7));
            assert_eq!((error.kind, error.status, error.retry_after), (kind, Some(status), wait), "{}", door.name);
            assert_eq!(error.message, "the vendor's words", "{}", door.name);
        }
    }
    println!("{} errors of the mock server told", doors.len() * statuses.len());
}

#[test]
fn accidents_of_the_mock_are_told_on_every_wire() {
    let accidents = [
        ("x-aimock-chaos-drop", "1", ProviderErrorKind::ServerError),
        ("x-aimock-chaos-malformed", "1", ProviderErrorKind::Malformed),
        ("x-aimock-chaos-ratelimit", "1", ProviderErrorKind::RateLimited),
        ("x-aimock-chaos-disconnect", "1", ProviderErrorKind::Closed),
        ("x-aimock-chaos-latency", "30000", ProviderErrorKind::FirstByteTimeout),
    ];
    let doors = doors("accidents_of_the_mock_are_told_on_every_wire");
    let impatient = Timeouts { first_byte: Duration::from_millis(300), ..Timeouts::default() };
    for door in &doors {
        for (name, value, kind) in accidents {
            let mut model = door.header(name, value);
            if kind == ProviderErrorKind::FirstByteTimeout {
                model = model.with_timeouts(impatient);
            }

            assert_eq!(error(&model, "What is the weather?").kind, kind, "{}, {name}", door.name);
        }
    }
    println!("{} accidents of the mock server told", doors.len() * accidents.len());
}

#[test]
fn a_stream_that_the_mock_breaks_off_is_no_answer() {
    let mut doors = doors("a_stream_that_the_mock_breaks_off_is_no_answer");
    doors.retain(|door| door.streaming == Streaming::On);
    for door in &doors {
        assert_eq!(error(&door.model, "Please break off.").kind, ProviderErrorKind::Cut, "{}", door.name);
    }
    println!("{} streams of the mock server broken off", doors.len());
}

#[test]
fn a_mock_that_is_busy_at_first_is_asked_again_after_the_wait_it_asks_for() {
    let doors = doors("a_mock_that_is_busy_at_first_is_asked_again_after_the_wait_it_asks_for");
    for (at, door) in doors.iter().enumerate() {
        let clock = Arc::new(Impatient::default());
        // The mock counts for each of these ids.
        let id = format!("busy-{at}-{}", std::process::id());
        let model = door.header("x-test-id", &id).with_retry(Retry::default()).with_clock(clock.clone());

        let answer = kit::ask(&model, &kit::said("Are you busy at first?"), &NoDeltas).unwrap();

        assert_eq!(said(&answer.blocks), owned(&[("text", "Now I can.")]), "{}", door.name);
        assert_eq!(*clock.0.lock().unwrap(), [Duration::from_secs(7)], "{}", door.name);
    }
    println!("{} requests sent again to the mock server", doors.len());
}
