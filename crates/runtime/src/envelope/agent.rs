//! The seven kinds of envelopes of an agent, from its records.

use std::collections::HashSet;

use jiff::Timestamp;
use turnkeep_model::event::{ModelAsked, RunStopped, SessionCondensed, TurnClosed};
use turnkeep_model::policy::Redactor;
use turnkeep_model::{
    Author, Batch, Block, Body, Event, Record, RunId, Seq, SessionId, Status, StopReason, Time, Turn, view,
};

use super::calls::Calls;
use super::chunks::Chunks;
use super::event::{AgentEvent, Begins, Decision, StatusTold, StepCompleted, StepStarted, ToolList};
use super::outline::Outline;
use super::writer::Writer;
use super::{Envelope, EnvelopeOptions};
use crate::port::Delta;

/// Turns the records of one session into the seven kinds of envelopes of an agent: `agent.status`,
/// `agent.step.started`, `agent.step.completed`, `agent.tool.started`, `agent.tool.completed`, `agent.stream.chunk` and
/// `agent.continuation`.
#[derive(Debug, Clone)]
pub struct AgentEnvelopes {
    writer: Writer,
    redactor: Redactor,
    run: Option<RunId>,
    outline: Outline,
    /// The turn that is asked for, and by which run.
    asked: Option<(u32, Option<RunId>)>,
    /// The turns whose end was told.
    ended: HashSet<u32>,
    calls: Calls,
    chunks: Chunks,
    last_text: Option<String>,
    told: Option<StatusTold>,
    reason: Option<StopReason>,
}

impl AgentEnvelopes {
    /// A projection that begins at the start of a session's journal.
    pub fn new(session: SessionId, options: impl Into<EnvelopeOptions>) -> AgentEnvelopes {
        let options = options.into();
        AgentEnvelopes {
            redactor: options.redact.redactor(),
            chunks: Chunks::new(&options),
            writer: Writer::new(session, options),
            run: None,
            outline: Outline::default(),
            asked: None,
            ended: HashSet::new(),
            calls: Calls::default(),
            last_text: None,
            told: None,
            reason: None,
        }
    }

    /// The envelopes of a batch. What is to be hidden is hidden first; a batch in which that cannot be done is not told, and
    /// its reader finds a gap.
    pub fn batch(&mut self, batch: &Batch) -> Vec<Envelope> {
        match self.redactor.batch(batch) {
            Ok(batch) => self.hidden_batch(&batch),
            Err(_) => Vec::new(),
        }
    }

    fn hidden_batch(&mut self, batch: &Batch) -> Vec<Envelope> {
        let mut envelopes: Vec<Envelope> = batch.records().flat_map(|record| self.record(&record)).collect();
        let events = self.status(Begins::Nothing);
        envelopes.extend(self.written(events, batch.run.clone(), batch.time.clone(), Some(batch.last())));
        envelopes
    }

    fn record(&mut self, record: &Record) -> Vec<Envelope> {
        let at = record.time.as_ref().and_then(Time::instant);
        let mut told = Vec::new();
        if ends_answer(&record.event) {
            let last = self.chunks.end(&mut self.redactor);
            told.extend(self.written(last, self.run.clone(), record.time.clone(), None));
        }
        self.outline.apply(&record.event);
        let events = self.events(record, at);
        told.extend(self.written(events, record.run.clone(), record.time.clone(), Some(record.seq)));
        told
    }

    fn written(
        &mut self,
        events: Vec<AgentEvent>,
        run: Option<RunId>,
        time: Option<Time>,
        seq: Option<Seq>,
    ) -> Vec<Envelope> {
        let run = run.or_else(|| self.run.clone());
        events.iter().filter_map(|event| self.writer.write(event, run.clone(), time.clone(), seq)).collect()
    }

    /// The envelopes that are to be sent when a piece of an answer arrives.
    pub fn delta(&mut self, delta: &Delta, now: Timestamp) -> Vec<Envelope> {
        let pieces = self.chunks.push(delta, now);
        self.written(pieces, None, Some(Time::from_instant(now)), None)
    }

    /// When [`AgentEnvelopes::tick`] will have something to send.
    pub fn due(&self) -> Option<Timestamp> {
        self.chunks.due()
    }

    /// The envelopes that are to be sent now that time has passed.
    pub fn tick(&mut self, now: Timestamp) -> Vec<Envelope> {
        let pieces = self.chunks.tick(now);
        self.written(pieces, None, Some(Time::from_instant(now)), None)
    }

