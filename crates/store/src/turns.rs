//! The turns of a session one by one, and its journal line by line: a long session takes the memory of its largest turn.

use futures_core::Stream;
use futures_util::{StreamExt, TryStreamExt, future, stream};
use turnkeep_model::event::{BlockAdded, SessionCondensed, SessionOpened};
use turnkeep_model::{Author, Batch, Block, Body, Event, Head, Journal, Parent, Seq, Session, SessionId, Text, Turn};

use crate::error::{Error, ErrorKind, Result};
use crate::ext::cut_short;
use crate::store::{Store, summary_of};
use crate::window::TurnFold;

/// What becomes of turns that a summary stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Condensed {
    /// The summary is read in their place.
    #[default]
    Summary,
    /// They are read as they were.
    Originals,
}

/// A session without its turns, and what has to be known before they can be read one by one: the first of two readings
/// of its journal.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// The session without its turns.
    pub session: Session,
    /// Its last record.
    pub seq: Seq,
    condensed: Condensed,
    turns: Turns,
}

/// Which records the turns of a journal are made of.
#[derive(Debug, Clone, Default)]
struct Turns {
    /// The record with which the session began: turns before it are of no account.
    opened: Seq,
    /// The records that the turns end with.
    ends: Vec<End>,
}

/// Where a turn ends.
#[derive(Debug, Clone, Copy)]
struct End {
    /// The last record that changes it.
    last: Seq,
    /// The last record that puts a summary in the place of what was said in it before.
    emptied: Seq,
}

impl Turns {
    /// Takes note of an event.
    fn note(&mut self, seq: Seq, event: &Event) -> Result<()> {
        let new = End { last: seq, emptied: Seq::START };
        match event {
            Event::SessionOpened(SessionOpened { session }) => {
                *self = Turns { opened: seq, ends: vec![new; session.turns.len()] };
            }
            Event::TurnOpened(_) => self.ends.push(new),
            Event::BlockAdded(added) => self.end(seq, added.turn)?.last = seq,
            Event::TurnClosed(closed) => self.end(seq, closed.turn)?.last = seq,
            Event::ModelFailed(failed) if !failed.partial.is_empty() => self.end(seq, failed.turn)?.last = seq,
            Event::SessionCondensed(SessionCondensed { from, to, .. }) => {
                if from > to {
                    return Err(never_opened(seq, *from));
                }
                for turn in *from..=*to {
                    *self.end(seq, turn)? = End { last: seq, emptied: seq };
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, seq: Seq, turn: u32) -> Result<&mut End> {
        let end = usize::try_from(turn).ok().and_then(|turn| self.ends.get_mut(turn));
        end.ok_or_else(|| never_opened(seq, turn))
    }
}

fn never_opened(seq: Seq, turn: u32) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the journal speaks of turn {turn}, which was never opened")).seq(seq)
}

/// Reads a journal once, without keeping what was said.
pub(crate) async fn outline(
    store: &(impl Store + ?Sized),
    session: &SessionId,
    condensed: Condensed,
) -> Result<Outline> {
    let summary = summary_of(store, session).await?;
    let (mut head, mut turns) = (Head::default(), Turns::default());
    let mut batches = store.read(session, Seq::START);
    while let Some(batch) = batches.next().await.transpose()? {
        for (entry, seq) in batch.events.iter().zip(batch.seq.0..).filter(|(entry, _)| condensed.counts(&entry.event)) {
            head.apply(Seq(seq), &entry.event).map_err(|error| Error::from(error).session(session).seq(Seq(seq)))?;
            turns.note(Seq(seq), &entry.event).map_err(|error| error.session(session))?;
        }
        head.seq = batch.last();
    }
    if head.seq < summary.last {
        return Err(cut_short(session, head.seq, summary.last));
    }
    let mut outlined = *head.session;
    outlined.id = Some(session.clone());
    if let Some(origin) = summary.origin {
        outlined.parent = Some(Parent { session: origin.session, seq: Some(origin.seq), ..Parent::default() });
    }
    Ok(Outline { session: outlined, seq: head.seq, condensed, turns })
}

impl Condensed {
    fn counts(self, event: &Event) -> bool {
        self == Condensed::Summary || !matches!(event, Event::SessionCondensed(_))
    }
}

impl Outline {
    /// How many turns there are.
    pub fn turns(&self) -> usize {
        self.turns.ends.len()
    }

    /// Whether an event has to do with the turns as they were when the outline was made.
    fn counts(&self, seq: Seq, event: &Event) -> bool {
        seq >= self.turns.opened && seq <= self.seq && self.condensed.counts(event)
    }

    /// The event without what a summary stands for later: where it stood is all that is needed of it until then.
    fn lightened(&self, seq: Seq, opened: usize, mut event: Event) -> Event {
        match &mut event {
            Event::SessionOpened(SessionOpened { session }) => {
                session.turns.iter_mut().enumerate().for_each(|(at, turn)| self.lighten(seq, at, &mut turn.blocks));
            }
            Event::TurnOpened(turn) => self.lighten(seq, opened, &mut turn.turn.blocks),
            Event::BlockAdded(BlockAdded { turn, block }) => {
                self.lighten(seq, usize::try_from(*turn).unwrap_or(usize::MAX), std::slice::from_mut(block));
            }
            _ => {}
        }
        event
    }

    fn lighten(&self, seq: Seq, turn: usize, blocks: &mut [Block]) {
        if self.turns.ends.get(turn).is_some_and(|end| end.emptied > seq) {
            let goes = |block: &&mut Block| !matches!(block.author, Author::System | Author::Developer);
            blocks.iter_mut().filter(goes).for_each(|block| block.body = Body::Text(Text::default()));
        }
    }
}

/// The turns of a session in order, each as soon as nothing changes it any more.
pub(crate) fn turns<'a>(
    store: &'a (impl Store + ?Sized),
    session: &'a SessionId,
    outline: &'a Outline,
) -> impl Stream<Item = Result<Turn>> + Send + 'a {
    let mut reading = Reading { outline, fold: TurnFold::default(), complete: 0 };
    let batches = store.read(session, Seq(outline.turns.opened.0.saturating_sub(1)));
    let turns = batches.and_then(move |batch| future::ready(reading.take(batch)));
    turns.map_ok(|turns| stream::iter(turns.into_iter().map(Ok))).try_flatten()
}

