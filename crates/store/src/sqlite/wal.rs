//! The write-ahead log: it is written back when nobody waits, and its file is given space in advance.
//!
//! A sync of a file that grew has to record its new length too, and takes twice as long as one of a file that did not.
//! SQLite itself leaves the file as long as it once was; this only brings it there sooner.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;

use super::db::{Db, execute};
use super::location::wal_of;
use super::schema::failed;
use crate::error::Result;
use crate::options::Durability;

/// After how many pages the log is written back, as SQLite does by itself.
const FULL: u32 = 1000;

/// A page in the log, with what stands before it, and what stands before all of them.
const FRAME: u64 = 4096 + 24;
const HEADER: u64 = 32;

/// How many pages someone must have written before it pays to make space, and for how many that is made at once.
const FEW: u32 = 12;
const STEP: u64 = 250;

/// How long the log is, and how much of that is used.
pub(super) struct Wal {
    file: PathBuf,
    /// The file, once space was made in it. It stays open as long as the connection: no descriptor of a file that SQLite
    /// has open may be closed before.
    opened: Option<File>,
    /// Pages after the last commit of this connection.
    pages: Arc<AtomicU32>,
    seen: u32,
    space: u64,
    durability: Durability,
}

impl Wal {
    /// Watches the log of a connection, and takes over writing it back.
    pub(super) fn watch(connection: &mut Connection, file: &Path, durability: Durability) -> Result<Wal> {
        let pages = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&pages);
        let count = move |_: &mut rusqlite::hooks::Wal, pages: std::ffi::c_int| {
            counted.store(pages.unsigned_abs(), Ordering::Relaxed);
            Ok(())
        };
        connection.wal_hook(Some(count)).map_err(failed)?;
        Ok(Wal { file: wal_of(file), opened: None, pages, seen: 0, space: 0, durability })
    }

    /// Survives what this level says from now on.
    pub(super) fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// Whether more space should be made now.
    fn lacks_space(&mut self, pages: u32) -> bool {
        if pages < self.seen {
            // It was begun anew; it may also have been cut.
            self.space = std::fs::metadata(&self.file).map_or(0, |file| file.len());
        }
        self.seen = pages;
        let wanted = u64::from(pages) + STEP / 5;
        self.durability == Durability::Power && (FEW..FULL).contains(&pages) && self.space < HEADER + wanted * FRAME
    }

    /// Writes zeros at the end of the file, up to `length`: SQLite takes them for no page of the log.
    fn extend(&mut self, length: u64) -> io::Result<u64> {
        let file = match &mut self.opened {
            Some(file) => file,
            closed => closed.insert(OpenOptions::new().write(true).open(&self.file)?),
        };
        let before = file.seek(SeekFrom::End(0))?;
        let Some(more) = length.checked_sub(before).and_then(|more| usize::try_from(more).ok()) else {
            return Ok(before);
        };
        let written = file.write_all(&vec![0; more]).and_then(|()| file.sync_all());
        if let Err(error) = written {
            file.set_len(before)?;
            return Err(error);
        }
        Ok(length)
    }
}

/// Looks after the log, once those who wait were told.
pub(super) fn maintain(db: &mut Db) {
    let Some(wal) = &mut db.wal else {
        return;
    };
    let pages = wal.pages.load(Ordering::Relaxed);
    if pages >= FULL {
        // What cannot be written back now is written back later.
        let _ = db.connection.wal_checkpoint_v2(Some(rusqlite::MAIN_DB), rusqlite::wal::CheckpointMode::PASSIVE);
    } else if wal.lacks_space(pages) {
        make_space(wal, &db.connection, pages);
    }
}

/// Makes the file longer while nobody else can write to it. Where that fails, the file grows as it always did.
fn make_space(wal: &mut Wal, connection: &Connection, pages: u32) {
    if execute(connection, "BEGIN IMMEDIATE").is_err() {
        return;
    }
    wal.space = wal.extend(HEADER + (u64::from(pages) + STEP) * FRAME).unwrap_or(u64::MAX);
    let _ = execute(connection, "ROLLBACK");
}
