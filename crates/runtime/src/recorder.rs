//! The single writer of a session: what it records, and the state it shows. `begin.rs` makes one, `append.rs` is the
//! compare-and-swap below it.

mod append;
mod begin;

use std::sync::Arc;

use turnkeep_model::{Batch, Event, Ledger, RunId, Seq, Session, SessionId, Snapshot, Time};
use turnkeep_store::{Loaded, Store};

use self::append::Appended;
use crate::call_outcomes::CallOutcomes;
use crate::checkpoint::Saves;
use crate::error::{Error, Result};
use crate::ports::Ports;
use crate::slices::with_derived;

/// The single writer of a session: what it records is durable when it returns, and folded into the state it shows.
///
/// When someone else appended meanwhile, it reads on. A newer `run.started` means that it is fenced, and it stops with
/// `Conflict`; anything else (a message, an approval) is folded in, and the batch made again.
///
/// ```
/// use turnkeep_model::Session;
/// use turnkeep_model::event::LogAdded;
/// use turnkeep_runtime::{Ports, Recorder};
///
/// # pollster::block_on(async {
/// let store = turnkeep_store::open("memory:")?;
/// let mut recorder = Recorder::create(store, Session::default(), Ports::default()).await?;
///
/// recorder.record(vec![LogAdded { line: "durable".into() }.into()]).await?;
///
/// assert_eq!(recorder.session().logs, ["durable"]);
/// # Ok::<(), turnkeep_runtime::Error>(())
/// # }).unwrap();
/// ```
pub struct Recorder {
    store: Arc<dyn Store>,
    id: SessionId,
    run: RunId,
    ports: Ports,
    pub(crate) state: Loaded,
    outcomes: CallOutcomes,
    /// Batches whose append was given up, or failed without a certain answer: each may have been written after the last
    /// record that is known. While an append runs, its batch is the last of them.
    in_doubt: Vec<Batch>,
    /// How often turns got other numbers.
    renumbered: u64,
    pub(crate) checkpoints: Option<Arc<dyn Saves>>,
}

impl Recorder {
    /// Records these events as one batch, and returns when they are durable.
    ///
    /// # Errors
    /// `Conflict` when another run took over, or when someone opened a turn meanwhile and these events do too.
    pub async fn record(&mut self, events: Vec<Event>) -> Result<Seq> {
        let turns = self.state.session.turns.len();
        let opens = events.iter().any(|event| matches!(event, Event::TurnOpened(_)));
        self.record_with(|state, _| {
            if opens && state.session.turns.len() != turns {
                let what = "a turn was opened meanwhile by someone else";
                return Err(Error::new(turnkeep_model::ErrorKind::Conflict, what).hint("look again, then record anew"));
            }
            Ok(events.clone())
        })
        .await
    }

    /// Records the events that `make` makes of the state. Where someone else appended meanwhile, they are made anew; none
    /// means that there is nothing left to record.
    ///
    /// # Errors
    /// `Conflict` when another run took over, what `make` says, and what the store says.
    pub async fn record_with(
        &mut self,
        make: impl Fn(&Loaded, &Recorder) -> Result<Vec<Event>> + Send + Sync,
    ) -> Result<Seq> {
        self.settle_doubt().await?;
        loop {
            let events = make(&self.state, self)?;
            if events.is_empty() {
                return Ok(self.state.seq);
            }
            if let Appended::Here(seq) = self.append_or_read_on(events).await? {
                return Ok(seq);
            }
        }
    }

    /// Records events that hold something large, which is moved into them and never copied. Where someone else appended
    /// meanwhile, `take_back` gets it out of the events that were refused, and they are made anew; events that do not
    /// hold it are appended as they are.
    pub(crate) async fn record_moving<T: Send>(
        &mut self,
        value: T,
        make: impl Fn(&Loaded, &Recorder, T) -> Vec<Event> + Send + Sync,
        take_back: impl Fn(&mut Event) -> Option<T> + Send + Sync,
    ) -> Result<Seq> {
        self.settle_doubt().await?;
        let mut events = make(&self.state, self, value);
        loop {
            let mut refused = match self.append_or_read_on(events).await? {
                Appended::Here(seq) => return Ok(seq),
                Appended::Refused(refused) => refused,
            };
            events = match refused.iter_mut().find_map(&take_back) {
                Some(value) => make(&self.state, self, value),
                None => refused,
            };
        }
    }

    /// The session as a complete portable document.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { session: with_derived(self.state.session.clone()), seq: self.state.seq }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.state.session
    }

    /// What is known of its tool calls.
    pub fn ledger(&self) -> &Ledger {
        &self.state.ledger
    }

    /// How often turns have got other numbers since it was taken up.
    pub(crate) fn renumbered(&self) -> u64 {
        self.renumbered
    }

    /// How its calls ended, for the tools.
    pub(crate) fn outcomes(&self) -> CallOutcomes {
        self.outcomes.clone()
    }

    /// The place of its last record.
    pub fn seq(&self) -> Seq {
        self.state.seq
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The run that records.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The store it records in.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What it takes time and ids from.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_instant(self.ports.clock.now())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.ports.hub.run_dropped(&self.id, &self.run);
    }
}
