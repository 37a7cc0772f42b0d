//! What a claim on a session appends, and why one is refused.
//!
//! A lease is only a promise about time; the `run.started` that a claim appends is the fence. Both databases append it in the
//! transaction that grants the lease, so there is never one without the other.

use std::time::Duration;

use turnkeep_model::event::RunStarted;
use turnkeep_model::{Batch, Event, Run, Seq, SessionId, Time, Timing};

use crate::capability::Claim;
use crate::error::{Error, ErrorKind};

/// The batch that begins the run of a claim: the fence.
pub(crate) fn started(last: Seq, claim: &Claim, now: i64) -> Batch {
    let time = jiff::Timestamp::from_millisecond(now).ok().map(Time::from_instant);
    let timing = Timing { started: time.clone(), ..Timing::default() };
    let run = Run { id: Some(claim.run.clone()), timing, process: claim.process.clone(), ..Run::default() };
    let mut batch = Batch::new(last.next(), vec![Event::from(RunStarted { run }).into()]);
    batch.time = time;
    batch.run = Some(claim.run.clone());
    batch
}

/// The error that someone holds the session.
pub(crate) fn held(session: &SessionId) -> Error {
    Error::new(ErrorKind::Conflict, "another worker holds the session").session(session).hint("wait until it lets go")
}

/// The error that a lease is no longer held.
pub(crate) fn passed(session: &SessionId) -> Error {
    let what = "the lease is no longer held";
    Error::new(ErrorKind::Conflict, what).session(session).hint("stop, and claim again")
}

pub(crate) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
