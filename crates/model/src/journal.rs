//! Events made durable, in order.
//!
//! A [`Batch`] is the unit of durability: its events are all there or none is, and it is one line of a file. Sequence numbers
//! begin at 1 and have no gap, so that a compare-and-swap on the last one is enough to keep a second writer out. A line that was
//! read is written back as it was: digests over lines must not depend on who copied them.

use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, SessionOpened, TurnOpened};
use crate::extra::Extra;
use crate::id::{RunId, Seq, SessionId};
use crate::json::{JsonSink, Layout, Node, Sink};
use crate::lines::Spelling;
use crate::session::Session;
use crate::shape::{FlatShape, Shape, ShapeReader};
use crate::time::Time;

/// An event made durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in the journal.
    pub seq: Seq,
    /// When it was recorded.
    pub time: Option<Time>,
    /// The run that recorded it.
    pub run: Option<RunId>,
    /// What happened.
    pub event: Event,
    /// Fields of a newer version.
    pub extra: Extra,
}

/// Records that were appended together: all of them are there, or none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batch {
    /// The place of the first record.
    pub seq: Seq,
    /// When it was recorded.
    pub time: Option<Time>,
    /// The run that recorded it.
    pub run: Option<RunId>,
    /// What happened, with the fields of a newer version.
    pub events: Vec<Entry>,
    /// Its line as it was read, where writing would spell it otherwise: a journal is copied byte for byte.
    line: Option<Box<str>>,
    /// Fields of a newer version.
    pub extra: Extra,
}

crate::shape::shape! { Batch { seq: req, time: opt, run: opt, events: req } line }

/// One event of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What happened.
    pub event: Event,
    /// Fields of a newer version.
    pub extra: Extra,
}

impl From<Event> for Entry {
    fn from(event: Event) -> Entry {
        Entry { event, extra: Extra::NONE }
    }
}

impl Shape for Entry {
    fn write<S: Sink>(&self, out: &mut S) {
        out.begin_object();
        self.event.write_fields(out);
        self.extra.write_fields(out);
        out.end_object();
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Entry> {
        let fields = reading.object(node)?;
        let (event, rest) = Event::read_fields(fields, reading)?;
        Ok(Entry { event, extra: Extra::read_fields(rest, reading)? })
    }
}

/// All that happened to a session, batch by batch, without a gap.
///
/// ```
/// use turnkeep_model::event::LogAdded;
/// use turnkeep_model::{Batch, Event, Journal, Seq, fold};
///
/// let batch = Batch::new(Seq(1), vec![Event::from(LogAdded { line: "hello".into() }).into()]);
/// let journal = Journal { batches: vec![batch], ..Journal::default() };
///
/// assert_eq!(fold(&journal)?.logs, ["hello"]);
/// # Ok::<(), turnkeep_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Journal {
    /// Whose journal it is, if it has an id.
    pub session: Option<SessionId>,
    /// The batches in order.
    pub batches: Vec<Batch>,
    /// Fields of a newer version.
    pub extra: Extra,
}

impl Journal {
    /// The shortest journal that folds to `session`.
    pub fn of(session: &Session) -> Journal {
        let mut journal = Journal { session: session.id.clone(), ..Journal::default() };
        let head = session.head();
        journal.push(Event::SessionOpened(SessionOpened { session: Box::new(head) }));
        for turn in &session.turns {
            journal.push(Event::TurnOpened(TurnOpened { turn: Box::new(turn.clone()) }));
        }
        journal
    }

    fn push(&mut self, event: Event) {
        self.batches.push(Batch::new(self.last().next(), vec![event.into()]));
    }

    /// The place of the last record.
    pub fn last(&self) -> Seq {
        self.batches.last().map_or(Seq::START, Batch::last)
    }

    /// Every record in order.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.batches.iter().flat_map(Batch::records)
    }

    /// Whether it holds what its session does not: times, runs, the ledger, steps on the way.
    pub fn tells_more_than_it_folds_to(&self) -> bool {
        let plain = |entry: &Entry| {
            entry.extra.is_empty() && matches!(entry.event, Event::SessionOpened(_) | Event::TurnOpened(_))
        };
        self.batches.iter().any(|batch| {
            batch.time.is_some() || batch.run.is_some() || !batch.extra.is_empty() || !batch.events.iter().all(plain)
        })
    }

    /// Refuses a journal that has a gap or a repetition.
    ///
    /// # Errors
    /// `Corrupt`, naming the first place that is wrong.
    pub fn check(&self) -> Result<()> {
        let mut due = Seq::START.next();
        for batch in &self.batches {
            if batch.seq != due {
                let why = format!("the journal goes on at {} where {due} is due", batch.seq);
                return Err(Error::new(ErrorKind::Corrupt, why).hint("restore the missing lines"));
            }
            due = batch.last().next();
        }
        Ok(())
    }
}

impl Batch {
    /// The place of the last record.
    pub fn last(&self) -> Seq {
        Seq(self.seq.0.saturating_add(self.events.len() as u64).saturating_sub(1))
    }

    /// Its records in order.
    pub fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.events.iter().zip(self.seq.0..).map(|(entry, seq)| Record {
            seq: Seq(seq),
            time: self.time.clone(),
            run: self.run.clone(),
            event: entry.event.clone(),
            extra: entry.extra.clone(),
        })
    }

    /// A batch of these events.
    pub fn new(seq: Seq, events: Vec<Entry>) -> Batch {
        Batch { seq, events, ..Batch::default() }
    }

    /// The same batch, remembering the line it was read from.
    #[must_use]
    pub fn read_from(mut self, line: &str) -> Batch {
        self.line = None;
        if self.to_line() != line {
            self.line = Some(line.into());
        }
        self
    }

    /// Whether writing it gives the line it was read from.
    pub fn spelling(&self) -> Spelling {
        if self.line.is_some() { Spelling::Foreign } else { Spelling::Ours }
    }

    /// The batch as one line of a journal, without the line break, ending in the sum of all before it; the line it was
    /// read from, if it was.
    pub fn to_line(&self) -> String {
        if let Some(line) = &self.line {
            return line.to_string();
        }
        let mut sink = JsonSink::native(Layout::Compact);
        self.write(&mut sink);
        let mut line = sink.into_text();
        // The closing brace goes, because the sum is the last field of the object it is the sum of.
        line.pop();
        let sum = line_sum(&line);
        line.push_str(&format!(",\"sum\":\"{sum}\"}}"));
        line
    }
}

/// The sum that ends a line: 16 hex digits of the BLAKE3 hash of what stands before `,"sum":`.
pub fn line_sum(before: &str) -> String {
    blake3::hash(before.as_bytes()).to_hex().chars().take(16).collect()
}
