//! The endpoint `scripted`: a vendor that plays from a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use turnkeep_provider::endpoint::Endpoints;
use turnkeep_provider::scripted::{Script, Scripted};
use turnkeep_provider::{PROVIDERS, Provider, WireModel};

use super::answering::{Answering, Between};
use crate::exit::Stop;
use crate::talk_args::Who;

/// What it is called, unless an endpoint of that name is configured.
pub(super) const NAME: &str = "scripted";

/// The wire it speaks where none is named.
const WIRE: &str = "openai.chat";

/// Whether a name means a script: `scripted`, or `scripted:` and a wire.
pub(super) fn is_meant(name: &str, endpoints: &Endpoints) -> bool {
    let word = name.split_once(':').map_or(name, |(word, _)| word);
    word.eq_ignore_ascii_case(NAME) && endpoints.find(name).is_err()
}

/// The vendor that plays the script that is named, or stands beside a file as `NAME.script.yaml`.
pub(super) fn answering(name: &str, who: &Who, near: Option<&Path>, between: &Between<'_>) -> Result<Answering, Stop> {
    let found = who.script.clone().or_else(|| near.and_then(|path| beside(path, "script")));
    let Some(path) = found else {
        let what = "the endpoint `scripted` needs a script".to_owned();
        return Err(Stop::Usage(what, "name it with --script FILE; docs/scripted.md says what is in it".to_owned()));
    };
    let bytes = turnkeep_file::read(&path, &turnkeep_file::Limits::default())?;
    let script = Script::parse(&bytes, &path.display().to_string())?;
    let wire = name.split_once(':').map_or(WIRE, |(_, wire)| wire);
    let model = script.model.clone().unwrap_or_else(|| NAME.to_owned());
    let transport = between(Arc::new(Scripted::new(wire, script)?));
    let (id, dialect) = wire.split_once(':').map_or((wire, None), |(id, dialect)| (id, Some(dialect)));
    let model = WireModel::new(vendor(id)?, model, transport)?.named(NAME).with_wire(id)?;
    let model = match dialect {
        Some(dialect) => model.with_dialect(dialect),
        None => model,
    };
    Ok(Answering { name: NAME.to_owned(), model: Arc::new(model), fallbacks: Vec::new(), system: None })
}

/// The vendor that a wire is known by. Many speak `openai.chat`; it is the first one's.
fn vendor(wire: &str) -> Result<&'static Provider, Stop> {
    let own = PROVIDERS.iter().find(|provider| provider.wire == wire && wire != WIRE);
    own.or_else(|| PROVIDERS.first()).ok_or_else(|| {
        Stop::Usage(format!("no vendor speaks `{wire}`"), "`turnkeep formats` lists the wires".to_owned())
    })
}

/// The file beside another that belongs to it: `weather.tools.yaml` to `weather.yaml`.
pub(super) fn beside(path: &Path, what: &str) -> Option<PathBuf> {
    let stem = path.file_stem()?.to_string_lossy().into_owned();
    let endings = ["yaml", "yml", "json"].iter();
    endings.map(|ending| path.with_file_name(format!("{stem}.{what}.{ending}"))).find(|path| path.is_file())
}
