//! OpenAI's Responses wire.

use std::path::PathBuf;

use turnkeep_codec::wire::{assemble, frame};
use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Input, format, lint};
use turnkeep_model::json::{self, Node};
use turnkeep_model::{Body, Json, Object};

const ID: &str = "openai.responses";

fn codec() -> &'static dyn Codec {
    format::by_id(ID).unwrap()
}

/// A record of the corpus.
struct Record {
    id: String,
    kind: String,
    vendor: String,
    accepted: Option<bool>,
    body: Json,
}

/// The records of the corpus in this dialect, if the corpus is there.
fn records(test: &str) -> Option<Vec<Record>> {
    let Some(root) = std::env::var_os("TURNKEEP_CORPUS").map(PathBuf::from) else {
        println!("skipped: {test} needs TURNKEEP_CORPUS");
        return None;
    };
    let mut files: Vec<_> = std::fs::read_dir(root.join("providers")).unwrap().flatten().map(|e| e.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    let texts = files.iter().map(|path| std::fs::read_to_string(path).unwrap());
    Some(texts.flat_map(|text| text.lines().filter_map(record).collect::<Vec<_>>()).collect())
}

fn record(line: &str) -> Option<Record> {
    // Most lines are of other dialects: look before parsing.
    if !line.contains("\"openai-responses\"") {
        return None;
    }
    let Json::Object(mut object) = json::parse(line).map(Node::into_json).unwrap() else { panic!("not a record") };
    let text = |key: &str| object.get_str(key).unwrap_or_default().into_owned();
    if text("dialect") != "openai-responses" {
        return None;
    }
    let (id, kind, vendor) = (text("id"), text("kind"), text("vendor"));
    let accepted = object.get("accepted").and_then(Json::as_bool);
    Some(Record { id, kind, vendor, accepted, body: object.remove("body").unwrap() })
}

/// The bytes of a body as it was recorded: a stream of text is that text.
fn bytes(body: &Json) -> Vec<u8> {
    match body {
        Json::String(text) => text.to_str_lossy().into_owned().into_bytes(),
        other => other.to_text().into_bytes(),
    }
}

/// The same with the keys of every object sorted.
fn canonical(value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(canonical).collect()),
        Json::Object(object) => {
            let mut pairs: Vec<_> = object.iter().map(|(key, value)| (key.clone(), canonical(value))).collect();
            pairs.sort_by_key(|(key, _)| key.to_str_lossy().into_owned());
            Json::Object(pairs.into_iter().collect())
        }
        other => other.clone(),
    }
}

fn again(bytes: &[u8]) -> Result<Json, String> {
    let decoded = codec().decode(Input::new(bytes), &DecodeOptions::default()).map_err(|e| format!("decode: {e}"))?;
    let encoded = codec()
        .encode(&decoded.archive, &EncodeOptions::default())
        .map_err(|e| format!("encode: {e}"))?;
    if let Some(loss) = encoded.losses.iter().chain(&decoded.losses).next() {
        return Err(format!("loss: {loss}"));
    }
    let text = String::from_utf8(encoded.bytes).unwrap();
    Ok(json::parse(&text).map(Node::into_json).unwrap())
}

#[test]
fn every_recorded_body_comes_back() {
    let Some(records) = records("every_recorded_body_comes_back") else { return };
    let (mut all, mut ordered, mut wrong) = (0, 0, Vec::new());
    for record in records.iter().filter(|record| record.kind != "stream") {
        all += 1;
        match again(&bytes(&record.body)) {
            Ok(body) if body == record.body => ordered += 1,
            Ok(body) if canonical(&body) == canonical(&record.body) => {}
            Ok(body) => wrong.push(format!("{}: {}", record.id, first_difference(&record.body, &body, ""))),
            Err(why) => wrong.push(format!("{}: {why}", record.id)),
        }
    }
    println!("{all} bodies: {} semantically identical, {ordered} with every field in its place", all - wrong.len());
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
}

fn first_difference(a: &Json, b: &Json, at: &str) -> String {
    match (a, b) {
        (Json::Object(x), Json::Object(y)) => {
            for (key, value) in x.iter() {
                let key = key.to_str_lossy();
                let at = format!("{at}.{key}");
                match y.get(&key) {
                    None => return format!("{at} is gone"),
                    Some(other) if canonical(value) != canonical(other) => return first_difference(value, other, &at),
                    Some(_) => {}
                }
            }
            format!("{at} has more keys")
        }
        (Json::Array(x), Json::Array(y)) if x.len() == y.len() => {
            let at_index = x.iter().zip(y).position(|(a, b)| canonical(a) != canonical(b)).unwrap_or(0);
            first_difference(&x[at_index], &y[at_index], &format!("{at}[{at_index}]"))
        }
        _ => format!("{at} differs: {} / {}", a.to_text().chars().take(150).collect::<String>(), b.to_text().chars().take(150).collect::<String>()),
    }
}

