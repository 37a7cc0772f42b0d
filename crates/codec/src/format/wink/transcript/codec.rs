//! The codec.

use turnkeep_model::json::{Json, Node, Object};
use turnkeep_model::{Archive, Loss, LossKind, Result, Session, SessionId};

use super::entry::Entry;
use super::read::{MAIN, SourceReader};
use super::write::SourceWriter;
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Keeps, Spec};
use crate::format::wink::codec::with_first;
use crate::format::wink::python::{self, Dumps};
use crate::format::wink::{FORMAT, lines};
use crate::input::Input;
use crate::loss_report;
use crate::sniff::Guess;

/// `wink.transcript`.
pub(crate) struct TranscriptCodec;

const FIDELITY: Fidelity = Fidelity {
    keys: Keeps::All,
    system_text: Keeps::All,
    reasoning: Keeps::Some,
    tool_ids: Keeps::All,
    tool_errors: Keeps::All,
    usage: Keeps::Some,
    ids: Keeps::Some,
    timestamps: Keeps::All,
    ..Fidelity::NOTHING
};

impl Codec for TranscriptCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "wink.transcript",
            title: "weakincentives transcript (log records, JSON lines)",
            extensions: &[".jsonl"],
            fidelity: FIDELITY,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        with_first(input, |record| {
            if is_record(record) {
                Guess::certain("its first line is a log record of weakincentives")
            } else {
                Guess::no()
            }
        })
    }

    fn decode(&self, input: Input<'_>, _: &DecodeOptions) -> Result<Decoded> {
        let text = input.text()?;
        let mut losses = Vec::new();
        let records = read(text, &mut losses);
        let ends = text.is_empty() || text.ends_with('\n');
        Ok(Decoded { archive: archive_of(records, ends), losses })
    }

    fn encode(&self, archive: &Archive, _: &EncodeOptions) -> Result<Encoded> {
        let records = write(archive);
        let mut text = String::new();
        for record in &records {
            python::append(record, Dumps::Plain, &mut text);
            text.push('\n');
        }
        let ends = archive.extra.spelling(FORMAT, "newline").is_none();
        if !ends {
            text.pop();
        }
        let back = archive_of(records, ends);
        Ok(Encoded {
            bytes: text.into_bytes(),
            losses: loss_report::losses(archive, &back, "a weakincentives transcript"),
        })
    }
}

fn is_record(record: &Node<'_>) -> bool {
    let event = record.get("event").and_then(|event| event.as_str().map(std::borrow::Cow::into_owned));
    let logger = record.get("logger").and_then(|logger| logger.as_str().map(std::borrow::Cow::into_owned));
    let ours = logger.is_some_and(|logger| logger.starts_with("weakincentives"));
    record.get("context").is_some() && (ours || event.is_some_and(|event| event.starts_with("transcript.")))
}

/// The records of a text. As with the original, a line that is none is skipped; here that is reported.
fn read(text: &str, losses: &mut Vec<Loss>) -> Vec<Json> {
    let mut records = Vec::new();
    for (number, line) in lines::numbered(text) {
        match lines::parse_line(line) {
            Ok(node) if node.as_object().is_some() => records.push(node.into_json()),
            _ => {
                let what = format!("line {number} is no log record and was skipped");
                losses.push(Loss::decode(LossKind::Dropped, "turns", what));
            }
        }
    }
    records
}

fn archive_of(records: Vec<Json>, ends: bool) -> Archive {
    let (sessions, main) = sessions_of(records);
    let mut archive = Archive { sessions, main, ..Archive::default() };
    if !ends {
        archive.extra.part_mut(FORMAT).spelling.set("newline", false);
    }
    archive
}

/// The sessions of some records, one a source in the order of their first entries, and which is the main one.
pub(in crate::format::wink) fn sessions_of(records: Vec<Json>) -> (Vec<Session>, u32) {
    let mut tellers: Vec<SourceReader> = vec![SourceReader::new(MAIN)];
    for (ordinal, record) in records.into_iter().enumerate() {
        let ordinal = u32::try_from(ordinal).unwrap_or(u32::MAX);
        match Entry::read(&record) {
            Some(entry) => teller(&mut tellers, &entry.source).entry(entry, ordinal),
            None => teller(&mut tellers, MAIN).record(record, ordinal),
        }
    }
    let mut main: Option<SessionId> = None;
    let mut sessions = Vec::new();
    for teller in tellers {
        let session = teller.finish(main.as_ref());
        if sessions.is_empty() {
            main.clone_from(&session.id);
        }
        sessions.push(session);
    }
    (sessions, 0)
}

fn teller<'t>(tellers: &'t mut Vec<SourceReader>, source: &str) -> &'t mut SourceReader {
    let at = tellers.iter().position(|teller| teller.source() == source).unwrap_or_else(|| {
        tellers.push(SourceReader::new(source));
        tellers.len() - 1
    });
    #[expect(clippy::indexing_slicing, reason = "the position was just found or pushed")]
    &mut tellers[at]
}

/// The records of the main session, and of the subagents that a transcript told of.
fn write(archive: &Archive) -> Vec<Json> {
    let mut records: Vec<(u32, Json)> = Vec::new();
    for (index, session) in archive.sessions.iter().enumerate() {
        let is_main = index == archive.main as usize;
        if !is_main && !is_subagent(session) {
            continue;
        }
        let mut scribe = SourceWriter::new(session, is_main);
        for (turn, _, block) in session.in_message_order() {
            let Some(turn) = session.turns.get(turn) else { continue };
            records.extend(scribe.record(turn, block).map(|record| (block.message.ordinal, record)));
        }
    }
    records.sort_by_key(|(ordinal, _)| *ordinal);
    if records.is_empty() {
        return vec![started()];
    }
    records.into_iter().map(|(_, record)| record).collect()
}

/// The record that opens a transcript, for one that tells nothing: an empty file would be no transcript at all.
fn started() -> Json {
    let context = [("component", Json::from("transcript"))].into_iter().collect::<Object>();
    let record = [
        ("level", Json::from("DEBUG")),
        ("logger", Json::from("weakincentives.runtime.transcript")),
        ("event", Json::from("transcript.start")),
        ("message", Json::from("transcript emission started")),
        ("context", Json::Object(context)),
    ];
    Json::Object(record.into_iter().collect())
}

fn is_subagent(session: &Session) -> bool {
    session.agent.as_deref().is_some_and(|agent| agent.starts_with("subagent:"))
}
