//! What all stores of one database in this process share: its connections.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::damage;
use super::db::Db;
use super::dictionary::{Dictionaries, Dictionary, Effort, train};
use super::lineage::{newest_dictionary, signed};
use super::registry::{self, Opened, Registration};
use super::schema::{check_names, failed, open_reader, set_durability, truncate_wal};
use super::watch::SqliteProbe;
use super::writer::Writer;
use crate::error::Result;
use crate::options::{Clock, Durability, Options};
use crate::poll::Poller;
use crate::store::BoxFuture;
use crate::thread_pool::{ThreadPool, lock, start_thread};

/// How many threads read.
const READERS: usize = 4;

/// The connections of a database.
pub(super) struct Shared {
    /// These before the writer: the last connection that is closed writes the log back and removes it.
    pub(super) poller: Poller,
    readers: ThreadPool<Result<Db>>,
    pub(super) writer: Arc<Writer>,
    pub(super) dictionaries: Arc<Dictionaries>,
    /// The database, as SQLite names it.
    pub(super) file: PathBuf,
    durability: Mutex<Durability>,
}

impl Shared {
    /// The connections of this file: those that this process has, or new ones.
    pub(super) fn open(file: &Path, options: &Options) -> Result<Arc<Shared>> {
        let shared = match registry::find_or_register(file)? {
            Opened::Already(shared) => shared,
            Opened::New(location, registration) => {
                let log = damage::keep(&location.file, &options.clock)?;
                damage::check_heard(&location.file, &options.listener)?;
                check_names(&location)?;
                let shared = Arc::new(Shared::start(location.file, options, &registration)?);
                if log == damage::WalState::Damaged {
                    shared.restart_wal()?;
                }
                registry::share(&registration, &shared);
                shared
            }
        };
        damage::check_heard(&shared.file, &options.listener)?;
        // Now that the file is open: a listener may open it, too.
        damage::tell(&shared.file, &options.listener)?;
        shared.keep_at_least(options.durability)?;
        Ok(shared)
    }

    fn start(file: PathBuf, options: &Options, registration: &Arc<Registration>) -> Result<Shared> {
        let load = |connection: &rusqlite::Connection| Dictionaries::new(newest_dictionary(connection)?, Effort::Usual);
        let (writer, dictionaries) = Writer::start(&file, options, Arc::clone(registration), load)?;
        let (path, known, held) = (file.clone(), Arc::clone(&dictionaries), Arc::clone(registration));
        let make = move || Ok(Db::new(open_reader(&path)?, Arc::clone(&known), Arc::clone(&held)));
        let readers = ThreadPool::start(READERS, make)?;
        let (path, held) = (file.clone(), Arc::clone(registration));
        let poller = Poller::new(move || Ok(Box::new(SqliteProbe::open(&path, Arc::clone(&held))?)));
        let durability = Mutex::new(options.durability);
        Ok(Shared { poller, readers, writer: Arc::new(writer), dictionaries, file, durability })
    }

    /// Leaves nothing in the log of what cannot be read: it would be found again and again. Where others read, it is
    /// left to whoever opens the store next.
    fn restart_wal(&self) -> Result<()> {
        self.writer.wait_for(|db| truncate_wal(&mut db.connection).map(drop))
    }

    /// Whoever asks for more durability than those before gets it, and they get it too.
    fn keep_at_least(&self, wanted: Durability) -> Result<()> {
        let mut level = lock(&self.durability);
        if wanted == Durability::Power && *level == Durability::Process {
            self.writer.wait_for(|db| {
                set_durability(&db.connection, Durability::Power)?;
                db.wal.iter_mut().for_each(|log| log.set_durability(Durability::Power));
                Ok(())
            })?;
            *level = wanted;
        }
        Ok(())
    }

    /// Runs a job on a reading connection, as of one moment.
    pub(super) fn look<T: Send + 'static>(
        &self,
        clock: Clock,
        job: impl FnOnce(&mut Db) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        self.readers.run(move |db| {
            let db = db.as_mut().map_err(|error| error.clone())?;
            db.clock = clock;
            db.connection.execute_batch("BEGIN").map_err(failed)?;
            let result = job(db);
            db.connection.execute_batch("COMMIT").map_err(failed)?;
            result
        })
    }

    /// Trains a dictionary beside everything else, once there is enough to learn from.
    pub(super) fn learn(&self, line: &str) {
        let Some((bytes, sizes)) = self.dictionaries.gather(line) else {
            return;
        };
        let writer = Arc::downgrade(&self.writer);
        // Without a thread there is no dictionary, and rows are somewhat larger.
        let _ = start_thread("turnkeep-dictionary", move || {
            if let (Some(trained), Some(writer)) = (train(&bytes, &sizes), writer.upgrade()) {
                drop(writer.submit(move |db| keep_dictionary(db, trained)));
            }
        });
    }
}

fn keep_dictionary(db: &mut Db, bytes: Vec<u8>) -> Result<()> {
    let data = db.dictionaries.compress_plain(&bytes)?;
    db.connection
        .execute(
            "INSERT INTO dictionary (raw, data) VALUES (?1, ?2)",
            rusqlite::params![signed(bytes.len() as u64), data],
        )
        .map_err(failed)?;
    let id = db.connection.last_insert_rowid();
    db.dictionaries.adopt(Dictionary { id, bytes });
    Ok(())
}
