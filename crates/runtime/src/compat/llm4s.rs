//! What an agent does, as the events of a streaming run: a pure function of records, and of pieces of answers.

use std::collections::HashMap;

use jiff::Timestamp;
use turnkeep_model::event::{RunStopped, ToolSettled};
use turnkeep_model::{
    Author, Batch, Block, Body, CallId, Event, Json, Number, Object, Outcome, Record, Status, Time, ToolResult,
};

use crate::envelope::result_text;
use crate::port::{Delta, seconds};

/// One event of a run, with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streamed {
    /// When.
    pub time: Option<Time>,
    /// What.
    pub event: StreamEvent,
}

/// What happens in a run. Every run begins with `AgentStarted` and ends with exactly one of `AgentCompleted`,
/// `AgentFailed`, `AgentWaiting` and `HandoffCompleted`. Steps count from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub enum StreamEvent {
    /// The run began.
    AgentStarted { query: String, tool_count: u64 },
    /// A model is asked.
    StepStarted { step: u32 },
    /// A piece of its answer arrived.
    TextDelta { delta: String },
    /// The text of the answer is whole.
    TextComplete { text: String },
    /// It answered.
    StepCompleted { step: u32, has_tool_calls: bool },
    /// A tool is called.
    ToolCallStarted { id: String, name: String, arguments: String },
    /// It gave a result.
    ToolCallCompleted { id: String, name: String, result: String, duration_ms: u64 },
    /// It gave none.
    ToolCallFailed { id: String, name: String, error: String, duration_ms: u64 },
    /// The session is handed over.
    HandoffStarted { to: String, reason: Option<String> },
    /// It was.
    HandoffCompleted { to: String },
    /// The run has its answer.
    AgentCompleted { steps: u32, duration_ms: u64 },
    /// The run ended without one.
    AgentFailed { error: String, step: u32 },
    /// The run waits for a person.
    AgentWaiting { step: u32 },
}

impl Streamed {
    /// The event as a JSON object, for one line of a file.
    pub fn to_json(&self) -> Json {
        use StreamEvent as Kind;
        let (kind, fields): (&str, Vec<(&str, Json)>) = match &self.event {
            Kind::AgentStarted { query, tool_count } => {
                ("agent_started", vec![("query", query.as_str().into()), ("tool_count", (*tool_count).into())])
            }
            Kind::StepStarted { step } => ("step_started", vec![("step", u64::from(*step).into())]),
            Kind::TextDelta { delta } => ("text_delta", vec![("delta", delta.as_str().into())]),
            Kind::TextComplete { text } => ("text_complete", vec![("text", text.as_str().into())]),
            Kind::StepCompleted { step, has_tool_calls } => (
                "step_completed",
                vec![("step", u64::from(*step).into()), ("has_tool_calls", (*has_tool_calls).into())],
            ),
            Kind::ToolCallStarted { id, name, arguments } => {
                ("tool_call_started", call(id, name, [("arguments", arguments.as_str().into())]))
            }
            Kind::ToolCallCompleted { id, name, result, duration_ms } => {
                let rest = [("result", result.as_str().into()), ("duration_ms", (*duration_ms).into())];
                ("tool_call_completed", call(id, name, rest))
            }
            Kind::ToolCallFailed { id, name, error, duration_ms } => {
                let rest = [("error", error.as_str().into()), ("duration_ms", (*duration_ms).into())];
                ("tool_call_failed", call(id, name, rest))
            }
            Kind::HandoffStarted { to, reason } => {
                let reason = reason.as_deref().map_or(Json::Null, Json::from);
                ("handoff_started", vec![("to", to.as_str().into()), ("reason", reason)])
            }
            Kind::HandoffCompleted { to } => ("handoff_completed", vec![("to", to.as_str().into())]),
            Kind::AgentCompleted { steps, duration_ms } => {
                ("agent_completed", vec![("steps", u64::from(*steps).into()), ("duration_ms", (*duration_ms).into())])
            }
            Kind::AgentFailed { error, step } => {
                ("agent_failed", vec![("error", error.as_str().into()), ("step", u64::from(*step).into())])
            }
            Kind::AgentWaiting { step } => ("agent_waiting", vec![("step", u64::from(*step).into())]),
        };
        let mut object = Object::new();
        object.set("type", kind);
        object.set("timestamp", self.time.as_ref().map_or(Json::Null, |time| time.as_str().into()));
        fields.into_iter().for_each(|(key, value)| object.set(key, value));
        Json::Object(object)
    }
}

fn call<'a, const N: usize>(id: &str, name: &str, rest: [(&'a str, Json); N]) -> Vec<(&'a str, Json)> {
    [("id", id.into()), ("name", name.into())].into_iter().chain(rest).collect()
}

/// Turns the records of one session into the events of its runs.
#[derive(Debug, Clone, Default)]
pub struct Stream {
    began: Option<Timestamp>,
    announced: bool,
    query: String,
    step: u32,
    /// The answer that is being put together: its text, and whether it calls tools.
    answer: Option<(String, bool)>,
    calls: HashMap<CallId, Made>,
}

#[derive(Debug, Clone, Default)]
struct Made {
    name: String,
    arguments: String,
    began: Option<Timestamp>,
    settled: Option<(Outcome, u64)>,
}

impl Stream {
    /// The events of a batch.
    pub fn batch(&mut self, batch: &Batch) -> Vec<Streamed> {
        let mut all = Vec::new();
        for record in batch.records() {
            let events = self.record(&record);
            all.extend(events.into_iter().map(|event| Streamed { time: record.time.clone(), event }));
        }
        all
    }

