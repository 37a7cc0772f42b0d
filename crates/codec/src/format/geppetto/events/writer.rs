//! From a journal to event lines.

use std::collections::VecDeque;

use turnkeep_model::event::{
    BlockAdded, ModelAsked, ModelFailed, RunStarted, RunStopped, ToolIntended, ToolSettled, TurnClosed,
};
use turnkeep_model::json::{Json, Object};
use turnkeep_model::{
    Author, Block, Body, CallId, Event, Journal, Outcome, Record, Session, Status, StopReason, Timing, ToolCall, Turn,
    Usage, canon,
};

use super::super::outcome;
use super::line::{EventLine, value_of};
use super::piece::{self, EventScope, PieceField, arguments, part_text, reasoning, status, text, uuid};

/// A piece of an answer, as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// More text.
    Text(String),
    /// More thinking.
    Reasoning(String),
    /// More of a call's arguments.
    Arguments {
        /// Which call of the answer, from 0.
        index: u32,
        /// The text.
        text: String,
    },
}

/// The lines of what a journal tells: one event after the other, each with the ids that tie it to its run. Answers are
/// told whole: a journal has no pieces of them.
pub fn event_lines(journal: &Journal) -> Vec<EventLine> {
    event_lines_with(journal, &[])
}

/// The same with the pieces in which answers arrived: one list for every time that a model was asked, in order.
pub fn event_lines_with(journal: &Journal, heard: &[Vec<Piece>]) -> Vec<EventLine> {
    let session = journal.session.as_ref().map(ToString::to_string);
    let mut writer = EventWriter { session, heard: heard.iter().cloned().collect(), ..EventWriter::default() };
    for batch in &journal.batches {
        let records: Vec<Record> = batch.records().collect();
        // An answer and why it ended are recorded together, and so are a failure and what it used.
        writer.closed = records.iter().find_map(|record| match &record.event {
            Event::TurnClosed(closed) => Some(closed.clone()),
            _ => None,
        });
        writer.used = records.iter().find_map(|record| match &record.event {
            Event::UsageAdded(added) => Some(added.usage.clone()),
            _ => None,
        });
        records.iter().for_each(|record| writer.tell(record));
    }
    writer.lines
}

#[derive(Default)]
struct EventWriter {
    session: Option<String>,
    run: Option<String>,
    prompt: Option<String>,
    /// The id of the turn document, where it has one.
    document: Option<String>,
    turn: u32,
    attempt: u32,
    segment: u32,
    /// Whether a model was asked and nothing came of it yet.
    is_asking: bool,
    closed: Option<TurnClosed>,
    used: Option<Usage>,
    /// The calls so far, to name tools by, and how many of them are of the answer that is being told.
    calls: Vec<ToolCall>,
    calls_of_answer: u32,
    settled: Vec<(CallId, Outcome)>,
    /// In which pieces answers arrive that were not asked for yet, and those of this one that were not told yet.
    heard: VecDeque<Vec<Piece>>,
    pieces: Vec<Piece>,
    at: i64,
    lines: Vec<EventLine>,
}

