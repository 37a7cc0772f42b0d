//! Appending records, by compare-and-swap.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use turnkeep_model::json::Node;
use turnkeep_model::shape::{Shape, ShapeReader};
use turnkeep_model::{Batch, Entry, Event, Head, RunId, Seq, SessionId, Time};
use turnkeep_store::{ErrorKind, StoreExt};

use super::body::JsonText;
use super::native::{at, etag, json, object};
use super::parameters::InSession;
use crate::auth::{Caller, ToWrite};
use crate::problem::{Answer, Problem, ProblemBody, of_document};
use crate::tenant::Tenant;

/// Append records after the last one.
#[utoipa::path(post, path = "/v1/sessions/{id}/records", tag = "sessions", security(("token" = ["write"])),
    request_body(content = Object, description = "`events`: one or more, each with its `type`; all of them are appended, or none. `run`: the id of the run that records them."),
    params(
        ("id" = String, Path, description = "The session."),
        ("If-Match" = String, Header, description = "The last record that the caller knows, as `ETag` tells it. `\"0\"` begins a session."),
        ("Idempotency-Key" = Option<String>, Header, description = "Makes the request safe to repeat."),
    ),
    responses((status = 200, description = "`seq`: the last record now; also as `ETag`.", body = Object),
              (status = 412, description = "Someone else was faster; `ETag` is the last record.", body = ProblemBody, content_type = "application/problem+json"),
              (status = 422, description = "An event cannot be read, or speaks of what is not there.", body = ProblemBody, content_type = "application/problem+json"),
              (status = 428, description = "`If-Match` is missing.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn append(
    caller: Caller<ToWrite>,
    InSession(id): InSession,
    headers: HeaderMap,
    JsonText(text): JsonText,
) -> Answer<Response> {
    let tenant = &caller.tenant;
    let after = if_match(&headers)?;
    let batch = batch(&text, after)?;
    check(tenant, &id, after, &batch).await?;
    match tenant.store.append(&id, after, &batch).await {
        Ok(seq) => {
            tenant.hub.publish(&id, &batch);
            let answer = object([("session", id.as_str().into()), ("seq", seq.0.into())]);
            Ok(at(seq, json(StatusCode::OK, answer.to_text())))
        }
        Err(error) if error.kind() == ErrorKind::Conflict => Err(stale(tenant, &id).await),
        Err(error) => Err(error.into()),
    }
}

/// The record that the caller knows as the last.
fn if_match(headers: &HeaderMap) -> Answer<Seq> {
    let missing = || {
        Problem::new(StatusCode::PRECONDITION_REQUIRED, "no_if_match", "`If-Match` is missing")
            .hint("send the `ETag` of the session: an append says what it comes after")
    };
    let value = headers.get(header::IF_MATCH).ok_or_else(missing)?;
    let number = value.to_str().ok().and_then(|value| value.trim().trim_matches('"').parse().ok());
    number.map(Seq).ok_or_else(|| Problem::bad_request("`If-Match` is the number of a record, in quotes"))
}

async fn stale(tenant: &Tenant, id: &SessionId) -> Problem {
    let problem = Problem::new(StatusCode::PRECONDITION_FAILED, "stale", "the session has other records by now")
        .hint("read on from the record you know, then append after the last");
    match tenant.store.last(id).await {
        Ok(last) => problem.with(header::ETAG, etag(last)),
        Err(_) => problem,
    }
}

/// The batch of a body. The server gives it its place and its time.
fn batch(text: &str, after: Seq) -> Answer<Batch> {
    let node = turnkeep_model::json::parse(text).map_err(|error| of_document(&error.locate(text)))?;
    let wrong = |what: &str| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "unreadable", what);
    let fields = node.as_object().ok_or_else(|| wrong("the body is an object with `events`"))?;
    if fields.iter().any(|(key, _)| !key.is("events") && !key.is("run")) {
        return Err(wrong("the body has `events` and `run`, and nothing else"));
    }
    let events = node.get("events").and_then(Node::as_array).ok_or_else(|| wrong("`events` is a list"))?;
    let mut reader = ShapeReader::default();
    let read = events.iter().map(|event| Entry::read(event.clone(), &mut reader));
    let events: Result<Vec<Entry>, _> = read.collect();
    let events = events.map_err(|error| of_document(&error.locate(text)))?;
    if events.is_empty() {
        return Err(wrong("there is no event to append"));
    }
    let mut batch = Batch::new(after.next(), events);
    batch.run = node.get("run").and_then(Node::as_str).map(|run| RunId::new(run.into_owned()));
    batch.time = Some(Time::from_instant(jiff::Timestamp::now()));
    Ok(batch)
}

/// Refuses what would make the session unreadable, and decisions that no person made here.
async fn check(tenant: &Tenant, id: &SessionId, after: Seq, batch: &Batch) -> Answer<()> {
    let refuse = |what: &str| Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "illegal", what));
    for entry in &batch.events {
        match &entry.event {
            Event::ApprovalGiven(_) | Event::ToolResolved(_) => {
                return refuse("decisions about calls have routes of their own, which record who made them");
            }
            Event::SessionOpened(_) if after != Seq::START => return refuse("the session is open already"),
            _ => {}
        }
    }
    let begins = matches!(batch.events.first().map(|entry| &entry.event), Some(Event::SessionOpened(_)));
    if after == Seq::START {
        return if begins { legal(Head::default(), batch) } else { refuse("a session begins with `session.opened`") };
    }
    let speaks_of_turns = |entry: &Entry| turn_of(&entry.event).is_some();
    if !batch.events.iter().any(speaks_of_turns) {
        return Ok(());
    }
    let window = tenant.store.load_window(id, 0).await?;
    legal(window.head, batch)
}

/// The turn that has to be there.
fn turn_of(event: &Event) -> Option<u32> {
    match event {
        Event::BlockAdded(added) => Some(added.turn),
        Event::TurnClosed(closed) => Some(closed.turn),
        Event::ModelFailed(failed) => Some(failed.turn),
        Event::SessionCondensed(condensed) => Some(condensed.to.max(condensed.from)),
        _ => None,
    }
}

fn legal(head: Head, batch: &Batch) -> Answer<()> {
    let mut turns = head.turns;
    for entry in &batch.events {
        if let Event::SessionOpened(opened) = &entry.event {
            turns = u32::try_from(opened.session.turns.len()).unwrap_or(u32::MAX);
        }
        turns = turns.saturating_add(u32::from(matches!(entry.event, Event::TurnOpened(_))));
        if turn_of(&entry.event).is_some_and(|turn| turn >= turns) {
            let what = format!("an event speaks of a turn that was never opened; there are {turns}");
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "illegal", what));
        }
    }
    Ok(())
}
