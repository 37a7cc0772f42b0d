//! From the chunks of an answer to the body they make up.

use turnkeep_codec::wire::frame::aws::{self, AwsFramer};
use turnkeep_codec::wire::frame::{self, LineFramer, SseFramer};
use turnkeep_codec::wire::{Assembler, Delta, Wire, assemble};
use turnkeep_model::json::{self, Json, Nan, Node};

use crate::fault::{FaultKind, Told};

/// The largest answer that comes in one piece: it has to be held to be read.
const LARGEST_WHOLE: usize = 64 << 20;

/// Why an answer cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) kind: FaultKind,
    pub(super) told: Told,
}

impl Unreadable {
    fn new(kind: FaultKind, message: impl Into<String>) -> Unreadable {
        Unreadable { kind, told: Told { message: message.into(), class: None } }
    }
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// The body that the vendor would have sent without streaming.
    pub(super) body: Json,
    /// What a stream said beside it.
    pub(super) beside: Vec<Json>,
}

/// Reads an answer as it arrives. It holds what is answered, never what carries it.
pub(super) struct Reader {
    form: Form,
    assembler: Box<dyn Assembler>,
    /// Whether a stream said that it is over, beside what its events say.
    done: bool,
}

/// How an answer is carried.
enum Form {
    Events(SseFramer),
    Lines(LineFramer),
    Frames(AwsFramer),
    Whole(Vec<u8>),
    /// It is not told; the first bytes will.
    Unknown,
}

impl Reader {
    /// A reader of an answer with this content type.
    pub(super) fn new(wire: &dyn Wire, content_type: Option<&str>) -> Result<Reader, Unreadable> {
        let kind = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let form = match kind.as_str() {
            "text/event-stream" => Form::Events(SseFramer::default()),
            "application/x-ndjson" | "application/jsonl" | "application/x-jsonlines" => {
                Form::Lines(LineFramer::default())
            }
            "application/vnd.amazon.eventstream" => Form::Frames(AwsFramer::default()),
            "text/html" | "application/xhtml+xml" => {
                return Err(Unreadable::new(FaultKind::WrongContentType, format!("the answer is {kind}")));
            }
            kind if kind.starts_with("image/") || kind.starts_with("video/") || kind.starts_with("audio/") => {
                return Err(Unreadable::new(FaultKind::WrongContentType, format!("the answer is {kind}")));
            }
            _ => Form::Unknown,
        };
        Ok(Reader { form, assembler: wire.assembler(), done: false })
    }

    /// Takes the next bytes, and says what a screen can show of them.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Delta>, Unreadable> {
        if let Form::Unknown = self.form {
            self.form = form_of(bytes)?;
        }
        match &mut self.form {
            Form::Events(framer) => {
                let events = framer.push(bytes);
                let mut deltas = Vec::new();
                for event in events {
                    self.text(&event.data, &mut deltas)?;
                }
                Ok(deltas)
            }
            Form::Lines(framer) => {
                let lines = framer.push(bytes);
                let mut deltas = Vec::new();
                for line in lines {
                    self.text(&line, &mut deltas)?;
                }
                Ok(deltas)
            }
            Form::Frames(framer) => {
                let frames = framer.push(bytes).map_err(garbled)?;
                let mut deltas = Vec::new();
                for frame in &frames {
                    let event = aws::to_event(frame).map_err(garbled)?;
                    self.event(event, &mut deltas)?;
                }
                Ok(deltas)
            }
            Form::Whole(held) => {
                held.extend_from_slice(bytes);
                match held.len() > LARGEST_WHOLE {
                    true => Err(too_large()),
                    false => Ok(Vec::new()),
                }
            }
            // Only white space so far.
            Form::Unknown => Ok(Vec::new()),
        }
    }

    fn text(&mut self, text: &str, deltas: &mut Vec<Delta>) -> Result<(), Unreadable> {
        match text.trim() {
            "" => Ok(()),
            "[DONE]" => {
                self.done = true;
                Ok(())
            }
            text => self.event(parsed(text)?, deltas),
        }
    }

    fn event(&mut self, event: Json, deltas: &mut Vec<Delta>) -> Result<(), Unreadable> {
        if let Some(told) = Told::of_event(&event) {
            return Err(Unreadable { kind: FaultKind::StreamError, told });
        }
        deltas.extend(self.assembler.push(event).map_err(garbled)?);
        Ok(())
    }

    /// The body, now that there are no more bytes.
    pub(super) fn finish(mut self, wire: &dyn Wire) -> Result<(Read, Vec<Delta>), Unreadable> {
        let mut deltas = Vec::new();
        match std::mem::replace(&mut self.form, Form::Unknown) {
            Form::Unknown => return Err(cut()),
            Form::Whole(bytes) => return Ok((whole(&bytes, wire)?, deltas)),
            // What follows the last line break was cut off, or is the end of a stream without one.
            Form::Events(framer) => self.rest(framer.finish().map(|event| event.data), &mut deltas)?,
            Form::Lines(framer) => self.rest(framer.finish(), &mut deltas)?,
            Form::Frames(framer) if framer.is_torn() => return Err(cut()),
            Form::Frames(_) => {}
        }
        let assembled = self.assembler.finish();
        match assembled.complete || self.done {
            true => Ok((Read { body: assembled.body, beside: assembled.beside }, deltas)),
            false => Err(cut()),
        }
    }

    fn rest(&mut self, rest: Option<String>, deltas: &mut Vec<Delta>) -> Result<(), Unreadable> {
        match rest.map(|rest| self.text(&rest, deltas)) {
            Some(Err(Unreadable { kind: FaultKind::Malformed, .. })) => Err(cut()),
            Some(done) => done,
            None => Ok(()),
        }
    }
}

