//! What a listing shows of a session: a fold of its journal that needs only the last summary and the next batch.
//!
//! Every driver uses this fold, so listings agree between stores, and a summary can be made anew from the journal. Times that a
//! journal does not tell are the store's own and are not compared.

use turnkeep_model::event::{SessionChanged, SessionOpened};
use turnkeep_model::{Batch, Event, Seq, SessionId, Status, Time};

/// What a listing shows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: SessionId,
    /// The session it was forked from, and where.
    pub origin: Option<Origin>,
    /// What it is about.
    pub title: Option<String>,
    /// Where it stands: the word of its status.
    pub status: Option<String>,
    /// Labels.
    pub tags: Vec<(String, String)>,
    /// The place of its last record.
    pub last: Seq,
    /// How many turns it has.
    pub turns: u64,
    /// How many blocks were added to them.
    pub blocks: u64,
    /// How many bytes the lines of its journal have, those it shares included.
    pub bytes: u64,
    /// When it was made, in milliseconds since 1970.
    pub created: i64,
    /// When it was last changed, in milliseconds since 1970.
    pub updated: i64,
}

/// Where a fork left its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The parent.
    pub session: SessionId,
    /// The last record they share.
    pub seq: Seq,
}

/// Stands for a time in a summary that was made anew from a journal which does not tell it.
pub(crate) const UNKNOWN_TIME: i64 = i64::MIN;

impl Summary {
    /// The summary of a session that has no record yet, to be made anew from its journal alone.
    pub(crate) fn without_times(id: SessionId) -> Summary {
        Summary { created: UNKNOWN_TIME, updated: UNKNOWN_TIME, ..Summary::new(id) }
    }

    /// What a listing says otherwise than this summary, which was made anew from the journal.
    pub(crate) fn differs_in(&self, listing: &Summary) -> Vec<&'static str> {
        [self.miscounted(listing), self.misnamed(listing)].concat()
    }

    /// What a listing names otherwise: all but counts.
    pub(crate) fn misnamed(&self, listing: &Summary) -> Vec<&'static str> {
        let time = |told: i64, listed: i64| told == UNKNOWN_TIME || told == listed;
        let same = [
            ("title", self.title == listing.title),
            ("status", self.status == listing.status),
            ("labels", self.tags == listing.tags),
            ("time of creation", time(self.created, listing.created)),
            ("time of change", time(self.updated, listing.updated)),
        ];
        same.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect()
    }

    /// What a listing counts otherwise.
    pub(crate) fn miscounted(&self, listing: &Summary) -> Vec<&'static str> {
        let same = [
            ("number of turns", self.turns == listing.turns),
            ("number of blocks", self.blocks == listing.blocks),
            ("size", self.bytes == listing.bytes),
        ];
        same.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect()
    }

    /// Goes on as a fork that was given what this other summary names. What is counted stays.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn give(&mut self, given: &Summary) {
        let Mark { last, turns, blocks, bytes } = self.mark();
        *self = Summary { last, turns, blocks, bytes, ..given.clone() };
    }

    /// Takes in what a batch brings, and nothing that it does not tell.
    pub(crate) fn take(&mut self, effects: &Effects) {
        self.apply(effects, UNKNOWN_TIME);
    }

    /// This summary, with the times of a listing where the journal tells none.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn with_times_of(mut self, listing: &Summary) -> Summary {
        for (own, listed) in [(&mut self.created, listing.created), (&mut self.updated, listing.updated)] {
            if *own == UNKNOWN_TIME {
                *own = listed;
            }
        }
        self
    }

    /// The summary of a session that has no record yet.
    pub fn new(id: SessionId) -> Summary {
        Summary {
            id,
            origin: None,
            title: None,
            status: None,
            tags: Vec::new(),
            last: Seq::START,
            turns: 0,
            blocks: 0,
            bytes: 0,
            created: 0,
            updated: 0,
        }
    }

    /// Takes in what a batch brings; `now` counts where neither the batch nor the session tells a time.
    pub(crate) fn apply(&mut self, effects: &Effects, now: i64) {
        let time = effects.time.unwrap_or(now);
        if self.last == Seq::START {
            self.created = time;
        }
        self.created = effects.created.unwrap_or(self.created);
        self.updated = effects.updated.unwrap_or(time);
        self.last = effects.last;
        self.bytes = self.bytes.saturating_add(effects.bytes);
        let (turns, blocks) = effects.opened_with.unwrap_or((self.turns, self.blocks));
        self.turns = turns + effects.turns;
        self.blocks = blocks + effects.blocks;
        if let Some(title) = &effects.title {
            self.title.clone_from(title);
        }
        if let Some(status) = &effects.status {
            self.status.clone_from(status);
        }
        if let Some(tags) = &effects.tags {
            self.tags.clone_from(tags);
        }
    }

    /// Takes in a batch that was appended; `now`, in milliseconds since 1970, counts where the batch tells no time.
    pub fn add(&mut self, batch: &Batch, now: i64) {
        self.apply(&Effects::of(batch, batch.to_line().len()), now);
    }

    /// The summary of a fork of this session, whose own summary was `then` where the fork leaves it.
    #[must_use]
    pub fn fork(&self, child: SessionId, then: &Summary) -> Summary {
        self.forked(child, then.mark())
    }

    /// What is counted up to here.
    pub(crate) fn mark(&self) -> Mark {
        Mark { last: self.last, turns: self.turns, blocks: self.blocks, bytes: self.bytes }
    }

    /// The summary of a fork of this one at `mark`. Title, labels and times are those the parent has now: looking up what
    /// they were at the mark would take as long as the past is. What a fork is given is kept, so that its listing can be
    /// made anew like every other: from there, with its own batches.
    pub(crate) fn forked(&self, child: SessionId, mark: Mark) -> Summary {
        let Mark { last, turns, blocks, bytes } = mark;
        let origin = Some(Origin { session: self.id.clone(), seq: last });
        let status = if last == self.last { self.status.clone() } else { None };
        let (title, tags) = (self.title.clone(), self.tags.clone());
        let (created, updated) = (self.created, self.updated);
        Summary { id: child, origin, title, status, tags, last, turns, blocks, bytes, created, updated }
    }
}

