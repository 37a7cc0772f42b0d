//! A session without what was said in it.
//!
//! Stores keep heads as a cache, so that listing and resuming cost the same for a long session as for a short one. A head is a fold
//! of the journal like the session itself, and safe to delete.

use crate::error::Result;
use crate::event::{Effect, Event, SessionOpened};
use crate::fold::apply;
use crate::id::{CallId, Seq};
use crate::json::{self, JsonSink, Layout, Nan};
use crate::ledger::{Ledger, LedgerEntry};
use crate::session::Session;
use crate::shape::{Shape, ShapeReader, shape};
use crate::{Extra, error::Error};

/// What resuming or listing needs of a session: all of it but its turns, how many there are, and the calls that have no
/// outcome yet. A fold of its journal that stores keep as a cache; its size does not follow the length of the session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// The session without its turns.
    pub session: Box<Session>,
    /// The last record that is in it.
    pub seq: Seq,
    /// How many turns there are.
    pub turns: u32,
    /// The calls that were intended and have no outcome.
    pub open: Vec<OpenCall>,
    /// Fields of a newer version.
    pub extra: Extra,
}

shape! { Head { seq: req, turns: opt, open: opt, session: opt } }

/// A call that was intended and has no outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The call.
    pub call: CallId,
    /// What repeating it would do.
    pub effect: Effect,
    /// The key under which the outside world can tell a repetition.
    pub key: Option<String>,
    /// How often it was tried.
    pub attempts: u32,
    /// Where it was last intended.
    pub intended: Seq,
    /// Fields of a newer version.
    pub extra: Extra,
}

impl Default for OpenCall {
    fn default() -> OpenCall {
        OpenCall {
            call: CallId::Minted(0),
            effect: Effect::Once,
            key: None,
            attempts: 0,
            intended: Seq::START,
            extra: Extra::NONE,
        }
    }
}

shape! { OpenCall { call: req, effect: req, key: opt, attempts: opt, intended: opt } }

impl Head {
    /// Whether the event changes a head at all; what is only said in a turn does not.
    pub fn concerns(event: &Event) -> bool {
        !matches!(
            event,
            Event::SessionCondensed(_)
                | Event::TurnClosed(_)
                | Event::BlockAdded(_)
                | Event::EndpointChosen(_)
                | Event::ModelAsked(_)
                | Event::ModelAnswered(_)
                | Event::ModelFailed(_)
                | Event::LossNoted(_)
                | Event::Other { .. }
        )
    }

    /// Applies the event at the place `seq`; content of turns is left out.
    ///
    /// # Errors
    /// Those of [`apply`].
    pub fn apply(&mut self, seq: Seq, event: &Event) -> Result<()> {
        self.seq = seq;
        match event {
            Event::SessionOpened(SessionOpened { session }) => {
                self.turns = u32::try_from(session.turns.len()).unwrap_or(u32::MAX);
                *self.session = session.head();
            }
            Event::TurnOpened(_) => self.turns = self.turns.saturating_add(1),
            Event::SessionCondensed(_) | Event::TurnClosed(_) | Event::BlockAdded(_) | Event::ModelFailed(_) => {}
            Event::ToolIntended(intended) => self.note_call(seq, &intended.call, event),
            Event::ToolSettled(settled) => self.note_call(seq, &settled.call, event),
            other => return apply(&mut self.session, other),
        }
        Ok(())
    }

    /// Only the call itself is looked at: a turn may have thousands of open ones.
    fn note_call(&mut self, seq: Seq, call: &CallId, event: &Event) {
        let place = self.open.iter().position(|open| open.call == *call);
        let before = place.map(|place| LedgerEntry::from(&self.open.remove(place)));
        let mut ledger = Ledger::from_entries(before.into_iter().collect());
        ledger.apply(seq, event);
        let open = ledger.entries().iter().filter(|entry| entry.settled.is_none());
        self.open.extend(open.map(OpenCall::from));
    }

    /// The ledger of the calls that have no outcome.
    pub fn ledger(&self) -> Ledger {
        Ledger::from_entries(self.open.iter().map(LedgerEntry::from).collect())
    }

    /// The head as a JSON text.
    pub fn to_json(&self) -> String {
        let mut sink = JsonSink::native(Layout::Compact);
        self.write(&mut sink);
        sink.into_text()
    }

    /// Reads a head.
    ///
    /// # Errors
    /// `Corrupt` where the text is something else.
    pub fn from_json(text: &str) -> Result<Head> {
        let node = json::parse_with(text, Nan::Accept)?;
        Head::read(node, &mut ShapeReader::default()).map_err(|error: Error| error.locate(text))
    }
}

impl From<&LedgerEntry> for OpenCall {
    fn from(entry: &LedgerEntry) -> OpenCall {
        OpenCall {
            call: entry.call.clone(),
            effect: entry.effect,
            key: entry.key.clone(),
            attempts: entry.attempts,
            intended: entry.intended,
            extra: Extra::NONE,
        }
    }
}

impl From<&OpenCall> for LedgerEntry {
    fn from(open: &OpenCall) -> LedgerEntry {
        LedgerEntry {
            call: open.call.clone(),
            effect: open.effect,
            key: open.key.clone(),
            attempts: open.attempts,
            intended: open.intended,
            settled: None,
            resolved: None,
            duplicate_of: None,
            compensated: None,
        }
    }
}
