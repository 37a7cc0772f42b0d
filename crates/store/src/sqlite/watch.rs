//! What changed: SQLite tells a connection by one number whether any other has committed since.

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension};
use turnkeep_model::{Seq, SessionId};

use super::lineage::unsigned;
use super::registry::Registration;
use super::schema::{failed, open_reader};
use crate::error::Result;
use crate::poll::{Probe, Sighting};

/// A connection that only looks.
pub(super) struct SqliteProbe {
    connection: Connection,
    version: Option<i64>,
    /// After the connection: it ends when that is closed.
    _registration: Arc<Registration>,
}

impl SqliteProbe {
    pub(super) fn open(file: &Path, registration: Arc<Registration>) -> Result<SqliteProbe> {
        Ok(SqliteProbe { connection: open_reader(file)?, version: None, _registration: registration })
    }
}

impl Probe for SqliteProbe {
    fn has_changed(&mut self) -> Result<bool> {
        let mut select = self.connection.prepare_cached("PRAGMA data_version").map_err(failed)?;
        let version = select.query_row([], |row| row.get(0)).map_err(failed)?;
        Ok(self.version.replace(version) != Some(version))
    }

    fn sight(&mut self, sessions: &[SessionId]) -> Result<Vec<Sighting>> {
        // One moment for all of them, and the locks of one reading.
        let transaction = self.connection.unchecked_transaction().map_err(failed)?;
        let mut select = transaction.prepare_cached("SELECT sid, last FROM session WHERE id = ?1").map_err(failed)?;
        let mut sight = |session: &SessionId| {
            let found = select.query_row([session.as_str()], |row| {
                Ok(Sighting { mark: unsigned(row, 0)?, last: Some(Seq(unsigned(row, 1)?)) })
            });
            found.optional().map(Option::unwrap_or_default).map_err(failed)
        };
        sessions.iter().map(&mut sight).collect()
    }
}