    /// The event of a piece of an answer, if it is text.
    pub fn delta(&self, delta: &Delta, time: Time) -> Option<Streamed> {
        match delta {
            Delta::Text(text) if !text.is_empty() => {
                Some(Streamed { time: Some(time), event: StreamEvent::TextDelta { delta: text.clone() } })
            }
            _ => None,
        }
    }

    fn record(&mut self, record: &Record) -> Vec<StreamEvent> {
        let at = record.time.as_ref().and_then(Time::instant);
        match &record.event {
            Event::RunStarted(_) => {
                (self.began, self.announced, self.step, self.answer) = (at, false, 0, None);
                Vec::new()
            }
            Event::ModelAsked(asked) if asked.attempt.unwrap_or(1) == 1 => {
                let started = self.announce(asked.tools.len() as u64);
                started.into_iter().chain([StreamEvent::StepStarted { step: self.step }]).collect()
            }
            Event::BlockAdded(added) => self.block(&added.block),
            Event::TurnClosed(_) => self.answered(),
            Event::ToolIntended(intended) => {
                let made = self.calls.entry(intended.call.clone()).or_default();
                made.began = at;
                let (name, arguments) = (made.name.clone(), made.arguments.clone());
                vec![StreamEvent::ToolCallStarted { id: intended.call.to_string(), name, arguments }]
            }
            Event::ToolSettled(settled) => {
                self.settled(settled, at);
                Vec::new()
            }
            Event::RunStopped(stopped) => self.stopped(stopped, at),
            _ => Vec::new(),
        }
    }

    fn announce(&mut self, tool_count: u64) -> Option<StreamEvent> {
        let first = !std::mem::replace(&mut self.announced, true);
        first.then(|| StreamEvent::AgentStarted { query: self.query.clone(), tool_count })
    }

    fn block(&mut self, block: &Block) -> Vec<StreamEvent> {
        if block.is_answer() {
            let (text, calls) = self.answer.get_or_insert_default();
            text.push_str(block.body.as_text().unwrap_or_default());
            *calls |= matches!(block.body, Body::ToolCall(_));
        }
        match &block.body {
            Body::Text(text) if block.author == Author::User => self.query.clone_from(&text.text),
            Body::ToolCall(call) => {
                let made = Made { name: call.name.clone(), arguments: call.arguments.clone(), ..Made::default() };
                self.calls.insert(call.call.clone(), made);
            }
            Body::ToolResult(result) => return vec![self.result(result)],
            _ => {}
        }
        Vec::new()
    }

    /// The end of an answer; an answer that did not come ends no step.
    fn answered(&mut self) -> Vec<StreamEvent> {
        let Some((text, has_tool_calls)) = self.answer.take() else {
            return Vec::new();
        };
        let step = self.step;
        self.step = step.saturating_add(1);
        let whole = (!text.is_empty()).then_some(StreamEvent::TextComplete { text });
        whole.into_iter().chain([StreamEvent::StepCompleted { step, has_tool_calls }]).collect()
    }

    fn settled(&mut self, settled: &ToolSettled, at: Option<Timestamp>) {
        let made = self.calls.entry(settled.call.clone()).or_default();
        let between = || made.began.zip(at).map(|(from, to)| seconds(from, to));
        let taken = settled.seconds.as_ref().map(Number::as_f64).or_else(between);
        made.settled = Some((settled.outcome.clone(), milliseconds(taken)));
    }

    fn result(&mut self, result: &ToolResult) -> StreamEvent {
        let made = self.calls.remove(&result.call).unwrap_or_default();
        let (outcome, duration_ms) = made.settled.unwrap_or((Outcome::Success, 0));
        let (id, name) = (result.call.to_string(), result.name.clone().unwrap_or(made.name));
        let told = result_text(&result.parts);
        if outcome == Outcome::Success && result.is_error != Some(true) {
            return StreamEvent::ToolCallCompleted { id, name, result: told, duration_ms };
        }
        StreamEvent::ToolCallFailed { id, name, error: result.error.clone().unwrap_or(told), duration_ms }
    }

    fn stopped(&mut self, stopped: &RunStopped, at: Option<Timestamp>) -> Vec<StreamEvent> {
        let started = self.announce(0);
        let ran = self.began.zip(at).map(|(from, to)| seconds(from, to));
        let step = self.step.saturating_sub(1);
        let ended = match &stopped.status {
            Some(Status::Failed(failed)) => {
                vec![StreamEvent::AgentFailed { error: failed.error.clone(), step: self.step }]
            }
            Some(Status::Stopped(_)) => {
                let error = stopped.reason.as_ref().map_or("stopped", |reason| reason.as_str()).to_owned();
                vec![StreamEvent::AgentFailed { error, step }]
            }
            Some(Status::WaitingForHuman(_)) => vec![StreamEvent::AgentWaiting { step }],
            Some(Status::Handoff(handoff)) => {
                let (to, reason) = (handoff.to.clone(), handoff.reason.clone());
                vec![StreamEvent::HandoffStarted { to: to.clone(), reason }, StreamEvent::HandoffCompleted { to }]
            }
            _ => vec![StreamEvent::AgentCompleted { steps: self.step, duration_ms: milliseconds(ran) }],
        };
        started.into_iter().chain(ended).collect()
    }
}

fn milliseconds(seconds: Option<f64>) -> u64 {
    (seconds.unwrap_or(0.0) * 1000.0).round().max(0.0) as u64
}
