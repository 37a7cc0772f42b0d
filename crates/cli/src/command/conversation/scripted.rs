//! The endpoint `scripted`: a vendor that plays from a file.

use std::path::{Path, PathBuf};

use turnkeep_provider::endpoint::Endpoints;
use turnkeep_provider::scripted::Script;
use turnkeep_runner::{Between, Responder, SCRIPTED};

use crate::conversation_args::ModelArgs;
use crate::exit::CliError;

/// Whether a name means a script: `scripted`, or `scripted:` and a wire, unless an endpoint of that name is configured.
pub(super) fn is_meant(name: &str, endpoints: &Endpoints) -> bool {
    let word = name.split_once(':').map_or(name, |(word, _)| word);
    word.eq_ignore_ascii_case(SCRIPTED) && endpoints.find(name).is_err()
}

/// The vendor that plays the script that is named, or stands beside a file as `NAME.script.yaml`.
pub(super) fn scripted(
    name: &str,
    args: &ModelArgs,
    near: Option<&Path>,
    between: &Between<'_>,
) -> Result<Responder, CliError> {
    let found = args.script.clone().or_else(|| near.and_then(|path| beside(path, "script")));
    let Some(path) = found else {
        let what = "the endpoint `scripted` needs a script".to_owned();
        return Err(CliError::Usage(
            what,
            "name it with --script FILE; docs/scripted.md says what is in it".to_owned(),
        ));
    };
    let bytes = turnkeep_file::read(&path, &turnkeep_file::Limits::default())?;
    let script = Script::parse(&bytes, &path.display().to_string())?;
    Ok(Responder::scripted(name, script, between)?)
}

/// The file beside another that belongs to it: `weather.tools.yaml` to `weather.yaml`.
pub(crate) fn beside(path: &Path, what: &str) -> Option<PathBuf> {
    let stem = path.file_stem()?.to_string_lossy().into_owned();
    let endings = ["yaml", "yml", "json"].iter();
    endings.map(|ending| path.with_file_name(format!("{stem}.{what}.{ending}"))).find(|path| path.is_file())
}
