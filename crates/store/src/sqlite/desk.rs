//! The one thread that writes: what many ask for at once is one transaction with one sync.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use futures_channel::oneshot;
use rusqlite::Connection;
use turnkeep_model::Head;

use super::dictionary::Dictionaries;
use super::log::{self, Log};
use super::pack::Unpacker;
use super::registry::Tenancy;
use super::schema::{failed, open_writer};
use super::search;
use crate::error::{Error, Result};
use crate::options::{Clock, Options};
use crate::store::BoxFuture;
use crate::work::{gone, start_thread};

/// How many requests are one transaction at most.
const GROUP: usize = 256;

/// How long nobody must ask for anything before the search index is caught up.
const IDLE: Duration = Duration::from_millis(400);

/// A connection, and what is needed to make sense of its rows.
pub(super) struct Desk {
    pub(super) connection: Connection,
    pub(super) dictionaries: Arc<Dictionaries>,
    pub(super) unpacker: Unpacker,
    /// The clock of whoever asked for what is done now.
    pub(super) clock: Clock,
    /// Heads of sessions that are being appended to.
    pub(super) heads: HashMap<i64, Resident>,
    /// The log, where this is the one who writes.
    pub(super) log: Option<Log>,
    /// After the connection: it ends when that is closed.
    _tenancy: Arc<Tenancy>,
}

/// A head in memory, and how many batches it has taken in since it was saved.
pub(super) struct Resident {
    pub(super) head: Head,
    pub(super) unsaved: u32,
    pub(super) weight: usize,
}

impl Desk {
    pub(super) fn new(connection: Connection, dictionaries: Arc<Dictionaries>, tenancy: Arc<Tenancy>) -> Desk {
        Desk {
            connection,
            dictionaries,
            unpacker: Unpacker::default(),
            clock: Clock::default(),
            heads: HashMap::new(),
            log: None,
            _tenancy: tenancy,
        }
    }
}

/// Does its work inside the transaction; what it returns is told the fate of the commit.
type Task = Box<dyn FnOnce(&mut Desk) -> Finish + Send>;
type Finish = Box<dyn FnOnce(Result<()>) + Send>;

enum Request {
    /// Part of a group.
    Shared(Task),
    /// On its own, outside of any transaction.
    Alone(Box<dyn FnOnce(&mut Desk) + Send>),
}

/// The writing thread. It ends when this is dropped, after what was asked for before.
pub(super) struct Writer {
    requests: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Opens the file and starts the thread.
    pub(super) fn start(
        file: &Path,
        options: &Options,
        tenancy: Arc<Tenancy>,
        load: impl FnOnce(&Connection) -> Result<Dictionaries>,
    ) -> Result<(Writer, Arc<Dictionaries>)> {
        let mut connection = open_writer(file, options)?;
        let dictionaries = Arc::new(load(&connection)?);
        let log = Log::watch(&mut connection, file, options.durability)?;
        let mut desk = Desk::new(connection, Arc::clone(&dictionaries), tenancy);
        desk.log = Some(log);
        let (requests, queue) = mpsc::channel();
        let thread = start_thread("turnkeep-writer", move || serve(&mut desk, &queue))?;
        Ok((Writer { requests: Some(requests), thread: Some(thread) }, dictionaries))
    }

    /// Runs `work` in a transaction that it may share with others, and returns when that is committed. Work that fails
    /// must have written nothing, or the whole group is undone.
    pub(super) fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let (reply, answer) = oneshot::channel();
        let task: Task = Box::new(move |desk| {
            let result = work(desk);
            Box::new(move |fate| {
                // Whoever asked may have gone.
                let _ = reply.send(fate.and(result));
            })
        });
        self.send(Request::Shared(task));
        Box::pin(async move { answer.await.unwrap_or_else(|_| Err(gone())) })
    }

    /// Runs `work` outside of any transaction, between groups.
    pub(super) fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Alone(Box::new(move |desk| {
            let _ = reply.send(work(desk));
        })));
        Box::pin(async move { answer.await.unwrap_or_else(|_| Err(gone())) })
    }

    /// Runs `work` as [`alone`](Writer::alone) does, and waits for it on this thread.
    pub(super) fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = mpsc::channel();
        self.send(Request::Alone(Box::new(move |desk| {
            let _ = reply.send(work(desk));
        })));
        answer.recv().unwrap_or_else(|_| Err(gone()))
    }

    fn send(&self, request: Request) {
        // If the thread is gone the request is dropped, and with it the sender of its answer.
        let _ = self.requests.as_ref().map(|requests| requests.send(request));
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(desk: &mut Desk, queue: &Receiver<Request>) {
    let mut waiting = IDLE;
    loop {
        match queue.recv_timeout(waiting) {
            Ok(request) => {
                waiting = IDLE;
                take(desk, queue, request);
            }
            // A fault of the index is found, and told, by whoever searches.
            Err(RecvTimeoutError::Timeout) => {
                waiting = match search::index_some(desk) {
                    Ok(search::Progress::More(_)) => Duration::ZERO,
                    Ok(search::Progress::Done) | Err(_) => Duration::from_secs(3600),
                };
                log::tend(desk);
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Serves a request and those that came meanwhile.
fn take(desk: &mut Desk, queue: &Receiver<Request>, first: Request) {
    let mut group = Vec::new();
    let mut next = Some(first);
    while let Some(request) = next.take() {
        match request {
            Request::Shared(task) => group.push(task),
            Request::Alone(work) => {
                commit(desk, std::mem::take(&mut group));
                work(desk);
                log::tend(desk);
            }
        }
        if group.len() < GROUP {
            next = queue.try_recv().ok();
        }
    }
    commit(desk, group);
}

/// Runs a group of tasks as one transaction and tells all of them how that ended.
fn commit(desk: &mut Desk, group: Vec<Task>) {
    if group.is_empty() {
        return;
    }
    let mut finishes = Vec::with_capacity(group.len());
    let fate = transact(desk, |desk| {
        for task in group {
            finishes.push(task(desk));
        }
        Ok(())
    });
    for finish in finishes {
        finish(fate.clone());
    }
    log::tend(desk);
}

/// Runs `work` in a transaction of its own. What fails is undone.
pub(super) fn transact<T>(desk: &mut Desk, work: impl FnOnce(&mut Desk) -> Result<T>) -> Result<T> {
    execute(&desk.connection, "BEGIN IMMEDIATE")?;
    let done = work(desk).and_then(|value| {
        if desk.connection.is_autocommit() {
            // A full disk or a failing one makes SQLite roll back by itself.
            return Err(undone());
        }
        execute(&desk.connection, "COMMIT")?;
        Ok(value)
    });
    if done.is_err() {
        // What was held in memory spoke of rows that are no longer there.
        desk.heads.clear();
        if !desk.connection.is_autocommit() {
            let _ = execute(&desk.connection, "ROLLBACK");
        }
    }
    done
}

fn undone() -> Error {
    Error::new(crate::ErrorKind::Io, "the store's database undid the transaction")
        .hint("nothing was recorded; make room and try again")
}

pub(super) fn execute(connection: &Connection, statement: &str) -> Result<()> {
    connection.prepare_cached(statement).and_then(|mut prepared| prepared.execute([])).map(drop).map_err(failed)
}