/// The second reading of a journal.
struct Reading<'a> {
    outline: &'a Outline,
    fold: TurnFold,
    /// How many of the turns in the fold, from the first on, are complete.
    complete: usize,
}

impl Reading<'_> {
    /// Takes in a batch; gives the turns that are complete with it.
    fn take(&mut self, batch: Batch) -> Result<Vec<Turn>> {
        let mut complete = Vec::new();
        for (entry, seq) in batch.events.into_iter().zip((batch.seq.0..).map(Seq)) {
            if self.outline.counts(seq, &entry.event) {
                let event = self.outline.lightened(seq, self.fold.opened(), entry.event);
                self.fold.apply_event(event).map_err(|error| Error::from(error).seq(seq))?;
                complete.extend(self.take_complete(seq));
            }
        }
        Ok(complete)
    }

    /// The turns that nothing changes after `seq`, once they are half of those that are held: taking the first of many off
    /// moves all others.
    fn take_complete(&mut self, seq: Seq) -> Vec<Turn> {
        let ends = self.outline.turns.ends.iter().skip(self.fold.first() + self.complete);
        self.complete += ends.take(self.fold.held() - self.complete).take_while(|end| end.last <= seq).count();
        if self.complete * 2 < self.fold.held() {
            return Vec::new();
        }
        self.fold.take_first(std::mem::take(&mut self.complete))
    }
}

/// The lines of a session's journal as `turnkeep.jsonl` has them, the head first, each without its line break.
pub(crate) fn lines<'a>(
    store: &'a (impl Store + ?Sized),
    session: &'a SessionId,
) -> impl Stream<Item = Result<String>> + Send + 'a {
    let head = async move {
        let last = summary_of(store, session).await?.last;
        let journal = Journal { session: Some(session.clone()), ..Journal::default() };
        Ok::<_, Error>((journal.head_line(), last))
    };
    stream::once(head)
        .map_ok(move |(head, last)| {
            let mut check = Check { session, turns: Turns::default(), seq: Seq::START };
            let batches = store.read(session, Seq::START).map_ok(Some);
            // After the last batch, whether it was that.
            let batches = batches.chain(stream::once(future::ready(Ok(None))));
            let lines = batches.try_filter_map(move |batch| future::ready(check.line(batch, last)));
            stream::once(future::ready(Ok(head))).chain(lines)
        })
        .try_flatten()
}

