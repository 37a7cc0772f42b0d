//! Waiting for a run of another process.

use std::time::Duration;

use pollster::block_on;
use turnkeep_model::{Ledger, Session};
use turnkeep_runtime::plan::{Plan, plan};
use turnkeep_runtime::{ResumePolicy, Stop as StopAsked, Stopped, busy_run};
use turnkeep_store::{Loaded, StoreExt};

use super::session::Talk;
use crate::exit::Stop;

/// How often a store is looked at for what the other process wrote.
const PAUSE: Duration = Duration::from_millis(100);

/// How waiting ended.
pub(super) enum Went {
    /// Nothing is left to do, or the person would not wait any longer.
    Stopped(Stopped),
    /// Nobody runs the session, and something is left to do.
    Idle,
}

/// Waits until no other process runs the session.
pub(super) fn until_idle(talk: &Talk, stop: &StopAsked) -> Result<Went, Stop> {
    loop {
        let loaded = block_on(talk.store.load(&talk.id))?;
        if busy_run(&loaded, &talk.ports).is_none() {
            return Ok(match is_done(talk, &loaded.session, &loaded.ledger) {
                true => Went::Stopped(Stopped::standing(&loaded.session)),
                false => Went::Idle,
            });
        }
        if stop.is_asked() {
            return Ok(Went::Stopped(Stopped::standing(&loaded.session)));
        }
        wait_for_more(talk, &loaded, stop)?;
    }
}

/// Waits until there is more to read, the process is gone, or the person would not wait any longer. Loading a long session
/// is not repeated for nothing.
fn wait_for_more(talk: &Talk, loaded: &Loaded, stop: &StopAsked) -> Result<(), Stop> {
    while !stop.is_asked() && busy_run(loaded, &talk.ports).is_some() {
        std::thread::sleep(PAUSE);
        if block_on(talk.store.last(&talk.id))? > loaded.seq {
            return Ok(());
        }
    }
    Ok(())
}

fn is_done(talk: &Talk, session: &Session, ledger: &Ledger) -> bool {
    let now = talk.ports.clock.now();
    plan(session, ledger, ResumePolicy::default(), now, &|name| talk.tools.effect(name)) == Plan::Done
}
