//! The watcher of stores that nobody calls when they change: one thread takes a cheap look at the store, again and again,
//! while someone follows a session of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use turnkeep_model::{Seq, SessionId};

use crate::capability::{Changed, Changes};
use crate::error::Result;
use crate::subscribers::Subscribers;
use crate::thread_pool::{lock, start_thread};

/// How often a store is looked at: a change is told of within this, and some for the machine.
const TICK: Duration = Duration::from_millis(20);

/// How long a store that cannot be looked at is left alone.
const TROUBLE: Duration = Duration::from_millis(250);

/// After a look at every session, this many times as long as it took nothing is looked at: so that thousands of followers
/// of a busy store do not take a processor for themselves.
const REST: u32 = 4;

/// How a store is looked at.
pub(crate) trait Probe {
    /// Whether anything may have changed since this was last asked. It is asked often, and must cost next to nothing.
    fn has_changed(&mut self) -> Result<bool>;

    /// How these sessions are, in their order.
    fn sight(&mut self, sessions: &[SessionId]) -> Result<Vec<Sighting>>;
}

/// How a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sighting {
    /// Its last record, if it is there.
    pub(crate) last: Option<Seq>,
    /// Something that another session of the same id would not have.
    pub(crate) mark: u64,
}

/// Makes a probe on the thread that will use it.
type MakeProbe = dyn Fn() -> Result<Box<dyn Probe>> + Send + Sync;

/// The watcher of one store. It ends when this is dropped.
pub(crate) struct Poller {
    subscribers: Arc<Subscribers<Changed>>,
    make: Arc<MakeProbe>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Poller {
    pub(crate) fn new(make: impl Fn() -> Result<Box<dyn Probe>> + Send + Sync + 'static) -> Poller {
        Poller { subscribers: Arc::default(), make: Arc::new(make), thread: Mutex::default() }
    }

    /// Follows a session. The thread starts with the first follower.
    pub(crate) fn watch(&self, session: &SessionId) -> Result<Changes> {
        let mut thread = lock(&self.thread);
        if thread.is_none() {
            let (subscribers, make) = (Arc::clone(&self.subscribers), Arc::clone(&self.make));
            *thread = Some(start_thread("turnkeep-watch", move || {
                Watcher { subscribers, probe: None, known: HashMap::new() }.work(&*make);
            })?);
        }
        Ok(Box::pin(self.subscribers.follow(session)))
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.subscribers.close();
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

/// What the thread knows.
struct Watcher {
    subscribers: Arc<Subscribers<Changed>>,
    probe: Option<Box<dyn Probe>>,
    /// How every session that is followed was when it was last looked at.
    known: HashMap<SessionId, Sighting>,
}

impl Watcher {
    fn work(mut self, make: &MakeProbe) {
        let mut pause = Duration::ZERO;
        while let Some(fresh) = self.subscribers.wait(pause) {
            pause = self.look(make, fresh).unwrap_or_else(|_| {
                // Whoever reads the store is told by it what is wrong.
                self.probe = None;
                self.known.clear();
                self.subscribers.tell_all(&Changed { last: None });
                TROUBLE
            });
        }
    }

    /// Looks at what may have changed, and says how long nothing need be looked at.
    fn look(&mut self, make: &MakeProbe, fresh: Vec<SessionId>) -> Result<Duration> {
        let probe = match &mut self.probe {
            Some(probe) => probe,
            none => none.insert(make()?),
        };
        let start = Instant::now();
        // In this order: what changes between the two is found again by the next look.
        let sessions = if probe.has_changed()? { self.subscribers.sessions() } else { fresh };
        if sessions.is_empty() {
            return Ok(TICK);
        }
        let sightings = probe.sight(&sessions)?;
        self.known.retain(|session, _| self.subscribers.is_followed(session));
        for (session, sighting) in sessions.into_iter().zip(sightings) {
            // One that was never looked at may have changed since it is followed.
            if self.known.get(&session) != Some(&sighting) {
                self.subscribers.tell(&session, &Changed { last: sighting.last });
                self.known.insert(session, sighting);
            }
        }
        Ok(TICK.max(start.elapsed() * REST))
    }
}
