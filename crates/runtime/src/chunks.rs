//! Pieces of answers between processes: those that are sent, and which of those that arrive are shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use turnkeep_model::{Author, Batch, Event, RunId, SessionId};
use turnkeep_store::{Chunk, ChunkKind, Chunks, Store};

use crate::port::Delta;
use crate::recorder::Recorder;

/// Sends the pieces of one answer, where there is a way to.
pub(crate) struct OutgoingChunks {
    session: SessionId,
    run: RunId,
    turn: u32,
    attempt: u32,
    offset: AtomicU64,
    store: Arc<dyn Store>,
    port: Option<Arc<dyn Chunks>>,
}

impl OutgoingChunks {
    pub(crate) fn of(recorder: &Recorder, turn: u32, attempt: u32) -> OutgoingChunks {
        let (session, run, store) = (recorder.id().clone(), recorder.run().clone(), recorder.store().clone());
        let port = recorder.ports().chunks.clone();
        OutgoingChunks { session, run, turn, attempt, offset: AtomicU64::new(0), store, port }
    }

    pub(crate) fn send(&self, delta: &Delta) {
        let Some(chunks) = self.port.as_deref().or_else(|| self.store.chunks()) else {
            return;
        };
        let (kind, text) = match delta {
            Delta::Text(text) => (ChunkKind::Text, text),
            Delta::Reasoning(text) => (ChunkKind::Reasoning, text),
            Delta::Call { index, name } => (ChunkKind::Call(*index), name),
            Delta::Arguments { index, text } => (ChunkKind::Arguments(*index), text),
        };
        let offset = self.offset.fetch_add(text.len() as u64, Ordering::Relaxed);
        let (run, turn, attempt, text) = (self.run.clone(), self.turn, self.attempt, text.clone());
        chunks.publish(&self.session, Chunk { run, turn, attempt, offset, kind, text });
    }
}

/// Which pieces that arrive from other processes are shown: those of the answer that is on its way, each once.
#[derive(Debug, Default)]
pub(crate) struct IncomingChunks {
    /// The run that goes on, as far as records tell.
    running: Option<RunId>,
    /// The last turn and try of that run whose answer was recorded, or will never be.
    void: Option<(u32, u32)>,
    /// The answer that pieces came of last, and how much of it.
    heard: Option<(RunId, (u32, u32), u64)>,
}

impl IncomingChunks {
    /// Takes note of what is recorded.
    pub(crate) fn note(&mut self, batch: &Batch) {
        batch.events.iter().for_each(|entry| self.note_event(&entry.event));
    }

    fn note_event(&mut self, event: &Event) {
        match event {
            Event::RunStarted(started) => {
                self.running.clone_from(&started.run.id);
                self.void = None;
            }
            // What was said before is void; what is said now is not, though the turn may have been asked before.
            Event::ModelAsked(asked) => self.void = Some((asked.turn, asked.attempt.unwrap_or(1).saturating_sub(1))),
            Event::ModelFailed(failed) => self.void = Some((failed.turn, failed.attempt.unwrap_or(u32::MAX))),
            Event::ModelAnswered(answered) => self.void = Some((answered.turn, u32::MAX)),
            Event::TurnClosed(closed) => self.void = Some((closed.turn, u32::MAX)),
            Event::BlockAdded(added) if added.block.author == Author::Assistant => {
                self.void = Some((added.turn, u32::MAX));
            }
            _ => {}
        }
    }

    /// What is new of a piece.
    pub(crate) fn take(&mut self, chunk: Chunk) -> Option<Delta> {
        let place = (chunk.turn, chunk.attempt);
        let is_of_run = self.running.as_ref().is_none_or(|running| *running == chunk.run);
        if !is_of_run || self.void.is_some_and(|void| place <= void) {
            return None;
        }
        let heard = match &self.heard {
            Some((run, last, _)) if *run == chunk.run && place < *last => return None,
            Some((run, last, heard)) if *run == chunk.run && place == *last => *heard,
            _ => 0,
        };
        let end = chunk.offset + chunk.text.len() as u64;
        let known = usize::try_from(heard.saturating_sub(chunk.offset)).unwrap_or(usize::MAX);
        let text = chunk.text.get(known..).filter(|text| !text.is_empty())?.to_owned();
        self.heard = Some((chunk.run, place, end));
        delta_of(chunk.kind, text)
    }
}

