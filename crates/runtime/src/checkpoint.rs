//! Checkpoints: a snapshot under the id of a request, so that a new process goes on where the last one was.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use turnkeep_model::event::SessionChanged;
use turnkeep_model::{ErrorKind, Event, Seq, SessionId, Snapshot};
use turnkeep_store::disk::{Disk, LocalDisk};
use turnkeep_store::{BoxFuture, Store, StoreExt};

use crate::error::{Error, Result};
use crate::ports::Ports;
use crate::recorder::post;

/// A place where resuming is legal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The session there.
    pub snapshot: Snapshot,
}

/// Where checkpoints of requests are kept.
pub trait CheckpointHandler: Send + Sync {
    /// The checkpoint of a request, if it has one.
    ///
    /// # Errors
    /// `SnapshotRestoreError` where it is damaged: clear it and start again.
    fn load<'a>(&'a self, request: &'a str) -> BoxFuture<'a, Result<Option<Checkpoint>>>;

    /// Keeps this one, instead of an earlier one.
    ///
    /// # Errors
    /// What keeps it from being durable.
    fn save<'a>(&'a self, request: &'a str, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>>;

    /// Forgets it; nothing happens where there is none.
    ///
    /// # Errors
    /// What keeps it from being forgotten.
    fn clear<'a>(&'a self, request: &'a str) -> BoxFuture<'a, Result<()>>;
}

/// Checkpoints as plain files: `DIR/{id}.json`, replaced atomically.
#[derive(Debug, Clone)]
pub struct FileCheckpoints {
    folder: PathBuf,
}

impl FileCheckpoints {
    /// In this folder, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> FileCheckpoints {
        FileCheckpoints { folder: folder.into() }
    }

    /// The file of a request; an id that would leave the folder is refused.
    fn file(&self, request: &str) -> Result<PathBuf> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '+' | '=');
        let fits =
            !request.is_empty() && request.len() <= 200 && !request.starts_with('.') && request.chars().all(plain);
        if !fits {
            let what = format!("{request:?} cannot name a checkpoint file");
            return Err(Error::new(ErrorKind::Unsupported, what)
                .hint("use letters, digits, `-`, `_`, `.`, `@`, `+` and `=`, at most 200, not beginning with a dot"));
        }
        Ok(self.folder.join(format!("{request}.json")))
    }

    fn write(&self, file: &Path, text: &str) -> std::io::Result<()> {
        LocalDisk.make_folder(&self.folder)?;
        let fresh = file.with_extension("json.new");
        if LocalDisk.stat(&fresh)?.is_some() {
            LocalDisk.remove(&fresh)?;
        }
        LocalDisk.append(&fresh, text.as_bytes())?;
        LocalDisk.sync(&fresh)?;
        LocalDisk.rename(&fresh, file)?;
        LocalDisk.sync_folder(&self.folder)
    }
}

fn io(doing: &str, file: &Path, error: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("{doing} {}: {error}", file.display()))
        .because(error)
        .hint("check the folder and its rights")
}

impl CheckpointHandler for FileCheckpoints {
    fn load<'a>(&'a self, request: &'a str) -> BoxFuture<'a, Result<Option<Checkpoint>>> {
        Box::pin(async move {
            let file = self.file(request)?;
            let text = match std::fs::read(&file) {
                Ok(bytes) => String::from_utf8(bytes).map_err(Error::snapshot_restore)?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(io("read the checkpoint", &file, error)),
            };
            let (snapshot, _) =
                Snapshot::from_json(&text).map_err(|error| Error::snapshot_restore(&error).because(error))?;
            Ok(Some(Checkpoint { snapshot }))
        })
    }

    fn save<'a>(&'a self, request: &'a str, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let file = self.file(request)?;
            self.write(&file, &snapshot.to_json()).map_err(|error| io("write the checkpoint", &file, error))
        })
    }

    fn clear<'a>(&'a self, request: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let file = self.file(request)?;
            match std::fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(io("remove the checkpoint", &file, error))
                }
                _ => Ok(()),
            }
        })
    }
}

/// The tag of a session that is no longer a checkpoint.
const CLEARED: &str = "checkpoint_cleared";

/// Checkpoints in a store: the journal of the session named as the request is one at every place.
#[derive(Clone)]
pub struct StoreCheckpoints {
    store: Arc<dyn Store>,
    ports: Ports,
}

impl StoreCheckpoints {
    /// In this store.
    pub fn new(store: Arc<dyn Store>, ports: Ports) -> StoreCheckpoints {
        StoreCheckpoints { store, ports }
    }
}

impl CheckpointHandler for StoreCheckpoints {
    fn load<'a>(&'a self, request: &'a str) -> BoxFuture<'a, Result<Option<Checkpoint>>> {
        Box::pin(async move {
            match self.store.load(&SessionId::new(request)).await {
                Ok(loaded) if loaded.session.tags.iter().any(|(key, _)| key == CLEARED) => Ok(None),
                Ok(loaded) => Ok(Some(Checkpoint { snapshot: Snapshot { session: loaded.session, seq: loaded.seq } })),
                Err(error) if error.kind() == turnkeep_store::ErrorKind::NotFound => Ok(None),
                Err(error) if error.kind() == turnkeep_store::ErrorKind::Corrupt => {
                    Err(Error::snapshot_restore(&error).because(error))
                }
                Err(error) => Err(error.into()),
            }
        })
    }

    /// The journal is durable already; that it is the session of this request is checked.
    fn save<'a>(&'a self, request: &'a str, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let last = self.store.last(&SessionId::new(request)).await.unwrap_or(Seq::START);
            if last < snapshot.seq {
                let what = format!("the store holds request {request} up to {last}, not {}", snapshot.seq);
                return Err(
                    Error::new(ErrorKind::Mismatch, what).hint("run the session in the store of its checkpoints")
                );
            }
            Ok(())
        })
    }

    fn clear<'a>(&'a self, request: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mark = |state: &turnkeep_store::Loaded| {
                let mut tags = state.session.tags.clone();
                tags.retain(|(key, _)| key != CLEARED);
                tags.push((CLEARED.to_owned(), "yes".to_owned()));
                Ok(vec![Event::from(SessionChanged { tags: Some(tags), ..SessionChanged::default() })])
            };
            match post(&*self.store, &SessionId::new(request), &self.ports, mark).await {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                done => done.map(drop),
            }
        })
    }
}