/// How an answer is carried that does not say so.
fn form_of(bytes: &[u8]) -> Result<Form, Unreadable> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    Ok(match bytes.trim_ascii_start().first() {
        None => Form::Unknown,
        Some(b'<') => return Err(Unreadable::new(FaultKind::WrongContentType, "the answer is a page, or XML")),
        Some(b'{' | b'[') => Form::Whole(Vec::new()),
        Some(0) => Form::Frames(AwsFramer::default()),
        Some(b'd' | b'e' | b'i' | b'r' | b':') => Form::Events(SseFramer::default()),
        Some(_) => return Err(Unreadable::new(FaultKind::Malformed, "the answer is neither JSON nor a stream")),
    })
}

/// A body that came in one piece; or a stream whose events are a list, or lines that are not called so.
fn whole(bytes: &[u8], wire: &dyn Wire) -> Result<Read, Unreadable> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| Unreadable::new(FaultKind::Malformed, "the answer is not UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match parsed(text) {
        Ok(Json::Object(body)) => match Told::of_event(&Json::Object(body.clone())) {
            Some(told) => Err(Unreadable { kind: FaultKind::StreamError, told }),
            None => Ok(Read { body: Json::Object(body), beside: Vec::new() }),
        },
        other => match frame::frames(text.as_bytes()) {
            Ok(Some(frames)) => {
                if let Some(told) = frames.events.iter().find_map(Told::of_event) {
                    return Err(Unreadable { kind: FaultKind::StreamError, told });
                }
                let assembled = assemble(frames, wire.assembler()).map_err(garbled)?;
                match assembled.complete {
                    true => Ok(Read { body: assembled.body, beside: assembled.beside }),
                    false => Err(cut()),
                }
            }
            _ => Err(other.err().unwrap_or_else(|| Unreadable::new(FaultKind::Malformed, "the answer is no object"))),
        },
    }
}

fn parsed(text: &str) -> Result<Json, Unreadable> {
    json::parse_with(text, Nan::Accept).map(Node::into_json).map_err(garbled)
}

/// The error's own words tell a place and what was expected there, never what stands there.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn garbled(error: turnkeep_model::Error) -> Unreadable {
    Unreadable::new(FaultKind::Malformed, format!("it is not the JSON of this wire: {}", error.what()))
}

fn cut() -> Unreadable {
    Unreadable::new(FaultKind::Cut, "it ended before its end")
}

fn too_large() -> Unreadable {
    Unreadable::new(FaultKind::TooLarge, format!("it is larger than {LARGEST_WHOLE} bytes and comes in one piece"))
}
