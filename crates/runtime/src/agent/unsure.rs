//! Calls that may have acted: finding out, or giving them up.

use turnkeep_model::event::{CompensationIntended, CompensationSettled};
use turnkeep_model::{Body, CallId, Outcome, ToolCall, ToolResult};
use turnkeep_store::{Loaded, StoreExt};

use super::Unsure;
use super::execute::{Bounded, Job, bounded};
use super::run_loop::RunLoop;
use crate::error::Result;
use crate::port::Found;
use crate::tool_result::{interrupted, succeeded};

/// What looking for the outcome of a call gave.
pub(super) enum Investigated {
    Settled,
    CallAgain,
    Waits,
}

impl RunLoop<'_> {
    /// Finds out about a call that may have acted.
    pub(super) async fn investigate(&mut self, turn: u32, call: &ToolCall) -> Result<Investigated> {
        if let Some(result) = self.outcome_in_parent(call).await? {
            self.settle_with(turn, result, None, |_| Vec::new()).await?;
            return Ok(Investigated::Settled);
        }
        let found = match self.job(call, self.edited(&call.call).as_deref(), 1, true) {
            Some(job) => self.probe(&job).await,
            None => Found::Unknown,
        };
        let ledger = self.recorder.ledger();
        // What the parent of a fork has not done yet, it may be about to do. And a call that never ends is not made for ever.
        let may_call = !ledger.is_inherited(&call.call) && !ledger.was_retried(&call.call);
        match (found, self.agent.unsure) {
            (Found::Done(output), _) => {
                self.settle_with(turn, succeeded(call, output, usize::MAX), None, |_| Vec::new()).await?;
                Ok(Investigated::Settled)
            }
            (Found::NotDone, _) if may_call => Ok(Investigated::CallAgain),
            (Found::NotDone | Found::Unknown, Unsure::AskHuman) => Ok(Investigated::Waits),
            (Found::NotDone | Found::Unknown, Unsure::TellModel) => {
                self.abandon(turn, call).await?;
                Ok(Investigated::Settled)
            }
        }
    }

    /// What came of a call that the parent of this fork began, where the parent knows by now.
    async fn outcome_in_parent(&self, call: &ToolCall) -> Result<Option<ToolResult>> {
        let mut is_inherited = self.recorder.ledger().is_inherited(&call.call);
        let mut parent = self.recorder.session().parent.clone();
        while let Some(from) = parent.filter(|_| is_inherited) {
            let loaded = match self.recorder.store().load(&from.session).await {
                // A parent that was deleted tells nothing.
                Err(error) if error.kind() == turnkeep_store::ErrorKind::NotFound => return Ok(None),
                loaded => loaded?,
            };
            if let Some(result) = result_of(&loaded, &call.call) {
                return Ok(Some(result.clone()));
            }
            is_inherited = loaded.ledger.is_inherited(&call.call);
            parent = loaded.session.parent;
        }
        Ok(None)
    }

    async fn probe(&self, job: &Job) -> Found {
        let Some(tool) = self.agent.tools.get(&job.call.name) else {
            return Found::Unknown;
        };
        let Some(probe) = tool.probe() else {
            return Found::Unknown;
        };
        let context = self.tool_context(job);
        let looking = async { probe.probe(&job.arguments, &context).await };
        match bounded(looking, tool.settings().timeout, self.recorder.ports()).await {
            Bounded::Came(looked) => looked.unwrap_or(Found::Unknown),
            Bounded::Panicked | Bounded::TimedOut(_) => Found::Unknown,
        }
    }

    /// Gives a call up: undoes it where the tool can, and says that its outcome is unknown. What the parent of a fork may
    /// have done is the parent's to undo.
    pub(super) async fn abandon(&mut self, turn: u32, call: &ToolCall) -> Result<()> {
        let undone = match self.recorder.ledger().is_inherited(&call.call) {
            true => None,
            false => self.compensate(call).await?,
        };
        let result = interrupted(call, undone.as_ref());
        self.settle_with(turn, result, None, |_| Vec::new()).await.map(drop)
    }

    async fn compensate(&mut self, call: &ToolCall) -> Result<Option<std::result::Result<(), String>>> {
        let agent = self.agent;
        let tool = agent.tools.get(&call.name);
        let job = self.job(call, self.edited(&call.call).as_deref(), 1, true);
        let (Some(undoing), Some(job)) = (tool.and_then(|tool| tool.compensate()), job) else {
            return Ok(None);
        };
        let before = self.recorder.ledger().get(&call.call).and_then(|entry| entry.compensated.clone());
        if let Some(Some(outcome)) = before {
            let undone = if outcome == Outcome::Success { Ok(()) } else { Err("it failed before".to_owned()) };
            return Ok(Some(undone));
        }
        let intended = CompensationIntended { call: call.call.clone() };
        self.recorder.record_with(|_, _| Ok(vec![intended.clone().into()])).await?;
        let context = self.tool_context(&job);
        let undoing = async { undoing.compensate(&job.arguments, &context).await };
        let limit = tool.and_then(|tool| tool.settings().timeout);
        let undone = match bounded(undoing, limit, self.recorder.ports()).await {
            Bounded::Came(undone) => undone.map_err(|error| error.message().to_owned()),
            Bounded::Panicked => Err("it panicked".to_owned()),
            Bounded::TimedOut(_) => Err("it took too long".to_owned()),
        };
        let settled = CompensationSettled {
            call: call.call.clone(),
            outcome: if undone.is_ok() { Outcome::Success } else { Outcome::Failed },
            error: undone.as_ref().err().cloned(),
        };
        self.recorder.record_with(|_, _| Ok(vec![settled.clone().into()])).await?;
        Ok(Some(undone))
    }
}

/// The result of a call, wherever it stands.
fn result_of<'a>(loaded: &'a Loaded, call: &CallId) -> Option<&'a ToolResult> {
    loaded.session.blocks().find_map(|(_, block)| match &block.body {
        Body::ToolResult(result) if result.call == *call => Some(result),
        _ => None,
    })
}
