//! Structured lines about what the server does. They never hold content, tokens or queries.

use std::fmt::Write;
use std::sync::Arc;

/// One line: what happened, and its facts by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// What happened.
    pub event: &'static str,
    /// The facts.
    pub facts: Vec<(&'static str, String)>,
}

impl LogLine {
    /// A line without facts.
    pub fn new(event: &'static str) -> LogLine {
        LogLine { event, facts: Vec::new() }
    }

    /// Adds a fact.
    #[must_use]
    pub fn fact(mut self, name: &'static str, value: impl ToString) -> LogLine {
        self.facts.push((name, value.to_string()));
        self
    }

    /// The line as JSON, with the time.
    pub fn to_json(&self) -> String {
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let mut line = format!("{{\"time\":\"{:.3}\",\"event\":{}", jiff::Timestamp::now(), quoted(self.event));
        for (name, value) in &self.facts {
            let _ = write!(line, ",{}:{}", quoted(name), quoted(value));
        }
        line.push('}');
        line
    }
}

/// Who takes the lines; nobody by default.
#[derive(Clone, Default)]
pub struct Log(Option<Arc<Take>>);

type Take = dyn Fn(&LogLine) + Send + Sync;

impl Log {
    /// Someone who takes them.
    pub fn new(take: impl Fn(&LogLine) + Send + Sync + 'static) -> Log {
        Log(Some(Arc::new(take)))
    }

    pub(crate) fn write(&self, line: &LogLine) {
        if let Some(take) = &self.0 {
            take(line);
        }
    }
}
