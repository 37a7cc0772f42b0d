//! One way from what a tail gives to envelopes, whichever dialect is asked for.

use jiff::Timestamp;
use turnkeep_model::{Batch, Seq, SessionId};

use super::{AgentEnvelopes, Dialect, Envelope, EnvelopeOptions, NativeEnvelopes};
use crate::port::Delta;

/// Turns what happens to a session into envelopes: records, and pieces of answers with the time at which they arrived.
#[derive(Debug, Clone)]
pub struct Projection {
    made: Made,
    after: Seq,
}

#[derive(Debug, Clone)]
enum Made {
    Native(Box<NativeEnvelopes>),
    Agent(Box<AgentEnvelopes>),
}

impl Projection {
    /// The envelopes of a session after a place.
    pub fn new(session: SessionId, options: EnvelopeOptions, after: Seq) -> Projection {
        let made = match options.dialect {
            Dialect::Native => Made::Native(Box::new(NativeEnvelopes::new(session, &options))),
            Dialect::Specified | Dialect::Released => Made::Agent(Box::new(AgentEnvelopes::new(session, options))),
        };
        Projection { made, after }
    }

    /// After which record it has to be given the journal. The seven follow from the whole of it; those up to the place are
    /// made and not told.
    pub fn reads_after(&self) -> Seq {
        match self.made {
            Made::Native(_) => self.after,
            Made::Agent(_) => Seq::START,
        }
    }

    /// The envelopes of a batch.
    pub fn batch(&mut self, batch: &Batch) -> Vec<Envelope> {
        let mut envelopes = match &mut self.made {
            Made::Native(native) => native.batch(batch),
            Made::Agent(agent) => agent.batch(batch),
        };
        envelopes.retain(|envelope| envelope.seq.is_none_or(|seq| seq > self.after));
        envelopes
    }

    /// The envelopes that are to be sent when a piece of an answer arrives.
    pub fn delta(&mut self, delta: &Delta, now: Timestamp) -> Vec<Envelope> {
        match &mut self.made {
            Made::Native(native) => native.delta(delta, now),
            Made::Agent(agent) => agent.delta(delta, now),
        }
    }

    /// When [`Projection::tick`] will have something to send.
    pub fn due(&self) -> Option<Timestamp> {
        match &self.made {
            Made::Native(native) => native.due(),
            Made::Agent(agent) => agent.due(),
        }
    }

    /// The envelopes that are to be sent now that time has passed.
    pub fn tick(&mut self, now: Timestamp) -> Vec<Envelope> {
        match &mut self.made {
            Made::Native(native) => native.tick(now),
            Made::Agent(agent) => agent.tick(now),
        }
    }
}
