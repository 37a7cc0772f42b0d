//! One record, whole.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use futures_util::StreamExt;
use turnkeep_model::{Json, Seq, SessionId};

use crate::auth::{Caller, ToRead};
use crate::problem::{Answer, Problem, ProblemBody};
use crate::rest::{at, json, object};

/// One record as it is stored.
#[utoipa::path(get, path = "/v1/sessions/{id}/records/{seq}", tag = "sessions", security(("token" = ["read"])),
    params(("id" = String, Path, description = "The session."), ("seq" = u64, Path, description = "The record.")),
    responses((status = 200, description = "`seq`, `time`, `run` and `event`.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn record(caller: Caller<ToRead>, Path((id, seq)): Path<(String, u64)>) -> Answer<Response> {
    let id = SessionId::new(id);
    let mut batches = caller.tenant.store.read(&id, Seq(seq.saturating_sub(1)));
    let missing = || Problem::new(StatusCode::NOT_FOUND, "not_found", "there is no such record");
    let batch = batches.next().await.transpose()?.ok_or_else(missing)?;
    let index = seq.checked_sub(batch.seq.0).and_then(|index| usize::try_from(index).ok()).ok_or_else(missing)?;
    let line = turnkeep_model::json::parse(&batch.to_line()).map_err(Problem::internal)?.into_json();
    let field = |name: &str| line.as_object().and_then(|batch| batch.get(name)).cloned().unwrap_or_default();
    let event = match field("events") {
        Json::Array(events) => events.into_iter().nth(index).ok_or_else(missing)?,
        _ => return Err(missing()),
    };
    let answer = object([("seq", seq.into()), ("time", field("time")), ("run", field("run")), ("event", event)]);
    Ok(at(batch.last(), json(StatusCode::OK, answer.to_text())))
}
