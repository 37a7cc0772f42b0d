//! What is sent to a screen: a pure function of records.

use std::collections::HashMap;

use jiff::Timestamp;
use turnkeep_model::event::{ModelAsked, RunStopped, ToolIntended, ToolSettled, TurnClosed};
use turnkeep_model::shape::Parts;
use turnkeep_model::{
    Author, Batch, Block, Body, CallId, Event, Json, Object, Outcome, Part, Record, RunId, Seq, SessionId, Status,
    Time, ToolResult, Usage,
};

use crate::port::Delta;

/// One message on a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// What happened.
    pub kind: String,
    /// To which session.
    pub session: SessionId,
    /// In which run.
    pub execution: Option<RunId>,
    /// When.
    pub time: Option<Time>,
    /// The record it comes from; pieces of an answer have none.
    pub seq: Option<Seq>,
    /// The details.
    pub payload: Object,
}

impl Envelope {
    /// The channel it is sent on.
    pub fn channel(&self) -> String {
        format!("agent.{}", self.session)
    }

    /// The envelope as JSON, its keys in the order of the specification.
    pub fn to_json(&self) -> Json {
        let mut object = Object::new();
        object.set("type", self.kind.as_str());
        object.set("session_id", self.session.as_str());
        object.set("execution_id", self.execution.as_ref().map_or(Json::Null, |run| run.as_str().into()));
        object.set("timestamp", self.time.as_ref().map_or(Json::Null, |time| utc(time).into()));
        if let Some(seq) = self.seq {
            object.set("seq", seq.0);
        }
        object.set("payload", Json::Object(self.payload.clone()));
        Json::Object(object)
    }
}

/// The moment in UTC with milliseconds; a text that names none stays as it is.
fn utc(time: &Time) -> String {
    time.instant().map_or_else(|| time.as_str().to_owned(), |at| Time::from_instant(at).as_str().to_owned())
}

/// Every record of a batch as an envelope of its own: the event's type, and its fields as the payload.
pub fn native(session: &SessionId, batch: &Batch) -> Vec<Envelope> {
    batch.records().map(|record| native_one(session, &record)).collect()
}

fn native_one(session: &SessionId, record: &Record) -> Envelope {
    let mut sink = turnkeep_model::json::TreeSink::default();
    turnkeep_model::json::Sink::begin_object(&mut sink);
    record.event.write_parts(&mut sink);
    turnkeep_model::json::Sink::end_object(&mut sink);
    let mut payload = match sink.into_json() {
        Json::Object(fields) => fields,
        _ => Object::new(),
    };
    payload.remove("type");
    Envelope {
        kind: record.event.kind().to_owned(),
        session: session.clone(),
        execution: record.run.clone(),
        time: record.time.clone(),
        seq: Some(record.seq),
        payload,
    }
}

/// How much an agent's envelopes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// Whether continuation decisions are told with their evaluations.
    pub continuation_trace: bool,
    /// Whether arguments are told whole rather than as a summary; strings longer than this are cut.
    pub arguments: Option<usize>,
    /// Whether pieces of answers are told.
    pub chunks: bool,
}

impl Detail {
    /// Status, steps and tools.
    pub const MINIMAL: Detail = Detail { continuation_trace: false, arguments: None, chunks: false };
    /// And the answer as it comes.
    pub const STANDARD: Detail = Detail { continuation_trace: false, arguments: None, chunks: true };
    /// And arguments and decisions.
    pub const FULL: Detail = Detail { continuation_trace: true, arguments: Some(2000), chunks: true };
}

/// Turns the records of one session into the seven kinds of envelopes of an agent: `agent.status`,
/// `agent.step.started`, `agent.step.completed`, `agent.tool.started`, `agent.tool.completed`, `agent.stream.chunk` and
/// `agent.continuation`.
#[derive(Debug, Clone)]
pub struct AgentEnvelopes {
    session: SessionId,
    detail: Detail,
    run: Option<RunId>,
    step: Step,
    calls: HashMap<CallId, Call>,
    last_text: Option<String>,
    status: Option<String>,
    chunk: u64,
}