impl EventWriter {
    fn tell(&mut self, record: &Record) {
        self.at = record
            .time
            .as_ref()
            .and_then(turnkeep_model::Time::instant)
            .map_or(self.at, jiff::Timestamp::as_millisecond);
        match &record.event {
            Event::SessionOpened(opened) => self.opened(&opened.session),
            Event::TurnOpened(opened) => self.opened_turn(&opened.turn),
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

    fn opened(&mut self, session: &Session) {
        self.session = self.session.take().or_else(|| session.id.as_ref().map(ToString::to_string));
        session.turns.iter().for_each(|turn| self.opened_turn(turn));
    }

    fn opened_turn(&mut self, turn: &Turn) {
        self.document = turn.id.as_ref().map(ToString::to_string).or(self.document.take());
        let asked = turn.blocks.iter().rev().filter(|block| block.author == Author::User);
        let asked = asked.filter_map(|block| block.body.as_text()).next();
        self.prompt = asked.map(str::to_owned).or(self.prompt.take());
    }

    fn say(&mut self, kind: &str, place: EventScope<'_>, fields: Vec<(&str, Json)>) {
        let mut meta = self.meta();
        if kind == "provider-call-finished" {
            let outcome = fields.iter().filter(|(key, _)| ["stop_reason", "usage", "duration_ms"].contains(key));
            outcome.for_each(|(key, value)| meta.push(*key, value.clone()));
        }
        let mut event: Object = [("type", Json::from(kind)), ("meta", meta.into())].into_iter().collect();
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
        let texts = [
            ("model", model),
            ("session_id", self.session.as_deref()),
            ("inference_id", self.run.as_deref()),
            ("turn_id", self.document.as_deref()),
        ];
        for (key, text) in texts {
            text.into_iter().for_each(|text| meta.push(key, text));
        }
        meta
    }

    fn call_id(&self) -> String {
        format!("{}:provider-call:{}:{}", self.run.as_deref().unwrap_or_default(), self.turn, self.attempt)
    }

    fn correlation(&self, place: EventScope<'_>) -> Object {
        let mut ids = Object::new();
        let own = [
            ("session_id", self.session.as_deref()),
            ("run_id", self.run.as_deref()),
            ("turn_id", self.document.as_deref()),
        ];
        for (key, id) in own {
            id.into_iter().for_each(|id| ids.push(key, id));
        }
        match place {
            EventScope::Run => {}
            EventScope::Call => ids.push("provider_call_id", self.call_id()),
            EventScope::Segment(kind) => {
                ids.push("provider_call_id", self.call_id());
                ids.push("segment_id", format!("{}:{}:{kind}", self.call_id(), self.segment));
            }
            EventScope::Tool(call) => {
                ids.push("provider_call_id", self.call_id());
                ids.push("tool_call_id", call);
            }
        }
        ids
    }

    fn started(&mut self, started: &RunStarted) {
        self.interrupted();
        self.run = started.run.id.as_ref().map(ToString::to_string);
        let prompt = self.prompt.clone().map(|prompt| ("prompt", prompt.into()));
        self.say("run-started", EventScope::Run, prompt.into_iter().collect());
    }

    fn stopped(&mut self, stopped: &RunStopped) {
        self.interrupted();
        let reason = stopped.reason.as_ref().map_or_else(String::new, ToString::to_string);
        match &stopped.status {
            Some(Status::Failed(failed)) => {
                self.say("run-failed", EventScope::Run, vec![("error_string", failed.error.as_str().into())]);
            }
            _ if stopped.reason == Some(StopReason::Completed) => {
                self.say("run-finished", EventScope::Run, vec![("status", "completed".into())]);
            }
            _ => self.say("run-stopped", EventScope::Run, vec![("reason", reason.into())]),
        }
    }

    fn asked(&mut self, asked: &ModelAsked) {
        self.interrupted();
        (self.turn, self.segment, self.calls_of_answer, self.is_asking) = (asked.turn, 0, 0, true);
        self.attempt = asked.attempt.unwrap_or(1);
        self.pieces = self.heard.pop_front().unwrap_or_default();
        self.say("provider-call-started", EventScope::Call, Vec::new());
    }

    /// A call of the provider that nothing came of is over when something else begins.
    fn interrupted(&mut self) {
        if self.is_asking {
            self.broken_off();
            self.finished("", "interrupted", None, None);
        }
    }

    /// What arrived of an answer that did not come to its end.
    fn broken_off(&mut self) {
        for (kind, of) in [("reasoning", reasoning as PieceField), ("text", text as PieceField)] {
            let pieces: Vec<String> = self.pieces.iter().filter_map(of).map(str::to_owned).collect();
            if !pieces.is_empty() {
                self.say(&format!("{kind}-segment-started"), EventScope::Segment(kind), Vec::new());
                self.deltas(kind, pieces);
                self.segment += 1;
            }
        }
        self.pieces.clear();
    }

    fn failed(&mut self, failed: &ModelFailed) {
        let why = failed.message.clone().or_else(|| failed.class.clone()).unwrap_or_default();
        self.broken_off();
        self.say("error", EventScope::Call, vec![("error_string", why.into())]);
        if self.is_asking {
            let used = self.used.take();
            self.finished("", "error", used.as_ref(), None);
        }
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
        self.say(&format!("{kind}-segment-started"), EventScope::Segment(kind), first);
        let pieces = self.take_pieces(if kind == "text" { piece::text } else { reasoning }, text);
        self.deltas(kind, pieces);
        let mut fields = vec![("text", text.into())];
        fields.extend(self.stop_word().map(|word| ("finish_reason", word.into())));
        fields.extend(last);
        self.say(&format!("{kind}-segment-finished"), EventScope::Segment(kind), fields);
        self.segment += 1;
    }

    /// The pieces in which this text arrived, which are then told. What they lack of it is a piece of its own.
    fn take_pieces(&mut self, of: impl Fn(&Piece) -> Option<&str>, whole: &str) -> Vec<String> {
        let mut taken: Vec<String> = Vec::new();
        let mut rest = whole;
        let mut is_over = false;
        self.pieces.retain(|piece| {
            let own = of(piece).filter(|_| !is_over);
            let Some(piece) = own else { return true };
            match rest.strip_prefix(piece) {
                Some(more) if !rest.is_empty() => {
                    taken.push(piece.to_owned());
                    rest = more;
                    false
                }
                _ => {
                    is_over = true;
                    true
                }
            }
        });
        if !taken.is_empty() && !rest.is_empty() {
            taken.push(rest.to_owned());
        }
        taken
    }

    /// Pieces of a text, each with all that came before it.
    fn deltas(&mut self, kind: &str, pieces: Vec<String>) {
        let mut whole = String::new();
        for (piece, sequence) in pieces.into_iter().zip(1_u64..) {
            whole.push_str(&piece);
            let fields = vec![("delta", piece.into()), ("text", whole.as_str().into()), ("sequence", sequence.into())];
            self.say(&format!("{kind}-delta"), EventScope::Segment(kind), fields);
        }
    }

    fn called(&mut self, call: &ToolCall) {
        let own = self.calls_of_answer;
        self.calls_of_answer += 1;
        self.calls.push(call.clone());
        self.tool("tool-call-started", &call.call, Vec::new());
        let pieces = self.take_pieces(|piece| arguments(piece, own), &call.arguments);
        let mut whole = String::new();
        for (piece, sequence) in pieces.into_iter().zip(1_u64..) {
            whole.push_str(&piece);
            let fields =
                vec![("delta", piece.into()), ("arguments", whole.as_str().into()), ("sequence", sequence.into())];
            self.tool("tool-call-arguments-delta", &call.call, fields);
        }
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
        self.say(kind, EventScope::Tool(&id), all);
    }

    fn stop_word(&self) -> Option<String> {
        let finish = self.closed.as_ref()?.finish.as_ref()?;
        Some(finish.word.clone().unwrap_or_else(|| finish.reason.to_string()))
    }

    /// The end of an answer. A turn is closed again when its calls are settled; the provider's call is over by then.
    fn closed(&mut self, closed: &TurnClosed) {
        if self.is_asking {
            let word = self.stop_word().unwrap_or_default();
            let class = outcome::finish_class(&word, self.calls_of_answer > 0);
            self.finished(&word, class, closed.usage.as_ref(), closed.timing.as_ref());
        }
    }

    fn finished(&mut self, word: &str, class: &str, usage: Option<&Usage>, timing: Option<&Timing>) {
        self.is_asking = false;
        let mut fields = Vec::new();
        if !word.is_empty() {
            fields.push(("stop_reason", Json::from(word)));
        }
        fields.push(("finish_class", class.into()));
        if let Some(usage) = usage.map(outcome::usage).filter(|usage| !usage.is_empty()) {
            fields.push(("usage", usage.into()));
        }
        let seconds = timing.and_then(|timing| timing.seconds.as_ref());
        fields.extend(seconds.and_then(|n| outcome::milliseconds_of(n.as_str())).map(|ms| ("duration_ms", ms.into())));
        fields.push(("has_tool_calls", (self.calls_of_answer > 0).into()));
        self.say("provider-call-finished", EventScope::Call, fields);
    }
}
