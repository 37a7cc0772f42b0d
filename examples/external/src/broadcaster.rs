//! A broadcaster of one's own: a line for each envelope, into anything that takes bytes.
//!
//! A real one would hand them to a queue or a socket. A relay calls it beside the agent; what it says of a failure is
//! counted there and never reaches the run.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use turnkeep::ErrorKind;
use turnkeep::runtime::envelope::{Channel, Envelope};
use turnkeep::runtime::port::{BoxFuture, Broadcaster};
use turnkeep::runtime::{Error, Result};

/// Writes `CHANNEL<TAB>ENVELOPE` lines.
pub struct LineWriter<W>(Mutex<W>);

impl<W: Write + Send> LineWriter<W> {
    /// Into this.
    pub fn new(out: W) -> LineWriter<W> {
        LineWriter(Mutex::new(out))
    }

    fn write(&self, channel: &Channel, envelopes: &[Envelope]) -> std::io::Result<()> {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for envelope in envelopes {
            writeln!(out, "{channel}\t{}", envelope.to_json().to_text())?;
        }
        out.flush()
    }
}

impl<W: Write + Send> Broadcaster for LineWriter<W> {
    fn publish<'a>(&'a self, channel: &'a Channel, envelopes: &'a [Envelope]) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.write(channel, envelopes).map_err(|error| {
                Error::new(ErrorKind::Unavailable, "the lines cannot be written").because(error).hint("try again")
            })
        })
    }
}
