//! What is shown of a session, written once for all who follow.

use axum::body::Bytes;
use jiff::Timestamp;
use turnkeep_model::{Batch, Seq, SessionId};
use turnkeep_runtime::envelope::{Detail, Dialect, Envelope, EnvelopeOptions, Projection as Envelopes};
use turnkeep_runtime::port::Delta;

use super::LiveEvent;

/// What is shown of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum View {
    /// Every record, as it is.
    #[default]
    Native,
    /// The seven envelopes of an agent.
    Agent(Preset),
    /// The seven as a release of the original program wrote them.
    Released(Preset),
}

/// How much the envelopes of an agent tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Preset {
    /// Status, steps and tools.
    Minimal,
    /// And the answer as it comes.
    #[default]
    Standard,
    /// And arguments and decisions.
    Debug,
}

impl Preset {
    fn from_word(word: &str) -> Option<Preset> {
        match word {
            "minimal" => Some(Preset::Minimal),
            "standard" => Some(Preset::Standard),
            "debug" | "full" => Some(Preset::Debug),
            _ => None,
        }
    }

    fn detail(self) -> Detail {
        match self {
            Preset::Minimal => Detail::MINIMAL,
            Preset::Standard => Detail::STANDARD,
            Preset::Debug => Detail::DEBUG,
        }
    }
}

impl View {
    /// The view of two words of a request.
    pub(crate) fn of(view: Option<&str>, preset: Option<&str>) -> Option<View> {
        let preset = preset.map_or(Some(Preset::default()), Preset::from_word)?;
        match view {
            None | Some("native") => Some(View::Native),
            Some("agent") => Some(View::Agent(preset)),
            Some("released") => Some(View::Released(preset)),
            Some(_) => None,
        }
    }

    fn options(self) -> EnvelopeOptions {
        let (dialect, preset) = match self {
            View::Native => (Dialect::Native, Preset::Debug),
            View::Agent(preset) => (Dialect::Specified, preset),
            View::Released(preset) => (Dialect::Released, preset),
        };
        EnvelopeOptions { dialect, ..EnvelopeOptions::from(preset.detail()) }
    }
}

/// Makes the events of one session.
pub(super) struct Projection {
    envelopes: Envelopes,
}

impl Projection {
    /// The events after a place.
    pub(super) fn new(session: &SessionId, view: View, after: Seq) -> Projection {
        Projection { envelopes: Envelopes::new(session.clone(), view.options(), after) }
    }

    /// After which record it has to be given the journal.
    pub(super) fn reads_after(&self) -> Seq {
        self.envelopes.reads_after()
    }

    pub(super) fn batch(&mut self, batch: &Batch) -> Vec<LiveEvent> {
        let envelopes = self.envelopes.batch(batch);
        let rest = |at: usize| envelopes.iter().skip(at + 1);
        let is_last = |at: usize, seq: Option<Seq>| rest(at).all(|later| later.seq != seq);
        let event = |(at, envelope): (usize, &Envelope)| LiveEvent {
            resume: envelope.seq.filter(|_| is_last(at, envelope.seq)),
            ..live(envelope)
        };
        envelopes.iter().enumerate().map(event).collect()
    }

    pub(super) fn delta(&mut self, delta: &Delta) -> Vec<LiveEvent> {
        self.envelopes.delta(delta, Timestamp::now()).iter().map(live).collect()
    }

    /// How long until [`Projection::tick`] has something; `None` where it has nothing.
    pub(super) fn due(&self) -> Option<std::time::Duration> {
        let due = self.envelopes.due()?.duration_since(Timestamp::now());
        Some(due.try_into().unwrap_or_default())
    }

    /// The pieces of an answer that were held back and are due.
    pub(super) fn tick(&mut self) -> Vec<LiveEvent> {
        self.envelopes.tick(Timestamp::now()).iter().map(live).collect()
    }
}

fn live(envelope: &Envelope) -> LiveEvent {
    let json = Bytes::from(envelope.to_json().to_text());
    LiveEvent { seq: envelope.seq, resume: None, name: envelope.event_name().to_owned(), json }
}
