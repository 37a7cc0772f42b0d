//! Checking, measuring and erasing.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use turnkeep_model::{Json, Seq};
use turnkeep_store::{Finding, StoreExt};
use utoipa::ToSchema;

use super::body::Body;
use super::native::{json, object};
use super::parameters::InSession;
use crate::auth::{Caller, ToAdmin, ToRead};
use crate::problem::{Answer, Problem, ProblemBody};

fn cannot(what: &str) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "unsupported", what).hint("copy the sessions to an SQLite store")
}

/// Check every sum of a session.
#[utoipa::path(get, path = "/v1/sessions/{id}/verify", tag = "maintenance", security(("token" = ["read"])),
    params(("id" = String, Path, description = "The session.")),
    responses((status = 200, description = "`last`, `batches`, `digest`, `sound` and `findings`.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn verify(caller: Caller<ToRead>, InSession(id): InSession) -> Answer<Response> {
    let verified = caller.tenant.store.verify(&id).await?;
    let findings: Vec<Json> = verified.findings.iter().map(|finding| words(finding).into()).collect();
    let answer = object([
        ("session", verified.session.as_str().into()),
        ("last", verified.last.0.into()),
        ("batches", verified.batches.into()),
        ("digest", verified.digest.as_str().into()),
        ("sound", findings.is_empty().into()),
        ("findings", Json::Array(findings)),
    ]);
    Ok(json(StatusCode::OK, answer.to_text()))
}

fn words(finding: &Finding) -> String {
    match finding {
        Finding::TornTail { bytes, .. } => {
            format!("{bytes} bytes of a batch that was never acknowledged are at its end")
        }
        Finding::Gap { due, found, .. } => format!("record {found} stands where {due} is due"),
        Finding::Damaged { seq: Some(seq), .. } => format!("record {seq} is damaged"),
        Finding::Damaged { .. } => "a record is damaged".to_owned(),
        _ => "something that is derived from the journal does not match it".to_owned(),
    }
}

/// What takes how much space.
#[utoipa::path(get, path = "/v1/du", tag = "maintenance", security(("token" = ["read"])),
    responses((status = 200, description = "Bytes by session and by kind.", body = Object),
              (status = 422, description = "The store keeps no account.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn usage(caller: Caller<ToRead>) -> Answer<Response> {
    let accounting = caller.tenant.store.accounting();
    let usage = accounting.ok_or_else(|| cannot("this store keeps no account"))?.usage().await?;
    let sessions = usage.sessions.iter().map(|one| {
        object([
            ("session", one.session.as_str().into()),
            ("raw", one.raw.into()),
            ("own", one.own.into()),
            ("shared", one.shared.into()),
        ])
    });
    let answer = object([
        ("sessions", Json::Array(sessions.collect())),
        ("raw", usage.raw.into()),
        ("journals", usage.journals.into()),
        ("bodies", usage.bodies.into()),
        ("listing", usage.listing.into()),
        ("search", usage.search.into()),
        ("free", usage.free.into()),
        ("total", usage.total.into()),
    ]);
    Ok(json(StatusCode::OK, answer.to_text()))
}

/// What is erased.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Erasure {
    /// The text, as it stands in the session.
    text: String,
    /// Only in this record.
    seq: Option<u64>,
}

/// A shorter text may well stand in places that nobody thought of.
const SHORT: usize = 8;

/// Take a text out of a session: journal, bodies, index and caches.
#[utoipa::path(post, path = "/v1/sessions/{id}/erase", tag = "maintenance", security(("token" = ["admin"])), request_body = Erasure,
    params(("id" = String, Path, description = "The session.")),
    responses((status = 200, description = "`records` that were changed, and `shared_with`: sessions that changed with it.", body = Object),
              (status = 404, description = "There is none, or nothing like that is in it.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn erase(
    caller: Caller<ToAdmin>,
    InSession(id): InSession,
    Body(erasure): Body<Erasure>,
) -> Answer<Response> {
    if erasure.text.len() < SHORT && erasure.seq.is_none() {
        return Err(Problem::bad_request("a text of fewer than 8 bytes is erased from one record at a time")
            .hint("name the record with `seq`"));
    }
    let store = &caller.tenant.store;
    let maintenance = store.maintenance().ok_or_else(|| cannot("this store cannot erase"))?;
    let erased = maintenance.erase(&id, erasure.seq.map(Seq), &erasure.text).await?;
    if erased.records.is_empty() {
        return Err(Problem::not_found("nothing like that is in the session"));
    }
    let answer = object([
        ("session", id.as_str().into()),
        ("records", Json::Array(erased.records.iter().map(|seq| seq.0.into()).collect())),
        ("shared_with", Json::Array(erased.shared_with.iter().map(|id| id.as_str().into()).collect())),
    ]);
    Ok(json(StatusCode::OK, answer.to_text()))
}