#[derive(Debug, Clone, Default)]
struct Step {
    number: u32,
    turn: Option<u32>,
    new_input: bool,
    started: Option<Timestamp>,
    errors: usize,
    finish: Option<String>,
    usage: Usage,
    has_calls: bool,
}

#[derive(Debug, Clone, Default)]
struct Call {
    name: String,
    arguments: String,
    started: Option<Timestamp>,
    settled: Option<(Outcome, Option<f64>)>,
}

impl AgentEnvelopes {
    /// A projection that begins at the start of a session's journal.
    pub fn new(session: SessionId, detail: Detail) -> AgentEnvelopes {
        AgentEnvelopes {
            session,
            detail,
            run: None,
            step: Step { new_input: true, ..Step::default() },
            calls: HashMap::new(),
            last_text: None,
            status: None,
            chunk: 0,
        }
    }

    /// The envelopes of a batch.
    pub fn batch(&mut self, batch: &Batch) -> Vec<Envelope> {
        batch.records().flat_map(|record| self.record(&record)).collect()
    }

    /// The envelopes of a record.
    pub fn record(&mut self, record: &Record) -> Vec<Envelope> {
        let payloads = self.payloads(record);
        let envelope = |(kind, payload): (&str, Object)| Envelope {
            kind: kind.to_owned(),
            session: self.session.clone(),
            execution: record.run.clone().or_else(|| self.run.clone()),
            time: record.time.clone(),
            seq: Some(record.seq),
            payload,
        };
        payloads.into_iter().map(envelope).collect()
    }

    /// The envelope of a piece of an answer, if pieces are told.
    pub fn delta(&mut self, delta: &Delta, time: Time) -> Option<Envelope> {
        let Delta::Text(text) = delta else {
            return None;
        };
        if !self.detail.chunks || text.is_empty() {
            return None;
        }
        let mut payload = Object::new();
        payload.set("chunk", text.as_str());
        payload.set("is_complete", false);
        payload.set("tokens_delta", Json::Null);
        payload.set("index", self.chunk);
        self.chunk = self.chunk.saturating_add(1);
        Some(Envelope {
            kind: "agent.stream.chunk".to_owned(),
            session: self.session.clone(),
            execution: self.run.clone(),
            time: Some(time),
            seq: None,
            payload,
        })
    }

