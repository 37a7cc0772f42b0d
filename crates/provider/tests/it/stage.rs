//! What the tests of cassettes and scripts share: clocks and ids that repeat themselves, a tool, models of every wire.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use pollster::block_on;
use turnkeep_model::event::Effect;
use turnkeep_model::{Json, ToolSpec, json};
use turnkeep_provider::scripted::{Script, Scripted};
use turnkeep_provider::{HttpRequest, HttpResponse, Method, Provider, Transport, TransportError, WireModel};
use turnkeep_runtime::port::{Clock, Ids, Tool, ToolContext, ToolError, ToolOutput};
use turnkeep_runtime::{Agent, Ports, Tools};
use turnkeep_store::BoxFuture;

/// Every wire, the provider that speaks it, and a model of it that thinks.
pub(crate) const WIRES: [(&str, &str, &str); 6] = [
    ("openai.chat", "deepseek", "deepseek-reasoner"),
    ("openai.responses", "openai", "gpt-5"),
    ("anthropic.messages", "anthropic", "claude-sonnet-4-5"),
    ("gemini.contents", "google", "gemini-3-pro-preview"),
    ("ollama.chat", "ollama", "qwen3"),
    ("bedrock.converse", "bedrock", "anthropic.claude-sonnet-4-5-v1:0"),
];

/// A clock that ticks a millisecond whenever it is read, and whose short waits are over at once.
#[derive(Debug)]
pub(crate) struct Ticking(AtomicI64);

impl Ticking {
    pub(crate) fn from(start: i64) -> Arc<Ticking> {
        Arc::new(Ticking(AtomicI64::new(start)))
    }
}

impl Clock for Ticking {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0.fetch_add(1, Ordering::SeqCst)).unwrap()
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        self.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
        Box::pin(async move {
            if time >= Duration::from_secs(60) {
                std::future::pending::<()>().await;
            }
        })
    }
}

/// Ids that count.
#[derive(Debug)]
pub(crate) struct Counting(&'static str, AtomicU64);

impl Counting {
    pub(crate) fn from(prefix: &'static str) -> Arc<Counting> {
        Arc::new(Counting(prefix, AtomicU64::new(0)))
    }
}

impl Ids for Counting {
    fn next(&self) -> String {
        format!("{}-{}", self.0, self.1.fetch_add(1, Ordering::SeqCst))
    }
}

pub(crate) fn ports() -> Ports {
    Ports { clock: Ticking::from(1_800_000_000_000), ids: Counting::from("id"), ..Ports::default() }
}

pub(crate) fn json(text: &str) -> Json {
    json::parse(text).unwrap().into_json()
}

/// A tool that tells the weather.
pub(crate) struct Weather;

impl Tool for Weather {
    fn spec(&self) -> ToolSpec {
        let parameters = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}"#;
        ToolSpec {
            name: "weather".into(),
            description: Some("Tells the weather.".into()),
            parameters: json(parameters),
            ..ToolSpec::default()
        }
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    fn call<'a>(&'a self, arguments: &'a Json, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let city = arguments.as_object().and_then(|object| object.get_str("city")).unwrap_or_default().into_owned();
        Box::pin(async move { Ok(ToolOutput::text(format!("sunny in {city}"))) })
    }
}

pub(crate) fn agent(model: WireModel) -> Agent {
    Agent::new(Arc::new(model)).with_tools(Tools::new([Arc::new(Weather) as Arc<dyn Tool>]).unwrap())
}

/// A model of a wire over a transport.
pub(crate) fn model(wire: &str, transport: Arc<dyn Transport>) -> WireModel {
    let (_, provider, model) = WIRES.into_iter().find(|(id, ..)| *id == wire).unwrap();
    let provider = Provider::by_name(provider).unwrap();
    let made = WireModel::new(provider, model, transport).unwrap().with_base_url("https://vendor.test/v1");
    assert_eq!(made.wire().spec().id, wire);
    made
}

/// A vendor that plays a script written in YAML.
pub(crate) fn vendor(wire: &str, script: &str) -> Scripted {
    Scripted::new(wire, Script::parse(script.as_bytes(), "script.yaml").unwrap()).unwrap()
}

/// Remembers what is sent.
pub(crate) struct Spy {
    inner: Arc<dyn Transport>,
    seen: Mutex<Vec<HttpRequest>>,
}

impl Spy {
    pub(crate) fn on(inner: impl Transport + 'static) -> Arc<Spy> {
        Arc::new(Spy { inner: Arc::new(inner), seen: Mutex::default() })
    }

    pub(crate) fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

impl Transport for Spy {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, TransportError>> {
        self.seen.lock().unwrap().push(request.clone());
        self.inner.send(request)
    }
}

/// A request with a JSON body.
pub(crate) fn post(url: &str, body: &str) -> HttpRequest {
    HttpRequest { method: Method::Post, url: url.into(), headers: Vec::new(), body: body.as_bytes().to_vec() }
}

/// What came back: the status and the chunks.
pub(crate) type Came = (u16, Vec<Result<String, TransportError>>);

pub(crate) fn send(transport: &dyn Transport, request: HttpRequest) -> Result<Came, TransportError> {
    block_on(async {
        let response = transport.send(request).await?;
        let chunks = response.body.map(|chunk| chunk.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
        Ok((response.status, chunks.collect().await))
    })
}
