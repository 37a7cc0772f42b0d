//! turnkeep's own formats: a document of sessions as JSON or YAML, and a journal of batches as JSON lines.

use turnkeep_model::json::{self, JsonSink, Layout, Nan, Node};
use turnkeep_model::{Archive, Batch, Error, ErrorKind, Journal, Loss, LossKind, Result, Seq, fold};

use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Spec};
use crate::input::{Document, Input, Syntax};
use crate::sniff::Guess;
use crate::yaml::{Style, YamlSink};

/// `turnkeep`: sessions as a JSON document.
pub(super) struct JsonCodec;

/// `turnkeep.yaml`: the same document as YAML.
pub(super) struct YamlCodec;

/// `turnkeep.jsonl`: the journal of a session, one line a batch.
pub(super) struct JournalCodec;

const PRETTY: &str = "pretty";

impl Codec for JsonCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "turnkeep",
            title: "turnkeep session document (JSON)",
            variants: &["compact", PRETTY],
            extensions: &[".turnkeep.json"],
            fidelity: Fidelity::FULL,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        sniff_document(input, Syntax::Json)
    }

    fn decode(&self, input: Input<'_>, _: &DecodeOptions) -> Result<Decoded> {
        decode_document(input)
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let layout = if options.variant.as_deref() == Some(PRETTY) { Layout::Pretty } else { Layout::Compact };
        let mut sink = JsonSink::native(layout);
        archive.write(&mut sink);
        let mut bytes = sink.into_bytes();
        bytes.push(b'\n');
        Ok(Encoded { bytes, losses: Vec::new() })
    }
}

impl Codec for YamlCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "turnkeep.yaml",
            title: "turnkeep session document (YAML)",
            extensions: &[".turnkeep.yaml"],
            fidelity: Fidelity::FULL,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        sniff_document(input, Syntax::Yaml)
    }

    fn decode(&self, input: Input<'_>, _: &DecodeOptions) -> Result<Decoded> {
        decode_document(input)
    }

    fn encode(&self, archive: &Archive, _: &EncodeOptions) -> Result<Encoded> {
        let mut sink = YamlSink::new(Style::Readable);
        archive.write(&mut sink);
        Ok(Encoded { bytes: sink.into_text().into_bytes(), losses: Vec::new() })
    }
}

fn sniff_document(input: &Input<'_>, syntax: Syntax) -> Guess {
    match input.object() {
        Some(document) if document.syntax == syntax => match document.node.get("turnkeep") {
            Some(version) if document.node.get("sessions").is_some() => {
                let version = version.clone().into_json().to_text();
                Guess::certain("it has the keys `turnkeep` and `sessions`").of(format!("version {version}"))
            }
            _ => Guess::no(),
        },
        _ => Guess::no(),
    }
}

fn decode_document(input: Input<'_>) -> Result<Decoded> {
    let Document { node, text, notes, .. } = input.into_native_document()?;
    let (archive, mut losses) = Archive::read(node).map_err(|error| error.locate(text))?;
    losses.extend(notes.losses());
    Ok(Decoded { archive, losses })
}

impl Codec for JournalCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "turnkeep.jsonl",
            title: "turnkeep journal (JSON lines)",
            extensions: &[".turnkeep.jsonl"],
            fidelity: Fidelity::FULL,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        if input.first_line().is_some_and(is_head) || input.text().is_err() && has_torn_head(input) {
            return Guess::certain("its first line has the keys `turnkeep` and `journal`");
        }
        Guess::no()
    }

    fn decode(&self, input: Input<'_>, _: &DecodeOptions) -> Result<Decoded> {
        let (text, cut) = whole_text(&input)?;
        let (journal, mut losses) = read_journal(text)?;
        if let (Some(loss), true) = (cut, losses.is_empty()) {
            losses.push(loss);
        }
        let session = fold(&journal)?;
        let seq = Some(journal.last());
        let archive = Archive { seq, journal: Some(Box::new(journal)), ..Archive::from(session) };
        Ok(Decoded { archive, losses })
    }

    fn encode(&self, archive: &Archive, _: &EncodeOptions) -> Result<Encoded> {
        let Some(session) = archive.main_session() else {
            return Err(Error::new(ErrorKind::NotFound, "there is no session to write"));
        };
        // A session that was changed after it was read is no longer what its journal tells.
        let told = archive.journal.as_deref().filter(|journal| fold(journal).is_ok_and(|told| told == *session));
        let journal = told.cloned().unwrap_or_else(|| Journal::of(session));
        let mut losses = other_sessions(archive, "a journal");
        losses.extend(beside_sessions(archive, "a journal"));
        losses.extend(lost_seq(archive, journal.last()));
        Ok(Encoded { bytes: write_journal(&journal).into_bytes(), losses })
    }
}

