//! The one thread that writes.
//!
//! A sync costs far more than a row, so whatever many appenders ask for at once is one transaction with one sync (group commit).
//! Nobody is told of success before the commit. While nobody asks for anything, the thread catches up the search index and looks
//! after the write-ahead log.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use futures_channel::oneshot;
use rusqlite::Connection;

use super::db::{Db, transact};
use super::dictionary::Dictionaries;
use super::registry::Registration;
use super::schema::open_writer;
use super::search;
use super::wal::{self, Wal};
use crate::error::Result;
use crate::options::Options;
use crate::store::BoxFuture;
use crate::thread_pool::{gone, start_thread};

/// How many requests are one transaction at most.
const GROUP: usize = 256;

/// How long nobody must ask for anything before the search index is caught up.
const IDLE: Duration = Duration::from_millis(400);

/// Does its work inside the transaction; what it returns is told the fate of the commit.
type Task = Box<dyn FnOnce(&mut Db) -> Finish + Send>;
type Finish = Box<dyn FnOnce(Result<()>) + Send>;

enum Request {
    /// Part of a group.
    Shared(Task),
    /// On its own, outside of any transaction.
    Alone(Box<dyn FnOnce(&mut Db) + Send>),
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
        registration: Arc<Registration>,
        load: impl FnOnce(&Connection) -> Result<Dictionaries>,
    ) -> Result<(Writer, Arc<Dictionaries>)> {
        let mut connection = open_writer(file, options)?;
        let dictionaries = Arc::new(load(&connection)?);
        let wal = Wal::watch(&mut connection, file, options.durability)?;
        let mut db = Db::new(connection, Arc::clone(&dictionaries), registration);
        db.wal = Some(wal);
        let (requests, queue) = mpsc::channel();
        let thread = start_thread("turnkeep-writer", move || serve(&mut db, &queue))?;
        Ok((Writer { requests: Some(requests), thread: Some(thread) }, dictionaries))
    }

    /// Runs `work` in a transaction that it may share with others, and returns when that is committed. Work that fails
    /// must have written nothing, or the whole group is undone.
    pub(super) fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Db) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let (reply, answer) = oneshot::channel();
        let task: Task = Box::new(move |db| {
            let result = work(db);
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
        work: impl FnOnce(&mut Db) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Alone(Box::new(move |db| {
            let _ = reply.send(work(db));
        })));
        Box::pin(async move { answer.await.unwrap_or_else(|_| Err(gone())) })
    }

    /// Runs `work` as [`alone`](Writer::alone) does, and waits for it on this thread.
    pub(super) fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Db) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = mpsc::channel();
        self.send(Request::Alone(Box::new(move |db| {
            let _ = reply.send(work(db));
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

fn serve(db: &mut Db, queue: &Receiver<Request>) {
    let mut waiting = IDLE;
    loop {
        match queue.recv_timeout(waiting) {
            Ok(request) => {
                waiting = IDLE;
                take(db, queue, request);
            }
            // A fault of the index is found, and told, by whoever searches.
            Err(RecvTimeoutError::Timeout) => {
                waiting = match search::index_some(db) {
                    Ok(search::Progress::More(_)) => Duration::ZERO,
                    Ok(search::Progress::Done) | Err(_) => Duration::from_secs(3600),
                };
                wal::maintain(db);
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Serves a request and those that came meanwhile.
fn take(db: &mut Db, queue: &Receiver<Request>, first: Request) {
    let mut group = Vec::new();
    let mut next = Some(first);
    while let Some(request) = next.take() {
        match request {
            Request::Shared(task) => group.push(task),
            Request::Alone(work) => {
                commit(db, std::mem::take(&mut group));
                work(db);
                wal::maintain(db);
            }
        }
        if group.len() < GROUP {
            next = queue.try_recv().ok();
        }
    }
    commit(db, group);
}

/// Runs a group of tasks as one transaction and tells all of them how that ended.
fn commit(db: &mut Db, group: Vec<Task>) {
    if group.is_empty() {
        return;
    }
    let mut finishes = Vec::with_capacity(group.len());
    let fate = transact(db, |db| {
        for task in group {
            finishes.push(task(db));
        }
        Ok(())
    });
    for finish in finishes {
        finish(fate.clone());
    }
    wal::maintain(db);
}
