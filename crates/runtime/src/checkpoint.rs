//! Checkpoints: a snapshot for each request, so that a new process goes on where the last one was.

use std::borrow::Borrow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use turnkeep_model::{ErrorKind, Session, Slice, Snapshot};
use turnkeep_store::disk::{Disk, LocalDisk};
use turnkeep_store::{BoxFuture, Loaded};

use crate::error::{Error, Result};
use crate::recorder::Recorder;
use crate::slices::with_derived;

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
struct Bound<R: ?Sized + ToOwned> {
    handler: Arc<dyn CheckpointHandler<R>>,
    request: R::Owned,
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

impl Recorder {
    /// Saves checkpoints of this request from now on: when calls are about to run, when a step ends, and when the run does.
    pub fn checkpoint_with<R>(&mut self, handler: Arc<dyn CheckpointHandler<R>>, request: &R)
    where
        R: ?Sized + ToOwned + 'static,
        R::Owned: Send + Sync,
    {
        self.checkpoints = Some(Arc::new(Bound { handler, request: request.to_owned() }));
    }

    /// Saves the checkpoint, if there is to be one.
    pub(crate) async fn checkpoint(&mut self) -> Result<()> {
        let Some(saves) = self.checkpoints.clone() else {
            return Ok(());
        };
        let lent = LentSession::of(&mut self.state);
        saves.save(&lent.snapshot).await
    }
}

/// The session of a recorder while a handler looks at it: moved into a snapshot, because a copy would take as long as the
/// session is, at every step. It goes back when this is dropped, also where nobody waits for the handler any more.
struct LentSession<'a> {
    snapshot: Snapshot,
    home: &'a mut Session,
    /// Its slices without the derived ones.
    slices: Vec<Slice>,
}

impl LentSession<'_> {
    fn of(state: &mut Loaded) -> LentSession<'_> {
        let session = std::mem::take(&mut state.session);
        let slices = session.slices.clone();
        let snapshot = Snapshot { session: with_derived(session), seq: state.seq };
        LentSession { snapshot, home: &mut state.session, slices }
    }
}

impl Drop for LentSession<'_> {
    fn drop(&mut self) {
        *self.home = std::mem::take(&mut self.snapshot.session);
        self.home.slices = std::mem::take(&mut self.slices);
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
        // It becomes a file name, to which an ending is added: 255 bytes is what file systems take.
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
