//! The five codecs.

use turnkeep_model::json::{Json, Node};
use turnkeep_model::{Archive, Error, ErrorKind, Loss, Result, Session};

use super::check::{check_session, check_snapshot, check_state, expect_map, expect_messages};
use super::map::{note, note_word};
use super::php::Spelling;
use super::slim::{self, Dialect};
use super::verdict::{self, Rejection, Validator};
use super::words::Generation;
use super::{FORMAT, jsonl, jsonl_out, session, slim_out, snapshot, state, state_out};
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Keeps, Mode, Spec};
use crate::input::{Document, Input};
use crate::loss_report;
use crate::sniff::Guess;

/// `cognesy.slim`: a slim snapshot of an agent's state.
pub(crate) struct SlimCodec;

/// `cognesy.state`: the full state of an agent, in three generations.
pub(crate) struct StateCodec;

/// `cognesy.continuation`: a continuation snapshot.
pub(crate) struct ContinuationCodec;

/// `cognesy.session`: a session file.
pub(crate) struct SessionCodec;

/// `cognesy.jsonl`: the message storage with its branches.
pub(crate) struct JsonlCodec;

const MESSAGES_ONLY: Fidelity = Fidelity {
    keys: Keeps::All,
    system_text: Keeps::All,
    media: Keeps::Some,
    tool_ids: Keeps::All,
    tool_errors: Keeps::Nothing,
    status: Keeps::Some,
    ids: Keeps::Some,
    ..Fidelity::NOTHING
};
const SLIM: Fidelity = Fidelity { usage: Keeps::Some, timing: Keeps::Some, timestamps: Keeps::Some, ..MESSAGES_ONLY };
const FULL: Fidelity =
    Fidelity { options: Keeps::Some, reasoning: Keeps::Some, tool_errors: Keeps::Some, timestamps: Keeps::All, ..SLIM };

/// The note on how the text was spelled.
const LAYOUT: &str = "layout";

/// The notes on which generation a state or a snapshot is of, where it is not the usual one.
const STATE_NOTE: &str = "state";
const SLIM_NOTE: &str = "slim";

/// The word for a bare list of messages. It is written back as one, but no variant: an empty one says nothing of itself.
const LIST: &str = "messages";

/// A document that has been parsed and looked through.
struct Opened {
    document: Json,
    spelling: Spelling,
    losses: Vec<Loss>,
}

/// Parses a document; the program's verdict ends it in compat mode, and gives losses otherwise.
fn open(
    input: Input<'_>,
    options: &DecodeOptions,
    usual: Spelling,
    check: impl FnOnce(&Node<'_>) -> Result<Vec<Rejection>>,
) -> Result<Opened> {
    let Document { node, text, notes, .. } = input.into_document()?;
    let rejections = check(&node).map_err(|error| error.locate(text))?;
    if let (Mode::Compat, Some(rejection)) = (options.mode, rejections.first()) {
        return Err(rejection.error());
    }
    let mut losses = notes.losses();
    losses.extend(verdict::repeated(&node));
    losses.extend(rejections.iter().map(Rejection::loss));
    Ok(Opened { document: node.into_json(), spelling: Spelling::of(text, usual), losses })
}

/// Which generation wrote a state.
pub(super) fn generation(node: &Node<'_>) -> Generation {
    if node.get("stateInfo").is_some() || (node.get("steps").is_some() && node.get("execution").is_none()) {
        Generation::V1
    } else if node.get("messageStore").is_some() || node.get("cachedContext").is_some() {
        Generation::January
    } else {
        Generation::V2
    }
}

/// Which generation a state is of, from its notes.
fn noted_generation(session: &Session, options: &EncodeOptions) -> String {
    let wanted = options.variant.clone().or_else(|| note_word(&session.extra, STATE_NOTE));
    wanted.unwrap_or_else(|| Generation::V2.as_str().to_owned())
}

fn set_note(session: &mut Session, key: &str, value: impl Into<Json>) {
    session.extra.part_mut(FORMAT).spelling.set(key, value);
}

fn note_layout(session: &mut Session, spelling: Spelling, usual: Spelling) {
    if let Some(layout) = spelling.note(usual) {
        set_note(session, LAYOUT, layout);
    }
}

fn layout(session: &Session, usual: Spelling) -> Spelling {
    Spelling::from_note(note(&session.extra, LAYOUT), usual)
}

/// A document, written, with what a reader would not find in it.
fn encoded(
    archive: &Archive,
    document: Json,
    usual: Spelling,
    holder: &str,
    read: impl FnOnce(Json) -> (Session, Vec<Loss>),
) -> Encoded {
    let empty = Session::default();
    let spelling = layout(archive.main_session().unwrap_or(&empty), usual);
    let text = spelling.write(&document);
    let (mut back, _) = read(document);
    note_layout(&mut back, Spelling::of(&text, usual), usual);
    let losses = loss_report::losses(archive, &Archive::from(back), holder);
    Encoded { bytes: text.into_bytes(), losses }
}

fn decoded(
    mut session: Session,
    mut losses: Vec<Loss>,
    opened_losses: Vec<Loss>,
    spelling: (Spelling, Spelling),
) -> Decoded {
    note_layout(&mut session, spelling.0, spelling.1);
    losses.extend(opened_losses);
    Decoded { archive: session.into(), losses }
}

impl Codec for StateCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "cognesy.state",
            title: "instructor-php agent state",
            variants: &["v2", "2026-01", "v1.18"],
            extensions: &[".json"],
            fidelity: FULL,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        super::sniff::state(input)
            .map_or_else(Guess::no, |(guess, node)| guess.of(node.map_or(LIST, |node| generation(node).as_str())))
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        let mut found = Generation::V2;
        let opened = open(input, options, Spelling::PRETTY, |node| {
            found = generation(node);
            check_state(node, "")
        })?;
        let (session, losses) = read_state(opened.document, found);
        Ok(decoded(session, losses, opened.losses, (opened.spelling, Spelling::PRETTY)))
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let empty = Session::default();
        let session = archive.main_session().unwrap_or(&empty);
        let variant = noted_generation(session, options);
        let generation = Generation::from_word(&variant).unwrap_or(Generation::V2);
        let document = match variant.as_str() {
            LIST => state_out::write_messages(session),
            _ => state_out::write(session, generation),
        };
        let read = |document| read_state(document, generation);
        Ok(encoded(archive, document, Spelling::PRETTY, "an agent state", read))
    }
}

