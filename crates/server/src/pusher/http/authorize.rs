//! `/broadcasting/auth`: a page asks for the signature that lets it listen.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::channel::{Access, Channel};
use super::super::frame::quote;
use super::super::hub::Hub;
use super::super::lobby::Lobby;
use super::super::presence::Member;
use super::super::router::Pusher;
use super::super::signature;
use super::super::socket_id::SocketId;
use super::Refused;

/// Says who may listen: a check of bearer tokens, or a callback of the program that mounts the routes.
pub trait Authorizer: Send + Sync + 'static {
    /// What a request is granted; `None` refuses it.
    fn authorize<'a>(&'a self, request: AuthorizeRequest<'a>) -> BoxFuture<'a, Option<Grant>>;
}

/// A page that wants to listen.
#[derive(Debug, Clone, Copy)]
pub struct AuthorizeRequest<'a> {
    /// Its headers, with the token or the cookie.
    pub headers: &'a HeaderMap,
    /// What a layer before the route found out about it.
    pub extensions: &'a Extensions,
    /// Its token, where it shows one.
    pub bearer: Option<&'a str>,
    /// Where it wants to listen. The place that it begins at (`@41`) is no part of [`Channel::base`].
    pub channel: &'a Channel,
}

/// What a page is granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Whose channels it may listen to.
    pub tenant: String,
    /// Who it is to others; needed for presence channels.
    pub user: Option<PresenceUser>,
}

/// A user, as other members see them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresenceUser {
    /// Who it is.
    pub id: String,
    /// What the others are told.
    pub info: Value,
}

/// Grants nothing: signatures come from the application's own server.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAuthorizer;

impl Authorizer for NoAuthorizer {
    fn authorize<'a>(&'a self, _: AuthorizeRequest<'a>) -> BoxFuture<'a, Option<Grant>> {
        Box::pin(std::future::ready(None))
    }
}

#[derive(Deserialize, Default)]
struct Asked {
    socket_id: Option<String>,
    channel_name: Option<String>,
}

/// `POST /broadcasting/auth`
pub(in super::super) async fn authorize(
    State(pusher): State<Pusher>,
    headers: HeaderMap,
    extensions: Extensions,
    body: Bytes,
) -> Result<Json<Value>, Refused> {
    let (socket, channel) = asked(&headers, &body)?;
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(bearer);
    let request = AuthorizeRequest { headers: &headers, extensions: &extensions, bearer, channel: &channel };
    let grant = pusher.authorizer.authorize(request).await.ok_or_else(forbidden)?;
    let lobby = app_of(&pusher.hub, socket, &grant.tenant).ok_or_else(forbidden)?;
    sign(lobby, socket, &channel, grant)
}

fn forbidden() -> Refused {
    Refused::new(StatusCode::FORBIDDEN, "You may not listen on this channel.")
}

/// The token of `Bearer TOKEN`.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Who asks for what: a form, as pages send it, or JSON.
fn asked(headers: &HeaderMap, body: &[u8]) -> Result<(SocketId, Channel), Refused> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let asked = if kind.starts_with("application/json") {
        serde_json::from_slice(body).map_err(|_| Refused::new(StatusCode::BAD_REQUEST, "The body is not JSON."))?
    } else {
        form(body)
    };
    let socket = asked.socket_id.and_then(|id| id.parse().ok());
    let socket = socket.ok_or_else(|| Refused::field("socket_id", "The socket_id is no id of a connection."))?;
    let channel = asked.channel_name.and_then(|name| Channel::parse(&name)).filter(Channel::is_guarded);
    let channel =
        channel.ok_or_else(|| Refused::field("channel_name", "The channel_name is none of a private channel."))?;
    Ok((socket, channel))
}

fn form(body: &[u8]) -> Asked {
    let mut asked = Asked::default();
    for (key, value) in form_urlencoded::parse(body) {
        match key.as_ref() {
            "socket_id" => asked.socket_id = Some(value.into_owned()),
            "channel_name" => asked.channel_name = Some(value.into_owned()),
            _ => {}
        }
    }
    asked
}

/// The app of the connection, if it is one of the tenant. A connection that is open on another server is of the only app
/// that the tenant has.
fn app_of<'a>(hub: &'a Hub, socket: SocketId, tenant: &str) -> Option<&'a Lobby> {
    if let Some(lobby) = hub.of_socket(socket) {
        return (lobby.app.tenant == tenant).then_some(lobby);
    }
    let mut theirs = hub.of_tenant(tenant);
    theirs.next().filter(|_| theirs.next().is_none()).map(AsRef::as_ref)
}

fn sign(lobby: &Lobby, socket: SocketId, channel: &Channel, grant: Grant) -> Result<Json<Value>, Refused> {
    let data = match channel.access() {
        Access::Presence => Some(channel_data(lobby, &grant.user.ok_or_else(forbidden)?)?),
        Access::Private => None,
        // Its key is not ours to give.
        Access::Encrypted | Access::Public => return Err(forbidden()),
    };
    let auth = signature::channel_auth(&lobby.app, &socket.to_string(), channel.name(), data.as_deref());
    let mut answer = json!({ "auth": auth });
    if let (Some(data), Some(answer)) = (data, answer.as_object_mut()) {
        answer.insert("channel_data".to_owned(), data.into());
    }
    Ok(Json(answer))
}

fn channel_data(lobby: &Lobby, user: &PresenceUser) -> Result<String, Refused> {
    let data = format!(r#"{{"user_id":{},"user_info":{}}}"#, quote(&user.id), user.info);
    Member::parse(&data, &lobby.app.limits).map(|_| data).ok_or_else(forbidden)
}
