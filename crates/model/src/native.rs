//! The native document: one or more sessions, complete and portable.

use crate::error::{Error, ErrorKind, Result};
use crate::extra::Extra;
use crate::id::Seq;
use crate::journal::Journal;
use crate::json::{Fields, JsonSink, Layout, Nan, Node, Sink, parse_with};
use crate::loss::Loss;
use crate::session::Session;
use crate::shape::{Shape, ShapeReader};

/// Every version of the native formats, with a sentence on what it brought. Writers write the newest, readers read
/// all, a newer one than these is refused only where its major number differs.
pub const VERSIONS: &[(u16, &str)] =
    &[(1, "The first: sessions as JSON or YAML documents, and journals as one line a batch.")];

/// The version that is written.
pub const VERSION: u16 = 1;

/// One or more sessions with parent and fork links, and which of them is the main one.
///
/// ```
/// use turnkeep_model::{Archive, Session};
///
/// let archive = Archive::from(Session::default());
///
/// assert_eq!(archive.sessions.len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Archive {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// The index of the main one.
    pub main: u32,
    /// Where in its journal the main one was taken, if it is a snapshot of one.
    pub seq: Option<Seq>,
    /// The journal that the main one was folded from, where there was one. It is not part of the document.
    pub journal: Option<Box<Journal>>,
    /// Fields of a newer version, and what the source had around its sessions.
    pub extra: Extra,
}

crate::shape::flat_shape! { Archive { sessions: opt, main: opt, seq: opt } journal extra }

impl From<Session> for Archive {
    fn from(session: Session) -> Archive {
        Archive { sessions: vec![session], ..Archive::default() }
    }
}

impl Archive {
    /// The main session, if there is any.
    pub fn main_session(&self) -> Option<&Session> {
        self.sessions.get(self.main as usize)
    }

    /// The path prefix of the places in session `index`: empty for the main one.
    pub fn prefix(&self, index: usize) -> String {
        if index == self.main as usize { String::new() } else { format!("sessions[{index}].") }
    }

    /// Writes the document into `out`.
    pub fn write<S: Sink>(&self, out: &mut S) {
        out.begin_object();
        out.key("turnkeep");
        VERSION.write(out);
        if self.main != 0 {
            out.key("main");
            self.main.write(out);
        }
        if let Some(seq) = self.seq {
            out.key("seq");
            seq.write(out);
        }
        self.extra.write_fields(out);
        out.key("sessions");
        self.sessions.write(out);
        out.end_object();
    }

    /// The document as a JSON text.
    pub fn to_json(&self, layout: Layout) -> String {
        let mut sink = JsonSink::native(layout);
        self.write(&mut sink);
        sink.into_text()
    }

    /// Reads a document.
    ///
    /// # Errors
    /// `NotThisFormat` if it is another document, `Unsupported` if its version is newer, `Corrupt` with the path where
    /// something has another shape.
    pub fn read(node: Node<'_>) -> Result<(Archive, Vec<Loss>)> {
        let mut reading = ShapeReader::default();
        let mut fields = reading.object(node)?;
        check_version(&mut fields, &mut reading)?;
        let (mut document, rest) = <Archive as crate::shape::FlatShape>::read_fields(fields, &mut reading)?;
        document.extra = Extra::read_fields(rest, &mut reading)?;
        if document.main as usize >= document.sessions.len().max(1) {
            return Err(Error::new(ErrorKind::Corrupt, "`main` names a session that is not there").path("main"));
        }
        let main = format!("sessions[{}]", document.main);
        Ok((document, reading.losses.into_iter().map(|loss| strip_main(loss, &main)).collect()))
    }
}

/// Takes the version mark of a native document.
pub(crate) fn check_version(fields: &mut Fields<'_>, reading: &mut ShapeReader) -> Result<u16> {
    let Some(node) = reading.take(fields, "turnkeep") else {
        return Err(Error::new(ErrorKind::NotThisFormat, "the field `turnkeep` is missing")
            .hint("name the format with --from, or ask `turnkeep sniff`"));
    };
    let version = reading.within("turnkeep", |reading| u16::read(node, reading))?;
    if VERSIONS.iter().all(|(known, _)| *known != version) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!("version {version} of the native format is not known here"),
        )
        .path("turnkeep")
        .hint("use a newer turnkeep"));
    }
    Ok(version)
}

/// Places in the main session are told without naming it.
fn strip_main(mut loss: Loss, main: &str) -> Loss {
    if let Some(rest) = loss.at.strip_prefix(main) {
        loss.at = rest.strip_prefix('.').unwrap_or(rest).to_owned();
    }
    loss
}

/// A session at a place of its journal, as a complete portable document.
///
/// ```
/// use turnkeep_model::{Seq, Session, Snapshot};
///
/// let snapshot = Snapshot { session: Session::default(), seq: Seq(3) };
///
/// assert_eq!(Snapshot::from_json(&snapshot.to_json())?.0, snapshot);
/// # Ok::<(), turnkeep_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The session.
    pub session: Session,
    /// The place.
    pub seq: Seq,
}

impl Snapshot {
    /// The snapshot as a JSON text.
    pub fn to_json(&self) -> String {
        Archive::from(self.clone()).to_json(Layout::Compact)
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    /// As [`Archive::read`]; also where the text holds no session.
    pub fn from_json(text: &str) -> Result<(Snapshot, Vec<Loss>)> {
        let (document, losses) =
            parse_with(text, Nan::Accept).and_then(Archive::read).map_err(|error| error.locate(text))?;
        Ok((Snapshot::try_from(document)?, losses))
    }
}

impl From<Snapshot> for Archive {
    fn from(snapshot: Snapshot) -> Archive {
        Archive { sessions: vec![snapshot.session], seq: Some(snapshot.seq), ..Archive::default() }
    }
}

/// The main session of a document. One that does not say where in a journal it was taken is at its beginning.
impl TryFrom<Archive> for Snapshot {
    type Error = Error;

    fn try_from(mut document: Archive) -> Result<Snapshot> {
        let main = document.main as usize;
        if main >= document.sessions.len() {
            return Err(Error::new(ErrorKind::Corrupt, "the snapshot holds no session"));
        }
        Ok(Snapshot { session: document.sessions.swap_remove(main), seq: document.seq.unwrap_or_default() })
    }
}

const _: () = assert!(matches!(VERSIONS.last(), Some((VERSION, _))), "every version has its sentence");
