//! The journal line by line, and what is known of calls.

use std::collections::HashSet;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use turnkeep_model::ledger::{CallState, LedgerEntry};
use turnkeep_model::{Body as Content, CallId, Json, Ledger, Object, Seq, Session, ToolCall};
use turnkeep_store::{Loaded, StoreExt};

use super::native::{MORE, SEQ, at, json, object, with};
use super::parameters::{InSession, Parameters};
use crate::auth::{Caller, ToRead};
use crate::problem::{Answer, ProblemBody};
use crate::viewer::cut_line;

/// How many batches a page has where nothing is said.
const PAGE: usize = 200;

/// Names and ids are never cut.
const SHORTEST: usize = 256;

/// The journal, a batch a line (NDJSON), page by page.
#[utoipa::path(get, path = "/v1/sessions/{id}/journal", tag = "sessions", security(("token" = ["read"])),
    params(
        ("id" = String, Path, description = "The session."),
        ("after" = Option<u64>, Query, description = "Begin after this record."),
        ("limit" = Option<u64>, Query, description = "How many batches at most, up to 1000."),
        ("cut" = Option<u64>, Query, description = "Shorten texts to this many characters, at least 256; `cut` of a line tells which."),
    ),
    responses((status = 200, description = "Lines as in the format `turnkeep.jsonl`. `Turnkeep-Seq` is the last record of the page, `Turnkeep-More` whether there is more.", body = String, content_type = "application/x-ndjson"),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn journal(
    caller: Caller<ToRead>,
    InSession(id): InSession,
    mut parameters: Parameters,
) -> Answer<Response> {
    let after = Seq(parameters.number("after")?.unwrap_or(0));
    let limit = super::listing::limit(&mut parameters)?;
    let cut = parameters.number("cut")?.map(|cut| usize::try_from(cut).unwrap_or(usize::MAX).max(SHORTEST));
    parameters.done()?;
    let store = &caller.tenant.store;
    let last = store.last(&id).await?;
    let (mut text, mut end) = (String::new(), after);
    let mut batches = store.read(&id, after).take(if limit == 0 { PAGE } else { limit });
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        end = batch.last();
        let line = batch.to_line();
        text.push_str(&cut.map_or(line.clone(), |limit| cut_line(&line, limit)));
        text.push('\n');
    }
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson"), (header::CACHE_CONTROL, "no-store")];
    let response = (StatusCode::OK, headers, Body::from(text)).into_response();
    Ok(with(at(last, response), [(SEQ, end.0.to_string()), (MORE, (end < last).to_string())]))
}

/// What is known of each tool call.
#[utoipa::path(get, path = "/v1/sessions/{id}/ledger", tag = "runs", security(("token" = ["read"])),
    params(("id" = String, Path, description = "The session.")),
    responses((status = 200, description = "`calls`. One that waits for consent has its `digest`, `arguments` and `expires`.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn ledger(caller: Caller<ToRead>, InSession(id): InSession) -> Answer<Response> {
    let Loaded { session, seq, ledger } = caller.tenant.store.load(&id).await?;
    let answered = answered(&session);
    let calls = session.blocks().filter_map(|(turn, block)| match &block.body {
        Content::ToolCall(call) => Some(row(turn, call, &answered, &ledger)),
        _ => None,
    });
    let answer = object([("calls", Json::Array(calls.collect()))]);
    Ok(at(seq, json(StatusCode::OK, answer.to_text())))
}

fn answered(session: &Session) -> HashSet<&CallId> {
    let results = session.blocks().filter_map(|(_, block)| match &block.body {
        Content::ToolResult(result) => Some(&result.call),
        _ => None,
    });
    results.collect()
}

fn row(turn: usize, call: &ToolCall, answered: &HashSet<&CallId>, ledger: &Ledger) -> Json {
    let entry = ledger.get(&call.call);
    let approval = ledger.approval(&call.call);
    let waits = approval.is_some_and(|approval| approval.given.is_none());
    let state = match entry.map(LedgerEntry::known) {
        _ if answered.contains(&call.call) => "settled",
        None if waits => "waiting",
        None => "open",
        Some(CallState::Settled) => "settled",
        Some(CallState::Repeatable) => "begun",
        Some(CallState::Unsure) => "unsure",
    };
    let mut row = Object::new();
    row.set("call", call.call.to_string());
    row.set("tool", call.name.as_str());
    row.set("turn", turn as u64);
    row.set("state", state);
    if let Some(entry) = entry {
        row.set("effect", entry.effect.to_string());
        row.set("attempts", u64::from(entry.attempts));
        row.set("outcome", entry.settled.as_ref().map_or(Json::Null, |(outcome, _)| outcome.to_string().into()));
    }
    if let Some(approval) = approval.filter(|_| state == "waiting") {
        row.set("digest", approval.asked.digest.as_str());
        row.set("arguments", call.arguments.as_str());
        row.set("expires", approval.asked.expires.as_ref().map_or(Json::Null, |time| time.as_str().into()));
        row.set("reason", approval.asked.reason.as_deref().map_or(Json::Null, Json::from));
    }
    Json::Object(row)
}
