//! A small thread pool for work that blocks, so that the stores need no async runtime.
//!
//! A thread that cannot be started is an error with a remedy, never a panic. A job that panics fails alone: its thread goes on
//! with a new context, so that no other job waits for a thread that is gone.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, Thread};

use futures_channel::oneshot;

use crate::error::{Error, ErrorKind, Result};
use crate::store::BoxFuture;

type Job<C> = Box<dyn FnOnce(&mut C) + Send>;

/// A few threads, each with a context of its own, that take jobs from one queue. Dropping it waits for what was asked
/// for before, and for the contexts to be closed.
pub(crate) struct ThreadPool<C> {
    queue: Arc<Queue<C>>,
    threads: Vec<JoinHandle<()>>,
}

struct Queue<C> {
    state: Mutex<State<C>>,
}

struct State<C> {
    jobs: VecDeque<Job<C>>,
    /// Who waits for a job, the one that worked last at the end: it comes first, because all it needs is at hand.
    idle: Vec<Thread>,
    life: Life,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Open,
    Closed,
}

impl<C: 'static> ThreadPool<C> {
    /// Starts `count` threads; each makes its context when its first job comes.
    pub(crate) fn start(count: usize, make: impl Fn() -> C + Send + Clone + 'static) -> Result<ThreadPool<C>> {
        let state = State { jobs: VecDeque::new(), idle: Vec::new(), life: Life::Open };
        let queue = Arc::new(Queue { state: Mutex::new(state) });
        let mut workers = ThreadPool { queue, threads: Vec::with_capacity(count) };
        for _ in 0..count {
            let (queue, make) = (Arc::clone(&workers.queue), make.clone());
            // Those that were started end with `workers`.
            workers.threads.push(start_thread("turnkeep-store", move || queue.work(make))?);
        }
        Ok(workers)
    }

    /// Runs `job` on one of the threads.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut C) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let (reply, answer) = oneshot::channel();
        let job: Job<C> = Box::new(move |context| {
            // Whoever asked may have gone.
            let _ = reply.send(job(context));
        });
        self.queue.push(job);
        Box::pin(async move { answer.await.unwrap_or_else(|_| Err(gone())) })
    }
}

impl<C> Queue<C> {
    fn work(&self, make: impl Fn() -> C) {
        let mut context = None;
        while let Some(job) = self.next() {
            let done = catch_unwind(AssertUnwindSafe(|| job(context.get_or_insert_with(&make))));
            if done.is_err() {
                // Nobody knows what the job left half done in it.
                context = None;
            }
        }
    }

    fn push(&self, job: Job<C>) {
        let waiting = {
            let mut state = lock(&self.state);
            state.jobs.push_back(job);
            state.idle.pop()
        };
        if let Some(thread) = waiting {
            thread.unpark();
        }
    }

    fn next(&self) -> Option<Job<C>> {
        let this = thread::current();
        loop {
            let mut state = lock(&self.state);
            // A thread may wake up without having been called.
            state.idle.retain(|idle| idle.id() != this.id());
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.life == Life::Closed {
                return None;
            }
            state.idle.push(this.clone());
            drop(state);
            thread::park();
        }
    }

    fn close(&self) {
        let mut state = lock(&self.state);
        state.life = Life::Closed;
        state.idle.drain(..).for_each(|thread| thread.unpark());
    }
}

impl<C> Drop for ThreadPool<C> {
    fn drop(&mut self) {
        self.queue.close();
        // A job may hold the last handle of the store it works for.
        let others = self.threads.drain(..).filter(|thread| thread.thread().id() != thread::current().id());
        others.for_each(|thread| drop(thread.join()));
    }
}

/// Starts a thread. A system that allows no more of them is an error, not a panic.
pub(crate) fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(no_thread)
}

/// Whether this many threads can be started now, all of them at once.
#[cfg_attr(not(feature = "postgres"), allow(dead_code, reason = "other stores start their threads themselves"))]
pub(crate) fn check_threads(count: usize) -> Result<()> {
    let gate = Arc::new(Mutex::new(()));
    let closed = lock(&gate);
    let start = |_| {
        let gate = Arc::clone(&gate);
        start_thread("turnkeep-probe", move || drop(lock(&gate)))
    };
    let started: Result<Vec<_>> = (0..count).map(start).collect();
    drop(closed);
    // Until they are gone there may be no room for others.
    started?.into_iter().for_each(|thread| drop(thread.join()));
    Ok(())
}

fn no_thread(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, "the store cannot start a thread")
        .hint("end other programs, or raise the limit of processes (`ulimit -u`), then try again")
        .because(error)
}

/// The error that a thread of the store is gone.
pub(crate) fn gone() -> Error {
    Error::new(ErrorKind::Unavailable, "the store was closed meanwhile")
}

/// Locks; a thread that panicked while it held the lock left nothing half done that matters.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_panics_fails_alone() {
        let pool = ThreadPool::start(1, || 0).unwrap();

        let failed = pollster::block_on(pool.run(|count: &mut i32| {
            *count += 1;
            if *count == 1 { panic!("as intended") } else { Ok(()) }
        }));
        let next = pollster::block_on(pool.run(|count| Ok(*count)));

        assert_eq!((failed.unwrap_err().kind(), next.unwrap()), (ErrorKind::Unavailable, 0));
    }
}
