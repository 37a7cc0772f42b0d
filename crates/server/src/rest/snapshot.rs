//! What a session is: all of it at a place, or its last turns.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use turnkeep_model::json::Layout;
use turnkeep_model::{Archive, Seq};
use turnkeep_store::{Loaded, StoreExt};

use super::native::{at, etag, json, native};
use super::parameters::{InSession, Parameters};
use crate::auth::{Caller, ToRead};
use crate::problem::{Answer, Problem, ProblemBody};

/// The session as a native document.
#[utoipa::path(get, path = "/v1/sessions/{id}/snapshot", tag = "sessions", security(("token" = ["read"])),
    params(
        ("id" = String, Path, description = "The session."),
        ("seq" = Option<u64>, Query, description = "As it was at this record."),
    ),
    responses((status = 200, description = "A native document (format `turnkeep`), with `seq`.", body = Object),
              (status = 304, description = "`If-None-Match` names the last record."),
              (status = 404, description = "There is none, or no such record.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn snapshot(
    caller: Caller<ToRead>,
    InSession(id): InSession,
    headers: HeaderMap,
    mut parameters: Parameters,
) -> Answer<Response> {
    let seq = parameters.number("seq")?.map(Seq);
    parameters.done()?;
    let store = &caller.tenant.store;
    let last = store.last(&id).await?;
    let known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    if known == Some(etag(seq.unwrap_or(last)).as_str()) {
        return Ok(at(last, StatusCode::NOT_MODIFIED.into_response()));
    }
    let loaded = match seq {
        None => store.load(&id).await?,
        Some(seq) if seq == Seq::START || seq > last => {
            return Err(Problem::not_found("the session has no such record").hint(format!("its last is {}", last.0)));
        }
        Some(seq) => store.load_at(&id, seq).await?,
    };
    let Loaded { session, seq, .. } = loaded;
    let archive = Archive { seq: Some(seq), ..Archive::from(session) };
    Ok(at(seq, json(StatusCode::OK, archive.to_json(Layout::Compact))))
}

/// How many turns a window has where nothing is said.
const TURNS: u64 = 20;

/// The last turns, with all of the session that is no turn.
#[utoipa::path(get, path = "/v1/sessions/{id}/window", tag = "sessions", security(("token" = ["read"])),
    params(
        ("id" = String, Path, description = "The session."),
        ("turns" = Option<u32>, Query, description = "How many turns; 20 where nothing is said."),
    ),
    responses((status = 200, description = "`seq`, `first` (the index of the first turn), `turns` (how many there are) and `session`.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn window(
    caller: Caller<ToRead>,
    InSession(id): InSession,
    mut parameters: Parameters,
) -> Answer<Response> {
    let turns = parameters.number("turns")?.unwrap_or(TURNS);
    parameters.done()?;
    let turns = u32::try_from(turns).unwrap_or(u32::MAX);
    let window = caller.tenant.store.load_window(&id, turns).await?;
    let (head, first) = (window.head, window.first);
    let session = native(&*head.session);
    let text = format!("{{\"seq\":{},\"first\":{first},\"turns\":{},\"session\":{session}}}", head.seq.0, head.turns);
    Ok(at(head.seq, json(StatusCode::OK, text)))
}
