//! From a journal to event lines.

use turnkeep_model::event::{
    BlockAdded, ModelAsked, ModelFailed, RunStarted, RunStopped, ToolIntended, ToolSettled, TurnClosed,
};
use turnkeep_model::json::{Json, Object};
use turnkeep_model::{
    Author, Block, Body, CallId, Event, Journal, Outcome, Part, Record, Status, StopReason, ToolCall, canon,
};

use super::super::outcome;
use super::line::{EventLine, value_of};

/// The lines of what a journal tells: one event after the other, each with the ids that tie it to its run. Answers are
/// told whole; pieces of them are never recorded.
pub fn event_lines(journal: &Journal) -> Vec<EventLine> {
    let mut teller = Teller { session: journal.session.as_ref().map(ToString::to_string), ..Teller::default() };
    for batch in &journal.batches {
        let records: Vec<Record> = batch.records().collect();
        // An answer and why it ended are recorded together.
        teller.closed = records.iter().find_map(|record| match &record.event {
            Event::TurnClosed(closed) => Some(closed.clone()),
            _ => None,
        });
        records.iter().for_each(|record| teller.tell(record));
    }
    teller.lines
}

#[derive(Default)]
struct Teller {
    session: Option<String>,
    run: Option<String>,
    prompt: Option<String>,
    turn: u32,
    attempt: u32,
    segment: u32,
    closed: Option<TurnClosed>,
    /// The calls so far, to name tools by.
    calls: Vec<ToolCall>,
    settled: Vec<(CallId, Outcome)>,
    at: i64,
    lines: Vec<EventLine>,
}

impl Teller {
    fn tell(&mut self, record: &Record) {
        self.at = record
            .time
            .as_ref()
            .and_then(turnkeep_model::Time::instant)
            .map_or(self.at, jiff::Timestamp::as_millisecond);
        match &record.event {
            Event::SessionOpened(opened) => {
                self.session = self.session.take().or_else(|| opened.session.id.as_ref().map(ToString::to_string));
            }
            Event::RunStarted(started) => self.started(started),
            Event::RunStopped(stopped) => self.stopped(stopped),
            Event::ModelAsked(asked) => self.asked(asked),
            Event::ModelFailed(failed) => self.failed(failed),
            Event::BlockAdded(added) => self.added(added),
            Event::TurnClosed(closed) => self.closed(closed),
            Event::ToolIntended(intended) => self.intended(intended),
            Event::ToolSettled(settled) => self.settle(settled),
            _ => {}
        }
    }

    fn say(&mut self, kind: &str, place: Place<'_>, fields: Vec<(&str, Json)>) {
        let mut event: Object = [("type", Json::from(kind)), ("meta", self.meta().into())].into_iter().collect();
        event.push("correlation", self.correlation(place));
        fields.into_iter().for_each(|(key, value)| event.push(key, value));
        self.lines.push(EventLine::new(event, self.at));
    }

    /// Who speaks, and in which message: the id is made of the session and the turn, and is the same whenever it is told.
    fn meta(&self) -> Object {
        let session = self.session.as_deref().unwrap_or_default();
        let digest = canon::digest(&Json::from(format!("{session}/{}", self.turn)));
        let mut meta = Object::new();
        meta.push("message_id", uuid(&digest));
        let model = self.closed.as_ref().and_then(|closed| closed.model.as_deref());
        let texts = [("model", model), ("session_id", self.session.as_deref()), ("inference_id", self.run.as_deref())];
        for (key, text) in texts {
            text.into_iter().for_each(|text| meta.push(key, text));
        }
        meta.push("turn_id", self.turn_id());
        meta
    }

    fn turn_id(&self) -> String {
        format!("{}#{}", self.session.as_deref().unwrap_or_default(), self.turn)
    }

    fn call_id(&self) -> String {
        format!("{}:provider-call:{}:{}", self.run.as_deref().unwrap_or_default(), self.turn, self.attempt)
    }

    fn correlation(&self, place: Place<'_>) -> Object {
        let mut ids = Object::new();
        let own = [("session_id", self.session.as_deref()), ("run_id", self.run.as_deref())];
        for (key, id) in own {
            id.into_iter().for_each(|id| ids.push(key, id));
        }
        if place != Place::Run {
            ids.push("turn_id", self.turn_id());
        }
        match place {
            Place::Run => {}
            Place::Call => ids.push("provider_call_id", self.call_id()),
            Place::Segment(kind) => {
                ids.push("provider_call_id", self.call_id());
                ids.push("segment_id", format!("{}:{}:{kind}", self.call_id(), self.segment));
            }
            Place::Tool(call) => {
                ids.push("provider_call_id", self.call_id());
                ids.push("tool_call_id", call);
            }
        }
        ids
    }

    fn started(&mut self, started: &RunStarted) {
        self.run = started.run.id.as_ref().map(ToString::to_string);
        let prompt = self.prompt.clone().map(|prompt| ("prompt", prompt.into()));
        self.say("run-started", Place::Run, prompt.into_iter().collect());
    }

    fn stopped(&mut self, stopped: &RunStopped) {
        let reason = stopped.reason.as_ref().map_or_else(String::new, ToString::to_string);
        match &stopped.status {
            Some(Status::Failed(failed)) => {
                self.say("run-failed", Place::Run, vec![("error_string", failed.error.as_str().into())]);
            }
            _ if stopped.reason == Some(StopReason::Completed) => {
                self.say("run-finished", Place::Run, vec![("status", "completed".into())]);
            }
            _ => self.say("run-stopped", Place::Run, vec![("reason", reason.into())]),
        }
    }

