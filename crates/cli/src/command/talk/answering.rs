//! Who answers, as the command line names it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use turnkeep_model::event::EndpointChosen;
use turnkeep_model::{Error, ErrorKind};
use turnkeep_provider::cassette::{RecordedEndpoint, Tape};
use turnkeep_provider::endpoint::{Endpoint, Endpoints};
use turnkeep_provider::{HttpRequest, HttpResponse, Transport, TransportError, TransportErrorKind};
use turnkeep_runner::{Keys, manifest};
use turnkeep_runtime::Tools;
use turnkeep_runtime::port::Model;
use turnkeep_store::BoxFuture;

use super::scripted;
use crate::exit::Stop;
use crate::talk_args::Who;

/// Who answers.
#[derive(Clone)]
pub(super) struct Answering {
    pub(super) name: String,
    pub(super) model: Arc<dyn Model>,
    /// Who is asked where it cannot.
    pub(super) fallbacks: Vec<Arc<dyn Model>>,
    /// What new sessions begin with.
    pub(super) system: Option<String>,
}

/// What stands between a model and what carries its requests: a tap, a cassette, or nothing.
pub(super) type Between<'a> = dyn Fn(Arc<dyn Transport>) -> Arc<dyn Transport> + 'a;

type MakeModel<'a> = dyn Fn(&Endpoint) -> Result<Arc<dyn Model>, Stop> + 'a;

/// A network without anybody in it.
struct Nowhere;

impl Transport for Nowhere {
    fn send(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, TransportError>> {
        let message = "nothing is sent in a replay".to_owned();
        Box::pin(async { Err(TransportError { kind: TransportErrorKind::Mismatch, message }) })
    }
}

/// Nothing stands between.
pub(super) fn nothing(transport: Arc<dyn Transport>) -> Arc<dyn Transport> {
    transport
}

impl Answering {
    /// Who the arguments name. `beside` is a file whose neighbours may hold a script.
    pub(super) fn of(who: &Who, beside: Option<&Path>, between: &Between<'_>) -> Result<Answering, Stop> {
        let endpoints = load()?;
        match reference(who, &endpoints)? {
            name if scripted::is_meant(&name, &endpoints) => scripted::answering(&name, who, beside, between),
            name => Answering::configured(&endpoints, &name, between),
        }
    }

    /// The same where nothing is sent: no key is needed, and where nobody is named, no endpoint either.
    pub(super) fn replayed(who: &Who, tape: &Tape, beside: &Path, between: &Between<'_>) -> Result<Answering, Stop> {
        if !who.is_named()
            && let [first, others @ ..] = tape.endpoints().as_slice()
        {
            return Answering::recorded(first, others, between);
        }
        let endpoints = load()?;
        let name = reference(who, &endpoints)?;
        if scripted::is_meant(&name, &endpoints) {
            return scripted::answering(&name, who, Some(beside), between);
        }
        let model = |endpoint: &Endpoint| -> Result<Arc<dyn Model>, Stop> {
            let keyless = Endpoint { key: None, aws: None, headers: Vec::new(), ..endpoint.clone() };
            Ok(Arc::new(keyless.model(between(Arc::new(Nowhere)))?))
        };
        Answering::with_models(&endpoints, &name, &model)
    }

    /// Who answered when a tape was recorded.
    fn recorded(
        first: &RecordedEndpoint,
        others: &[RecordedEndpoint],
        between: &Between<'_>,
    ) -> Result<Answering, Stop> {
        let model = |endpoint: &RecordedEndpoint| -> Result<Arc<dyn Model>, Stop> {
            Ok(Arc::new(endpoint.model(between(Arc::new(Nowhere)))?))
        };
        Ok(Answering {
            name: "recorded".to_owned(),
            model: model(first)?,
            fallbacks: others.iter().map(model).collect::<Result<_, _>>()?,
            system: None,
        })
    }

