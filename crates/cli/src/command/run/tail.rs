//! `turnkeep tail`

use std::time::Duration;

use pollster::block_on;
use turnkeep_model::{Batch, Event, Seq, SessionId};
use turnkeep_runtime::envelope::{AgentEnvelopes, Detail, native};
use turnkeep_runtime::{Hub, Tail as Following};
use turnkeep_store::StoreExt;

use super::super::Ending;
use crate::exit::{Exit, Stop};
use crate::run_args::{Follow, Tail, Telling};
use crate::terminal::print_json_text;

/// How often a store is looked at for what other processes wrote.
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) fn tail(args: &Tail) -> Ending {
    let (store, id) = (args.place.there()?, SessionId::new(args.id.as_str()));
    // A session that is not there is an error, not something to wait for.
    block_on(store.last(&id))?;
    let mut told = Told::new(&id, args);
    let mut following = Following::new(store, &Hub::default(), &id, told.start());
    let mut stopped = false;
    loop {
        block_on(following.look())?;
        while let Some(batch) = following.take_read() {
            stopped = stops(&batch).unwrap_or(stopped);
            told.tell(&batch)?;
        }
        match args.follow {
            None => return Ok(Exit::Ok),
            Some(Follow::Run) if stopped => return Ok(Exit::Ok),
            Some(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// Whether the session's run has stopped after this batch; `None` where it says nothing of it.
fn stops(batch: &Batch) -> Option<bool> {
    batch.events.iter().rev().find_map(|entry| match &entry.event {
        Event::RunStopped(_) => Some(true),
        Event::RunStarted(_) => Some(false),
        _ => None,
    })
}

/// How a batch is told.
struct Told {
    id: SessionId,
    after: Seq,
    agent: Option<AgentEnvelopes>,
}

impl Told {
    fn new(id: &SessionId, args: &Tail) -> Told {
        let detail = args.envelopes.map(|telling| match telling {
            Telling::Minimal => Detail::MINIMAL,
            Telling::Standard => Detail::STANDARD,
            Telling::Full => Detail::FULL,
        });
        let agent = detail.map(|detail| AgentEnvelopes::new(id.clone(), detail));
        Told { id: id.clone(), after: Seq(args.after), agent }
    }

    /// An agent's envelopes follow from the whole journal; those before the place are made and not told.
    fn start(&self) -> Seq {
        if self.agent.is_some() { Seq::START } else { self.after }
    }

    fn tell(&mut self, batch: &Batch) -> Result<(), Stop> {
        let envelopes = match &mut self.agent {
            Some(agent) => agent.batch(batch),
            None => native(&self.id, batch),
        };
        for envelope in envelopes.iter().filter(|envelope| envelope.seq > Some(self.after)) {
            print_json_text(&format!("{}\n", envelope.to_json().to_text()))?;
        }
        Ok(())
    }
}
