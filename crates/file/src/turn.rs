//! geppetto's turn documents by path: the functions that its serde specification calls `SaveTurnYAML` and `LoadTurnYAML`.

use std::path::Path;

use turnkeep_codec::format::geppetto::{self, Options, Turn};
use turnkeep_model::Result;

use crate::read::{Limits, read};
use crate::save::save;

/// Writes a turn to a file as YAML: wholly, or not at all.
///
/// # Errors
/// `Io`, with the file.
pub fn save_turn_yaml(path: impl AsRef<Path>, turn: &Turn, options: Options) -> Result<()> {
    save(path.as_ref(), geppetto::to_yaml(turn, options).as_bytes())
}

/// Reads a turn from a file of YAML or JSON, and applies the defaults of the specification.
///
/// # Errors
/// `NotFound` and `Io`, with the file; and those of [`geppetto::from_yaml`].
pub fn load_turn_yaml(path: impl AsRef<Path>) -> Result<Turn> {
    let path = path.as_ref();
    let bytes = read(path, &Limits::default())?;
    geppetto::from_yaml(&bytes).map_err(|error| error.file(path.display().to_string()))
}

/// Writes a turn to a file as JSON: wholly, or not at all.
///
/// # Errors
/// `Io`, with the file.
pub fn save_turn_json(path: impl AsRef<Path>, turn: &Turn, options: Options) -> Result<()> {
    save(path.as_ref(), geppetto::to_json(turn, options).as_bytes())
}

/// Reads a turn from a file of JSON.
///
/// # Errors
/// Those of [`load_turn_yaml`].
pub fn load_turn_json(path: impl AsRef<Path>) -> Result<Turn> {
    load_turn_yaml(path)
}