/// The lint target of a record's vendor.
fn target(record: &Record) -> &'static str {
    match (record.vendor.as_str(), record.id.split('/').next().unwrap_or_default()) {
        ("deepseek", _) => "openai.responses:deepseek",
        (_, "azure-responses") => "openai.responses:azure",
        (_, "xai-responses") => "openai.responses:xai",
        (_, "openai-responses") => "openai.responses",
        _ => "openai.responses:compatible",
    }
}

fn errors(body: &Json, target: &str) -> Vec<String> {
    let bytes = bytes(body);
    let found = lint::lint(Input::new(&bytes), target, lint::Strictness::Lax).unwrap();
    let errors = found.iter().filter(|finding| finding.severity == lint::Severity::Error);
    errors.map(|finding| format!("{} at {}: {}", finding.rule, finding.at, finding.what)).collect()
}

#[test]
fn what_was_accepted_lints_clean() {
    let Some(records) = records("what_was_accepted_lints_clean") else { return };
    let accepted: Vec<_> =
        records.iter().filter(|record| record.kind == "request" && record.accepted == Some(true)).collect();
    let alarms: Vec<_> = accepted
        .iter()
        .filter_map(|record| {
            let errors = errors(&record.body, target(record));
            (!errors.is_empty()).then(|| format!("{} {:?}", record.id, errors))
        })
        .collect();
    println!("{} accepted requests: {} false alarms\n{}", accepted.len(), alarms.len(), alarms.join("\n"));
    assert!(alarms.len() * 200 < accepted.len(), "{}", alarms.join("\n"));
}

