//! Messages that no target has taken.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use turnkeep_model::json::{self, Node};
use turnkeep_model::{ErrorKind, Json, Object};
use turnkeep_runtime::{Error, Result};

use super::WebhookTarget;

/// A message that its target has not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// The name of the target.
    pub target: String,
    /// The id of the message.
    pub id: String,
    /// How often it was posted.
    pub attempts: u64,
    /// Why the last time failed.
    pub error: String,
    /// The message.
    pub body: String,
    path: PathBuf,
}

impl DeadLetter {
    pub(super) fn remove(&self) -> Result<()> {
        Ok(fs::remove_file(&self.path)?)
    }
}

/// Keeps a message in a folder of its target: all of it is there, or none.
pub(super) fn keep(
    folder: &Path,
    target: &WebhookTarget,
    (id, body): (&str, &str),
    (attempts, error): (u32, &str),
) -> Result<()> {
    let folder = folder.join(&target.name);
    fs::create_dir_all(&folder)?;
    let fields = [
        ("target", Json::from(target.name.as_str())),
        ("id", id.into()),
        ("attempts", u64::from(attempts).into()),
        ("error", error.into()),
        ("body", body.into()),
    ];
    let letter = Json::Object(fields.into_iter().collect::<Object>());
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    file.write_all(letter.to_text().as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(folder.join(format!("{id}.json"))).map_err(|error| Error::from(error.error))?;
    Ok(())
}

/// All that are kept, by target and id.
pub(super) fn all(folder: &Path) -> Result<Vec<DeadLetter>> {
    let mut letters = Vec::new();
    for target in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
        for path in entries(&target)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
            letters.push(read(&path)?);
        }
    }
    Ok(letters)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed?,
    };
    let mut paths = listed.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<DeadLetter> {
    let broken = || {
        Error::new(ErrorKind::Corrupt, format!("{} is no dead letter", path.display()))
            .hint("remove the file, or mend it")
    };
    let text = fs::read_to_string(path)?;
    let letter = json::parse(&text).map(Node::into_json).map_err(|_| broken())?;
    let fields = letter.as_object().ok_or_else(broken)?;
    let field = |key: &str| fields.get_str(key).map(std::borrow::Cow::into_owned).ok_or_else(broken);
    let attempts = fields.get("attempts").and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64);
    Ok(DeadLetter {
        target: field("target")?,
        id: field("id")?,
        attempts: attempts.ok_or_else(broken)?,
        error: field("error")?,
        body: field("body")?,
        path: path.to_owned(),
    })
}