fn is_head(node: &Node<'_>) -> bool {
    ["turnkeep", "journal"].iter().all(|key| node.get(key).is_some()) && node.get("sessions").is_none()
}

/// Whether a text that ends in the middle of a character is a journal.
fn has_torn_head(input: &Input<'_>) -> bool {
    let first = whole_text(input).ok().and_then(|(text, _)| crate::input::lines(text).next());
    first.and_then(|line| json::parse_with(line, Nan::Accept).ok()).is_some_and(|node| is_head(&node))
}

/// The text up to a character that was cut off at its end, and that cut.
fn whole_text<'a>(input: &Input<'a>) -> Result<(&'a str, Option<Loss>)> {
    let bytes = input.bytes();
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => {
            let whole = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let loss = Loss::decode(LossKind::Dropped, "", "the last line is torn and was dropped");
            Ok((Input::new(whole).text()?, Some(loss)))
        }
        _ => Ok((input.text()?, None)),
    }
}

/// The loss of the main session's place, where the journal that is written has another.
fn lost_seq(archive: &Archive, written: Seq) -> Option<Loss> {
    let seq = archive.seq.filter(|seq| *seq != written)?;
    let why = format!("the journal of place {seq} is not at hand; the one written ends at {written}");
    Some(Loss::encode(LossKind::Coerced, "seq", why))
}

/// The loss of what stands beside the sessions of an archive, for formats that have no place for it.
pub(super) fn beside_sessions(archive: &Archive, holder: &str) -> Vec<Loss> {
    let what = format!("{holder} holds nothing beside its session");
    let lost = |at: String| Loss::encode(LossKind::Dropped, at, what.clone());
    let mut losses = Vec::new();
    for (format, part) in archive.extra.parts() {
        match format {
            "turnkeep" => losses.extend(part.fields.iter().map(|(key, _)| lost(key.to_str_lossy().into_owned()))),
            format => losses.push(lost(format!("extra.{format}"))),
        }
    }
    losses
}

/// The loss of every session but the main one, for formats that hold one.
pub(super) fn other_sessions(archive: &Archive, holder: &str) -> Vec<Loss> {
    let others = (0..archive.sessions.len()).filter(|index| *index != archive.main as usize);
    others
        .map(|index| {
            Loss::encode(LossKind::Dropped, format!("sessions[{index}]"), format!("{holder} holds one session"))
        })
        .collect()
}

fn write_journal(journal: &Journal) -> String {
    let mut text = journal.head_line();
    text.push('\n');
    for batch in &journal.batches {
        text.push_str(&batch.to_line());
        text.push('\n');
    }
    text
}

fn read_journal(text: &str) -> Result<(Journal, Vec<Loss>)> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, head) = lines.next().ok_or_else(|| Error::new(ErrorKind::Corrupt, "the journal is empty"))?;
    let mut journal = Journal::from_head_line(head).map_err(|error| error.locate(head))?;
    let mut losses = Vec::new();
    let mut lines = lines.peekable();
    while let Some((index, line)) = lines.next() {
        match Batch::from_line(line) {
            Ok((batch, mut lost)) => {
                losses.append(&mut lost);
                journal.batches.push(batch);
            }
            // A write that was cut off leaves a torn last line: the batch was never acknowledged.
            Err(_) if lines.peek().is_none() && !text.ends_with('\n') => {
                losses.push(Loss::decode(LossKind::Dropped, "", format!("line {} is torn and was dropped", index + 1)));
            }
            Err(error) => return Err(error.line(index + 1)),
        }
    }
    Ok((journal, losses))
}