#[test]
fn every_recorded_stream_assembles() {
    let Some(records) = records("every_recorded_stream_assembles") else { return };
    let (mut all, mut complete, mut same) = (0, 0, 0);
    let mut wrong = Vec::new();
    for record in records.iter().filter(|record| record.kind == "stream") {
        all += 1;
        let events = frame::frames(&bytes(&record.body)).unwrap().unwrap().events;
        let whole = assembled(&events);
        complete += usize::from(whole.complete);
        // What the pieces make up is what the end tells.
        let is_end = |event: &&Json| matches!(&*kind_of(event), "response.completed" | "response.incomplete");
        let Some(end) = events.iter().find(is_end) else { continue };
        let told = end.as_object().and_then(|end| end.get("response")?.as_object()?.get("output")).cloned();
        let pieces: Vec<Json> = events.iter().filter(|event| !is_end(event)).cloned().collect();
        let made = assembled(&pieces).body.as_object().and_then(|body| body.get("output")).cloned();
        if told.as_ref().map(canonical) == made.as_ref().map(canonical) {
            same += 1;
        } else {
            let difference = first_difference(&told.unwrap_or_default(), &made.unwrap_or_default(), "output");
            wrong.push(format!("{}: {difference}", record.id));
        }
    }
    println!("{all} streams: {complete} complete, {same} with items as the end tells them, {} not", wrong.len());
    // Vendors encrypt and number anew at the end, some tell nothing there, and one gathers sources.
    let known = |why: &&String| {
        [".encrypted_content differs", ".fingerprint differs", ".id differs", "output differs: []", ".sources differs"]
            .iter()
            .any(|reason| why.contains(reason))
    };
    let unknown: Vec<_> = wrong.iter().filter(|why| !known(why)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

fn kind_of(event: &Json) -> String {
    event.as_object().and_then(|event| event.get_str("type")).unwrap_or_default().into_owned()
}

fn assembled(events: &[Json]) -> turnkeep_codec::wire::Assembled {
    let frames = frame::Frames { events: events.to_vec(), torn: false };
    assemble(frames, turnkeep_codec::format::responses::assembler()).unwrap()
}

/// Recorded rejections that are about the shape of the request, and the rule that finds them.
const REJECTED: &[(&str, &str)] = &[
    ("openai-responses/03879", "OR-FILE"),
    ("openai-responses/03910", "OR-FILE"),
    ("openai-responses/04072", "OR-TEMP"),
    ("openai-responses/04171", "OR-REASON-TAIL"),
    ("responses-compat/00163", "OR-INTERLEAVE"),
];

#[test]
fn what_was_rejected_for_its_shape_is_found() {
    let Some(records) = records("what_was_rejected_for_its_shape_is_found") else { return };
    for (id, rule) in REJECTED {
        // The open part of the corpus may not hold all of them.
        let Some(record) = records.iter().find(|record| record.id == *id) else { continue };
        let found = errors(&record.body, target(record));
        assert!(found.iter().any(|error| error.starts_with(rule)), "{id}: {found:?}");
    }
}

/// A way to break a request: where it applies, the broken request.
type Mutation = fn(&Json) -> Option<Json>;

const MUTATIONS: &[(&str, Mutation, &[&str])] = &[
    ("result dropped", |body| without(body, "function_call_output"), &["OR-DANGLING"]),
    ("call dropped", |body| without(body, "function_call"), &["OR-ORPHAN", "OR-REASON-TAIL"]),
    ("wrong id", |body| changed(body, "function_call_output", "call_id", Some("call_of_nobody")), &["OR-ORPHAN"]),
    ("empty id", |body| changed(body, "function_call", "call_id", Some("")), &["OR-IDLEN"]),
    ("long id", |body| changed(body, "function_call", "call_id", Some(&"x".repeat(65))), &["OR-IDLEN"]),
    ("signature stripped", stripped, &["OR-REASON-ENC"]),
    ("reasoning without follower", without_follower, &["OR-REASON-TAIL"]),
    ("reasoning dropped", without_reasoning, &["OR-REASON-HEAD"]),
    ("wrong part", wrong_part, &["OR-PART"]),
];

fn with_items(body: &Json, change: impl FnOnce(&mut Vec<Json>) -> Option<()>) -> Option<Json> {
    let mut body = body.as_object()?.clone();
    let state = ["previous_response_id", "conversation", "prompt"];
    if state.iter().any(|key| body.get(key).is_some_and(|value| *value != Json::Null)) {
        return None;
    }
    let mut items = body.get("input")?.as_array()?.to_vec();
    if items.iter().any(|item| is_kind(item, "item_reference")) {
        return None;
    }
    change(&mut items)?;
    body.set("input", items);
    Some(Json::Object(body))
}

fn is_kind(item: &Json, kind: &str) -> bool {
    item.as_object().and_then(|item| item.get_str("type")).is_some_and(|own| own == kind)
}

fn without(body: &Json, kind: &str) -> Option<Json> {
    with_items(body, |items| {
        let at = items.iter().position(|item| is_kind(item, kind))?;
        items.remove(at);
        Some(())
    })
}

fn changed(body: &Json, kind: &str, key: &str, value: Option<&str>) -> Option<Json> {
    with_items(body, |items| {
        let Json::Object(item) = items.iter_mut().find(|item| is_kind(item, kind))? else { return None };
        match value {
            Some(value) => item.set(key, value),
            None => drop(item.remove(key)?),
        }
        Some(())
    })
}

/// Only a vendor that keeps nothing needs the encrypted content.
fn stripped(body: &Json) -> Option<Json> {
    let stateless = body.as_object()?.get("store") == Some(&Json::Bool(false));
    let has = |item: &Json| item.as_object().is_some_and(|item| item.get_str("encrypted_content").is_some());
    let first = body.as_object()?.get("input")?.as_array()?.iter().find(|item| is_kind(item, "reasoning"))?;
    (stateless && has(first)).then(|| changed(body, "reasoning", "encrypted_content", None)).flatten()
}

fn without_follower(body: &Json) -> Option<Json> {
    with_items(body, |items| {
        let at = items.iter().position(|item| is_kind(item, "reasoning"))?;
        items.get(at)?.as_object()?.get_str("id")?;
        let user: Json = [("role", Json::from("user")), ("content", Json::from("Go on."))].into_iter().collect::<Object>().into();
        items.truncate(at + 1);
        items.push(user);
        Some(())
    })
}

fn without_reasoning(body: &Json) -> Option<Json> {
    let mut led_to_call = false;
    let broken = with_items(body, |items| {
        let at = items.iter().position(|item| is_kind(item, "reasoning"))?;
        let next = items.get(at + 1)?;
        led_to_call = is_kind(next, "function_call") && next.as_object()?.get_str("id").is_some();
        items.remove(at);
        Some(())
    })?;
    led_to_call.then_some(broken)
}

fn wrong_part(body: &Json) -> Option<Json> {
    with_items(body, |items| {
        let parts = items.iter_mut().find_map(|item| match item {
            Json::Object(item) => item.iter_mut().find_map(|(key, value)| match value {
                Json::Array(parts) if key.to_str_lossy() == "content" && !parts.is_empty() => Some(parts),
                _ => None,
            }),
            _ => None,
        })?;
        let Json::Object(part) = parts.first_mut()? else { return None };
        let wrong = if part.get_str("type")?.starts_with("input_") { "output_text" } else { "input_text" };
        if part.get_str("type")? == "reasoning_text" {
            return None;
        }
        part.set("type", wrong);
        Some(())
    })
}

#[test]
fn mutants_of_accepted_requests_are_found() {
    let Some(records) = records("mutants_of_accepted_requests_are_found") else { return };
    let (mut all, mut missed) = (0, Vec::new());
    let accepted = records.iter().filter(|record| record.kind == "request" && record.accepted == Some(true));
    for record in accepted {
        for (name, mutation, rules) in MUTATIONS {
            let Some(mutant) = mutation(&record.body) else { continue };
            let target = target(record);
            let is_lenient = target != "openai.responses" && target != "openai.responses:azure";
            if is_lenient && rules.iter().all(|rule| rule.starts_with("OR-REASON-TAIL") || rule.starts_with("OR-REASON-HEAD")) {
                continue;
            }
            all += 1;
            let found = errors(&mutant, target);
            if !rules.iter().any(|rule| found.iter().any(|error| error.starts_with(rule))) {
                missed.push(format!("{} {name}: {found:?}", record.id));
            }
        }
    }
    println!("{all} mutants: {} found, {} missed\n{}", all - missed.len(), missed.len(), missed.join("\n"));
    assert!(missed.len() * 50 <= all, "{} of {all} missed", missed.len());
}

#[test]
fn pieces_of_text_make_up_what_the_end_tells() {
    let Some(records) = records("pieces_of_text_make_up_what_the_end_tells") else { return };
    let (mut all, mut wrong) = (0, Vec::new());
    for record in records.iter().filter(|record| record.kind == "stream") {
        let events = frame::frames(&bytes(&record.body)).unwrap().unwrap().events;
        let is_piece = |event: &&Json| {
            let kind = kind_of(event);
            !kind.ends_with(".done") && !matches!(kind.as_str(), "response.completed" | "response.incomplete")
        };
        let has_pieces = events.iter().any(|event| kind_of(event).ends_with("_text.delta") || kind_of(event).ends_with("arguments.delta"));
        if !has_pieces {
            continue;
        }
        all += 1;
        let pieces: Vec<Json> = events.iter().filter(is_piece).cloned().collect();
        let (whole, made) = (texts(&assembled(&events).body), texts(&assembled(&pieces).body));
        if whole != made {
            wrong.push(format!("{}: {whole:?} / {made:?}", record.id));
        }
    }
    println!("{all} streams of pieces: {} differ", wrong.len());
    wrong.retain(|why| !SHORTENED.iter().any(|id| why.starts_with(id)));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Streams whose recorders left pieces out by hand.
const SHORTENED: &[&str] =
    &["openai-responses/04590", "openai-responses/04595", "responses-compat/00191", "responses-compat/00193"];

/// The texts and arguments of a response.
fn texts(body: &Json) -> Vec<String> {
    let bytes = body.to_text().into_bytes();
    let decoded = codec().decode(Input::new(&bytes), &DecodeOptions::default()).unwrap();
    let session = decoded.archive.main_session().unwrap().clone();
    session
        .blocks()
        .filter_map(|(_, block)| match &block.body {
            Body::Text(text) => Some(text.text.clone()),
            Body::ToolCall(call) => Some(call.arguments.clone()),
            Body::Reasoning(reasoning) => Some(format!("{:?} {:?}", reasoning.text, reasoning.summary)),
            _ => None,
        })
        .collect()
}

#[test]
fn the_next_request_of_every_recorded_body_lints_clean() {
    let Some(records) = records("the_next_request_of_every_recorded_body_lints_clean") else { return };
    let mut options = EncodeOptions::default();
    options.as_request = true;
    let (mut all, mut wrong) = (0, Vec::new());
    for record in &records {
        let decoded = codec().decode(Input::new(&bytes(&record.body)), &DecodeOptions::default()).unwrap();
        let encoded = codec().encode(&decoded.archive, &options).unwrap();
        let text = String::from_utf8(encoded.bytes).unwrap();
        let body = json::parse(&text).map(Node::into_json).unwrap();
        all += 1;
        let mut found = errors(&body, target(record));
        // What was refused for other reasons than its history is not repaired, and an answer of nothing asks nothing.
        found.retain(|error| !["OR-FILE", "OR-TEMP", "OR-STRICT", "OR-NOINPUT", "OR-EFFORT"].iter().any(|rule| error.starts_with(rule)));
        if !found.is_empty() {
            wrong.push(format!("{}: {found:?}", record.id));
        }
    }
    println!("{all} next requests: {} do not lint clean", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