fn delta_of(kind: ChunkKind, text: String) -> Option<Delta> {
    match kind {
        ChunkKind::Text => Some(Delta::Text(text)),
        ChunkKind::Reasoning => Some(Delta::Reasoning(text)),
        ChunkKind::Call(index) => Some(Delta::Call { index, name: text }),
        ChunkKind::Arguments(index) => Some(Delta::Arguments { index, text }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use turnkeep_model::event::{BlockAdded, Cause, ModelAsked, ModelFailed, RunStarted};
    use turnkeep_model::{Block, Entry, Run, Seq};

    use super::*;

    fn chunk(turn: u32, attempt: u32, offset: u64, text: &str) -> Chunk {
        Chunk { run: RunId::new("r"), turn, attempt, offset, kind: ChunkKind::Text, text: text.to_owned() }
    }

    fn shown(incoming: &mut IncomingChunks, chunk: Chunk) -> Option<String> {
        incoming.take(chunk).map(|delta| match delta {
            Delta::Text(text) => text,
            other => panic!("{other:?}"),
        })
    }

    fn recorded(incoming: &mut IncomingChunks, event: impl Into<Event>) {
        incoming.note(&Batch::new(Seq(1), vec![Entry::from(event.into())]));
    }

    fn asked(turn: u32, attempt: u32) -> ModelAsked {
        ModelAsked { turn, attempt: Some(attempt), ..ModelAsked::default() }
    }

    fn failed(turn: u32, attempt: u32) -> ModelFailed {
        ModelFailed {
            turn,
            attempt: Some(attempt),
            seq: None,
            cause: Cause::TimedOut,
            class: None,
            message: None,
            wait: None,
            request: None,
            headers: Vec::new(),
            partial: Vec::new(),
        }
    }

    #[test]
    fn a_piece_that_comes_twice_is_shown_once() {
        let mut incoming = IncomingChunks::default();

        let pieces = [(0, "one "), (0, "one "), (4, "two"), (2, "e two more"), (20, "after a gap"), (7, "late")];
        let pieces = pieces.map(|(offset, text)| shown(&mut incoming, chunk(0, 1, offset, text)));

        let expected = [Some("one "), None, Some("two"), Some(" more"), Some("after a gap"), None];
        assert_eq!(pieces.each_ref().map(Option::as_deref), expected);
    }

    #[test]
    fn pieces_are_void_once_their_answer_is_recorded_or_failed() {
        let mut incoming = IncomingChunks::default();
        recorded(&mut incoming, asked(0, 1));
        assert!(shown(&mut incoming, chunk(0, 1, 0, "a")).is_some());

        recorded(&mut incoming, failed(0, 1));
        assert_eq!(shown(&mut incoming, chunk(0, 1, 1, "late")), None);
        assert!(shown(&mut incoming, chunk(0, 2, 0, "again")).is_some());

        recorded(&mut incoming, BlockAdded { turn: 0, block: Block::text(Author::Assistant, "again") });
        assert_eq!(shown(&mut incoming, chunk(0, 2, 5, "late")), None);
        assert!(shown(&mut incoming, chunk(1, 1, 0, "next")).is_some());
    }

    #[test]
    fn words_of_others_leave_an_answer_on_its_way_alone() {
        let mut incoming = IncomingChunks::default();
        recorded(&mut incoming, asked(0, 1));
        recorded(&mut incoming, BlockAdded { turn: 1, block: Block::text(Author::User, "meanwhile") });

        assert!(shown(&mut incoming, chunk(0, 1, 0, "a")).is_some());
    }

    #[test]
    fn pieces_of_a_run_that_was_taken_over_are_void() {
        let mut incoming = IncomingChunks::default();
        let started = |run: &str| RunStarted { run: Run { id: Some(RunId::new(run)), ..Run::default() } };
        recorded(&mut incoming, started("r"));
        assert!(shown(&mut incoming, chunk(0, 1, 0, "a")).is_some());

        recorded(&mut incoming, started("other"));
        assert_eq!(shown(&mut incoming, chunk(0, 1, 1, "b")), None);
    }
}