    fn events(&mut self, record: &Record, at: Option<Timestamp>) -> Vec<AgentEvent> {
        match &record.event {
            Event::RunStarted(started) => {
                self.run.clone_from(&started.run.id);
                self.reason = None;
                self.status(Begins::Run)
            }
            Event::RunStopped(stopped) => self.stopped(stopped),
            Event::SessionChanged(changed) if changed.status.is_some() => self.status(Begins::Nothing),
            Event::ModelAsked(asked) => self.asked(asked).map(AgentEvent::StepStarted).into_iter().collect(),
            Event::BlockAdded(added) => self.block(&added.block),
            Event::TurnOpened(opened) => self.opened(&opened.turn),
            Event::TurnClosed(closed) => self.closed(closed),
            Event::SessionCondensed(condensed) => self.condensed(condensed),
            Event::ToolIntended(intended) => vec![AgentEvent::ToolStarted(self.calls.intended(&intended.call, at))],
            Event::ToolSettled(settled) => {
                self.calls.settled(settled, at);
                Vec::new()
            }
            // Told at the end of the batch: all that wait are one status.
            Event::ApprovalAsked(asked) => {
                self.calls.asked(asked);
                Vec::new()
            }
            Event::ApprovalGiven(given) => {
                self.calls.decided(&given.call, given.arguments.as_deref());
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Where the session stands, where that is not what was told last.
    fn status(&mut self, begins: Begins) -> Vec<AgentEvent> {
        let status = match (begins, self.outline.status()) {
            (Begins::Run, _) => Status::from(turnkeep_model::status::InProgress {}),
            (Begins::Nothing, Some(status)) => status.clone(),
            // A journal of another system may tell of a run, and never say where the session stands.
            (Begins::Nothing, None) if self.run.is_some() => Status::from(turnkeep_model::status::InProgress {}),
            (Begins::Nothing, None) => return Vec::new(),
        };
        let now = StatusTold {
            waiting: self.calls.waiting(Some(&status)),
            status,
            reason: self.reason.clone(),
            step_count: self.outline.count(),
            last_response: self.last_text.clone(),
            begins,
        };
        let is_known = self.told.as_ref().is_some_and(|told| told.status == now.status && told.waiting == now.waiting);
        if is_known && begins == Begins::Nothing {
            return Vec::new();
        }
        self.told = Some(now.clone());
        vec![AgentEvent::Status(now)]
    }

    fn stopped(&mut self, stopped: &RunStopped) -> Vec<AgentEvent> {
        self.reason.clone_from(&stopped.reason);
        self.status(Begins::Nothing)
    }

    /// A step begins with its first question; another try, or the same run asking again, is the same step.
    fn asked(&mut self, asked: &ModelAsked) -> Option<StepStarted> {
        let asking = Some((asked.turn, self.run.clone()));
        if self.asked == asking {
            return None;
        }
        self.asked = asking;
        Some(StepStarted {
            step: self.outline.number(asked.turn),
            messages: u64::from(asked.messages.unwrap_or(0)),
            tools: ToolList::Named(asked.tools.clone()),
        })
    }

    fn block(&mut self, block: &Block) -> Vec<AgentEvent> {
        match &block.body {
            Body::Text(text) if block.author == Author::Assistant => self.last_text = Some(text.text.clone()),
            Body::ToolCall(call) => self.calls.made(call),
            Body::ToolResult(result) => return vec![AgentEvent::ToolCompleted(self.calls.completed(result))],
            _ => {}
        }
        Vec::new()
    }

    /// A turn that comes whole, from an import or a fork, is told as what it was: its calls, and its end.
    fn opened(&mut self, turn: &Turn) -> Vec<AgentEvent> {
        let mut told: Vec<AgentEvent> = Vec::new();
        for block in &turn.blocks {
            told.extend(self.block(block));
            if let Body::ToolCall(call) = &block.body {
                told.push(AgentEvent::ToolStarted(self.calls.started(&call.call)));
            }
        }
        if view::is_step(turn) {
            told.extend(self.completed(self.outline.last(), turn.continuation.as_ref()));
        }
        told
    }

    /// What a summary stands for is told again as it is now: less is known of it.
    fn condensed(&mut self, condensed: &SessionCondensed) -> Vec<AgentEvent> {
        let steps = |turn: &u32| self.outline.turn(*turn).is_some_and(view::is_step);
        let turns: Vec<u32> = (condensed.from..=condensed.to.min(self.outline.last())).filter(steps).collect();
        turns.into_iter().flat_map(|turn| self.completed(turn, None)).collect()
    }

    /// The end of an answer is told when it is known whether the run goes on; what is noted of it later, as that the next
    /// answer did not come, is told again.
    fn closed(&mut self, closed: &TurnClosed) -> Vec<AgentEvent> {
        match &closed.continuation {
            Some(continuation) => self.completed(closed.turn, Some(continuation)),
            None if self.ended.contains(&closed.turn) => self.completed(closed.turn, None),
            None => Vec::new(),
        }
    }

    fn completed(&mut self, index: u32, made: Option<&turnkeep_model::status::Continuation>) -> Vec<AgentEvent> {
        self.ended.insert(index);
        let step = self.outline.number(index);
        let Some(turn) = self.outline.turn(index) else {
            return Vec::new();
        };
        let decision = made.map(|made| Decision { step, made: made.clone() });
        let completed = StepCompleted {
            step,
            has_tool_calls: turn.blocks.iter().any(|block| matches!(block.body, Body::ToolCall(_))),
            errors: turn.errors.len() as u64,
            finish: turn.finish.as_ref().map(|finish| view::finish_word(&finish.reason).to_owned()),
            usage: turn.usage.clone(),
            milliseconds: view::milliseconds(&turn.timing),
            decision: decision.clone(),
        };
        let decided = decision.map(AgentEvent::Continuation);
        [AgentEvent::StepCompleted(Box::new(completed))].into_iter().chain(decided).collect()
    }
}

/// Whether nothing more of an answer on its way will come.
fn ends_answer(event: &Event) -> bool {
    match event {
        Event::BlockAdded(added) => added.block.is_answer(),
        Event::ModelFailed(_) | Event::RunStarted(_) | Event::RunStopped(_) => true,
        _ => false,
    }
}
