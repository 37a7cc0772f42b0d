//! The HTTP API that servers publish with, and the one that pages get signatures from.

pub mod authorize;
pub(super) mod channels;
pub(super) mod events;

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, OriginalUri, Path, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::lobby::Lobby;
use super::router::Pusher;
use super::signature::{self, SignedRequest};
use super::socket_id::SocketId;

/// Why a request is not served.
#[derive(Debug)]
pub(super) struct Refused(StatusCode, Value);

impl Refused {
    fn new(status: StatusCode, message: &str) -> Refused {
        Refused(status, json!({ "error": message }))
    }

    /// Something is missing in the body, or is not what it should be.
    fn field(name: &str, message: &str) -> Refused {
        Refused(StatusCode::UNPROCESSABLE_ENTITY, json!({ "error": message, "errors": { name: [message] } }))
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, Json(self.1)).into_response()
    }
}

/// A request with the signature of its app, which was not made before.
pub(super) struct Signed {
    lobby: Arc<Lobby>,
    query: Vec<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
}

impl Signed {
    fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Which attributes of channels are asked for.
    fn info(&self) -> Vec<&str> {
        self.parameter("info").unwrap_or_default().split(',').map(str::trim).collect()
    }

    /// The connection that is not told, as the header names it.
    fn sender(&self) -> Option<SocketId> {
        self.headers.get("x-socket-id")?.to_str().ok()?.parse().ok()
    }
}

impl FromRequest<Pusher> for Signed {
    type Rejection = Response;

    async fn from_request(request: Request, pusher: &Pusher) -> Result<Signed, Response> {
        let (mut parts, body) = request.into_parts();
        let path: Path<Vec<(String, String)>> = part(&mut parts).await?;
        let id = path.0.into_iter().find(|(name, _)| name == "id").map(|(_, id)| id).unwrap_or_default();
        let OriginalUri(uri) = part(&mut parts).await?;
        let (headers, method) = (parts.headers.clone(), parts.method.clone());
        let lobby = pusher.hub.by_id(&id).cloned();
        let unknown = || Refused::new(StatusCode::NOT_FOUND, "There is no such app.").into_response();
        let lobby = lobby.filter(|lobby| lobby.app.enabled).ok_or_else(unknown)?;
        let body =
            Bytes::from_request(Request::from_parts(parts, body), &()).await.map_err(IntoResponse::into_response)?;
        if body.len() > lobby.app.limits.request {
            return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "Payload too large.").into_response());
        }
        let query: Vec<(String, String)> =
            form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
        let signed = SignedRequest { method: method.as_str(), path: uri.path(), query: &query, body: &body };
        check(&lobby, signed).map_err(IntoResponse::into_response)?;
        Ok(Signed { lobby, query, headers, body })
    }
}

async fn part<T: axum::extract::FromRequestParts<()>>(parts: &mut axum::http::request::Parts) -> Result<T, Response> {
    T::from_request_parts(parts, &()).await.map_err(IntoResponse::into_response)
}

fn check(lobby: &Lobby, request: SignedRequest<'_>) -> Result<(), Refused> {
    let now = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default();
    let unauthorized = |message: &str| Refused::new(StatusCode::UNAUTHORIZED, message);
    let verified = signature::verify(&lobby.app, request, now).map_err(|refusal| unauthorized(refusal.message()))?;
    // Asking twice changes nothing.
    if request.method != "GET" && !lobby.admit(verified, now) {
        return Err(unauthorized("This request was made before."));
    }
    Ok(())
}
