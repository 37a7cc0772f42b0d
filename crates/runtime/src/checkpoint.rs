//! Checkpoints: a snapshot for each request, so that a new process goes on where the last one was.

use std::borrow::Borrow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use turnkeep_model::{ErrorKind, Snapshot};
use turnkeep_store::disk::{Disk, LocalDisk};
use turnkeep_store::{BoxFuture, Store, StoreExt};

use crate::conversation::with_slice;
use crate::error::{Error, Result};
use crate::evaluations::{self, Cleared};
use crate::ports::Ports;

/// What a loop evaluates.
pub trait UserRequest: Send + Sync {
    /// Its id: the same request has the same id in every process.
    fn id(&self) -> String;
}

impl UserRequest for str {
    fn id(&self) -> String {
        self.to_owned()
    }
}

impl UserRequest for String {
    fn id(&self) -> String {
        self.clone()
    }
}

/// A place where resuming is legal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The session there.
    pub snapshot: Snapshot,
}

/// Where checkpoints of requests are kept.
pub trait CheckpointHandler<R: ?Sized = str>: Send + Sync {
    /// The checkpoint of a request, if it has one.
    ///
    /// # Errors
    /// [`Error::snapshot_restore`] where it is damaged: clear it and start again.
    fn load<'a>(&'a self, request: &'a R) -> BoxFuture<'a, Result<Option<Checkpoint>>>;

    /// Keeps this one, instead of an earlier one. No tool runs before it returns.
    ///
    /// # Errors
    /// What keeps it from being durable.
    fn save<'a>(&'a self, request: &'a R, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>>;

    /// Forgets it; nothing happens where there is none.
    ///
    /// # Errors
    /// What keeps it from being forgotten.
    fn clear<'a>(&'a self, request: &'a R) -> BoxFuture<'a, Result<()>>;
}

/// A handler with the request that it saves checkpoints of.
pub(crate) struct Bound<R: ?Sized + ToOwned> {
    pub(crate) handler: Arc<dyn CheckpointHandler<R>>,
    pub(crate) request: R::Owned,
}

/// Saves the checkpoints of one request.
pub(crate) trait Saves: Send + Sync {
    fn save<'a>(&'a self, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>>;
}

impl<R: ?Sized + ToOwned> Saves for Bound<R>
where
    R::Owned: Send + Sync,
{
    fn save<'a>(&'a self, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
        self.handler.save(self.request.borrow(), snapshot)
    }
}

/// How a snapshot is written as a text, and read.
pub trait SnapshotFormat: Send + Sync {
    /// The text of a snapshot.
    ///
    /// # Errors
    /// Where the format has no place for something that was said.
    fn write(&self, snapshot: &Snapshot) -> Result<String>;

    /// The snapshot of a text.
    ///
    /// # Errors
    /// [`Error::snapshot_restore`] where it is damaged, or of another format.
    fn read(&self, text: &str) -> Result<Snapshot>;
}

/// The native format, which keeps everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NativeSnapshots;

impl SnapshotFormat for NativeSnapshots {
    fn write(&self, snapshot: &Snapshot) -> Result<String> {
        Ok(snapshot.to_json())
    }

    fn read(&self, text: &str) -> Result<Snapshot> {
        match Snapshot::from_json(text) {
            Ok((snapshot, _)) => Ok(snapshot),
            Err(error) => Err(Error::snapshot_restore(&error).because(error)),
        }
    }
}

/// Checkpoints as plain files: `DIR/{id}.json`, replaced atomically.
#[derive(Clone)]
pub struct FileCheckpoints {
    folder: PathBuf,
    format: Arc<dyn SnapshotFormat>,
}

impl fmt::Debug for FileCheckpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileCheckpoints").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl FileCheckpoints {
    /// In this folder, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> FileCheckpoints {
        FileCheckpoints { folder: folder.into(), format: Arc::new(NativeSnapshots) }
    }

    /// With files of another format.
    #[must_use]
    pub fn with_format(mut self, format: Arc<dyn SnapshotFormat>) -> FileCheckpoints {
        self.format = format;
        self
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

impl<R: UserRequest + ?Sized> CheckpointHandler<R> for FileCheckpoints {
    fn load<'a>(&'a self, request: &'a R) -> BoxFuture<'a, Result<Option<Checkpoint>>> {
        Box::pin(async move {
            let file = self.file(&request.id())?;
            let text = match std::fs::read(&file) {
                Ok(bytes) => String::from_utf8(bytes).map_err(Error::snapshot_restore)?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(io("read the checkpoint", &file, error)),
            };
            Ok(Some(Checkpoint { snapshot: self.format.read(&text)? }))
        })
    }

    fn save<'a>(&'a self, request: &'a R, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let (file, text) = (self.file(&request.id())?, self.format.write(snapshot)?);
            self.write(&file, &text).map_err(|error| io("write the checkpoint", &file, error))
        })
    }

    fn clear<'a>(&'a self, request: &'a R) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let file = self.file(&request.id())?;
            match std::fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(io("remove the checkpoint", &file, error))
                }
                _ => Ok(()),
            }
        })
    }
}

/// Checkpoints in a store: the journal of a request's session is one at every place.
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

impl<R: UserRequest + ?Sized> CheckpointHandler<R> for StoreCheckpoints {
    fn load<'a>(&'a self, request: &'a R) -> BoxFuture<'a, Result<Option<Checkpoint>>> {
        Box::pin(async move {
            let latest = evaluations::latest(&*self.store, &request.id()).await?;
            let open = latest.loaded.filter(|loaded| Cleared::of(&loaded.session).is_none());
            Ok(open.map(|loaded| Checkpoint {
                snapshot: Snapshot { session: with_slice(loaded.session), seq: loaded.seq },
            }))
        })
    }

    /// The journal is durable already; that this store has it is checked.
    fn save<'a>(&'a self, request: &'a R, snapshot: &'a Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let last = match &snapshot.session.id {
                Some(id) => self.store.last(id).await.ok(),
                None => None,
            };
            if last.is_none_or(|last| last < snapshot.seq) {
                let what = format!("the store of the checkpoints lacks the session of request {}", request.id());
                return Err(
                    Error::new(ErrorKind::Mismatch, what).hint("run the session in the store of its checkpoints")
                );
            }
            Ok(())
        })
    }

    fn clear<'a>(&'a self, request: &'a R) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let latest = evaluations::latest(&*self.store, &request.id()).await?;
            match latest.loaded.filter(|loaded| Cleared::of(&loaded.session).is_none()) {
                Some(_) => evaluations::clear(&*self.store, &latest.id, &self.ports, Cleared::Checkpoint).await,
                None => Ok(()),
            }
        })
    }
}
