//! What the control store says of a run.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use turnkeep_model::{Seq, SessionId};
use turnkeep_runtime::port::{Liveness, LocalProcesses, Processes};
use turnkeep_store::{Error, ErrorKind, Result};

use super::choice::Choice;
use crate::auth::{random, sha256};
use crate::control::{Control, Document, Label};
use crate::tenant::TenantName;

/// The kind of documents that runs are.
pub(crate) const KIND: &str = "run";

/// The label of runs that have not ended.
pub(super) const OPEN: Label<'static> = ("run", "open");

const ENDED: Label<'static> = ("run", "ended");

/// How often a server says that it is there.
pub(super) const BEAT: Duration = Duration::from_secs(10);

/// A run whose server was not seen for so long is taken up by another.
const LEASE: i64 = 30_000;

/// Which server runs a session, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunRecord {
    pub(super) tenant: String,
    pub(super) session: String,
    pub(super) choice: Choice,
    process: Option<String>,
    /// Names the run: another one of the same session has another.
    owner: String,
    seen: i64,
}

impl RunRecord {
    pub(super) fn new(tenant: &TenantName, session: &SessionId, choice: Choice) -> RunRecord {
        RunRecord {
            tenant: tenant.to_string(),
            session: session.as_str().to_owned(),
            choice,
            process: LocalProcesses.own(),
            owner: random().unwrap_or_default(),
            seen: Timestamp::now().as_millisecond(),
        }
    }

    pub(super) fn read(document: &Document) -> Option<RunRecord> {
        serde_json::from_str(document.last()).ok()
    }

    /// Whether its server has ended, or was not seen for long.
    pub(super) fn is_abandoned(&self) -> bool {
        let gone = self.process.as_deref().is_some_and(|process| LocalProcesses.liveness(process) == Liveness::Gone);
        gone || Timestamp::now().as_millisecond().saturating_sub(self.seen) > LEASE
    }

    /// Whether both are of one run.
    pub(super) fn is_same(&self, other: &RunRecord) -> bool {
        self.owner == other.owner
    }

    /// The same, seen now.
    pub(super) fn seen(self) -> RunRecord {
        RunRecord { seen: Timestamp::now().as_millisecond(), ..self }
    }

    /// The same, run by this server from now on.
    pub(super) fn taken(self) -> RunRecord {
        RunRecord { process: LocalProcesses.own(), owner: random().unwrap_or_default(), ..self.seen() }
    }

    fn line(&self) -> Result<String> {
        let wrong = |error| Error::new(ErrorKind::Io, "the run cannot be written down").because(error);
        serde_json::to_string(self).map_err(wrong)
    }
}

/// The key of a session's run. Ids may be as long as those of documents, so they are hashed.
pub(super) fn key(tenant: &TenantName, session: &SessionId) -> String {
    sha256(&format!("{tenant}\0{}", session.as_str()))
}

/// Writes down that a run begins. What an earlier run left is replaced.
pub(super) async fn begin(control: &Control, key: &str, record: &RunRecord) -> Result<Seq> {
    control.remove(KIND, key).await?;
    control.create(KIND, key, &record.line()?, Some(OPEN)).await
}

/// Takes a run over, or says that this server is still there. `Conflict` where someone else was faster.
pub(super) async fn hold(control: &Control, key: &str, at: Seq, record: &RunRecord) -> Result<Seq> {
    control.append(KIND, key, at, &record.line()?, None).await
}

/// Writes down that a run ended. Which endpoint and tools it had is kept for the next.
pub(super) async fn end(control: &Control, key: &str, at: Seq, record: &RunRecord) -> Result<()> {
    match control.append(KIND, key, at, &record.line()?, Some(ENDED)).await {
        // Someone else has it by now.
        Err(error) if error.kind() == ErrorKind::Conflict => Ok(()),
        Err(error) => Err(error),
        Ok(_) => Ok(()),
    }
}

/// The choice of the last run of a session.
pub(super) async fn last_choice(control: &Control, key: &str) -> Result<Option<Choice>> {
    let document = control.get(KIND, key).await?;
    Ok(document.and_then(|document| Some(RunRecord::read(&document)?.choice)))
}
