//! One line of JSON an envelope.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use turnkeep_model::Object;
use turnkeep_runtime::Result;
use turnkeep_runtime::envelope::{Channel, Envelope};
use turnkeep_runtime::port::{BoxFuture, Broadcaster};

/// Writes every envelope as a line `{"channel": …, "event": …, "envelope": …}`.
///
/// A line is written whole, or the error says that it was not: what is written by then stays.
pub struct Ndjson<W> {
    out: Mutex<W>,
}

impl Ndjson<io::Stdout> {
    /// Writes to standard output.
    pub fn stdout() -> Ndjson<io::Stdout> {
        Ndjson::new(io::stdout())
    }
}

impl Ndjson<File> {
    /// Writes to the end of a file, which is made where it is not there.
    ///
    /// # Errors
    /// What the system says.
    pub fn append_to(path: &Path) -> Result<Ndjson<File>> {
        Ok(Ndjson::new(OpenOptions::new().create(true).append(true).open(path)?))
    }
}

impl<W: Write + Send> Ndjson<W> {
    /// Writes to this.
    pub fn new(out: W) -> Ndjson<W> {
        Ndjson { out: Mutex::new(out) }
    }

    /// What it wrote to.
    pub fn into_inner(self) -> W {
        self.out.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, channel: &Channel, envelopes: &[Envelope]) -> Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        for envelope in envelopes {
            out.write_all(line(channel, envelope).as_bytes())?;
        }
        Ok(out.flush()?)
    }
}

fn line(channel: &Channel, envelope: &Envelope) -> String {
    let mut line = Object::new();
    line.set("channel", channel.as_str());
    line.set("event", envelope.event_name());
    line.set("envelope", envelope.to_json());
    format!("{}\n", turnkeep_model::Json::Object(line).to_text())
}

impl<W: Write + Send> Broadcaster for Ndjson<W> {
    fn publish<'a>(&'a self, channel: &'a Channel, envelopes: &'a [Envelope]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.write(channel, envelopes) })
    }
}