/// What is counted up to the end of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mark {
    pub(crate) last: Seq,
    pub(crate) turns: u64,
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
}

/// What a batch brings to a summary, without what is said in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Effects {
    pub(crate) last: Seq,
    pub(crate) bytes: u64,
    time: Option<i64>,
    created: Option<i64>,
    updated: Option<i64>,
    title: Option<Option<String>>,
    status: Option<Option<String>>,
    pub(crate) tags: Option<Vec<(String, String)>>,
    /// The turns and blocks of a session that was opened anew.
    opened_with: Option<(u64, u64)>,
    turns: u64,
    blocks: u64,
}

/// What a batch changes: see [`Summary::apply`]. What is not set stays.
#[cfg(feature = "postgres")]
pub(crate) struct Change<'a> {
    pub(crate) opened_with: Option<(u64, u64)>,
    pub(crate) turns: u64,
    pub(crate) blocks: u64,
    pub(crate) created: Option<i64>,
    pub(crate) updated: i64,
    pub(crate) title: Option<Option<&'a str>>,
    pub(crate) status: Option<Option<&'a str>>,
    pub(crate) tags: Option<&'a [(String, String)]>,
}

#[cfg(feature = "postgres")]
impl Change<'_> {
    /// Whether everything that is there stays as it is.
    pub(crate) fn only_adds(&self) -> bool {
        let Change { opened_with, created, title, status, tags, turns: _, blocks: _, updated: _ } = self;
        opened_with.is_none() && created.is_none() && title.is_none() && status.is_none() && tags.is_none()
    }
}

impl Effects {
    /// What `batch` brings, whose line has `bytes` bytes.
    pub(crate) fn of(batch: &Batch, bytes: usize) -> Effects {
        let time = batch.time.as_ref().and_then(instant);
        let mut effects = Effects { last: batch.last(), bytes: bytes as u64, time, ..Effects::default() };
        batch.events.iter().for_each(|entry| effects.note(&entry.event));
        effects
    }

    /// What a batch after `at` changes in a row of summaries, for databases that apply it themselves.
    #[cfg(feature = "postgres")]
    pub(crate) fn changes(&self, at: Seq, now: i64) -> Change<'_> {
        let time = self.time.unwrap_or(now);
        let begun = (at == Seq::START).then_some(time);
        Change {
            opened_with: self.opened_with,
            turns: self.turns,
            blocks: self.blocks,
            created: self.created.or(begun),
            updated: self.updated.unwrap_or(time),
            title: self.title.as_ref().map(Option::as_deref),
            status: self.status.as_ref().map(Option::as_deref),
            tags: self.tags.as_deref(),
        }
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::SessionOpened(opened) => self.open(opened),
            Event::SessionChanged(changed) => self.change(changed),
            Event::RunStopped(stopped) => self.stand(stopped.status.as_ref()),
            Event::TurnOpened(opened) => {
                self.turns += 1;
                self.blocks += opened.turn.blocks.len() as u64;
            }
            Event::BlockAdded(_) => self.blocks += 1,
            _ => {}
        }
    }

    fn open(&mut self, SessionOpened { session }: &SessionOpened) {
        self.title = Some(session.title.clone());
        self.status = Some(session.status.as_ref().map(|status| status.kind().to_owned()));
        self.tags = Some(session.tags.clone());
        self.opened_with = Some((session.turns.len() as u64, session.blocks().count() as u64));
        (self.turns, self.blocks) = (0, 0);
        self.created = session.timing.created.as_ref().and_then(instant);
        self.updated = session.last_time().and_then(instant);
    }

    fn change(&mut self, changed: &SessionChanged) {
        if changed.title.is_some() {
            self.title = Some(changed.title.clone());
        }
        if changed.tags.is_some() {
            self.tags.clone_from(&changed.tags);
        }
        self.stand(changed.status.as_ref());
    }

    fn stand(&mut self, status: Option<&Status>) {
        if let Some(status) = status {
            self.status = Some(Some(status.kind().to_owned()));
        }
    }
}

fn instant(time: &Time) -> Option<i64> {
    time.instant().map(jiff::Timestamp::as_millisecond)
}
