//! The files that a run leaves behind.

use turnkeep_codec::format::geppetto::event_lines_with;
use turnkeep_codec::{EncodeOptions, Target};
use turnkeep_model::json::{self, JsonSink, Layout, Node};
use turnkeep_model::{Archive, Loss, Result, Session};

use crate::run::Ran;

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its name, without a directory.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// The files of a fixture's runs: every request, and for every run what happened and the turn afterwards. With them comes
/// what the turns could not keep of the session.
///
/// # Errors
/// Where a session cannot be written as a turn document.
pub fn artifacts(name: &str, requests: &[Vec<u8>], runs: &[Ran]) -> Result<(Vec<Artifact>, Vec<Loss>)> {
    let mut files = Vec::new();
    let mut lost = Vec::new();
    for (body, place) in requests.iter().zip(1..) {
        files.push(Artifact { name: numbered(name, "request", place, "json"), bytes: readable(body) });
    }
    let mut told = 0;
    for (ran, place) in runs.iter().zip(1..) {
        let (bytes, losses) = turn_document(&ran.session)?;
        files.push(Artifact { name: numbered(name, "final_turn", place, "yaml"), bytes });
        // What a line says may depend on what was told before: each run tells only what is new.
        let lines = event_lines_with(&ran.journal, &ran.pieces);
        let new = lines.iter().skip(told).map(|line| format!("{}\n", line.to_text())).collect::<String>();
        files.push(Artifact { name: numbered(name, "events", place, "ndjson"), bytes: new.into_bytes() });
        told = lines.len();
        lost = losses;
    }
    Ok((files, lost))
}

/// `NAME.request.json`, then `NAME.request-2.json`: nothing is written over.
fn numbered(name: &str, what: &str, place: usize, ending: &str) -> String {
    match place {
        1 => format!("{name}.{what}.{ending}"),
        place => format!("{name}.{what}-{place}.{ending}"),
    }
}

/// A body as a person reads it: the same value, spelled as it was sent.
fn readable(body: &[u8]) -> Vec<u8> {
    let parsed = std::str::from_utf8(body).ok().and_then(|text| json::parse(text).ok()).map(Node::into_json);
    let Some(value) = parsed else {
        return body.to_vec();
    };
    let mut sink = JsonSink::new(Layout::Pretty);
    value.write(&mut sink);
    let mut bytes = sink.into_bytes();
    bytes.push(b'\n');
    bytes
}

fn turn_document(session: &Session) -> Result<(Vec<u8>, Vec<Loss>)> {
    let target = Target::parse("geppetto.turn")?;
    let encoded = turnkeep_codec::encode(&Archive::from(session.clone()), &target, &EncodeOptions::default())?;
    Ok((encoded.bytes, encoded.losses))
}
