//! Several sessions on one connection: browsers open six to a server at most.
//!
//! The id of an event holds the place in every session: `a=41&b=7`, with the ids of sessions as in a URL.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::StreamExt;
use futures_util::stream::SelectAll;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use turnkeep_model::{Seq, SessionId};
use turnkeep_store::StoreExt;

use super::{single, writer};
use crate::app::App;
use crate::auth::{Caller, ToRead};
use crate::live::LiveItem;
use crate::problem::{Answer, Problem, ProblemBody};
use crate::rest::Parameters;

/// How many sessions one connection may follow.
const MOST: usize = 100;

/// What happens to several sessions, as server-sent events on one connection.
#[utoipa::path(get, path = "/v1/events", tag = "events", security(("token" = ["read"])),
    params(
        ("session" = String, Query, description = "The sessions, with commas between them. A comma in an id is written `%2C` twice encoded."),
        ("view" = Option<String>, Query, description = "`native` or `agent`."),
        ("preset" = Option<String>, Query, description = "`minimal`, `standard` or `debug`."),
        ("after" = Option<String>, Query, description = "Where to begin, as an `id` of this stream."),
        ("ticket" = Option<String>, Query, description = "A ticket in the place of a token."),
        ("Last-Event-ID" = Option<String>, Header, description = "The last `id` that was received."),
    ),
    responses(
        (status = 200, description = "Events of all of them.", body = String, content_type = "text/event-stream"),
        (status = 404, description = "One of them is not there.", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    caller: Caller<ToRead>,
    headers: HeaderMap,
    mut parameters: Parameters,
) -> Answer<Response> {
    let view = single::view(&mut parameters)?;
    let sessions = sessions(&mut parameters)?;
    let given = parameters.take("after");
    parameters.take("ticket");
    parameters.done()?;
    let header = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let mut places = places(header.or(given).as_deref())?;
    places.retain(|id, _| sessions.contains(id));
    let mut all = SelectAll::new();
    for id in sessions {
        // From now on, but for what the client has seen; the id then tells of every session from the first event on.
        let last = caller.tenant.store.last(&id).await?;
        let after = *places.entry(id.clone()).or_insert(last);
        let name = id.clone();
        all.push(caller.tenant.live.follow(&id, Some(after), view).map(move |item| (name.clone(), item)).boxed());
    }
    let frames = all.map(move |(id, item)| match &item {
        LiveItem::Event(event) => {
            if let Some(seq) = event.resume {
                places.insert(id, seq);
            }
            writer::frame(event, event.resume.map(|_| written(&places)).as_deref())
        }
        other => writer::notice(other, id.as_str()),
    });
    writer::answer(&app, frames)
}

fn sessions(parameters: &mut Parameters) -> Answer<Vec<SessionId>> {
    let named = parameters.all("session");
    let decode = |id: &str| percent_decode_str(id).decode_utf8().map(|id| SessionId::new(id.into_owned())).ok();
    let split = named.iter().flat_map(|list| list.split(',')).filter(|id| !id.is_empty());
    let sessions: Option<Vec<SessionId>> = split.map(decode).collect();
    match sessions {
        Some(sessions) if (1..=MOST).contains(&sessions.len()) => Ok(sessions),
        _ => Err(Problem::bad_request("`session` names 1 to 100 sessions, with commas between them")),
    }
}

/// The places that an id tells of.
fn places(id: Option<&str>) -> Answer<BTreeMap<SessionId, Seq>> {
    let one = |pair: &str| {
        let (id, seq) = pair.split_once('=')?;
        let id = percent_decode_str(id).decode_utf8().ok()?.into_owned();
        Some((SessionId::new(id), Seq(seq.parse().ok()?)))
    };
    let pairs = id.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    let places: Option<BTreeMap<_, _>> = pairs.map(one).collect();
    places.ok_or_else(|| Problem::bad_request("the id is none of this stream"))
}

fn written(places: &BTreeMap<SessionId, Seq>) -> String {
    let one =
        |(id, seq): (&SessionId, &Seq)| format!("{}={}", utf8_percent_encode(id.as_str(), NON_ALPHANUMERIC), seq.0);
    places.iter().map(one).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_the_place_in_every_session() {
        let places_of: BTreeMap<_, _> =
            [("a", 1), ("x=y&z, ü", 41)].map(|(id, seq)| (SessionId::new(id), Seq(seq))).into();

        let id = written(&places_of);

        assert!(id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
        assert_eq!(places(Some(&id)).unwrap(), places_of);
        assert!(places(Some("a=b")).is_err());
    }
}
