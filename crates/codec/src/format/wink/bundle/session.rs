//! The sessions that a bundle tells of.

use turnkeep_model::json::{Json, Nan, Number, Object, parse_with};
use turnkeep_model::status::{Completed, Failed};
use turnkeep_model::{
    Archive, Error, ErrorKind, Loss, LossKind, PromptId, Result, Run, RunId, Session, SessionId, Status, Time,
};

use super::files::{Files, MANIFEST};
use crate::format::wink::codec::archive_of;
use crate::format::wink::{FORMAT, codec, lines, transcript};

const AFTER: &str = "session/after.jsonl";
const BEFORE: &str = "session/before.jsonl";
const TRANSCRIPT: &str = "transcript.jsonl";
const LOGS: &str = "logs/app.jsonl";

/// Reads the sessions: the state after the run is the main one, what was said its turns; the state before it and
/// subagents stand beside it.
pub(super) fn read(files: &Files<'_>, mut manifest: Object, losses: &mut Vec<Loss>) -> Result<Archive> {
    let mut archive = state(files, AFTER, losses)?;
    let before = state(files, BEFORE, losses)?;
    if archive.sessions.is_empty() {
        archive = before;
    } else {
        archive.sessions.extend(before.sessions);
    }
    if archive.sessions.is_empty() {
        archive.sessions.push(Session::default());
    }
    let (told, others) = said(files, losses)?;
    let main = archive.main as usize;
    if let Some(session) = archive.sessions.get_mut(main) {
        join(session, told);
        describe(session, &mut manifest);
        measure(session, files)?;
        session.logs = logs(files)?;
        keep(session, files, manifest, losses);
    }
    archive.sessions.extend(others);
    Ok(archive)
}

/// The sessions of a file of snapshots, one a line.
fn state(files: &Files<'_>, path: &str, losses: &mut Vec<Loss>) -> Result<Archive> {
    let Some(text) = files.text(path)? else { return Ok(Archive::default()) };
    let snapshots = codec::read_lines(text).map_err(|error| error.file(path))?;
    let decoded = archive_of(snapshots, None);
    losses.extend(decoded.losses);
    Ok(decoded.archive)
}

/// What the transcript tells: the main session, and subagents.
fn said(files: &Files<'_>, losses: &mut Vec<Loss>) -> Result<(Session, Vec<Session>)> {
    let path = if files.get(TRANSCRIPT).is_some() { TRANSCRIPT } else { LOGS };
    let text = files.text(path)?.unwrap_or_default();
    let mut records = Vec::new();
    for (number, line) in lines::numbered(text) {
        match lines::parse_line(line).map(turnkeep_model::json::Node::into_json) {
            Ok(record) if is_entry(&record) => records.push(record),
            Ok(_) => {}
            Err(_) => {
                let what = format!("line {number} of {path} is no log record and was skipped");
                losses.push(Loss::decode(LossKind::Dropped, "turns", what));
            }
        }
    }
    let mut sessions = transcript::sessions_of(records).0.into_iter();
    Ok((sessions.next().unwrap_or_default(), sessions.collect()))
}

fn is_entry(record: &Json) -> bool {
    record.as_object().is_some_and(|record| record.get_str("event").as_deref() == Some("transcript.entry"))
}

/// Log lines that are no entries of the transcript.
fn logs(files: &Files<'_>) -> Result<Vec<String>> {
    let text = files.text(LOGS)?.unwrap_or_default();
    let plain = |line: &&str| lines::parse_line(line).map_or(true, |node| !is_entry(&node.into_json()));
    Ok(lines::numbered(text).map(|(_, line)| line).filter(plain).map(str::to_owned).collect())
}

/// Puts what was said into the session that was saved, unless it holds its conversation itself.
fn join(session: &mut Session, told: Session) {
    if session.turns.is_empty() {
        session.turns = told.turns;
        session.prompt = session.prompt.take().or(told.prompt);
    }
    session.id = session.id.take().or(told.id);
}

