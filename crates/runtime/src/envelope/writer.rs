//! Events of an agent, put into envelopes.

use turnkeep_model::{RunId, Seq, SessionId, Time};

use super::event::AgentEvent;
use super::options::{Dialect, EnvelopeOptions, OldNames};
use super::released::Released;
use super::{Envelope, old_names, specified};

/// Writes the events of one session in a dialect.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    session: SessionId,
    options: EnvelopeOptions,
    released: Released,
}

impl Writer {
    pub(super) fn new(session: SessionId, options: EnvelopeOptions) -> Writer {
        Writer { session, options, released: Released::default() }
    }

    /// The envelope of an event; `None` where the options leave it out.
    pub(super) fn write(
        &mut self,
        event: &AgentEvent,
        run: Option<RunId>,
        time: Option<Time>,
        seq: Option<Seq>,
    ) -> Option<Envelope> {
        let mut payload = match self.options.dialect {
            Dialect::Released => self.released.payload(event, self.options.detail)?,
            Dialect::Specified | Dialect::Native => specified::payload(event, self.options.detail)?,
        };
        if self.options.old_names == OldNames::Beside {
            old_names::beside(event.kind(), &mut payload);
        }
        Some(Envelope {
            kind: event.kind().to_owned(),
            session: self.session.clone(),
            execution: run,
            time,
            seq,
            payload,
            dialect: self.options.dialect,
        })
    }
}
