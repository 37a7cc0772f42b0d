//! Recorded bodies of vendors, read in place: nothing of them is in this repository.

use std::path::PathBuf;

use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Input, format};
use turnkeep_model::json::{self, Json, Nan, Object};
use turnkeep_model::{Session, canon};

/// One recorded body.
pub(crate) struct Recorded {
    /// Its id.
    pub(crate) id: String,
    /// `request`, `response` or `stream`.
    pub(crate) kind: String,
    /// How a stream was recorded.
    pub(crate) encoding: String,
    /// Whether the vendor took it, where known.
    pub(crate) accepted: Option<bool>,
    /// What the vendor answered instead.
    pub(crate) error: String,
    /// Ties a request to its response.
    pub(crate) exchange: String,
    /// The body.
    pub(crate) body: Json,
}

impl Recorded {
    /// The bytes as a file would hold them.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match (&self.body, self.encoding.as_str()) {
            (Json::String(text), "sse" | "ndjson") => text.to_str_lossy().into_owned().into_bytes(),
            (body, _) => body.to_text().into_bytes(),
        }
    }
}

/// The recorded bodies of a dialect, or nothing where the corpus is not at hand: then `test` says that it is skipped.
pub(crate) fn recorded(dialect: &str, test: &str) -> Vec<Recorded> {
    let Some(folder) = std::env::var_os("TURNKEEP_CORPUS").map(PathBuf::from) else {
        println!("skipped: {test}: TURNKEEP_CORPUS names no folder of recorded bodies");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join("providers"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        found.extend(text.lines().filter(|line| !line.trim().is_empty()).filter_map(|line| record(line, dialect)));
    }
    found
}

fn record(line: &str, dialect: &str) -> Option<Recorded> {
    let Json::Object(mut record) = json::parse_with(line, Nan::Accept).unwrap().into_json() else { return None };
    let text = |record: &Object, key: &str| record.get_str(key).map(|text| text.into_owned()).unwrap_or_default();
    (text(&record, "dialect") == dialect).then(|| Recorded {
        id: text(&record, "id"),
        kind: text(&record, "kind"),
        encoding: text(&record, "encoding"),
        accepted: record.get("accepted").and_then(Json::as_bool),
        error: record.get("error").map(Json::to_text).unwrap_or_default(),
        exchange: text(&record, "exchange"),
        body: record.remove("body").unwrap_or_default(),
    })
}

/// The codec of a wire.
pub(crate) fn wire(id: &str) -> &'static dyn Codec {
    format::by_id(id).unwrap()
}

/// The session of some bytes.
pub(crate) fn session(codec: &dyn Codec, bytes: &[u8]) -> Session {
    let decoded = codec.decode(Input::new(bytes), &DecodeOptions::default()).unwrap();
    decoded.archive.main_session().unwrap().clone()
}

/// What a codec gives back of some bytes.
pub(crate) fn given_back(codec: &dyn Codec, bytes: &[u8]) -> Result<Json, String> {
    let decoded = codec.decode(Input::new(bytes), &DecodeOptions::default()).map_err(|error| format!("{error:?}"))?;
    let encoded = codec.encode(&decoded.archive, &EncodeOptions::default()).map_err(|error| format!("{error:?}"))?;
    let text = String::from_utf8(encoded.bytes).map_err(|error| error.to_string())?;
    Ok(json::parse_with(&text, Nan::Accept).map_err(|error| format!("{error:?}"))?.into_json())
}

/// Checks that every body is given back with the same meaning, but for `exceptions` with their reasons.
pub(crate) fn check_given_back(dialect: &str, codec: &dyn Codec, test: &str, exceptions: &[(&str, &str)]) {
    let all = recorded(dialect, test);
    let bodies: Vec<&Recorded> = all.iter().filter(|record| record.kind != "stream").collect();
    let (mut same, mut ordered, mut wrong) = (0, 0, Vec::new());
    for record in &bodies {
        match given_back(codec, &record.bytes()) {
            Ok(back) if canon::canonical(&back) == canon::canonical(&record.body) => {
                same += 1;
                ordered += usize::from(back.to_text() == record.body.to_text());
            }
            Ok(_) => wrong.push(record.id.clone()),
            Err(error) => wrong.push(format!("{} {error}", record.id)),
        }
    }
    println!("{dialect}: {} bodies, {same} given back with the same meaning, {ordered} in the same order", bodies.len());
    wrong.retain(|id| !exceptions.iter().any(|(known, _)| known == id));
    assert!(wrong.is_empty(), "{} not given back: {wrong:#?}", wrong.len());
}
