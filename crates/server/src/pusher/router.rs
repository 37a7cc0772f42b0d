//! The routes, and who may connect.

use std::sync::Arc;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{DefaultBodyLimit, Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::Response;
use axum::routing::{get, post};
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::app::Origins;
use super::code::Code;
use super::connection;
use super::feed::SessionFeed;
use super::http::authorize::{self, Authorizer};
use super::http::{channels, events};
use super::hub::Hub;
use super::lobby::Lobby;
use crate::auth::guard::is_of_host;

/// What is read at once: what clients say is short, and every connection has this much.
const READ_BUFFER: usize = 1024;

/// What is written at once.
const WRITE_BUFFER: usize = 16 * 1024;

/// The versions of the protocol that are spoken. From the fifth on, `data` is a text.
const PROTOCOLS: std::ops::RangeInclusive<u32> = 5..=7;

/// What pages may send with a question for a signature.
const HEADERS: [&str; 5] = ["authorization", "content-type", "x-csrf-token", "x-requested-with", "x-socket-id"];

/// The Pusher protocol over a hub, as routes to mount.
#[derive(Clone)]
pub struct Pusher {
    pub(super) hub: Arc<Hub>,
    pub(super) feed: Arc<dyn SessionFeed>,
    pub(super) authorizer: Arc<dyn Authorizer>,
}

impl Pusher {
    /// Serves the apps of `hub`; sessions come from `feed`, and `authorizer` says who may listen to them.
    pub fn new(hub: Arc<Hub>, feed: Arc<dyn SessionFeed>, authorizer: Arc<dyn Authorizer>) -> Pusher {
        Pusher { hub, feed, authorizer }
    }

    /// The routes: `/app/{key}`, `/apps/{id}/…` and `/broadcasting/auth`.
    pub fn router(&self) -> Router {
        self.router_behind(|signing| signing)
    }

    /// The same, with layers around `/broadcasting/auth` that find out who asks. What browsers ask before they ask does not
    /// get there.
    pub fn router_behind(&self, guard: impl FnOnce(Router<Pusher>) -> Router<Pusher>) -> Router {
        let largest = self.hub.apps().map(|app| app.limits.request).max().unwrap_or_default();
        let auth = guard(Router::new().route("/broadcasting/auth", post(authorize::authorize))).layer(self.cors());
        Router::new()
            .route("/app/{key}", get(connect))
            .route("/app/{key}/{*path}", get(nowhere))
            .route("/apps/{id}/events", post(events::publish))
            .route("/apps/{id}/batch_events", post(events::publish_batch))
            .route("/apps/{id}/channels", get(channels::list))
            .route("/apps/{id}/channels/{channel}", get(channels::show))
            .route("/apps/{id}/channels/{channel}/users", get(channels::users))
            .route("/apps/{id}/connections", get(channels::connections))
            .route("/apps/{id}/users/{user}/terminate_connections", post(channels::terminate))
            .merge(auth)
            .layer(DefaultBodyLimit::max(largest))
            .with_state(self.clone())
    }

    /// Pages of the apps' origins may ask for signatures, and no others.
    fn cors(&self) -> CorsLayer {
        let hub = self.hub.clone();
        let known = move |origin: &HeaderValue, _: &axum::http::request::Parts| {
            let origin = origin.to_str().ok();
            origin.is_some_and(|origin| hub.apps().any(|app| app.origins.admit(Some(origin))))
        };
        let headers = HEADERS.map(header::HeaderName::from_static);
        CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(known))
            .allow_methods([Method::POST])
            .allow_headers(headers)
    }

    /// The app that a client may connect to, or why it may not.
    fn admit(&self, key: &str, query: &str, headers: &HeaderMap) -> Result<Arc<Lobby>, Code> {
        let lobby = self.hub.by_key(key).ok_or(Code::UnknownApp)?;
        if !lobby.app.enabled {
            return Err(Code::AppDisabled);
        }
        check_versions(query)?;
        if !is_admitted(&lobby.app.origins, headers) {
            return Err(Code::Unauthorized);
        }
        Ok(lobby.clone())
    }
}

/// Whether the page that asks is one of the named origins, or of this server.
fn is_admitted(origins: &Origins, headers: &HeaderMap) -> bool {
    // An origin that is no text is one that nobody named.
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or("null"));
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    origins.admit(origin) || origin.zip(host).is_some_and(|(origin, host)| is_of_host(origin, host))
}

/// Checks `protocol=7&version=8.6.0`.
fn check_versions(query: &str) -> Result<(), Code> {
    let find =
        |name: &str| form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value);
    let protocol = find("protocol").filter(|protocol| !protocol.is_empty()).ok_or(Code::NoProtocol)?;
    if !protocol.parse().is_ok_and(|version| PROTOCOLS.contains(&version)) {
        return Err(Code::UnsupportedProtocol);
    }
    let is_version = |text: &str| text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_graphic());
    find("version").is_none_or(|version| is_version(&version)).then_some(()).ok_or(Code::InvalidVersion)
}

async fn connect(
    State(pusher): State<Pusher>,
    Path(key): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let admitted = pusher.admit(&key, &query.unwrap_or_default(), &headers);
    let most = admitted.as_ref().map_or(0, |lobby| lobby.app.limits.message).max(READ_BUFFER);
    sized(upgrade, most).on_upgrade(move |socket| async move {
        match admitted.and_then(|lobby| pusher.hub.enter(&lobby)) {
            Ok(seat) => connection::serve(socket, seat, pusher.feed).await,
            Err(code) => connection::refuse(socket, code).await,
        }
    })
}

async fn nowhere(upgrade: WebSocketUpgrade) -> Response {
    sized(upgrade, READ_BUFFER).on_upgrade(|socket| connection::refuse(socket, Code::PathNotFound))
}

fn sized(upgrade: WebSocketUpgrade, message: usize) -> WebSocketUpgrade {
    upgrade
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(message)
        .max_frame_size(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_names_a_protocol_that_is_spoken() {
        let table = [
            ("protocol=7&client=js&version=8.6.0&flash=false", Ok(())),
            ("protocol=5", Ok(())),
            ("", Err(Code::NoProtocol)),
            ("client=js", Err(Code::NoProtocol)),
            ("protocol=", Err(Code::NoProtocol)),
            ("protocol=4", Err(Code::UnsupportedProtocol)),
            ("protocol=8", Err(Code::UnsupportedProtocol)),
            ("protocol=x", Err(Code::UnsupportedProtocol)),
            ("protocol=7&version=1%200", Err(Code::InvalidVersion)),
        ];
        for (query, verdict) in table {
            assert_eq!(check_versions(query), verdict, "{query}");
        }
    }
}
