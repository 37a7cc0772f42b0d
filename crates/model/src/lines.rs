//! The lines of a journal: its head, and one for every batch.

use crate::error::{Error, ErrorKind, Result};
use crate::extra::Extra;
use crate::id::SessionId;
use crate::journal::{Batch, Journal, line_sum};
use crate::json::{self, Json, JsonSink, Layout, Nan, Node, Sink};
use crate::loss::Loss;
use crate::native::VERSION;
use crate::shape::{Shape, ShapeReader};

impl Journal {
    /// The first line, without the line break: the version, whose journal it is, and fields of a newer version.
    pub fn head_line(&self) -> String {
        let mut sink = JsonSink::native(Layout::Compact);
        sink.begin_object();
        sink.key("turnkeep");
        VERSION.write(&mut sink);
        sink.key("journal");
        self.session.write(&mut sink);
        if let Some(fields) = self.extra.fields("turnkeep") {
            for (key, value) in fields.iter() {
                sink.spelled_key(key);
                sink.json(value);
            }
        }
        sink.end_object();
        sink.into_text()
    }

    /// The journal that begins with this line, without any batch yet.
    ///
    /// # Errors
    /// `NotThisFormat` if the line is no head, `Unsupported` if its version is newer, `Corrupt` if it is damaged.
    pub fn from_head_line(line: &str) -> Result<Journal> {
        let not_ours = || Error::new(ErrorKind::NotThisFormat, "the first line is not the head of a journal").line(1);
        let mut reading = ShapeReader::default();
        let node = json::parse_with(line, Nan::Accept)?;
        let Some(version) = node.get("turnkeep").cloned() else {
            return Err(not_ours());
        };
        let version = u16::read(version, &mut reading)?;
        if version > VERSION {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("version {version} of the journal is not known here"),
            )
            .line(1)
            .hint("use a newer turnkeep"));
        }
        let session: Option<SessionId> = match node.get("journal").cloned() {
            Some(id) => Shape::read(id, &mut reading)?,
            None => return Err(not_ours()),
        };
        let mut extra = Extra::NONE;
        for (key, value) in reading.object(node)? {
            if !matches!(&*key.to_str_lossy(), "turnkeep" | "journal") {
                let value: Json = Shape::read(value, &mut reading)?;
                extra.part_mut("turnkeep").fields.push(key.into_json_string(), value);
            }
        }
        Ok(Journal { session, batches: Vec::new(), extra })
    }
}

impl Batch {
    /// The batch of a line, and what could not be kept of it. Its sum is checked; a line without one is accepted.
    ///
    /// # Errors
    /// `Corrupt` if the line is damaged or does not match its sum.
    pub fn from_line(line: &str) -> Result<(Batch, Vec<Loss>)> {
        let mut node = json::parse_with(line, Nan::Accept)?;
        check_sum(line, &mut node, Spelling::Foreign)?;
        let mut reading = ShapeReader::default();
        let batch = Batch::read(node, &mut reading)?;
        Ok((batch.read_from(line), reading.losses))
    }

    /// The batch of a line whose spelling is known, which saves comparing it. A line of ours has a sum.
    ///
    /// # Errors
    /// `Corrupt` if the line is damaged, does not match its sum, or is ours and lacks it.
    pub fn from_line_spelled(line: &str, spelling: Spelling) -> Result<Batch> {
        let mut node = json::parse_with(line, Nan::Accept)?;
        check_sum(line, &mut node, spelling)?;
        let batch = Batch::read(node, &mut ShapeReader::default())?;
        Ok(match spelling {
            Spelling::Ours => batch,
            Spelling::Foreign => batch.read_from(line),
        })
    }
}

/// Whether a line is what writing its batch gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Writing the batch gives the same bytes.
    Ours,
    /// Someone else spelled it; its bytes are kept with the batch.
    Foreign,
}

fn take_sum<'a>(node: &mut Node<'a>) -> Option<Node<'a>> {
    let json::Value::Object(fields) = &mut node.value else {
        return None;
    };
    let at = fields.iter().position(|(key, _)| key.to_str_lossy() == "sum")?;
    Some(fields.remove(at).1)
}

/// Takes the sum off a line and checks it. One of someone else's spelling may have none: a person may have edited it.
fn check_sum(line: &str, node: &mut Node<'_>, spelling: Spelling) -> Result<()> {
    let Some(sum) = take_sum(node) else {
        return match spelling {
            Spelling::Ours => Err(Error::new(ErrorKind::Corrupt, "the line lacks its sum").hint("restore it")),
            Spelling::Foreign => Ok(()),
        };
    };
    let before = line.rfind(",\"sum\":").and_then(|at| line.get(..at)).unwrap_or_default();
    if sum.as_str().as_deref() == Some(&line_sum(before)) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Corrupt, "the line does not match its sum")
        .hint("restore it; or, if it was edited on purpose, remove its `sum`"))
}
