//! Recorded bodies of vendors, read in place: nothing of them is in this repository.
#![expect(clippy::print_stdout, reason = "the counts are what these tests tell")]

use std::collections::HashMap;
use std::path::PathBuf;

use turnkeep_codec::lint::{Severity, Strictness, lint};
use turnkeep_codec::wire::{Assembler, assemble, frame};
use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Input, format};
use turnkeep_model::json::{self, Json, Nan, Object};
use turnkeep_model::{Archive, canon};
use turnkeep_testkit::{for_all, generate};

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
    let text = |record: &Object, key: &str| record.get_str(key).map(std::borrow::Cow::into_owned).unwrap_or_default();
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
    println!(
        "{dialect}: {} bodies, {same} given back with the same meaning, {ordered} in the same order",
        bodies.len()
    );
    wrong.retain(|id| !exceptions.iter().any(|(known, _)| known == id));
    assert!(wrong.is_empty(), "{} not given back: {wrong:#?}", wrong.len());
}

/// Checks that every recorded stream makes up a response, whatever the size of its pieces, and one that the codec gives
/// back as it is.
pub(crate) fn check_streams(dialect: &str, codec: &dyn Codec, test: &str, assembler: fn() -> Box<dyn Assembler>) {
    let all = recorded(dialect, test);
    let streams: Vec<&Recorded> = all.iter().filter(|record| record.kind == "stream").collect();
    let (mut complete, mut wrong) = (0, Vec::new());
    for record in &streams {
        let frames = frame::frames(&record.bytes()).unwrap().unwrap();
        let whole = assemble(frames, assembler()).unwrap();
        complete += usize::from(whole.complete);
        if record.encoding == "sse" {
            let pieces = [1, 7, 64].map(|size| assembled_in_pieces(&record.bytes(), size, assembler()));
            if pieces.iter().any(|piece| *piece != whole.body) {
                wrong.push(format!("{}: the size of pieces matters", record.id));
            }
        }
        match given_back(codec, &record.bytes()) {
            Ok(back) if canon::canonical(&back) == canon::canonical(&whole.body) => {}
            Ok(_) => wrong.push(format!("{}: the response is not given back", record.id)),
            Err(error) => wrong.push(format!("{}: {error}", record.id)),
        }
    }
    println!("{dialect}: {} streams, {complete} of them come to their end", streams.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn assembled_in_pieces(bytes: &[u8], size: usize, mut assembler: Box<dyn Assembler>) -> Json {
    let mut framer = frame::SseFramer::default();
    let mut events: Vec<_> = bytes.chunks(size).flat_map(|piece| framer.push(piece)).collect();
    events.extend(framer.finish());
    for event in events.iter().filter(|event| !event.data.trim().is_empty() && event.data.trim() != "[DONE]") {
        if let Ok(event) = json::parse_with(&event.data, Nan::Accept) {
            let _ = assembler.push(event.into_json()).unwrap();
        }
    }
    assembler.finish().body
}

/// The errors that a target's rules find in a body.
pub(crate) fn errors(target: &str, body: &Json) -> Vec<String> {
    let text = body.to_text();
    let found = lint(Input::new(text.as_bytes()), target, Strictness::Lax).unwrap();
    found
        .into_iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.rule.to_owned())
        .collect()
}

/// Checks that the rules accept what the vendor accepted, but for `exceptions`, and prints what they say of rejections.
pub(crate) fn check_lint(dialect: &str, target: &str, test: &str, exceptions: &[(&str, &str)]) {
    let all = recorded(dialect, test);
    let accepted: Vec<&Recorded> =
        all.iter().filter(|record| record.kind == "request" && record.accepted == Some(true)).collect();
    let mut alarms = Vec::new();
    for record in &accepted {
        let found = errors(target, &record.body);
        if !found.is_empty() {
            alarms.push(format!("{} {found:?}", record.id));
        }
    }
    println!("{target}: {} accepted requests, {} false alarms: {alarms:?}", accepted.len(), alarms.len());
    for record in all.iter().filter(|record| record.kind == "request" && record.accepted == Some(false)) {
        println!("{} {:?} {:.150}", record.id, errors(target, &record.body), record.error);
    }
    alarms.retain(|alarm| !exceptions.iter().any(|(id, _)| alarm.split(' ').next() == Some(id)));
    assert!(alarms.len() * 200 < accepted.len().max(1), "{alarms:#?}");
}

/// A way to break a request, and whether it could be broken that way.
pub(crate) type Mutation = (&'static str, fn(&mut Json) -> bool);

/// Checks that the rules find what is wrong with accepted requests that were broken on purpose.
pub(crate) fn check_mutants(dialect: &str, target: &str, test: &str, mutations: &[Mutation]) {
    let all = recorded(dialect, test);
    let accepted = all.iter().filter(|record| record.kind == "request" && record.accepted == Some(true));
    let sound: Vec<&Recorded> = accepted.filter(|record| errors(target, &record.body).is_empty()).collect();
    for (name, mutate) in mutations {
        let (mut made, mut missed) = (0, Vec::new());
        for record in &sound {
            let mut body = record.body.clone();
            if mutate(&mut body) {
                made += 1;
                if errors(target, &body).is_empty() {
                    missed.push(record.id.clone());
                }
            }
        }
        println!("{target}: {name}: {made} mutants, {} missed", missed.len());
        assert!(missed.len() * 50 <= made, "{name}: {missed:?}");
    }
}

/// Checks that the next request of every recorded multi-turn body, for every registered wire, breaks no rule of
/// `target`, and that the session still gives back its own bytes.
pub(crate) fn check_next_requests(dialects: &[&str], target: &str, test: &str) {
    let codec = wire(target);
    let (mut made, mut wrong) = (0, Vec::new());
    for dialect in dialects {
        for record in recorded(dialect, test).iter().filter(|record| record.kind == "request") {
            let Ok((_, decoded)) = turnkeep_codec::decode(Input::new(&record.bytes()), None, &DecodeOptions::default())
            else {
                continue;
            };
            let mut options = EncodeOptions::default();
            options.as_request = true;
            let encoded = codec.encode(&decoded.archive, &options).unwrap();
            let text = String::from_utf8(encoded.bytes).unwrap();
            let body = json::parse(&text).unwrap().into_json();
            let found = errors(target, &body);
            made += 1;
            if !found.is_empty() && !is_silent(&body) {
                wrong.push(format!("{} {found:?}", record.id));
            }
        }
    }
    println!("{target}: {made} next requests of {dialects:?}, {} break a rule", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether a request says nothing: a session without content has no valid request.
fn is_silent(body: &Json) -> bool {
    body.as_object().and_then(|body| body.get("messages")?.as_array()).is_none_or(<[_]>::is_empty)
}

/// Checks that the next request of any session at all breaks no rule of `target`.
pub(crate) fn check_generated(target: &str) {
    let codec = wire(target);
    for_all(200, &generate::session(), |session| {
        let encoded = codec.encode(&Archive::from(session), &EncodeOptions::default()).unwrap();
        let text = String::from_utf8(encoded.bytes).unwrap();
        let body = json::parse_with(&text, Nan::Accept).unwrap().into_json();
        let found = errors(target, &body);
        proptest::prop_assert!(is_silent(&body) || found.is_empty(), "{found:?}\n{text}");
        Ok(())
    });
}

/// Checks that every request with its response is given back with the same meaning.
pub(crate) fn check_exchanges(dialect: &str, codec: &dyn Codec, test: &str) {
    let all = recorded(dialect, test);
    let responses = all.iter().filter(|record| record.kind == "response" && !record.exchange.is_empty());
    let responses: HashMap<&str, &Recorded> = responses.map(|record| (record.exchange.as_str(), record)).collect();
    let (mut made, mut wrong) = (0, Vec::new());
    for record in all.iter().filter(|record| record.kind == "request") {
        let Some(response) = responses.get(record.exchange.as_str()) else { continue };
        let pairs = [("request", record.body.clone()), ("response", response.body.clone())];
        let exchange = Json::Object(pairs.into_iter().collect());
        made += 1;
        let back = given_back(codec, exchange.to_text().as_bytes());
        if !back.is_ok_and(|back| canon::canonical(&back) == canon::canonical(&exchange)) {
            wrong.push(record.id.clone());
        }
    }
    println!("{dialect}: {made} exchanges, {} not given back", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
