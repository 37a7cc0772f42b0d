//! Records as they are, each an envelope of its own.

use jiff::Timestamp;
use turnkeep_model::json::{Sink, TreeSink};
use turnkeep_model::policy::{PieceOf, Redactor};
use turnkeep_model::shape::FlatShape;
use turnkeep_model::{Batch, Event, Json, Object, Record, RunId, SessionId, Time};

use super::{Coalescer, Dialect, Envelope, EnvelopeOptions};
use crate::port::Delta;

/// Every record of a batch as an envelope of its own: the event's type, and its fields as the payload.
pub fn native(session: &SessionId, batch: &Batch) -> Vec<Envelope> {
    batch.records().map(|record| native_one(session, &record)).collect()
}

fn native_one(session: &SessionId, record: &Record) -> Envelope {
    Envelope {
        kind: record.event.kind().to_owned(),
        session: session.clone(),
        execution: record.run.clone(),
        time: record.time.clone(),
        seq: Some(record.seq),
        payload: fields(&record.event),
        dialect: Dialect::Native,
    }
}

fn fields(event: &Event) -> Object {
    let mut sink = TreeSink::default();
    sink.begin_object();
    event.write_fields(&mut sink);
    sink.end_object();
    let mut payload = match sink.into_json() {
        Json::Object(fields) => fields,
        _ => Object::new(),
    };
    payload.remove("type");
    payload
}

/// Turns the records of one session into native envelopes, and pieces of answers into `answer.delta`.
#[derive(Debug, Clone)]
pub struct NativeEnvelopes {
    session: SessionId,
    run: Option<RunId>,
    redactor: Redactor,
    pieces: Coalescer,
    index: u64,
}

impl NativeEnvelopes {
    /// A projection of a session's records, from any place on.
    pub fn new(session: SessionId, options: &EnvelopeOptions) -> NativeEnvelopes {
        let (redactor, pieces) = (options.redact.redactor(), Coalescer::new(options.window));
        NativeEnvelopes { session, run: None, redactor, pieces, index: 0 }
    }

    /// The envelopes of a batch. What is held of an answer is void now. A batch in which nothing can be hidden is not told,
    /// and its reader finds a gap.
    pub fn batch(&mut self, batch: &Batch) -> Vec<Envelope> {
        self.run = batch.run.clone().or(self.run.take());
        self.pieces.end();
        self.index = 0;
        self.redactor.batch(batch).map(|batch| native(&self.session, &batch)).unwrap_or_default()
    }

    /// The envelopes that are to be sent when a piece of an answer arrives. A piece in which a secret may begin is not told:
    /// its block is, without the secret.
    pub fn delta(&mut self, delta: &Delta, now: Timestamp) -> Vec<Envelope> {
        if !self.redactor.lets_pass(piece_of(delta)) {
            return Vec::new();
        }
        let pieces = self.pieces.push(now, delta);
        pieces.into_iter().map(|piece| self.piece(&piece.delta, now)).collect()
    }

    /// When [`NativeEnvelopes::tick`] will have something to send.
    pub fn due(&self) -> Option<Timestamp> {
        self.pieces.due()
    }

    /// The envelopes that are to be sent now that time has passed.
    pub fn tick(&mut self, now: Timestamp) -> Vec<Envelope> {
        let pieces = self.pieces.tick(now);
        pieces.into_iter().map(|piece| self.piece(&piece.delta, now)).collect()
    }

    fn piece(&mut self, delta: &Delta, now: Timestamp) -> Envelope {
        let mut payload = Object::new();
        payload.set("index", self.index);
        self.index = self.index.saturating_add(1);
        match delta {
            Delta::Text(text) => payload.set("text", text.as_str()),
            Delta::Reasoning(text) => payload.set("reasoning", text.as_str()),
            Delta::Call { index, name } => {
                payload.set("call", u64::from(*index));
                payload.set("name", name.as_str());
            }
            Delta::Arguments { index, text } => {
                payload.set("call", u64::from(*index));
                payload.set("arguments", text.as_str());
            }
        }
        Envelope {
            kind: "answer.delta".to_owned(),
            session: self.session.clone(),
            execution: self.run.clone(),
            time: Some(Time::from_instant(now)),
            seq: None,
            payload,
            dialect: Dialect::Native,
        }
    }
}

fn piece_of(delta: &Delta) -> PieceOf {
    match delta {
        Delta::Text(_) | Delta::Reasoning(_) => PieceOf::Text,
        Delta::Arguments { .. } => PieceOf::Arguments,
        Delta::Call { .. } => PieceOf::Name,
    }
}
