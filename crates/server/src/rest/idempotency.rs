//! `Idempotency-Key`: a request that is repeated is done once, and answered alike.
//!
//! A key belongs to a token's tenant and a path. It is kept for a day. The same key with another payload is refused (422), one
//! that is still being done too (409); one that is done gets the answer it got, errors of the server excepted.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use turnkeep_model::Seq;
use turnkeep_store::ErrorKind;

use crate::app::App;
use crate::auth::{Token, sha256};
use crate::problem::{Answer, Problem};

/// The kind of documents that keys are.
pub(crate) const KIND: &str = "idempotency";

/// The longest key.
const LONGEST: usize = 255;

/// A request that was begun so long ago and has no answer was cut off: it may be done again. Milliseconds.
const CUT_OFF: i64 = 60_000;

/// The headers of an answer that are kept.
const KEPT: [&str; 5] = ["content-type", "etag", "location", "turnkeep-seq", "cache-control"];

#[derive(Serialize, Deserialize)]
struct Begun {
    payload: String,
    begun: i64,
}

#[derive(Serialize, Deserialize)]
struct Done {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

/// Answers a repeated request with the answer of the first.
pub(crate) async fn remember(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let key = match key(&request) {
        Ok(Some(key)) => key,
        Ok(None) => return next.run(request).await,
        Err(problem) => return problem.into_response(),
    };
    match once(&app, &key, request, next).await {
        Ok(response) => response,
        Err(problem) => problem.into_response(),
    }
}

/// The key of a request that writes; it is another one for every tenant and path.
fn key(request: &Request) -> Answer<Option<String>> {
    let Some(value) = request.headers().get("idempotency-key").filter(|_| request.method() == Method::POST) else {
        return Ok(None);
    };
    let text = value.to_str().ok().map(|text| text.trim().trim_matches('"'));
    let wrong = || Problem::bad_request("`Idempotency-Key` is a text of 1 to 255 characters");
    let text = text.filter(|text| (1..=LONGEST).contains(&text.len())).ok_or_else(wrong)?;
    let path = request.uri().path();
    let Some(token) = request.extensions().get::<Token>().filter(|_| is_remembered(path)) else {
        return Ok(None);
    };
    Ok(Some(sha256(&format!("{}\0{}\0{text}", token.tenant, path))))
}

/// Tickets and converted documents are no answers to keep: one is a secret, the other somebody's content.
fn is_remembered(path: &str) -> bool {
    path == "/v1/ask" || path.starts_with("/v1/sessions")
}

async fn once(app: &Arc<App>, key: &str, request: Request, next: Next) -> Answer<Response> {
    let (parts, body) = request.into_parts();
    let too_large =
        |_| Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the body is larger than the server takes");
    let bytes = to_bytes(body, app.config.limits.body).await.map_err(too_large)?;
    let query = parts.uri.query().unwrap_or_default();
    let payload = sha256(&format!("{query}\0{}", data_encoding::HEXLOWER.encode(&bytes)));
    let at = match begin(app, key, &payload).await? {
        Turn::Ours(at) => at,
        Turn::Done(done) => return Ok(done.response()),
    };
    let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
    finish(app, key, at, response).await
}

/// Whose turn it is.
enum Turn {
    Ours(Seq),
    Done(Done),
}

async fn begin(app: &App, key: &str, payload: &str) -> Answer<Turn> {
    let now = Timestamp::now().as_millisecond();
    let begun = Begun { payload: payload.to_owned(), begun: now };
    let line = serde_json::to_string(&begun).map_err(Problem::internal)?;
    match app.control.create(KIND, key, &line, None).await {
        Ok(at) => return Ok(Turn::Ours(at)),
        Err(error) if error.kind() == ErrorKind::Conflict => {}
        Err(error) => return Err(error.into()),
    }
    let running = || Problem::new(StatusCode::CONFLICT, "running", "the first request with this key is being done");
    let document = app.control.get(KIND, key).await?.ok_or_else(running)?;
    let first: Begun = document.lines.first().and_then(|line| serde_json::from_str(line).ok()).ok_or_else(running)?;
    if first.payload != payload {
        return Err(Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "key_reused",
            "the key was used for another request",
        )
        .hint("take a new key for every request"));
    }
    if let Ok(done) = serde_json::from_str::<Done>(document.last()) {
        return Ok(Turn::Done(done));
    }
    let last: Begun = serde_json::from_str(document.last()).map_err(Problem::internal)?;
    if now.saturating_sub(last.begun) < CUT_OFF {
        return Err(running());
    }
    match app.control.append(KIND, key, document.at, &line, None).await {
        Ok(at) => Ok(Turn::Ours(at)),
        Err(error) if error.kind() == ErrorKind::Conflict => Err(running()),
        Err(error) => Err(error.into()),
    }
}

async fn finish(app: &App, key: &str, at: Seq, response: Response) -> Answer<Response> {
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.map_err(Problem::internal)?;
    let again = [StatusCode::FORBIDDEN, StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS];
    if parts.status.is_server_error() || again.contains(&parts.status) {
        // Nothing was done for good: the same key may be tried again.
        app.control.remove(KIND, key).await?;
    } else {
        let kept = parts.headers.iter().filter(|(name, _)| KEPT.contains(&name.as_str()));
        let headers = kept.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
        let body = String::from_utf8_lossy(&bytes).into_owned();
        let done = Done { status: parts.status.as_u16(), headers: headers.collect(), body };
        let line = serde_json::to_string(&done).map_err(Problem::internal)?;
        app.control.append(KIND, key, at, &line, None).await?;
    }
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

impl Done {
    fn response(self) -> Response {
        let mut response = self.body.into_response();
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        for (name, value) in self.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                response.headers_mut().insert(name, value);
            }
        }
        response.headers_mut().insert("idempotent-replay", HeaderValue::from_static("true"));
        response
    }
}
