//! One session.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::StreamExt;
use turnkeep_model::Seq;
use turnkeep_store::StoreExt;

use super::writer;
use crate::app::App;
use crate::auth::{Caller, ToRead};
use crate::live::{LiveItem, View};
use crate::problem::{Answer, Problem, ProblemBody};
use crate::rest::{InSession, Parameters};

/// What happens to a session, as server-sent events.
#[utoipa::path(get, path = "/v1/sessions/{id}/events", tag = "events", security(("token" = ["read"])),
    params(
        ("id" = String, Path, description = "The session."),
        ("after" = Option<u64>, Query, description = "Begin after this record; `Last-Event-ID` goes before it. From now on where neither is there."),
        ("view" = Option<String>, Query, description = "`native` (every record), `agent` (the seven envelopes) or `released` (the seven as a release wrote them)."),
        ("preset" = Option<String>, Query, description = "`minimal`, `standard` or `debug`, for the view `agent`."),
        ("ticket" = Option<String>, Query, description = "A ticket in the place of a token."),
        ("Last-Event-ID" = Option<String>, Header, description = "The last `id` that was received."),
    ),
    responses(
        (status = 200, description = "Events; `id` is the place to go on after.", body = String, content_type = "text/event-stream"),
        (status = 404, description = "There is no such session.", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub(crate) async fn session_events(
    State(app): State<Arc<App>>,
    caller: Caller<ToRead>,
    InSession(id): InSession,
    headers: HeaderMap,
    mut parameters: Parameters,
) -> Answer<Response> {
    let view = view(&mut parameters)?;
    let after = parameters.number("after")?.map(Seq);
    parameters.take("ticket");
    parameters.done()?;
    // From now on means from when it was asked, not from when the first byte is sent.
    let last = caller.tenant.store.last(&id).await?;
    let after = last_event_id(&headers)?.or(after).unwrap_or(last);
    let metrics = app.metrics.clone();
    let frames = caller.tenant.live.follow(&id, Some(after), view).map(move |item| match &item {
        LiveItem::Event(event) => writer::frame(event, event.resume.map(|seq| seq.0.to_string()).as_deref()),
        other => {
            metrics.lagged.fetch_add(u64::from(matches!(other, LiveItem::Lagged { .. })), Ordering::Relaxed);
            writer::notice(other, id.as_str())
        }
    });
    writer::answer(&app, frames)
}

pub(super) fn view(parameters: &mut Parameters) -> Answer<View> {
    let (view, preset) = (parameters.take("view"), parameters.take("preset"));
    View::of(view.as_deref(), preset.as_deref()).ok_or_else(|| {
        Problem::bad_request("`view` is `native`, `agent` or `released`, `preset` is `minimal`, `standard` or `debug`")
    })
}

fn last_event_id(headers: &HeaderMap) -> Answer<Option<Seq>> {
    let Some(id) = headers.get("last-event-id") else { return Ok(None) };
    let number = id.to_str().ok().filter(|id| !id.is_empty()).map(str::parse);
    match number {
        None => Ok(None),
        Some(Ok(seq)) => Ok(Some(Seq(seq))),
        Some(Err(_)) => Err(Problem::bad_request("`Last-Event-ID` is the number of a record")),
    }
}
