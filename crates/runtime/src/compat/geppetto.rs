//! The places of a run where others take snapshots.

use turnkeep_model::{Batch, Block, Event, Journal, Seq};

/// A place of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A model is about to be asked.
    PreInference,
    /// It answered.
    PostInference,
    /// The tools it called have ended.
    PostTools,
    /// The run stopped.
    Final,
}

impl Phase {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::PreInference => "pre_inference",
            Phase::PostInference => "post_inference",
            Phase::PostTools => "post_tools",
            Phase::Final => "final",
        }
    }
}

/// Every phase that a journal went through, with the place at which the session was so: `load_at` gives it.
pub fn phases(journal: &Journal) -> Vec<(Phase, Seq)> {
    journal.batches.iter().flat_map(|batch| of_batch(batch).map(|phase| (phase, batch.last()))).collect()
}

fn of_batch(batch: &Batch) -> impl Iterator<Item = Phase> {
    let any = |wanted: fn(&Event) -> bool| batch.events.iter().any(|entry| wanted(&entry.event));
    let answered = any(|event| matches!(event, Event::BlockAdded(added) if Block::is_answer(&added.block)));
    let decided = any(|event| matches!(event, Event::TurnClosed(closed) if closed.continuation.is_some()));
    let settled = any(|event| matches!(event, Event::ToolSettled(_)));
    let asked = any(|event| matches!(event, Event::ModelAsked(_)));
    let stopped = any(|event| matches!(event, Event::RunStopped(_)));
    let phases = [
        (answered, Phase::PostInference),
        (settled && decided, Phase::PostTools),
        (asked, Phase::PreInference),
        (stopped, Phase::Final),
    ];
    phases.into_iter().filter(|(there, _)| *there).map(|(_, phase)| phase)
}