/// Whether the lines of a journal follow each other, and a session follows from them.
struct Check<'a> {
    session: &'a SessionId,
    turns: Turns,
    seq: Seq,
}

impl Check<'_> {
    /// The line of the next batch; at the end, an error if there should be more.
    fn line(&mut self, batch: Option<Batch>, last: Seq) -> Result<Option<String>> {
        let Some(batch) = batch else {
            return if self.seq < last { Err(cut_short(self.session, self.seq, last)) } else { Ok(None) };
        };
        let due = self.seq.next();
        if batch.seq != due {
            let what = format!("the journal goes on at {} where {due} is due", batch.seq);
            return Err(Error::new(ErrorKind::Corrupt, what).session(self.session).hint("run `turnkeep verify`"));
        }
        for (entry, seq) in batch.events.iter().zip((batch.seq.0..).map(Seq)) {
            self.turns.note(seq, &entry.event).map_err(|error| error.session(self.session))?;
        }
        self.seq = batch.last();
        Ok(Some(batch.to_line()))
    }
}

#[cfg(test)]
mod tests {
    use turnkeep_model::event::{LogAdded, TurnOpened};

    use super::*;
    use crate::ext::StoreExt;
    use crate::memory::MemoryStore;

    fn opened() -> Event {
        TurnOpened { turn: Box::new(Turn::default()) }.into()
    }

    fn said(turn: u32, text: &str) -> Event {
        BlockAdded { turn, block: Block::text(Author::User, text).in_message(turn) }.into()
    }

    fn condensed(from: u32, to: u32) -> Event {
        let block = Block::text(Author::User, "a summary");
        SessionCondensed { from, to, block, by: None }.into()
    }

    /// A store with a session of these events, one a batch.
    fn stored(events: Vec<Event>) -> (MemoryStore, SessionId) {
        let (store, session) = (MemoryStore::default(), SessionId::new("s"));
        for (event, seq) in events.into_iter().zip(1..) {
            let batch = Batch::new(Seq(seq), vec![event.into()]);
            pollster::block_on(store.append(&session, Seq(seq - 1), &batch)).unwrap();
        }
        (store, session)
    }

    /// How many turns, and how many bytes of text in them, are held at most while a session is read.
    fn most_held(events: Vec<Event>) -> (usize, usize) {
        let (store, session) = stored(events);
        let outline = pollster::block_on(store.outline(&session, Condensed::Summary)).unwrap();
        let mut reading = Reading { outline: &outline, fold: TurnFold::default(), complete: 0 };
        let (mut turns, mut text) = (0, 0);
        for batch in pollster::block_on(store.journal(&session)).unwrap().batches {
            reading.take(batch).unwrap();
            turns = turns.max(reading.fold.held());
            text = text.max(reading.fold.text());
        }
        (turns, text)
    }

    #[test]
    fn a_turn_is_held_until_nothing_changes_it() {
        let events = (0..50).flat_map(|turn| [opened(), said(turn, "hello"), said(turn, "again")]).collect();

        assert_eq!(most_held(events), (1, 5));
    }

    #[test]
    fn what_a_summary_stands_for_is_not_held() {
        let turns = (0..50).flat_map(|turn| [opened(), said(turn, "hello")]);
        let events = turns.chain([condensed(0, 48), said(49, "again")]).collect();

        assert_eq!(most_held(events), (50, 5));
    }

    #[test]
    fn a_journal_that_does_not_fold_is_refused_by_its_place() {
        for event in [said(1, "nowhere"), condensed(0, 1), condensed(1, 0)] {
            let (store, session) = stored(vec![opened(), LogAdded { line: "a".to_owned() }.into(), event]);

            let outlined = pollster::block_on(store.outline(&session, Condensed::Summary)).unwrap_err();
            let lines = pollster::block_on(store.lines(&session).try_collect::<Vec<_>>()).unwrap_err();

            for error in [outlined, lines] {
                assert_eq!((error.kind(), error.at_seq()), (ErrorKind::Corrupt, Some(Seq(3))));
            }
        }
    }
}
