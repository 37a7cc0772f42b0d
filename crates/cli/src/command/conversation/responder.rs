//! Who answers, as the command line names it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use turnkeep_model::event::EndpointChosen;
use turnkeep_model::{Error, ErrorKind};
use turnkeep_provider::cassette::Tape;
use turnkeep_provider::endpoint::{Endpoint, Endpoints};
use turnkeep_runner::{Between, Keys, Responder, SCRIPTED, direct, manifest};
use turnkeep_runtime::Tools;
use turnkeep_runtime::port::Model;

use super::scripted::{is_meant, scripted};
use crate::conversation_args::ModelArgs;
use crate::exit::CliError;

/// Who the arguments name. `near` is a file whose neighbours may hold a script.
pub(crate) fn responder(args: &ModelArgs, near: Option<&Path>, between: &Between<'_>) -> Result<Responder, CliError> {
    let endpoints = load()?;
    match reference(args, &endpoints)? {
        name if is_meant(&name, &endpoints) => scripted(&name, args, near, between),
        name => Ok(Responder::configured(&endpoints, &name, between)?),
    }
}

/// The same where nothing is sent: no key is needed, and where nobody is named, no endpoint either.
pub(crate) fn replaying(
    args: &ModelArgs,
    tape: &Tape,
    near: &Path,
    between: &Between<'_>,
) -> Result<Responder, CliError> {
    if !args.is_named()
        && let Some(recorded) = Responder::recorded(tape, between)?
    {
        return Ok(recorded);
    }
    let endpoints = load()?;
    match reference(args, &endpoints)? {
        name if is_meant(&name, &endpoints) => scripted(&name, args, Some(near), between),
        name => Ok(Responder::offline(&endpoints, &name, between)?),
    }
}

/// The model that is named.
pub(crate) fn model_of(args: &ModelArgs) -> turnkeep_model::Result<Arc<dyn Model>> {
    let responder = responder(args, None, &direct).map_err(|error| match error {
        CliError::Error(error) => error,
        CliError::Usage(what, remedy) => Error::new(ErrorKind::NotFound, what).hint(remedy),
        other => Error::new(ErrorKind::Unavailable, other.message()),
    })?;
    Ok(responder.model)
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
pub(super) fn load() -> Result<Endpoints, CliError> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    Ok(Endpoints::load(&here)?)
}

/// The name that is given; else the default for chatting, or the only endpoint there is.
fn reference(args: &ModelArgs, endpoints: &Endpoints) -> Result<String, CliError> {
    if let Some(name) = &args.endpoint {
        return Ok(name.clone());
    }
    if args.script.is_some() {
        return Ok(SCRIPTED.to_owned());
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
            Err(CliError::Usage("no endpoint is named".to_owned(), known))
        }
    }
}

/// The tools of a manifest; none where none is named.
pub(crate) fn tools(path: Option<&Path>) -> Result<Tools, CliError> {
    let Some(path) = path else {
        return Ok(Tools::default());
    };
    let bytes = turnkeep_file::read(path, &turnkeep_file::Limits::default())?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let keys = Keys::of(&load()?);
    Ok(manifest::tools_without(&bytes, directory, keys).map_err(|error| error.file(path.display().to_string()))?)
}
