//! Sessions: made, shown, changed, forked, deleted.

use axum::http::{StatusCode, header};
use axum::response::Response;
use serde::Deserialize;
use std::collections::BTreeMap;
use turnkeep_model::event::SessionChanged;
use turnkeep_model::{Author, Batch, Block, Event, Journal, Object, Seq, Session, SessionId, Time, Turn};
use turnkeep_runtime::port::{Ids, RandomIds};
use turnkeep_runtime::post;
use turnkeep_store::StoreExt;
use utoipa::ToSchema;

use super::body::Body;
use super::native::{at, json, object, summary, with};
use super::parameters::InSession;
use crate::auth::{Caller, ToRead, ToWrite};
use crate::problem::{Answer, Problem, ProblemBody};

/// What a new session begins with.
#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSession {
    /// Its id; one is made where none is given.
    id: Option<String>,
    /// What it is about.
    title: Option<String>,
    /// The system text it begins with.
    system: Option<String>,
    /// Labels.
    #[serde(default)]
    tags: BTreeMap<String, String>,
    /// What the application keeps with it.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: serde_json::Map<String, serde_json::Value>,
}

/// Make a session.
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", security(("token" = ["write"])), request_body = NewSession,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat.")),
    responses((status = 201, description = "`session` and `seq`; `Location` and `ETag`.", body = Object),
              (status = 409, description = "There is one of this id.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn create(caller: Caller<ToWrite>, Body(new): Body<NewSession>) -> Answer<Response> {
    let id = SessionId::new(new.id.clone().unwrap_or_else(|| RandomIds.next()));
    let mut journal = Journal::of(&session(new, &id)?);
    let now = Time::from_instant(jiff::Timestamp::now());
    let events = journal.batches.drain(..).flat_map(|batch| batch.events).collect();
    let mut batch = Batch::new(Seq::START.next(), events);
    batch.time = Some(now);
    let seq = caller.tenant.store.append(&id, Seq::START, &batch).await.map_err(taken)?;
    caller.tenant.hub.publish(&id, &batch);
    Ok(created(&id, seq))
}

fn session(new: NewSession, id: &SessionId) -> Answer<Session> {
    let text = serde_json::to_string(&new.metadata).map_err(Problem::internal)?;
    let metadata = turnkeep_model::json::parse(&text)?.into_json();
    let system = new.system.map(|text| Block::text(Author::System, text).in_message(0));
    let turns = system.map(|block| Turn { blocks: vec![block], ..Turn::default() });
    Ok(Session {
        id: Some(id.clone()),
        title: new.title,
        tags: new.tags.into_iter().collect(),
        metadata: metadata.as_object().cloned().unwrap_or_default(),
        turns: turns.into_iter().collect(),
        ..Session::default()
    })
}

fn taken(error: turnkeep_store::Error) -> Problem {
    if error.kind() == turnkeep_store::ErrorKind::Conflict {
        return Problem::new(StatusCode::CONFLICT, "conflict", "there is a session of this id")
            .hint("choose another id");
    }
    error.into()
}

/// The answer for a session that was made.
pub(super) fn created(id: &SessionId, seq: Seq) -> Response {
    let answer = object([("session", id.as_str().into()), ("seq", seq.0.into())]);
    let encoded = percent_encoding::utf8_percent_encode(id.as_str(), percent_encoding::NON_ALPHANUMERIC);
    let location = [(header::LOCATION, format!("/v1/sessions/{encoded}"))];
    at(seq, with(json(StatusCode::CREATED, answer.to_text()), location))
}

/// Show what a listing shows of a session.
#[utoipa::path(get, path = "/v1/sessions/{id}", tag = "sessions", security(("token" = ["read"])),
    params(("id" = String, Path, description = "The session.")),
    responses((status = 200, description = "The session without its turns; `ETag` is its last record.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn get(caller: Caller<ToRead>, InSession(id): InSession) -> Answer<Response> {
    let found = caller.tenant.store.summary(&id).await?;
    Ok(at(found.last, json(StatusCode::OK, summary(&found).to_text())))
}

/// What becomes different.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// What it is about.
    title: Option<String>,
    /// Labels: a text sets one, `null` removes it.
    #[serde(default)]
    tags: BTreeMap<String, Option<String>>,
    /// What the application keeps: a value sets a key, `null` removes it.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: serde_json::Map<String, serde_json::Value>,
}

/// Change the title, the labels or the metadata.
#[utoipa::path(patch, path = "/v1/sessions/{id}", tag = "sessions", security(("token" = ["write"])), request_body = Change,
    params(("id" = String, Path, description = "The session.")),
    responses((status = 200, description = "The session as it is now.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn change(
    caller: Caller<ToWrite>,
    InSession(id): InSession,
    Body(change): Body<Change>,
) -> Answer<Response> {
    let tenant = &caller.tenant;
    let metadata = parsed(&change)?;
    post(&*tenant.store, &id, &tenant.ports(), |state| {
        let changed = SessionChanged {
            title: change.title.clone(),
            tags: tags(&state.session, &change),
            metadata: merged(&state.session.metadata, &metadata),
            ..SessionChanged::default()
        };
        Ok(vec![Event::from(changed)])
    })
    .await?;
    let found = tenant.store.summary(&id).await?;
    Ok(at(found.last, json(StatusCode::OK, summary(&found).to_text())))
}

fn parsed(change: &Change) -> Answer<Object> {
    let text = serde_json::to_string(&change.metadata).map_err(Problem::internal)?;
    Ok(turnkeep_model::json::parse(&text)?.into_json().as_object().cloned().unwrap_or_default())
}

fn tags(session: &Session, change: &Change) -> Option<Vec<(String, String)>> {
    if change.tags.is_empty() {
        return None;
    }
    let mut tags: BTreeMap<String, String> = session.tags.iter().cloned().collect();
    for (key, value) in &change.tags {
        match value {
            Some(value) => drop(tags.insert(key.clone(), value.clone())),
            None => drop(tags.remove(key)),
        }
    }
    Some(tags.into_iter().collect())
}

fn merged(before: &Object, changes: &Object) -> Option<Object> {
    let mut after = before.clone();
    for (key, value) in changes.iter() {
        let key = key.to_str_lossy();
        match value {
            turnkeep_model::Json::Null => drop(after.remove(&key)),
            value => after.set(&key, value.clone()),
        }
    }
    (!changes.is_empty()).then_some(after)
}

/// Delete a session.
#[utoipa::path(delete, path = "/v1/sessions/{id}", tag = "sessions", security(("token" = ["write"])),
    params(("id" = String, Path, description = "The session.")),
    responses((status = 200, description = "`shared`: the last record that forks still hold.", body = Object),
              (status = 404, description = "There is none.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn delete(caller: Caller<ToWrite>, InSession(id): InSession) -> Answer<Response> {
    let deleted = caller.tenant.store.delete(&id).await?;
    caller.tenant.live.gone(&id);
    let answer = object([("session", id.as_str().into()), ("shared", deleted.shared.0.into())]);
    Ok(json(StatusCode::OK, answer.to_text()))
}

/// What a fork is to be.
#[derive(Deserialize, ToSchema, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fork {
    /// Its id; one is made where none is given.
    id: Option<String>,
    /// The record that it begins after; the last one where none is given.
    at: Option<u64>,
}

/// Make a session that shares the past of another.
#[utoipa::path(post, path = "/v1/sessions/{id}/fork", tag = "sessions", security(("token" = ["write"])), request_body = Fork,
    params(("id" = String, Path, description = "The session.")),
    responses((status = 201, description = "`session` and `seq` of the fork.", body = Object),
              (status = 404, description = "There is none, or no batch ends there.", body = ProblemBody, content_type = "application/problem+json"),
              (status = 409, description = "There is one of this id.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn fork(
    caller: Caller<ToWrite>,
    InSession(id): InSession,
    Body(fork): Body<Fork>,
) -> Answer<Response> {
    let store = &caller.tenant.store;
    let child = SessionId::new(fork.id.unwrap_or_else(|| RandomIds.next()));
    let at = match fork.at {
        Some(at) => Seq(at),
        None => store.last(&id).await?,
    };
    store.fork(&id, at, &child).await?;
    Ok(created(&child, at))
}