    fn asked(&mut self, asked: &ModelAsked) {
        (self.turn, self.segment) = (asked.turn, 0);
        self.attempt = asked.attempt.unwrap_or(1);
        self.say("provider-call-started", Place::Call, Vec::new());
    }

    fn failed(&mut self, failed: &ModelFailed) {
        let why = failed.message.clone().or_else(|| failed.class.clone()).unwrap_or_default();
        self.say("error", Place::Call, vec![("error_string", why.into())]);
    }

    fn added(&mut self, added: &BlockAdded) {
        let Block { author, body, .. } = &added.block;
        match body {
            Body::Text(text) if *author == Author::User => self.prompt = Some(text.text.clone()),
            Body::Text(text) if *author == Author::Assistant => {
                let role = ("role", "assistant".into());
                self.segment("text", vec![role], &text.text, Vec::new());
            }
            Body::Reasoning(reasoning) => {
                let source = if reasoning.text.is_some() { "thinking" } else { "summary" };
                let text = reasoning.text.clone().unwrap_or_else(|| reasoning.summary.join("\n\n"));
                self.segment("reasoning", vec![("source", source.into())], &text, vec![("source", source.into())]);
            }
            Body::ToolCall(call) => self.called(call),
            Body::ToolResult(result) => {
                let settled = self.settled.iter().find(|(call, _)| *call == result.call);
                let status = status(settled.map(|(_, outcome)| outcome).or(result.outcome.as_ref()));
                let text = result.parts.iter().map(part_text).collect::<Vec<_>>().join("\n");
                let told = if text.is_empty() { result.error.clone().unwrap_or_default() } else { text };
                self.tool("tool-result-ready", &result.call, vec![("result", told.into()), ("status", status.into())]);
                self.tool("tool-call-finished", &result.call, vec![("status", status.into())]);
            }
            _ => {}
        }
    }

    fn segment(&mut self, kind: &str, first: Vec<(&str, Json)>, text: &str, last: Vec<(&str, Json)>) {
        self.say(&format!("{kind}-segment-started"), Place::Segment(kind), first);
        let mut fields = vec![("text", text.into())];
        fields.extend(self.stop_word().map(|word| ("finish_reason", word.into())));
        fields.extend(last);
        self.say(&format!("{kind}-segment-finished"), Place::Segment(kind), fields);
        self.segment += 1;
    }

    fn called(&mut self, call: &ToolCall) {
        self.calls.push(call.clone());
        self.tool("tool-call-started", &call.call, Vec::new());
        self.tool("tool-call-requested", &call.call, vec![("input", value_of(&call.arguments))]);
    }

    fn intended(&mut self, intended: &ToolIntended) {
        let known = self.calls.iter().rfind(|call| call.call == intended.call);
        let input = known.map(|call| value_of(&call.arguments)).unwrap_or_default();
        self.tool("tool-execution-started", &intended.call, vec![("input", input)]);
    }

    fn settle(&mut self, settled: &ToolSettled) {
        self.settled.push((settled.call.clone(), settled.outcome.clone()));
    }

    fn tool(&mut self, kind: &str, call: &CallId, fields: Vec<(&str, Json)>) {
        let name = self.calls.iter().rfind(|known| known.call == *call).map(|call| call.name.clone());
        let id = call.to_string();
        let mut all = vec![("tool_call_id", Json::from(id.as_str())), ("tool_name", name.unwrap_or_default().into())];
        all.extend(fields);
        self.say(kind, Place::Tool(&id), all);
    }

    fn stop_word(&self) -> Option<String> {
        let finish = self.closed.as_ref()?.finish.as_ref()?;
        Some(finish.word.clone().unwrap_or_else(|| finish.reason.to_string()))
    }

    fn closed(&mut self, closed: &TurnClosed) {
        let calls = self.calls_of_answer();
        let word = self.stop_word().unwrap_or_default();
        let mut fields = vec![("finish_class", Json::from(outcome::finish_class(&word, calls)))];
        if !word.is_empty() {
            fields.insert(0, ("stop_reason", word.into()));
        }
        if let Some(usage) = closed.usage.as_ref().map(outcome::usage).filter(|usage| !usage.is_empty()) {
            fields.push(("usage", usage.into()));
        }
        let seconds = closed.timing.as_ref().and_then(|timing| timing.seconds.as_ref());
        fields.extend(seconds.and_then(|n| outcome::milliseconds_of(n.as_str())).map(|ms| ("duration_ms", ms.into())));
        fields.push(("has_tool_calls", calls.into()));
        self.say("provider-call-finished", Place::Call, fields);
    }

    /// Whether the answer that is being told calls tools.
    fn calls_of_answer(&self) -> bool {
        let own = self.call_id();
        self.lines.iter().rev().map(EventLine::event).any(|event| {
            let id = event.get("correlation").and_then(Json::as_object).and_then(|ids| ids.get_str("provider_call_id"));
            event.get_str("type").is_some_and(|kind| kind == "tool-call-started") && id.is_some_and(|id| id == own)
        })
    }
}

/// What an event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place<'a> {
    Run,
    Call,
    Segment(&'a str),
    Tool(&'a str),
}

fn status(outcome: Option<&Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Success) | None => "completed",
        Some(Outcome::Denied) => "denied",
        Some(Outcome::Interrupted) => "interrupted",
        Some(_) => "error",
    }
}

fn part_text(part: &Part) -> String {
    match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        _ => String::new(),
    }
}

/// A digest in the form of a UUID of version 8, which anyone may make as they like.
fn uuid(digest: &str) -> String {
    let part = |from: usize, to: usize| digest.get(from..to).unwrap_or_default();
    format!("{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
