//! One batch to the store, and what others appended into the state.
//!
//! An append can end without an answer: its future is dropped, or the store fails after it wrote. Such a batch stays *in
//! doubt* until the journal was read past its place: to write it again before that could record it twice.

use futures_util::StreamExt;
use turnkeep_model::{Batch, Entry, Event, Seq, absorb};

use super::Recorder;
use crate::error::{Error, Result};

impl Recorder {
    /// Appends a batch, or folds in what someone else appended in its place.
    pub(super) async fn append_or_read_on(&mut self, events: Vec<Event>) -> Result<Appended> {
        let seq = match self.append(events).await {
            Err(error) if error.kind() == turnkeep_model::ErrorKind::Conflict => {
                // It stays in doubt until the rest is read: whoever waits may give up meanwhile.
                let rest = self.read_rest().await?;
                let attempted = self.in_doubt.pop();
                if self.fold_in(rest, attempted.as_ref())? == Own::Absent {
                    let refused = attempted.into_iter().flat_map(|batch| batch.events);
                    return Ok(Appended::Refused(refused.map(|entry| entry.event).collect()));
                }
                self.state.seq
            }
            appended => appended?,
        };
        Ok(Appended::Here(seq))
    }

    /// Appends a batch. Whatever ends this without an answer leaves the batch in doubt, the drop of this future included.
    pub(crate) async fn append(&mut self, events: Vec<Event>) -> Result<Seq> {
        let mut batch = Batch::new(self.state.seq.next(), events.into_iter().map(Entry::from).collect());
        batch.time = Some(self.now());
        batch.run = Some(self.run.clone());
        self.in_doubt.push(batch);
        if let Some(batch) = self.in_doubt.last() {
            let appended = self.store.append(&self.id, self.state.seq, batch).await;
            appended.map_err(|error| Error::from(error).session(&self.id))?;
        }
        if let Some(batch) = self.in_doubt.pop() {
            self.take_in(batch)?;
        }
        Ok(self.state.seq)
    }

    /// Where an earlier append is in doubt, reads what became of it before anything else is written.
    pub(super) async fn settle_doubt(&mut self) -> Result<()> {
        match self.in_doubt.is_empty() {
            true => Ok(()),
            false => self.refresh().await,
        }
    }

    /// Folds in what others appended.
    ///
    /// # Errors
    /// `Conflict` when another run took over.
    pub async fn refresh(&mut self) -> Result<()> {
        let rest = self.read_rest().await?;
        self.fold_in(rest, None).map(drop)
    }

    /// The batches after the last record that is known.
    async fn read_rest(&self) -> Result<Vec<Batch>> {
        let mut batches = Vec::new();
        let mut reading = self.store.read(&self.id, self.state.seq);
        while let Some(batch) = reading.next().await {
            batches.push(batch.map_err(Error::from)?);
        }
        Ok(batches)
    }

    /// Folds in what follows, and says whether `attempted` is in it.
    fn fold_in(&mut self, batches: Vec<Batch>, attempted: Option<&Batch>) -> Result<Own> {
        let mut own = Own::Absent;
        for batch in batches {
            // Its acknowledgement was lost on the way. A batch in doubt that says the same comes first: where it is the
            // one that was written, this one was not.
            let is = |other: &Batch| other.to_line() == batch.to_line();
            let (is_attempted, was_in_doubt) = (attempted.is_some_and(is), self.in_doubt.iter().any(is));
            // A run that was begun here is nobody else's.
            if let Some(at) = self.taken_over(&batch).filter(|_| !is_attempted && !was_in_doubt) {
                return Err(Error::fenced(at).session(&self.id));
            }
            if is_attempted && !was_in_doubt {
                own = Own::Found;
            }
            self.take_in(batch)?;
        }
        Ok(own)
    }

    fn taken_over(&self, batch: &Batch) -> Option<Seq> {
        let newer = |entry: &Entry| matches!(&entry.event, Event::RunStarted(started) if started.run.id.as_ref() != Some(&self.run));
        batch.events.iter().zip(batch.seq.0..).find(|(entry, _)| newer(entry)).map(|(_, seq)| Seq(seq))
    }

    fn take_in(&mut self, batch: Batch) -> Result<()> {
        self.ports.hub.publish(&self.id, &batch);
        // What was to be written at the place that is taken now can no longer be written.
        self.in_doubt.clear();
        for (entry, seq) in batch.events.into_iter().zip(batch.seq.0..) {
            self.state.seq = Seq(seq);
            self.state.ledger.apply(self.state.seq, &entry.event);
            self.outcomes.note(&self.state.ledger, &entry.event);
            self.renumbered += u64::from(matches!(entry.event, Event::SessionOpened(_) | Event::SessionCondensed(_)));
            absorb(&mut self.state.session, entry.event)?;
        }
        self.state.session.id = Some(self.id.clone());
        Ok(())
    }
}

/// What became of events that were to be appended.
pub(super) enum Appended {
    /// They are there, up to this place.
    Here(Seq),
    /// Someone else was faster, and these were not written.
    Refused(Vec<Event>),
}

/// Whether a batch of this run was found where someone else's was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Own {
    Found,
    Absent,
}