fn read_state(document: Json, generation: Generation) -> (Session, Vec<Loss>) {
    let (mut session, losses, note) = match document {
        Json::Array(items) if !items.is_empty() => {
            let (session, losses) = state::read_messages(items);
            (session, losses, LIST)
        }
        document => {
            let (session, losses) = state::read(document, generation);
            (session, losses, generation.as_str())
        }
    };
    if note != Generation::V2.as_str() {
        set_note(&mut session, STATE_NOTE, note);
    }
    (session, losses)
}

impl Codec for SlimCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "cognesy.slim",
            title: "instructor-php slim snapshot",
            variants: Dialect::NAMES,
            extensions: &[".json"],
            fidelity: SLIM,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        super::sniff::slim(input)
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        let opened = open(input, options, Spelling::PRETTY, |node| {
            expect_map(node, "")?;
            expect_messages(node.get("messages"), "messages")?;
            if options.mode == Mode::Faithful {
                super::view::expect_required(node)?;
            }
            let mut validator = Validator::new(Generation::January);
            validator.snapshot(node);
            Ok(validator.rejections)
        })?;
        let dialect = Dialect::of(&opened.document);
        let (session, losses) = read_slim(opened.document, dialect);
        Ok(decoded(session, losses, opened.losses, (opened.spelling, Spelling::PRETTY)))
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let empty = Session::default();
        let session = archive.main_session().unwrap_or(&empty);
        let wanted = options.variant.clone().or_else(|| note_word(&session.extra, SLIM_NOTE));
        let dialect = wanted.and_then(|word| Dialect::from_word(&word)).unwrap_or(Dialect::Proposal);
        let document = slim_out::write(session, dialect);
        let read = |document| read_slim(document, dialect);
        Ok(encoded(archive, document, Spelling::PRETTY, "a slim snapshot", read))
    }
}

fn read_slim(document: Json, dialect: Dialect) -> (Session, Vec<Loss>) {
    let (mut session, losses) = slim::read(document, dialect);
    if dialect != Dialect::Proposal {
        set_note(&mut session, SLIM_NOTE, dialect.as_str());
    }
    (session, losses)
}