    fn configured(endpoints: &Endpoints, name: &str, between: &Between<'_>) -> Result<Answering, Stop> {
        let model = |endpoint: &Endpoint| -> Result<Arc<dyn Model>, Stop> {
            Ok(Arc::new(endpoint.model(between(network(endpoint)?))?))
        };
        Answering::with_models(endpoints, name, &model)
    }

    fn with_models(endpoints: &Endpoints, name: &str, model: &MakeModel<'_>) -> Result<Answering, Stop> {
        let endpoint = endpoints.find(name)?;
        let fallbacks = endpoint.fallback.iter().map(|other| model(endpoints.find(other)?));
        Ok(Answering {
            name: endpoint.name.clone(),
            model: model(endpoint)?,
            fallbacks: fallbacks.collect::<Result<_, _>>()?,
            system: endpoint.system.clone(),
        })
    }
}

/// The model that is named.
pub(crate) fn model_of(who: &Who) -> turnkeep_model::Result<Arc<dyn Model>> {
    let answering = Answering::of(who, None, &nothing).map_err(|stop| match stop {
        Stop::Error(error) => error,
        Stop::Usage(what, remedy) => Error::new(ErrorKind::NotFound, what).hint(remedy),
        other => Error::new(ErrorKind::Unavailable, other.told()),
    })?;
    Ok(answering.model)
}

/// The name of the configured endpoint that a journal speaks of, if there is one.
pub(crate) fn configured(chosen: &EndpointChosen) -> Option<String> {
    let endpoints = load().ok()?;
    let is_it = |endpoint: &&Endpoint| {
        Some(endpoint.provider.name) == chosen.provider.as_deref() && Some(&endpoint.model) == chosen.model.as_ref()
    };
    endpoints.all().iter().find(is_it).map(|endpoint| endpoint.name.clone())
}

/// The endpoints of the user and of the project around the working directory.
pub(super) fn load() -> Result<Endpoints, Stop> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    Ok(Endpoints::load(&here)?)
}

/// The name that is given; else the default for chatting, or the only endpoint there is.
fn reference(who: &Who, endpoints: &Endpoints) -> Result<String, Stop> {
    if let Some(name) = &who.endpoint {
        return Ok(name.clone());
    }
    if who.script.is_some() {
        return Ok(scripted::NAME.to_owned());
    }
    if endpoints.find("default:chat").is_ok() {
        return Ok("default:chat".to_owned());
    }
    match endpoints.all() {
        [only] => Ok(only.name.clone()),
        all => {
            let names: Vec<&str> = all.iter().map(|endpoint| endpoint.name.as_str()).collect();
            let known = if names.is_empty() {
                "turnkeep.toml speaks of none; docs/endpoints.md says how to write it".to_owned()
            } else {
                format!("name one with --endpoint: {}; or make one the default for `chat`", names.join(", "))
            };
            Err(Stop::Usage("no endpoint is named".to_owned(), known))
        }
    }
}

#[cfg(feature = "http")]
fn network(endpoint: &Endpoint) -> Result<Arc<dyn Transport>, Stop> {
    Ok(Arc::new(endpoint.http()?))
}

#[cfg(not(feature = "http"))]
fn network(endpoint: &Endpoint) -> Result<Arc<dyn Transport>, Stop> {
    let what = format!("`{}` is reached over HTTP, which this program was built without", endpoint.name);
    Err(Error::new(ErrorKind::Unsupported, what).hint("build it with the feature `http`").into())
}

/// The tools of a manifest; none where none is named.
pub(crate) fn tools(path: Option<&Path>) -> Result<Tools, Stop> {
    let Some(path) = path else {
        return Ok(Tools::default());
    };
    let bytes = turnkeep_file::read(path, &turnkeep_file::Limits::default())?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let keys = Keys::of(&load()?);
    Ok(manifest::tools_without(&bytes, directory, keys).map_err(|error| error.file(path.display().to_string()))?)
}
