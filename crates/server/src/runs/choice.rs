//! Which endpoint answers, and which tools it may use.

use std::path::Path;
use std::sync::Arc;

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use turnkeep_model::event::EndpointChosen;
use turnkeep_model::{Event, Seq, SessionId};
use turnkeep_provider::endpoint::{Endpoint, Endpoints};
use turnkeep_runner::{Keys, Responder, direct, manifest};
use turnkeep_runtime::port::Tool;
use turnkeep_runtime::{Agent, Conversation, Tools};
use turnkeep_store::Store;

use crate::config::Config;
use crate::problem::{Answer, Problem};
use crate::tenant::Tenant;

/// Who answers, and with which tools: names of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Choice {
    pub(crate) endpoint: String,
    pub(crate) tools: Vec<String>,
}

/// The endpoint of this name, or the one that is meant where none is named.
pub(super) fn endpoint(endpoints: &Endpoints, name: Option<&str>) -> Answer<String> {
    if let Some(name) = name {
        return match endpoints.find(name) {
            Ok(endpoint) => Ok(endpoint.name.clone()),
            Err(_) => Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no_endpoint", "there is no such endpoint")
                .hint("`GET /v1/endpoints` lists them")),
        };
    }
    if let Ok(usual) = endpoints.find("default:chat") {
        return Ok(usual.name.clone());
    }
    match endpoints.all() {
        [only] => Ok(only.name.clone()),
        _ => Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no_endpoint", "no endpoint is named")
            .hint("name one, or make one the default for `chat` in turnkeep.toml")),
    }
}

/// The configured endpoint that a session was last answered by.
pub(super) async fn endpoint_of(endpoints: &Endpoints, store: &dyn Store, id: &SessionId) -> Option<String> {
    use futures_util::StreamExt;
    let mut batches = store.read(id, Seq::START);
    let mut chosen: Option<EndpointChosen> = None;
    while let Some(Ok(batch)) = batches.next().await {
        let last = batch.events.into_iter().rev().find_map(|entry| match entry.event {
            Event::EndpointChosen(chosen) => Some(chosen),
            _ => None,
        });
        chosen = last.or(chosen);
    }
    let chosen = chosen?;
    let is_it = |endpoint: &&Endpoint| {
        Some(endpoint.provider.name) == chosen.provider.as_deref() && Some(&endpoint.model) == chosen.model.as_ref()
    };
    endpoints.all().iter().find(is_it).map(|endpoint| endpoint.name.clone())
}

/// Who answers.
pub(super) fn responder(config: &Config, choice: &Choice) -> Answer<Responder> {
    Responder::configured(&config.endpoints, &choice.endpoint, &direct).map_err(|error| {
        let what = "the endpoint cannot be used as it is configured";
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "endpoint", what)
            .hint("the operator finds the cause in the server's log")
            .cause(error)
    })
}

/// The agent that answers in a tenant's store.
pub(super) fn agent(responder: &Responder, tenant: &Tenant, tools: &Tools) -> Agent {
    responder.agent().with_tools(tools.clone()).with_ports(tenant.ports()).with_store(tenant.store.clone())
}

/// The conversation of a stored session. An id that is not there is a mistake, not a new session.
pub(super) async fn stored(agent: &Agent, id: &SessionId) -> Answer<Conversation> {
    let conversation = agent.open(id.as_str())?;
    conversation.last().await?;
    Ok(conversation)
}

/// The tools of the manifests that are named.
pub(super) fn tools(config: &Config, names: &[String]) -> Answer<Tools> {
    let mut all = Tools::default();
    for name in names {
        let unknown = || {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "no_tools", "there are no tools of this name")
                .hint("`GET /v1/endpoints` lists them; [server.tools] in turnkeep.toml names manifests")
        };
        let (_, path) = config.tools.iter().find(|(known, _)| known == name).ok_or_else(unknown)?;
        let listed = manifest_tools(config, path)?;
        let tools: Vec<Arc<dyn Tool>> =
            listed.specs().iter().filter_map(|spec| listed.get(&spec.name).cloned()).collect();
        all = tools.into_iter().try_fold(all, Tools::with)?;
    }
    Ok(all)
}

fn manifest_tools(config: &Config, path: &Path) -> Answer<Tools> {
    let bytes = turnkeep_file::read(path, &turnkeep_file::Limits::default()).map_err(Problem::internal)?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    manifest::tools_without(&bytes, folder, Keys::of(&config.endpoints)).map_err(Problem::internal)
}
