//! What is known of a session's tool calls, and its journal a line a record.

use std::collections::HashSet;
use std::fmt::Write;

use pollster::block_on;
use turnkeep_model::event::EndpointChosen;
use turnkeep_model::ledger::{CallState, LedgerEntry};
use turnkeep_model::{Body, CallId, Event, Json, Ledger, Object, Session, SessionId, ToolCall};
use turnkeep_store::StoreExt;

use super::super::CommandResult;
use crate::args::Show;
use crate::exit::{CliError, Exit};
use crate::input_args::is_dash;
use crate::report::object;
use crate::terminal::{BOLD, DIM, print, print_json};
use crate::visible::{shortened, visible_line};

/// `turnkeep show ID --ledger`
pub(crate) fn ledger(args: &Show) -> CommandResult {
    if args.input.exists() || is_dash(&args.input) {
        let what = "a file has no ledger; only a stored session has one".to_owned();
        let id = "`turnkeep import FILE` stores it, then name its id".to_owned();
        return Err(CliError::Usage(what, id));
    }
    let id = SessionId::new(args.input.to_string_lossy());
    let loaded = block_on(args.store.open_existing()?.load(&id))?;
    let answered = answered(&loaded.session);
    let rows = calls(&loaded.session).map(|(turn, call)| row(turn, call, &answered, &loaded.ledger));
    let rows: Vec<Row> = rows.collect();
    if args.json {
        print_json(&object([("calls", Json::Array(rows.iter().map(Row::to_json).collect()))]))?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for row in &rows {
        let (call, name) = (visible_line(&row.call.call.to_string()), visible_line(&row.call.name));
        let _ = writeln!(text, "{BOLD}{call}{BOLD:#} {name}  {}", row.state);
        let _ = writeln!(text, "  {DIM}turn {} · {}{DIM:#}", row.turn, shortened(&row.call.arguments, 80));
        if let Some(digest) = &row.digest {
            let _ = writeln!(text, "  {DIM}digest {}{DIM:#}", visible_line(digest));
        }
    }
    if rows.is_empty() {
        text.push_str("no tool was called\n");
    }
    print(&text)?;
    Ok(Exit::Ok)
}

struct Row<'a> {
    turn: usize,
    call: &'a ToolCall,
    state: &'static str,
    entry: Option<&'a LedgerEntry>,
    digest: Option<String>,
}

impl Row<'_> {
    fn to_json(&self) -> Json {
        let mut json = Object::new();
        json.set("call", self.call.call.to_string());
        json.set("tool", self.call.name.as_str());
        json.set("turn", self.turn as u64);
        json.set("state", self.state);
        if let Some(entry) = self.entry {
            json.set("effect", entry.effect.to_string());
            json.set("attempts", u64::from(entry.attempts));
            json.set("outcome", entry.settled.as_ref().map_or(Json::Null, |(outcome, _)| outcome.to_string().into()));
        }
        if let Some(digest) = &self.digest {
            json.set("digest", digest.as_str());
        }
        Json::Object(json)
    }
}

fn calls(session: &Session) -> impl Iterator<Item = (usize, &ToolCall)> {
    session.blocks().filter_map(|(turn, block)| match &block.body {
        Body::ToolCall(call) => Some((turn, call)),
        _ => None,
    })
}

/// The calls that have a result.
fn answered(session: &Session) -> HashSet<&CallId> {
    let results = session.blocks().filter_map(|(_, block)| match &block.body {
        Body::ToolResult(result) => Some(&result.call),
        _ => None,
    });
    results.collect()
}

fn row<'a>(turn: usize, call: &'a ToolCall, answered: &HashSet<&CallId>, ledger: &'a Ledger) -> Row<'a> {
    let entry = ledger.get(&call.call);
    let approval = ledger.approval(&call.call);
    let answered = answered.contains(&call.call);
    let waits = approval.is_some_and(|approval| approval.given.is_none());
    let state = match entry.map(LedgerEntry::known) {
        _ if answered => "settled",
        None if waits => "waits for consent",
        None => "open, nothing is recorded of it",
        Some(CallState::Settled) => "settled, its result is missing",
        Some(CallState::Repeatable) => "begun, can be repeated",
        Some(CallState::Unsure) => "unsure: it may have acted",
    };
    let digest = approval.filter(|_| waits && !answered).map(|approval| approval.asked.digest.clone());
    Row { turn, call, state, entry, digest }
}

/// What a record says, in a few words.
pub(crate) fn event_line(event: &Event) -> String {
    let said = match event {
        Event::SessionOpened(opened) => opened.session.title.clone().unwrap_or_default(),
        Event::RunStarted(started) => started.run.attempt.map_or(String::new(), |attempt| format!("run {attempt}")),
        Event::RunStopped(stopped) => stopped.status.as_ref().map_or(String::new(), |status| status.kind().to_owned()),
        Event::ModelAsked(asked) => format!("{} messages", asked.messages.unwrap_or(0)),
        Event::EndpointChosen(chosen) => endpoint(chosen),
        Event::ModelFailed(failed) => failed.cause.to_string(),
        Event::LossNoted(noted) => noted.loss.to_string(),
        Event::BlockAdded(added) => block(&added.block.author.to_string(), &added.block.body),
        Event::TurnClosed(closed) => {
            let word = closed.continuation.as_ref().and_then(|decided| decided.decision.as_ref());
            word.map_or(String::new(), ToString::to_string)
        }
        Event::ToolIntended(intended) => {
            let key = intended.key.as_ref().map_or(String::new(), |key| format!(", key {key}"));
            format!("{} ({}{key})", intended.call, intended.effect)
        }
        Event::ToolSettled(settled) => format!("{} {}", settled.call, settled.outcome),
        Event::SessionChanged(changed) => {
            changed.status.as_ref().map_or(String::new(), |status| status.kind().to_owned())
        }
        _ => String::new(),
    };
    format!("{:<16} {said}", event.kind())
}

fn endpoint(chosen: &EndpointChosen) -> String {
    let names = [&chosen.provider, &chosen.model].into_iter().flatten();
    names.map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn block(author: &str, body: &Body) -> String {
    match body {
        Body::Text(text) => format!("{author}: {}", text.text),
        Body::ToolCall(call) => format!("{} calls {}{}", author, call.name, call.arguments),
        Body::ToolResult(result) => {
            format!(
                "{} → {}",
                result.call,
                turnkeep_runtime::envelope::summary_of_result(&result.parts).unwrap_or_default()
            )
        }
        other => format!("{author}: {}", other.kind()),
    }
}
