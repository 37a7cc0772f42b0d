//! A time that keeps its source text.

use std::fmt;

use jiff::Timestamp;

use crate::error::Result;
use crate::extra::Extra;
use crate::json::{Node, Number, Sink};
use crate::shape::{Shape, ShapeReader, shape};

/// A time as its source wrote it. Its value is read from that text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Time(Box<str>);

impl Time {
    /// A time from its text, whatever that is.
    pub fn new(text: impl Into<String>) -> Time {
        Time(text.into().into())
    }

    /// The moment, written as RFC 3339 in UTC with milliseconds.
    pub fn from_instant(instant: Timestamp) -> Time {
        Time(instant.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string().into())
    }

    /// The text as the source wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The moment, if the text names one: a time without a zone does not.
    pub fn instant(&self) -> Option<Timestamp> {
        self.0.parse().ok()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Time {
    fn from(text: &str) -> Time {
        Time(text.into())
    }
}

impl Shape for Time {
    fn write<S: Sink>(&self, out: &mut S) {
        out.text(&self.0);
    }

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Time> {
        String::read(node, reading).map(Time::new)
    }
}

/// When something was made and changed, and how long it ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timing {
    /// When it was made.
    pub created: Option<Time>,
    /// When it was last changed.
    pub updated: Option<Time>,
    /// When it began to run.
    pub started: Option<Time>,
    /// When it ended.
    pub completed: Option<Time>,
    /// How many seconds it ran, summed over its runs.
    pub seconds: Option<Number>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { Timing { created: opt, updated: opt, started: opt, completed: opt, seconds: opt } }
