//! What all stores of one database in this process share: its connections.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::chain::{newest_dictionary, signed};
use super::damage;
use super::desk::{Desk, Writer};
use super::dictionary::{Dictionaries, Dictionary, Effort, train};
use super::registry::{self, Claim, Tenancy};
use super::schema::{check_names, empty_log, failed, open_reader, set_durability};
use crate::error::Result;
use crate::options::{Clock, Durability, Options};
use crate::store::BoxFuture;
use crate::work::{Workers, lock, start_thread};

/// How many threads read.
const READERS: usize = 4;

/// The connections of a database.
pub(super) struct Shared {
    /// Before the writer: the last connection that is closed writes the log back and removes it.
    readers: Workers<Result<Desk>>,
    pub(super) writer: Arc<Writer>,
    pub(super) dictionaries: Arc<Dictionaries>,
    /// The database, as SQLite names it.
    pub(super) file: PathBuf,
    durability: Mutex<Durability>,
}

impl Shared {
    /// The connections of this file: those that this process has, or new ones.
    pub(super) fn open(file: &Path, options: &Options) -> Result<Arc<Shared>> {
        let shared = match registry::claim(file)? {
            Claim::Shared(shared) => shared,
            Claim::Free(place, tenancy) => {
                let log = damage::keep(&place.file, &options.clock)?;
                damage::check_heard(&place.file, &options.listener)?;
                check_names(&place)?;
                let shared = Arc::new(Shared::start(place.file, options, &tenancy)?);
                if log == damage::Log::Damaged {
                    shared.begin_log_anew()?;
                }
                registry::share(&tenancy, &shared);
                shared
            }
        };
        damage::check_heard(&shared.file, &options.listener)?;
        // Now that the file is open: a listener may open it, too.
        damage::tell(&shared.file, &options.listener)?;
        shared.keep_at_least(options.durability)?;
        Ok(shared)
    }

    fn start(file: PathBuf, options: &Options, tenancy: &Arc<Tenancy>) -> Result<Shared> {
        let load = |connection: &rusqlite::Connection| Dictionaries::new(newest_dictionary(connection)?, Effort::Usual);
        let (writer, dictionaries) = Writer::start(&file, options, Arc::clone(tenancy), load)?;
        let (path, known, held) = (file.clone(), Arc::clone(&dictionaries), Arc::clone(tenancy));
        let make = move || Ok(Desk::new(open_reader(&path)?, Arc::clone(&known), Arc::clone(&held)));
        let readers = Workers::start(READERS, make)?;
        let durability = Mutex::new(options.durability);
        Ok(Shared { readers, writer: Arc::new(writer), dictionaries, file, durability })
    }

    /// Leaves nothing in the log of what cannot be read: it would be found again and again. Where others read, it is
    /// left to whoever opens the store next.
    fn begin_log_anew(&self) -> Result<()> {
        self.writer.wait_for(|desk| empty_log(&mut desk.connection).map(drop))
    }

    /// Whoever asks for more durability than those before gets it, and they get it too.
    fn keep_at_least(&self, wanted: Durability) -> Result<()> {
        let mut level = lock(&self.durability);
        if wanted == Durability::Power && *level == Durability::Process {
            self.writer.wait_for(|desk| {
                set_durability(&desk.connection, Durability::Power)?;
                desk.log.iter_mut().for_each(|log| log.set_durability(Durability::Power));
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
        job: impl FnOnce(&mut Desk) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        self.readers.run(move |desk| {
            let desk = desk.as_mut().map_err(|error| error.clone())?;
            desk.clock = clock;
            desk.connection.execute_batch("BEGIN").map_err(failed)?;
            let result = job(desk);
            desk.connection.execute_batch("COMMIT").map_err(failed)?;
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
                drop(writer.submit(move |desk| keep_dictionary(desk, trained)));
            }
        });
    }
}

fn keep_dictionary(desk: &mut Desk, bytes: Vec<u8>) -> Result<()> {
    let data = desk.dictionaries.compress_plain(&bytes)?;
    desk.connection
        .execute(
            "INSERT INTO dictionary (raw, data) VALUES (?1, ?2)",
            rusqlite::params![signed(bytes.len() as u64), data],
        )
        .map_err(failed)?;
    let id = desk.connection.last_insert_rowid();
    desk.dictionaries.adopt(Dictionary { id, bytes });
    Ok(())
}