impl Codec for ContinuationCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "cognesy.continuation",
            title: "instructor-php continuation snapshot",
            extensions: &[".json"],
            fidelity: MESSAGES_ONLY,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        super::sniff::continuation(input)
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        let opened = open(input, options, Spelling::PRETTY, check_snapshot)?;
        let (mut session, losses) = snapshot::read(opened.document);
        if options.mode == Mode::Compat {
            // The program starts a fresh execution whatever the snapshot says.
            session.status = Some(turnkeep_model::status::InProgress {}.into());
        }
        Ok(decoded(session, losses, opened.losses, (opened.spelling, Spelling::PRETTY)))
    }

    fn encode(&self, archive: &Archive, _: &EncodeOptions) -> Result<Encoded> {
        let empty = Session::default();
        let document = snapshot::write(archive.main_session().unwrap_or(&empty));
        Ok(encoded(archive, document, Spelling::PRETTY, "a continuation snapshot", snapshot::read))
    }
}

impl Codec for SessionCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "cognesy.session",
            title: "instructor-php session file",
            extensions: &[".json"],
            fidelity: Fidelity { tools: Keeps::Some, ..FULL },
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        super::sniff::session(input)
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        let file = input.name().unwrap_or_default().to_owned();
        let refuse = |error: Error| match options.mode {
            Mode::Compat => refused(&file, &error),
            Mode::Faithful => error,
        };
        let opened =
            open(input, options, Spelling::STORED, |node| check_session(node, options.mode)).map_err(refuse)?;
        let (session, losses) = session::read(opened.document);
        Ok(decoded(session, losses, opened.losses, (opened.spelling, Spelling::STORED)))
    }

    fn encode(&self, archive: &Archive, _: &EncodeOptions) -> Result<Encoded> {
        let empty = Session::default();
        let document = session::write(archive.main_session().unwrap_or(&empty));
        Ok(encoded(archive, document, Spelling::STORED, "a session file", session::read))
    }
}

/// The program's words for a file that it refuses.
fn refused(file: &str, error: &Error) -> Error {
    let what = error.what();
    let reason = match what {
        what if what.starts_with("Missing or invalid ") => what.to_owned(),
        what if what.starts_with("not JSON") || what.starts_with("the document ends") || error.at_line().is_some() => {
            "Invalid JSON".to_owned()
        }
        what => format!("Deserialization failed: {what}"),
    };
    Error::new(ErrorKind::Corrupt, format!("Invalid session file [{file}]: {reason}"))
}

impl Codec for JsonlCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "cognesy.jsonl",
            title: "instructor-php message storage (JSON lines)",
            extensions: &[".jsonl"],
            fidelity: Fidelity {
                keys: Keeps::All,
                status: Keeps::Nothing,
                tool_errors: Keeps::Some,
                ids: Keeps::Some,
                timestamps: Keeps::Some,
                ..MESSAGES_ONLY
            },
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        super::sniff::jsonl(input)
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        let text = input.text()?;
        let (lines, mut losses) = jsonl::lines(text);
        if lines.is_empty() && !text.trim().is_empty() {
            return Err(Error::new(ErrorKind::Corrupt, "no line is a JSON object")
                .line(1)
                .hint("restore the file from its source"));
        }
        let (mut archive, more) = jsonl::read(lines, options.mode);
        losses.extend(more);
        note_lines(&mut archive, Spelling::of(text, LINES));
        Ok(Decoded { archive, losses })
    }

    fn encode(&self, archive: &Archive, _: &EncodeOptions) -> Result<Encoded> {
        let records = jsonl_out::write(archive);
        let empty = Session::default();
        let spelling = layout(archive.main_session().unwrap_or(&empty), LINES);
        let mut text = records.iter().map(|record| spelling.line(record)).collect::<Vec<_>>().join("\n");
        if spelling.newline && !text.is_empty() {
            text.push('\n');
        }
        let lines = records.into_iter().enumerate();
        let lines = lines.map(|(at, record)| jsonl::Line { number: at + 1, record }).collect();
        let (mut back, _) = jsonl::read(lines, Mode::Faithful);
        note_lines(&mut back, Spelling::of(&text, LINES));
        Ok(Encoded { bytes: text.into_bytes(), losses: loss_report::losses(archive, &back, "a message storage") })
    }
}

/// How the storage is usually spelled.
const LINES: Spelling = Spelling { newline: true, ..Spelling::PLAIN };

fn note_lines(archive: &mut Archive, spelling: Spelling) {
    let main = archive.main as usize;
    let spelling = Spelling { indent: None, ..spelling };
    archive.sessions.get_mut(main).into_iter().for_each(|session| note_layout(session, spelling, LINES));
}
