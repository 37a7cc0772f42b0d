//! Who answers: an endpoint of the configuration, a script, or a recording.

use std::sync::Arc;

use turnkeep_model::Result;
use turnkeep_provider::cassette::Tape;
use turnkeep_provider::endpoint::{Endpoint, Endpoints};
use turnkeep_provider::scripted::{Script, Scripted};
use turnkeep_provider::{
    HttpRequest, HttpResponse, PROVIDERS, Provider, Transport, TransportError, TransportErrorKind, WireModel,
};
use turnkeep_runtime::Agent;
use turnkeep_runtime::port::Model;
use turnkeep_store::BoxFuture;

use crate::observer::{Observer, observed};

/// The name of a script.
pub const SCRIPTED: &str = "scripted";

/// The wire that a script speaks where none is named.
const SCRIPT_WIRE: &str = "openai.chat";

/// Who answers.
///
/// ```
/// use std::sync::Arc;
/// use turnkeep_runner::Responder;
/// use turnkeep_runtime::Script;
/// use turnkeep_runtime::port::Answer;
///
/// # pollster::block_on(async {
/// let responder = Responder::new("script", Arc::new(Script::new("a model", vec![Answer::text("Hello!")])));
/// let agent = responder.agent().with_store(turnkeep_store::open("memory:")?);
///
/// assert_eq!(agent.begin()?.ask("Are you there?").await?.text.as_deref(), Some("Hello!"));
/// # Ok::<(), turnkeep_runtime::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Responder {
    /// What it is called.
    pub name: String,
    /// The model that is asked.
    pub model: Arc<dyn Model>,
    /// Those that are asked where it cannot answer, in order.
    pub fallbacks: Vec<Arc<dyn Model>>,
    /// The system text of sessions that begin with it.
    pub system: Option<String>,
}

/// What stands between a model and the transport of its requests: a tap, a cassette, or nothing.
pub type Between<'a> = dyn Fn(Arc<dyn Transport>) -> Arc<dyn Transport> + 'a;

/// Nothing stands between.
pub fn direct(transport: Arc<dyn Transport>) -> Arc<dyn Transport> {
    transport
}

impl Responder {
    /// A model, without anything else.
    pub fn new(name: impl Into<String>, model: Arc<dyn Model>) -> Responder {
        Responder { name: name.into(), model, fallbacks: Vec::new(), system: None }
    }

    /// A configured endpoint, with its fallbacks.
    ///
    /// # Errors
    /// `NotFound` where there is no such endpoint, and where one cannot be used as it is configured; `Unsupported` without
    /// the feature `http`.
    pub fn configured(endpoints: &Endpoints, name: &str, between: &Between<'_>) -> Result<Responder> {
        let model = |endpoint: &Endpoint| model(endpoint, between(network(endpoint)?));
        Responder::of_models(endpoints, name, &model)
    }

    /// The same where nothing is sent. It needs no key.
    ///
    /// # Errors
    /// As [`Responder::configured`].
    pub fn offline(endpoints: &Endpoints, name: &str, between: &Between<'_>) -> Result<Responder> {
        let keyless = |endpoint: &Endpoint| {
            let keyless = Endpoint { key: None, aws: None, headers: Vec::new(), ..endpoint.clone() };
            model(&keyless, between(Arc::new(Nowhere)))
        };
        Responder::of_models(endpoints, name, &keyless)
    }

    /// Those who answered when a tape was recorded; `None` where it does not say.
    ///
    /// # Errors
    /// Where the tape speaks of a wire that is not known.
    pub fn recorded(tape: &Tape, between: &Between<'_>) -> Result<Option<Responder>> {
        let recorded = tape.endpoints();
        let models = recorded.iter().map(|endpoint| {
            let model: Arc<dyn Model> = Arc::new(endpoint.model(between(Arc::new(Nowhere)))?);
            Ok(model)
        });
        let mut models = models.collect::<Result<Vec<_>>>()?.into_iter();
        Ok(models.next().map(|model| Responder { fallbacks: models.collect(), ..Responder::new("recorded", model) }))
    }

