//! Listing and searching.

use axum::http::StatusCode;
use axum::response::Response;
use turnkeep_model::{Json, Object, SessionId};
use turnkeep_store::{Cursor, Hit, Query, SearchQuery, Sort, StoreExt};

use super::native::{json, object, summary, text_or_null};
use super::parameters::Parameters;
use crate::auth::{Caller, ToRead};
use crate::problem::{Answer, Problem, ProblemBody};

/// The longest page.
const MOST: u64 = 1000;

/// List sessions.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", security(("token" = ["read"])),
    params(
        ("title" = Option<String>, Query, description = "Only titles that hold this text."),
        ("status" = Option<String>, Query, description = "Only sessions that stand here."),
        ("tag" = Option<Vec<String>>, Query, description = "Only sessions with this label: `key` or `key=value`. Several must all be there."),
        ("meta" = Option<Vec<String>>, Query, description = "Only sessions whose metadata has this: `key` or `key=value`."),
        ("parent" = Option<String>, Query, description = "Only forks of this session."),
        ("since" = Option<String>, Query, description = "Only sessions changed at this time or later (RFC 3339)."),
        ("before" = Option<String>, Query, description = "Only sessions changed before this time."),
        ("sort" = Option<String>, Query, description = "`updated`, `created` or `id`."),
        ("limit" = Option<u64>, Query, description = "How many on a page, at most 1000."),
        ("after" = Option<String>, Query, description = "The `next` of the page before."),
    ),
    responses((status = 200, description = "A page: `sessions`, and `next` where there is more.", body = Object),
              (status = 400, description = "A parameter is wrong.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn list(caller: Caller<ToRead>, mut parameters: Parameters) -> Answer<Response> {
    let meta = parameters.all("meta");
    let query = query(&mut parameters)?;
    parameters.done()?;
    let store = &caller.tenant.store;
    let page = if meta.is_empty() {
        store.list(&query).await?
    } else {
        store.list_by_metadata(&query, &|kept: &Object| meta.iter().all(|word| holds(kept, word))).await?
    };
    let next = page.next.map(|next| next.to_word());
    let sessions = Json::Array(page.sessions.iter().map(summary).collect());
    let answer = object([("sessions", sessions), ("next", text_or_null(next.as_deref()))]);
    Ok(json(StatusCode::OK, answer.to_text()))
}

fn query(parameters: &mut Parameters) -> Answer<Query> {
    let tag = |tag: String| match tag.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (tag, None),
    };
    let sort = match parameters.take("sort").as_deref() {
        None | Some("updated") => Sort::Updated,
        Some("created") => Sort::Created,
        Some("id") => Sort::Id,
        Some(_) => return Err(Problem::bad_request("`sort` is `updated`, `created` or `id`")),
    };
    let after = parameters.take("after").map(|word| Cursor::from_word(&word)).transpose();
    Ok(Query {
        text: parameters.take("title"),
        status: parameters.take("status"),
        tags: parameters.all("tag").into_iter().map(tag).collect(),
        parent: parameters.take("parent").map(SessionId::new),
        since: millis(parameters, "since")?,
        before: millis(parameters, "before")?,
        sort,
        limit: limit(parameters)?,
        after: after.map_err(|_| Problem::bad_request("`after` is the `next` of the page before"))?,
        ..Query::default()
    })
}

pub(super) fn limit(parameters: &mut Parameters) -> Answer<usize> {
    match parameters.number("limit")? {
        None => Ok(0),
        Some(limit) if (1..=MOST).contains(&limit) => Ok(usize::try_from(limit).unwrap_or_default()),
        Some(_) => Err(Problem::bad_request("`limit` is between 1 and 1000")),
    }
}

fn millis(parameters: &mut Parameters, name: &'static str) -> Answer<Option<i64>> {
    let wrong = |_| Problem::bad_request(format!("`{name}` is a time such as 2026-01-31T12:00:00Z"));
    let time = parameters.take(name).map(|text| text.parse::<jiff::Timestamp>().map_err(wrong)).transpose()?;
    Ok(time.map(jiff::Timestamp::as_millisecond))
}

/// Whether metadata has a key, and under it a value.
fn holds(kept: &Object, word: &str) -> bool {
    match word.split_once('=') {
        None => kept.contains(word),
        Some((key, value)) => {
            kept.get(key).is_some_and(|own| own.as_str().is_some_and(|own| own == value) || own.to_text() == value)
        }
    }
}

/// Search what was said.
#[utoipa::path(get, path = "/v1/search", tag = "sessions", security(("token" = ["read"])),
    params(
        ("q" = String, Query, description = "Words that must all be there."),
        ("session" = Option<String>, Query, description = "Only in this session."),
        ("limit" = Option<u64>, Query, description = "How many hits at most."),
    ),
    responses((status = 200, description = "`hits`, the newest first.", body = Object),
              (status = 422, description = "The store has no search.", body = ProblemBody, content_type = "application/problem+json")))]
pub(crate) async fn search(caller: Caller<ToRead>, mut parameters: Parameters) -> Answer<Response> {
    let text = parameters.take("q").filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| Problem::bad_request("`q` is what to search for"))?;
    let session = parameters.take("session").map(SessionId::new);
    let limit = limit(&mut parameters)?;
    parameters.done()?;
    let index = caller.tenant.store.search();
    let index = index
        .ok_or_else(|| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "unsupported", "this store has no search"))?;
    let hits = index.search(&SearchQuery { text, session, limit }).await?;
    let answer = object([("hits", Json::Array(hits.iter().map(hit).collect()))]);
    Ok(json(StatusCode::OK, answer.to_text()))
}

fn hit(hit: &Hit) -> Json {
    let mark = |mark: &std::ops::Range<usize>| Json::Array(vec![(mark.start as u64).into(), (mark.end as u64).into()]);
    object([
        ("session", hit.session.as_str().into()),
        ("seq", hit.seq.0.into()),
        ("snippet", hit.snippet.as_str().into()),
        ("marks", Json::Array(hit.marks.iter().map(mark).collect())),
    ])
}
