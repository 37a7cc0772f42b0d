//! Snapshots as weakincentives writes them: where the runtime, which knows no formats, meets the codecs.

use turnkeep_codec::Target;
use turnkeep_file::OpenOptions;
use turnkeep_model::{Author, Error, ErrorKind, Loss, Result, Snapshot};
use turnkeep_runtime::compat::weakincentives::ConversationState;
use turnkeep_runtime::slices::SliceItem;
use turnkeep_runtime::{Error as RuntimeError, SnapshotFormat};

const FORMAT: &str = "wink.snapshot";

/// A snapshot as `wink.snapshot` JSON.
pub trait WinkJson: Sized {
    /// The JSON, and what it has no place for.
    ///
    /// # Errors
    /// Where the session cannot be written at all.
    fn to_wink_json(&self) -> Result<(String, Vec<Loss>)>;

    /// Reads a snapshot that weakincentives or [`WinkJson::to_wink_json`] wrote, and says what could not be kept.
    ///
    /// # Errors
    /// `Corrupt` or `NotThisFormat`, with the place, where it is no snapshot.
    fn from_wink_json(text: &str) -> Result<(Self, Vec<Loss>)>;
}

impl WinkJson for Snapshot {
    fn to_wink_json(&self) -> Result<(String, Vec<Loss>)> {
        let encoded = turnkeep_file::encode(&without_copy(self.clone()), FORMAT)?;
        let text = String::from_utf8(encoded.bytes)
            .map_err(|error| Error::new(ErrorKind::Unsupported, "the snapshot is no text").because(error))?;
        Ok((text, encoded.losses))
    }

    fn from_wink_json(text: &str) -> Result<(Snapshot, Vec<Loss>)> {
        let mut options = OpenOptions::default();
        options.from = Some(Target::parse(FORMAT)?.codec);
        let opened = options.decode(turnkeep_codec::Input::new(text.as_bytes()))?;
        let losses = opened.losses.clone();
        Ok((opened.into_snapshot()?, losses))
    }
}

/// Without the slice of the conversation where the format makes an equal one of the turns. A conversation with a user is
/// written as messages beside it.
fn without_copy(mut snapshot: Snapshot) -> Snapshot {
    if !snapshot.session.blocks().any(|(_, block)| block.author == Author::User) {
        snapshot.session.slices.retain(|slice| slice.name != ConversationState::NAME);
    }
    snapshot
}

/// Checkpoint files as `wink.snapshot` JSON: `FileCheckpoints::new(folder).with_format(Arc::new(WinkSnapshots))`. Files of
/// the native format are read as well.
#[derive(Debug, Clone, Copy, Default)]
pub struct WinkSnapshots;

impl SnapshotFormat for WinkSnapshots {
    /// Settings and times that the format has no place for stay in the journal; a block it has no place for is refused.
    fn write(&self, snapshot: &Snapshot) -> turnkeep_runtime::Result<String> {
        let (text, losses) = snapshot.to_wink_json()?;
        match losses.iter().find(|loss| is_block(&loss.at)) {
            None => Ok(text),
            Some(loss) => {
                let what = format!("{FORMAT} has no place for {}: {}", loss.at, loss.what);
                Err(RuntimeError::new(ErrorKind::Unsupported, what).hint("keep native checkpoints of this session"))
            }
        }
    }

    fn read(&self, text: &str) -> turnkeep_runtime::Result<Snapshot> {
        let read = Snapshot::from_wink_json(text).or_else(|error| match Snapshot::from_json(text) {
            Ok(native) => Ok(native),
            Err(_) => Err(error),
        });
        read.map(|(snapshot, _)| snapshot).map_err(|error| RuntimeError::snapshot_restore(&error).because(error))
    }
}

/// Whether a place is a whole block.
fn is_block(at: &str) -> bool {
    at.ends_with(']') && at.rsplit('.').next().is_some_and(|last| last.starts_with("blocks["))
}
