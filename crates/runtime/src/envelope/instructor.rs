//! Events of instructor-php, as its event bus gives them, made into the seven.
//!
//! An event is `{"event": NAME, "data": {…}}`. Several executions may be told at once: each has its own status and chunks,
//! and pieces of an answer find theirs by the id of the request that they answer.

mod execution;
mod raw;

use std::collections::HashMap;

use turnkeep_model::policy::Redactor;
use turnkeep_model::{ErrorKind, Json, RunId, SessionId, Time};

use self::execution::Execution;
use self::raw::Raw;
use super::event::AgentEvent;
use super::writer::Writer;
use super::{Envelope, EnvelopeOptions};
use crate::error::{Error, Result};

/// Turns the events of instructor-php into the seven kinds of envelopes.
///
/// ```
/// use turnkeep_runtime::envelope::{Detail, InstructorEvents};
///
/// let mut events = InstructorEvents::new(Some("s".into()), Detail::STANDARD);
/// let text = r#"[{"event": "AgentStepStarted", "data": {"executionId": "e", "step": 1, "messages": 2, "tools": 0}}]"#;
/// let told = events.read(text).unwrap();
///
/// assert_eq!(told[1].kind, "agent.step.started");
/// ```
#[derive(Debug, Clone)]
pub struct InstructorEvents {
    session: Option<SessionId>,
    options: EnvelopeOptions,
    redactor: Redactor,
    executions: HashMap<String, (Writer, Execution)>,
    /// Which execution made a request.
    requests: HashMap<String, String>,
    /// The execution that was heard of last: signals name none.
    last: Option<String>,
}

impl InstructorEvents {
    /// The events of a session; where none is named, each agent is its own.
    pub fn new(session: Option<SessionId>, options: impl Into<EnvelopeOptions>) -> InstructorEvents {
        let options = options.into();
        InstructorEvents {
            session,
            redactor: options.redact.redactor(),
            options,
            executions: HashMap::new(),
            requests: HashMap::new(),
            last: None,
        }
    }

    /// The envelopes of a document: a list of events, or one event a line.
    ///
    /// # Errors
    /// `NotThisFormat` where something in it is no event.
    pub fn read(&mut self, text: &str) -> Result<Vec<Envelope>> {
        let events = documents(text)?;
        if events.is_empty() {
            return Err(Error::new(ErrorKind::NotThisFormat, "there is no event").hint(HINT));
        }
        let mut envelopes = Vec::new();
        for (number, event) in events.iter().enumerate() {
            let event = Raw::of(event).ok_or_else(|| no_event(number + 1))?;
            envelopes.extend(self.tell(&event));
        }
        Ok(envelopes)
    }

    /// The envelopes of one event.
    ///
    /// # Errors
    /// `NotThisFormat` where it is no event.
    pub fn event(&mut self, event: &Json) -> Result<Vec<Envelope>> {
        let event = Raw::of(event).ok_or_else(|| no_event(1))?;
        Ok(self.tell(&event))
    }

    fn tell(&mut self, event: &Raw<'_>) -> Vec<Envelope> {
        let Some(id) = self.execution_of(event) else {
            return Vec::new();
        };
        if let Some(request) = event.text("inferenceExecutionId") {
            self.requests.insert(request, id.clone());
        }
        self.last = Some(id.clone());
        let session = self.session.clone().or_else(|| event.text("agentId").map(SessionId::new));
        let options = &self.options;
        let (writer, execution) = self.executions.entry(id.clone()).or_insert_with(|| {
            let session = session.unwrap_or_else(|| SessionId::new(id.as_str()));
            (Writer::new(session, options.clone()), Execution::new(options))
        });
        let told: Vec<AgentEvent> = execution.take(event, &mut self.redactor);
        let (run, time) = (Some(RunId::new(id)), event.time().map(|time| Time::from(time.as_str())));
        told.iter().filter_map(|event| writer.write(event, run.clone(), time.clone(), None)).collect()
    }

    /// The execution that an event belongs to: the one it names, or the one that made the request. A request that nobody
    /// has heard of belongs to none.
    fn execution_of(&self, event: &Raw<'_>) -> Option<String> {
        let named = event.text("executionId");
        let request = event.text("inferenceExecutionId");
        match (named, request) {
            (Some(named), _) => Some(named),
            (None, Some(request)) => self.requests.get(&request).cloned(),
            (None, None) => self.last.clone(),
        }
    }
}

const HINT: &str = "an event is {\"event\": NAME, \"data\": {…}}; a file holds a list of them, or one a line";

fn no_event(number: usize) -> Error {
    Error::new(ErrorKind::NotThisFormat, format!("item {number} is no event of instructor-php")).hint(HINT)
}

fn documents(text: &str) -> Result<Vec<Json>> {
    let whole = turnkeep_model::json::parse(text).map(turnkeep_model::json::Node::into_json);
    match whole {
        Ok(Json::Array(events)) => Ok(events),
        Ok(event) => Ok(vec![event]),
        Err(_) => text.lines().filter(|line| !line.trim().is_empty()).enumerate().map(line).collect(),
    }
}

fn line((number, line): (usize, &str)) -> Result<Json> {
    let read = turnkeep_model::json::parse(line).map(turnkeep_model::json::Node::into_json);
    read.map_err(|_| Error::new(ErrorKind::NotThisFormat, format!("line {} is no JSON", number + 1)).hint(HINT))
}
