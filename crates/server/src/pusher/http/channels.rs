//! Who is where, and ending it.

use axum::Json;
use axum::extract::{FromRequest, Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::super::channel::Channel;
use super::super::lobby::{Lobby, Occupancy};
use super::super::router::Pusher;
use super::{Refused, Signed};

/// `GET /apps/{id}/channels?filter_by_prefix=presence-&info=user_count`
pub(in super::super) async fn list(request: Signed) -> Json<Value> {
    let (prefix, asked) = (request.parameter("filter_by_prefix").unwrap_or_default(), request.info());
    let occupied = request.lobby.occupied(prefix).into_iter().filter_map(|occupancy| {
        let channel = Channel::parse(&occupancy.name)?;
        Some((occupancy.name.clone(), Value::from(counts(&channel, &occupancy, &asked))))
    });
    Json(json!({ "channels": occupied.collect::<Map<String, Value>>() }))
}

/// `GET /apps/{id}/channels/{channel}?info=user_count,subscription_count`
pub(in super::super) async fn show(State(pusher): State<Pusher>, request: Request) -> Response {
    on_channel(&pusher, request, |signed, channel| {
        let asked = signed.info();
        let mut told = attributes(&signed.lobby, channel, &asked);
        let occupied = signed.lobby.occupancy(channel).is_some();
        told.insert("occupied".to_owned(), occupied.into());
        Ok(Json(Value::from(told)))
    })
    .await
}

/// `GET /apps/{id}/channels/{channel}/users`
pub(in super::super) async fn users(State(pusher): State<Pusher>, request: Request) -> Response {
    on_channel(&pusher, request, |signed, channel| {
        if !channel.is_presence() {
            return Err(Refused::new(StatusCode::BAD_REQUEST, "Only presence channels have users."));
        }
        let nobody = || Refused::new(StatusCode::NOT_FOUND, "Nobody listens on this channel.");
        let users = signed.lobby.users(channel).ok_or_else(nobody)?;
        let users: Vec<Value> = users.into_iter().map(|id| json!({ "id": id })).collect();
        Ok(Json(json!({ "users": users })))
    })
    .await
}

/// `GET /apps/{id}/connections`
pub(in super::super) async fn connections(request: Signed) -> Json<Value> {
    Json(json!({ "connections": request.lobby.connections() }))
}

/// `POST /apps/{id}/users/{user}/terminate_connections`
pub(in super::super) async fn terminate(Path((_, user)): Path<(String, String)>, request: Signed) -> Json<Value> {
    request.lobby.terminate(&user);
    Json(json!({}))
}

async fn on_channel(
    pusher: &Pusher,
    request: Request,
    answer: impl FnOnce(&Signed, &Channel) -> Result<Json<Value>, Refused>,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let name: Path<(String, String)> = match super::part(&mut parts).await {
        Ok(name) => name,
        Err(refused) => return refused,
    };
    let signed = match Signed::from_request(Request::from_parts(parts, body), pusher).await {
        Ok(signed) => signed,
        Err(refused) => return refused,
    };
    let illegal = || Refused::new(StatusCode::BAD_REQUEST, "A channel cannot have this name.");
    let channel = Channel::parse(&name.0.1).ok_or_else(illegal);
    channel.and_then(|channel| answer(&signed, &channel)).into_response()
}

/// What is asked about a channel.
pub(super) fn attributes(lobby: &Lobby, channel: &Channel, asked: &[&str]) -> Map<String, Value> {
    let nobody = || Occupancy { name: channel.base().to_owned(), listeners: 0, users: 0, last: None };
    counts(channel, &lobby.occupancy(channel).unwrap_or_else(nobody), asked)
}

fn counts(channel: &Channel, occupancy: &Occupancy, asked: &[&str]) -> Map<String, Value> {
    let mut told = Map::new();
    if asked.contains(&"user_count") && channel.is_presence() {
        told.insert("user_count".to_owned(), occupancy.users.into());
    }
    if asked.contains(&"subscription_count") {
        told.insert("subscription_count".to_owned(), occupancy.listeners.into());
    }
    if asked.contains(&"cache") && channel.is_cache() {
        let last = occupancy.last.as_deref().and_then(|json| serde_json::from_str::<Value>(json).ok());
        told.insert("cache".to_owned(), last.map_or(Value::Null, |data| json!({ "data": data })));
    }
    told
}