    /// A vendor that plays a script. `name` is [`SCRIPTED`], optionally with a wire and its dialect, as in
    /// `scripted:openai.chat:mistral`.
    ///
    /// # Errors
    /// `NotFound` where there is no such wire.
    pub fn scripted(name: &str, script: Script, between: &Between<'_>) -> Result<Responder> {
        let wire = name.split_once(':').map_or(SCRIPT_WIRE, |(_, wire)| wire);
        let model = script.model.clone().unwrap_or_else(|| SCRIPTED.to_owned());
        let transport = between(Arc::new(Scripted::new(wire, script)?));
        let (id, dialect) = wire.split_once(':').map_or((wire, None), |(id, dialect)| (id, Some(dialect)));
        let model = WireModel::new(vendor(id)?, model, transport)?.named(SCRIPTED).with_wire(id)?;
        let model = match dialect {
            Some(dialect) => model.with_dialect(dialect),
            None => model,
        };
        Ok(Responder::new(SCRIPTED, Arc::new(model)))
    }

    /// The same, whose models are followed by an observer.
    #[must_use]
    pub fn observed(mut self, observer: &Arc<dyn Observer>) -> Responder {
        self.model = observed(self.model, observer.clone());
        self.fallbacks = self.fallbacks.into_iter().map(|model| observed(model, observer.clone())).collect();
        self
    }

    /// An agent that asks its models, and begins sessions with its system text.
    pub fn agent(&self) -> Agent {
        let agent = self.fallbacks.iter().cloned().fold(Agent::new(self.model.clone()), Agent::with_fallback);
        match &self.system {
            Some(system) => agent.with_system(system),
            None => agent,
        }
    }

    fn of_models(endpoints: &Endpoints, name: &str, model: &MakeModel<'_>) -> Result<Responder> {
        let endpoint = endpoints.find(name)?;
        let fallbacks = endpoint.fallback.iter().map(|other| model(endpoints.find(other)?));
        Ok(Responder {
            name: endpoint.name.clone(),
            model: model(endpoint)?,
            fallbacks: fallbacks.collect::<Result<_>>()?,
            system: endpoint.system.clone(),
        })
    }
}

type MakeModel<'a> = dyn Fn(&Endpoint) -> Result<Arc<dyn Model>> + 'a;

fn model(endpoint: &Endpoint, transport: Arc<dyn Transport>) -> Result<Arc<dyn Model>> {
    Ok(Arc::new(endpoint.model(transport)?))
}

/// The vendor that a wire is known by. Many speak `openai.chat`; it is the first one's.
fn vendor(wire: &str) -> Result<&'static Provider> {
    let own = PROVIDERS.iter().find(|provider| provider.wire == wire && wire != SCRIPT_WIRE);
    own.or_else(|| PROVIDERS.first()).ok_or_else(|| {
        let what = format!("no vendor speaks `{wire}`");
        turnkeep_model::Error::new(turnkeep_model::ErrorKind::NotFound, what).hint("`turnkeep formats` lists the wires")
    })
}

#[cfg(feature = "http")]
fn network(endpoint: &Endpoint) -> Result<Arc<dyn Transport>> {
    Ok(Arc::new(endpoint.http()?))
}

#[cfg(not(feature = "http"))]
fn network(endpoint: &Endpoint) -> Result<Arc<dyn Transport>> {
    let what = format!("`{}` is reached over HTTP, which this program was built without", endpoint.name);
    Err(turnkeep_model::Error::new(turnkeep_model::ErrorKind::Unsupported, what)
        .hint("build it with the feature `http`"))
}

/// A network without anybody in it.
struct Nowhere;

impl Transport for Nowhere {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, std::result::Result<HttpResponse, TransportError>> {
        let message = "nothing is sent in a replay".to_owned();
        Box::pin(async { Err(TransportError { kind: TransportErrorKind::Mismatch, message }) })
    }
}
