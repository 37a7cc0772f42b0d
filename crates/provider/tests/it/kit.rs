//! What the tests share.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pollster::block_on;
use turnkeep_codec::{DecodeOptions, Input, format};
use turnkeep_model::{Author, Block, Media, Options, Session, ToolSpec, Turn};
use turnkeep_provider::auth::Credentials;
use turnkeep_provider::http::Http;
use turnkeep_provider::{HttpOptions, Provider, ProviderError, Proxy, Secret, WireModel};
use turnkeep_runtime::port::{Answer, Clock, Delta, Deltas, Request};
use turnkeep_store::BoxFuture;

/// The wires, with who is usual for each.
pub(crate) const WIRES: &[(&str, &str)] = &[
    ("openai.chat", "groq"),
    ("openai.responses", "openai"),
    ("anthropic.messages", "anthropic"),
    ("gemini.contents", "google"),
    ("ollama.chat", "ollama"),
    ("bedrock.converse", "bedrock"),
];

/// The content type of a wire's streams.
pub(crate) fn content_type(wire: &str) -> &'static str {
    match wire {
        "ollama.chat" => "application/x-ndjson",
        "bedrock.converse" => "application/vnd.amazon.eventstream",
        _ => "text/event-stream; charset=utf-8",
    }
}

pub(crate) fn http() -> Http {
    Http::new(&HttpOptions { proxy: Proxy::Direct, ..HttpOptions::default() }).unwrap()
}

/// A model of a provider at an address.
pub(crate) fn model(provider: &str, url: &str) -> WireModel {
    named(provider, "m-1", url)
}

/// The same with a name.
pub(crate) fn named(provider: &str, model: &str, url: &str) -> WireModel {
    let provider = Provider::by_name(provider).unwrap();
    WireModel::new(provider, model, Arc::new(http()))
        .unwrap()
        .with_base_url(url)
        .with_credentials(Credentials::Key(Secret::new("sk-planted-key")))
}

/// A session with a question.
pub(crate) fn question() -> Session {
    said("What is the weather?")
}

/// A session in which a user said something.
pub(crate) fn said(text: &str) -> Session {
    let turn = Turn { blocks: vec![Block::text(Author::User, text)], ..Turn::default() };
    Session { turns: vec![turn], ..Session::default() }
}

/// A PNG of one dot, in base64.
pub(crate) const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A session with a question about an image, in one message.
pub(crate) fn picture() -> Session {
    let dot = Media { media_type: Some("image/png".into()), inline: Some(DOT.into()), ..Media::default() };
    let question = Block::text(Author::User, "What is in the picture?").in_message(0);
    let blocks = vec![question, Block::new(Author::User, dot).in_message(0)];
    Session { turns: vec![Turn { blocks, ..Turn::default() }], ..Session::default() }
}

/// Asks a model about a session.
pub(crate) fn ask(model: &WireModel, session: &Session, deltas: &dyn Deltas) -> Result<Answer, ProviderError> {
    let tools: Vec<ToolSpec> = session.tools.clone();
    block_on(model.ask(Request { session, options: &session.options, tools: &tools, turn: 0 }, deltas))
}

/// Asks a model the question.
pub(crate) fn asked(model: &WireModel) -> Result<Answer, ProviderError> {
    ask(model, &question(), &turnkeep_runtime::port::NoDeltas)
}

/// What arrived on the way.
#[derive(Default)]
pub(crate) struct Heard(pub(crate) Mutex<Vec<Delta>>);

impl Deltas for Heard {
    fn delta(&self, delta: Delta) {
        self.0.lock().unwrap().push(delta);
    }
}

impl Heard {
    pub(crate) fn text(&self) -> String {
        let heard = self.0.lock().unwrap();
        heard
            .iter()
            .filter_map(|delta| if let Delta::Text(text) = delta { Some(text.as_str()) } else { None })
            .collect()
    }
}

/// A file of the fixtures.
pub(crate) fn fixture(path: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    std::fs::read(root.join(path)).unwrap()
}

/// The recorded stream of a wire.
pub(crate) fn stream(wire: &str) -> Vec<u8> {
    let ending = match wire {
        "gemini.contents" => "txt",
        "ollama.chat" => "ndjson",
        "bedrock.converse" => "bin",
        _ => "sse",
    };
    fixture(&format!("{wire}/stream/input.{ending}"))
}

/// The answer that a codec reads in a recorded body.
pub(crate) fn answer_in(wire: &str, bytes: &[u8]) -> Turn {
    let decoded = format::by_id(wire).unwrap().decode(Input::new(bytes), &DecodeOptions::default()).unwrap();
    let session = decoded.archive.main_session().unwrap().clone();
    let mut turn = session.turns.into_iter().last().unwrap();
    turn.blocks.retain(Block::is_answer);
    turn
}

/// A clock whose short waits are over at once, and told; its long ones never end.
#[derive(Default)]
pub(crate) struct Impatient(pub(crate) Mutex<Vec<Duration>>);

impl Clock for Impatient {
    fn now(&self) -> jiff::Timestamp {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        if time >= Duration::from_secs(100) {
            return Box::pin(std::future::pending());
        }
        self.0.lock().unwrap().push(time);
        Box::pin(std::future::ready(()))
    }
}

/// Options that every wire takes.
pub(crate) fn options() -> Options {
    Options::default().with_temperature(0.5).with_max_tokens(2048)
}
