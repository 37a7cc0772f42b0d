//! The file of a cassette: a stream of YAML documents, each appended whole.
//!
//! A document begins with `---` and ends with `...`; one without its end was being written when its process died, and
//! is not read. So recording never rewrites what it wrote, and what was recorded stays readable.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use turnkeep_codec::yaml;
use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Error, ErrorKind, Result};

use super::content::corrupt;
use super::exchange::Exchange;
use super::vcr;

/// The version of the format: 1, the first.
const VERSION: u64 = 1;
const KEY: &str = "turnkeep_cassette";

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Recording {
    pub exchanges: Vec<Exchange>,
    pub clock: Vec<String>,
    pub ids: Vec<String>,
    /// The id of the session that was run.
    pub session: Option<String>,
    /// The waits that came to their end, by their place among all waits.
    pub waited: Vec<u64>,
    pub origin: Origin,
}

/// Who wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Origin {
    #[default]
    Turnkeep,
    Vcr,
}

pub(super) fn read(path: &Path) -> Result<Recording> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| io(error, &name))?;
    parse(&text).map_err(|error| error.file(name))
}

/// The recording that a text holds.
pub(super) fn parse(text: &str) -> Result<Recording> {
    let mut recording = Recording::default();
    let mut is_first = true;
    for (line, document) in documents(text) {
        let (node, _) = yaml::parse(document).map_err(|error| moved(error.locate(document), line))?;
        let Json::Object(object) = node.into_json() else { return Err(corrupt("a document is an object").line(line)) };
        if std::mem::take(&mut is_first) {
            if object.contains("interactions") {
                return vcr::read(&object);
            }
            check_version(&object).map_err(|error| error.line(line))?;
        } else {
            recording.add(&object).map_err(|error| error.line(line))?;
        }
    }
    if is_first {
        return Err(corrupt("this is no cassette: it holds no document"));
    }
    recording.exchanges.sort_by_key(|exchange| exchange.number);
    Ok(recording)
}

impl Recording {
    fn add(&mut self, object: &Object) -> Result<()> {
        if let Some(exchange) = object.get("exchange").and_then(Json::as_object) {
            self.exchanges.push(Exchange::read(exchange)?);
        }
        let list = |key: &str| object.get(key).and_then(Json::as_array).unwrap_or_default();
        let texts = |key: &str| list(key).iter().filter_map(Json::as_str).map(std::borrow::Cow::into_owned);
        self.clock.extend(texts("clock"));
        self.ids.extend(texts("ids"));
        self.session = object.get_str("session").map(std::borrow::Cow::into_owned).or(self.session.take());
        let waited = list("waited").iter().filter_map(Json::as_number).filter_map(turnkeep_model::Number::as_u64);
        self.waited.extend(waited);
        Ok(())
    }
}

fn check_version(object: &Object) -> Result<()> {
    match object.get(KEY).and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64) {
        Some(VERSION) => Ok(()),
        Some(_) => {
            Err(Error::new(ErrorKind::Unsupported, "the cassette is of a newer version").hint("update turnkeep"))
        }
        None => Err(Error::new(ErrorKind::NotThisFormat, format!("this is no cassette: it has no `{KEY}`"))),
    }
}

/// The documents of a text that came to their end, with the lines where they begin. A text without marks is one.
fn documents(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut begin: Option<(usize, usize)> = None;
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        match line.trim_end() {
            "---" => begin = Some((number + 1, at + line.len())),
            "..." => found.extend(begin.take().and_then(|(line, from)| Some((line, text.get(from..at)?)))),
            _ => {}
        }
        at += line.len();
    }
    // What others write has one document, and need not say where it ends.
    if found.is_empty() {
        found.push(begin.and_then(|(line, from)| Some((line, text.get(from..)?))).unwrap_or((0, text)));
    }
    found
}

/// The error with its line counted from the beginning of the file.
fn moved(error: Error, line: usize) -> Error {
    let inner = error.at_line().unwrap_or(1);
    let moved = Error::new(error.kind(), error.what().to_owned()).line(line + inner);
    match error.remedy() {
        Some(hint) => moved.hint(hint),
        None => moved,
    }
}

/// Begins a new file; what was there before is replaced at once.
pub(super) fn begin(path: &Path) -> Result<File> {
    let name = path.display().to_string();
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let header: Object = [(KEY, Json::from(VERSION))].into_iter().collect();
    std::fs::write(&part, text(&header.into())).map_err(|error| io(error, &name))?;
    std::fs::rename(&part, path).map_err(|error| io(error, &name))?;
    reopen(path)
}

/// Opens a file to go on with it.
pub(super) fn reopen(path: &Path) -> Result<File> {
    OpenOptions::new().append(true).open(path).map_err(|error| io(error, &path.display().to_string()))
}

/// Appends a document.
pub(super) fn append(file: &mut File, document: &Json) -> std::io::Result<()> {
    file.write_all(text(document).as_bytes())
}

fn text(document: &Json) -> String {
    format!("---\n{}...\n", yaml::write(document, yaml::Style::Readable))
}

fn io(error: std::io::Error, file: &str) -> Error {
    let kind = if error.kind() == std::io::ErrorKind::NotFound { ErrorKind::NotFound } else { ErrorKind::Io };
    Error::new(kind, error.to_string()).file(file)
}