    fn payloads(&mut self, record: &Record) -> Vec<(&'static str, Object)> {
        let at = record.time.as_ref().and_then(Time::instant);
        match &record.event {
            Event::RunStarted(started) => {
                self.run.clone_from(&started.run.id);
                self.change_status("in_progress", None)
            }
            Event::RunStopped(stopped) => self.stopped(stopped),
            Event::ModelAsked(asked) => vec![("agent.step.started", self.asked(asked, at))],
            Event::BlockAdded(added) => self.block(&added.block, at),
            Event::TurnClosed(closed) => self.closed(closed, at),
            Event::ToolIntended(intended) => vec![("agent.tool.started", self.intended(intended, at))],
            Event::ToolSettled(settled) => {
                self.settled(settled, at);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn change_status(&mut self, status: &str, error: Option<&str>) -> Vec<(&'static str, Object)> {
        if self.status.as_deref() == Some(status) {
            return Vec::new();
        }
        self.status = Some(status.to_owned());
        let mut payload = Object::new();
        payload.set("status", status);
        payload.set("step_count", u64::from(self.step.number));
        payload.set("error_message", error.map_or(Json::Null, Json::from));
        payload.set("last_response", self.last_text.as_deref().map_or(Json::Null, Json::from));
        vec![("agent.status", payload)]
    }

    fn stopped(&mut self, stopped: &RunStopped) -> Vec<(&'static str, Object)> {
        match &stopped.status {
            Some(Status::Failed(failed)) => self.change_status("failed", Some(&failed.error.clone())),
            Some(status) => self.change_status(status.kind(), None),
            None => Vec::new(),
        }
    }

    fn asked(&mut self, asked: &ModelAsked, at: Option<Timestamp>) -> Object {
        if self.step.turn != Some(asked.turn) {
            let number = if self.step.new_input { 1 } else { self.step.number.saturating_add(1) };
            self.step = Step { number, turn: Some(asked.turn), ..Step::default() };
        }
        self.step.started = at;
        self.chunk = 0;
        let mut payload = Object::new();
        payload.set("step_number", u64::from(self.step.number));
        payload.set("message_count", u64::from(asked.messages.unwrap_or(0)));
        payload.set("available_tools", Json::Array(asked.tools.iter().map(|tool| tool.as_str().into()).collect()));
        payload
    }

    fn block(&mut self, block: &Block, at: Option<Timestamp>) -> Vec<(&'static str, Object)> {
        match &block.body {
            Body::Text(text) if block.author == Author::Assistant => self.last_text = Some(text.text.clone()),
            Body::ToolCall(call) => {
                self.step.has_calls = true;
                let known = Call { name: call.name.clone(), arguments: call.arguments.clone(), ..Call::default() };
                self.calls.insert(call.call.clone(), known);
            }
            Body::ToolResult(result) => return vec![("agent.tool.completed", self.completed(result, at))],
            _ if block.author == Author::User => self.step.new_input = true,
            _ => {}
        }
        if block.author == Author::User {
            self.step.new_input = true;
        }
        Vec::new()
    }

    fn intended(&mut self, intended: &ToolIntended, at: Option<Timestamp>) -> Object {
        let call = self.calls.entry(intended.call.clone()).or_default();
        call.started = at;
        let mut payload = Object::new();
        payload.set("tool_name", call.name.as_str());
        payload.set("tool_call_id", intended.call.to_string());
        match self.detail.arguments {
            Some(limit) => payload.set("args", whole_arguments(&call.arguments, limit)),
            None => payload.set("args_summary", summary_of_arguments(&call.arguments).map_or(Json::Null, Json::from)),
        }
        payload
    }

    fn settled(&mut self, settled: &ToolSettled, at: Option<Timestamp>) {
        let call = self.calls.entry(settled.call.clone()).or_default();
        let recorded = settled.seconds.as_ref().map(turnkeep_model::Number::as_f64);
        let between = || Some(crate::port::seconds(call.started?, at?));
        call.settled = Some((settled.outcome.clone(), recorded.or_else(between)));
    }

    fn completed(&mut self, result: &ToolResult, _: Option<Timestamp>) -> Object {
        let call = self.calls.remove(&result.call).unwrap_or_default();
        let (outcome, seconds) = call.settled.unwrap_or((Outcome::Success, None));
        let success = outcome == Outcome::Success && result.is_error != Some(true);
        let mut payload = Object::new();
        payload.set("tool_name", result.name.clone().unwrap_or(call.name));
        payload.set("tool_call_id", result.call.to_string());
        payload.set("success", success);
        payload.set("error", result.error.as_deref().map_or(Json::Null, Json::from));
        payload.set("duration_ms", milliseconds(seconds));
        payload.set("result_summary", summary_of_result(&result.parts).map_or(Json::Null, Json::from));
        payload
    }

    /// The end of an answer is told when it is known whether the run goes on.
    fn closed(&mut self, closed: &TurnClosed, at: Option<Timestamp>) -> Vec<(&'static str, Object)> {
        self.step.errors += closed.errors.len();
        if let Some(finish) = &closed.finish {
            self.step.finish = Some(finish.reason.as_str().to_owned());
        }
        if let Some(usage) = &closed.usage {
            self.step.usage = usage.clone();
        }
        let Some(continuation) = &closed.continuation else {
            return Vec::new();
        };
        let mut step = Object::new();
        step.set("step_number", u64::from(self.step.number));
        step.set("has_tool_calls", self.step.has_calls);
        step.set("errors", self.step.errors as u64);
        step.set("finish_reason", self.step.finish.as_deref().map_or(Json::Null, Json::from));
        step.set("usage", usage(&self.step.usage));
        let seconds = self.step.started.zip(at).map(|(from, to)| crate::port::seconds(from, to));
        step.set("duration_ms", milliseconds(seconds));
        let mut outcome = Object::new();
        outcome.set("should_continue", continuation.should_continue.unwrap_or(false));
        let reason = continuation.stop_reason.as_ref().map_or("completed", |reason| reason.as_str());
        outcome.set("stop_reason", reason);
        outcome.set("resolved_by", continuation.resolved_by.as_deref().map_or(Json::Null, Json::from));
        if !self.detail.continuation_trace {
            return vec![("agent.step.completed", step)];
        }
        step.set("continuation", Json::Object(outcome.clone()));
        let mut trace = Object::new();
        trace.set("step_number", u64::from(self.step.number));
        outcome.iter().for_each(|(key, value)| trace.set(&key.to_str_lossy(), value.clone()));
        let evaluations = continuation.evaluations.iter().map(|said| {
            let mut one = Object::new();
            one.set("criterion", short_name(&said.criterion));
            one.set("decision", said.decision.as_ref().map_or(Json::Null, |decision| decision.as_str().into()));
            one.set("reason", said.reason.as_deref().map_or(Json::Null, Json::from));
            Json::Object(one)
        });
        trace.set("evaluations", Json::Array(evaluations.collect()));
        vec![("agent.step.completed", step), ("agent.continuation", trace)]
    }
}

/// The last part of a class name.
fn short_name(name: &str) -> &str {
    name.rsplit(['\\', '/']).next().unwrap_or(name)
}

/// Whole milliseconds, as a JSON number.
fn milliseconds(seconds: Option<f64>) -> Json {
    ((seconds.unwrap_or(0.0) * 1000.0).round().max(0.0) as u64).into()
}

fn usage(usage: &Usage) -> Json {
    let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
    let mut object = Object::new();
    object.set("prompt", input);
    object.set("completion", output);
    object.set("total", usage.total.unwrap_or_else(|| input.saturating_add(output)));
    Json::Object(object)
}

/// The first three arguments, each at most 30 characters; none where they are no object.
pub fn summary_of_arguments(arguments: &str) -> Option<String> {
    let json = turnkeep_model::json::parse(arguments).ok()?.into_json();
    let object = json.as_object()?;
    let one = |(key, value): (&turnkeep_model::JsonString, &Json)| {
        let text = value.as_str().map_or_else(|| value.to_text(), |text| format!("'{text}'"));
        format!("{}: {}", key.to_str_lossy(), cut(&text, 30))
    };
    Some(object.iter().take(3).map(one).collect::<Vec<_>>().join(", "))
}

fn whole_arguments(arguments: &str, limit: usize) -> Json {
    let Ok(node) = turnkeep_model::json::parse(arguments) else {
        return arguments.into();
    };
    let mut json = node.into_json();
    if let Json::Object(object) = &mut json {
        for (_, value) in object.iter_mut() {
            if let Some(text) = value.as_str()
                && text.chars().count() > limit
            {
                let short: String = text.chars().take(limit).collect();
                *value = format!("{short}...").into();
            }
        }
    }
    json
}

/// The result's text, at most 100 characters.
pub fn summary_of_result(parts: &[Part]) -> Option<String> {
    (!parts.is_empty()).then(|| cut(&result_text(parts), 100))
}

/// The text of a result; what is none is named.
pub(crate) fn result_text(parts: &[Part]) -> String {
    let text = parts.iter().map(|part| match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        other => format!("[{}]", other.kind()),
    });
    text.collect::<Vec<_>>().join("\n")
}

/// At most `limit` characters; a longer text ends in dots.
fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(3)).collect();
    format!("{kept}...")
}
