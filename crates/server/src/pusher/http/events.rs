//! Publishing.

use axum::Json;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::channel::Channel;
use super::super::lobby::Lobby;
use super::super::socket_id::SocketId;
use super::channels::attributes;
use super::{Refused, Signed};

#[derive(Deserialize)]
struct Event {
    name: Option<String>,
    data: Option<Value>,
    channel: Option<String>,
    channels: Option<Vec<String>>,
    socket_id: Option<String>,
    info: Option<String>,
}

#[derive(Deserialize)]
struct Batch {
    batch: Option<Vec<Event>>,
}

/// An event that can be published.
struct Checked {
    name: String,
    data: String,
    channels: Vec<Channel>,
    except: Option<SocketId>,
    info: Option<String>,
}

/// `POST /apps/{id}/events`
pub(in super::super) async fn publish(request: Signed) -> Result<Json<Value>, Refused> {
    let event = check(&request.lobby, parse(&request.body)?, request.sender())?;
    let told = told(&request.lobby, &event);
    event.publish(&request.lobby);
    Ok(Json(if event.info.is_some() { json!({ "channels": told }) } else { json!({}) }))
}

/// `POST /apps/{id}/batch_events`. All events are checked before the first is published.
pub(in super::super) async fn publish_batch(request: Signed) -> Result<Json<Value>, Refused> {
    let Batch { batch } = parse(&request.body)?;
    let batch = batch.ok_or_else(|| Refused::field("batch", "The batch field is required."))?;
    if batch.len() > request.lobby.app.limits.batch {
        return Err(Refused::field("batch", "The batch has too many events."));
    }
    let checked: Result<Vec<Checked>, Refused> =
        batch.into_iter().map(|event| check(&request.lobby, event, request.sender())).collect();
    let mut answers = Vec::new();
    for event in checked? {
        let first = told(&request.lobby, &event).into_iter().next().map(|(_, value)| value);
        answers.push(first.filter(|_| event.info.is_some()));
        event.publish(&request.lobby);
    }
    let answers = answers.iter().any(Option::is_some).then_some(answers);
    let answers = answers.map(|all| all.into_iter().map(|one| one.unwrap_or_else(|| json!({}))).collect());
    Ok(Json(json!({ "batch": answers.map_or_else(|| json!({}), Value::Array) })))
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Refused> {
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => Refused::field("body", "A field of the event has another type."),
        _ => Refused::new(StatusCode::BAD_REQUEST, "The body is not JSON."),
    })
}

fn check(lobby: &Lobby, event: Event, sender: Option<SocketId>) -> Result<Checked, Refused> {
    let limits = &lobby.app.limits;
    let required = |name: &str| Refused::field(name, &format!("The {name} field is required."));
    let name = event.name.filter(|name| !name.is_empty()).ok_or_else(|| required("name"))?;
    if name.len() > limits.event_name {
        return Err(Refused::field("name", "The name of the event is too long."));
    }
    let data = match event.data.ok_or_else(|| required("data"))? {
        Value::String(text) => text,
        _ => return Err(Refused::field("data", "The data field must be a string.")),
    };
    if data.len() > limits.data {
        return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "Payload too large."));
    }
    let named: Vec<String> = event.channels.unwrap_or_default().into_iter().chain(event.channel).collect();
    if !(1..=limits.publish_channels).contains(&named.len()) {
        return Err(Refused::field("channels", "An event has at least one channel, and not too many."));
    }
    let channels: Option<Vec<Channel>> = named.iter().map(|name| Channel::parse(name)).collect();
    let channels = channels.ok_or_else(|| Refused::field("channels", "A channel cannot have this name."))?;
    let named = event.socket_id.map(|id| id.parse()).transpose();
    let named = named.map_err(|_| Refused::field("socket_id", "The socket_id is no id of a connection."))?;
    Ok(Checked { name, data, channels, except: named.or(sender), info: event.info })
}

/// What is asked about the channels, before the event is published.
fn told(lobby: &Lobby, event: &Checked) -> Map<String, Value> {
    let Some(info) = &event.info else { return Map::new() };
    let asked: Vec<&str> = info.split(',').map(str::trim).collect();
    let channels = event.channels.iter();
    channels.map(|channel| (channel.name().to_string(), attributes(lobby, channel, &asked).into())).collect()
}

impl Checked {
    fn publish(&self, lobby: &Lobby) {
        for channel in &self.channels {
            lobby.publish(channel, &self.name, &self.data, self.except);
        }
    }
}