/// Takes what the manifest says of the run.
fn describe(session: &mut Session, manifest: &mut Object) {
    if let Some(Json::Object(mut request)) = manifest.remove("request") {
        let mut take = |key: &str| take_text(&mut request, key);
        let id = take("session_id");
        session.id = session.id.take().or(id.map(SessionId::new));
        let mut run = Run::default();
        run.timing.started = take("started_at").map(Time::new);
        run.timing.completed = take("ended_at").map(Time::new);
        run.status = take("status").map(|word| status(&word));
        session.timing.started.clone_from(&run.timing.started);
        session.timing.completed.clone_from(&run.timing.completed);
        session.status.clone_from(&run.status);
        session.runs.push(run);
        manifest.set("request", request);
    }
    if let Some(Json::Object(mut prompt)) = manifest.remove("prompt") {
        let ns = take_text(&mut prompt, "ns").unwrap_or_default();
        let key = take_text(&mut prompt, "key").unwrap_or_default();
        session.prompt = Some(PromptId { ns, key, ..PromptId::default() });
        manifest.set("prompt", prompt);
    }
    manifest.remove("integrity");
    manifest.remove("files");
}

fn take_text(object: &mut Object, key: &str) -> Option<String> {
    let text = object.get_str(key)?.into_owned();
    object.remove(key);
    (!text.is_empty()).then_some(text)
}

fn status(word: &str) -> Status {
    match word {
        "success" => Status::Completed(Completed {}),
        "error" => Status::Failed(Failed::default()),
        other => Status::Other { kind: other.to_owned(), raw: Object::new() },
    }
}

/// Takes what was used, what went wrong and which run it was.
fn measure(session: &mut Session, files: &Files<'_>) -> Result<()> {
    let metrics = json(files, "metrics.json")?;
    if let Some(tokens) = metrics.as_ref().and_then(|metrics| metrics.get("token_usage")?.as_object()) {
        let count = |key: &str| tokens.get(key).and_then(Json::as_number).and_then(Number::as_u64);
        session.usage.input = count("input_tokens");
        session.usage.output = count("output_tokens");
        session.usage.cached_read = count("cached_tokens");
        session.usage.total = count("total_tokens");
        session.usage.requests = count("prompt_count");
    }
    if let Some(error) = json(files, "error.json")? {
        let error = error.get_str("message").unwrap_or_default().into_owned();
        let failed = Status::Failed(Failed { error });
        session.runs.iter_mut().for_each(|run| run.status = Some(failed.clone()));
        session.status = Some(failed);
    }
    let context = json(files, "run_context.json")?;
    if let (Some(context), Some(run)) = (context, session.runs.first_mut()) {
        run.id = context.get_str("run_id").map(RunId::new);
        run.attempt = context.get("attempt").and_then(|value| value.as_number()?.as_u64()?.try_into().ok());
    }
    Ok(())
}

fn json(files: &Files<'_>, path: &str) -> Result<Option<Object>> {
    let Some(text) = files.text(path)? else { return Ok(None) };
    match parse_with(text, Nan::Accept).map_err(|error| error.locate(text).file(path))?.into_json() {
        Json::Object(object) => Ok(Some(object)),
        other => Err(Error::new(ErrorKind::Corrupt, format!("expected an object, found {}", other.kind())).path(path)),
    }
}

/// Keeps the other files as they are, with what is left of the manifest.
fn keep(session: &mut Session, files: &Files<'_>, manifest: Object, losses: &mut Vec<Loss>) {
    let read = [AFTER, BEFORE, TRANSCRIPT, LOGS, MANIFEST];
    let mut kept = Object::new();
    for path in files.paths().filter(|path| !read.contains(path)) {
        match files.get(path).map(std::str::from_utf8) {
            Some(Ok(text)) => kept.push(path, content(path, text)),
            _ => {
                let what = format!("{path} is no text and was left out");
                losses.push(Loss::decode(LossKind::Dropped, "extra.wink.files", what));
            }
        }
    }
    let part = session.extra.part_mut(FORMAT);
    part.fields.set("manifest", manifest);
    if !kept.is_empty() {
        part.fields.set("files", kept);
    }
}

/// What is left of a file: JSON without the fields that were taken, or text.
fn content(path: &str, text: &str) -> Json {
    let parsed = path.ends_with(".json").then(|| parse_with(text, Nan::Accept).ok()).flatten();
    let taken: &[&str] = match path {
        "metrics.json" => &["token_usage"],
        "error.json" => &["message"],
        "run_context.json" => &["run_id", "attempt"],
        _ => &[],
    };
    match parsed.map(turnkeep_model::json::Node::into_json) {
        Some(Json::Object(mut object)) => {
            object.retain(|key, _| !taken.contains(&&*key.to_str_lossy()));
            Json::Object(object)
        }
        Some(other) => other,
        None => Json::from(text),
    }
}
