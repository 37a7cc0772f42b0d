//! Bodies of requests. Errors tell where, never what: a body may hold anything.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use crate::problem::{Answer, Problem};

/// A body of JSON, read into a type that refuses what it does not know.
pub(crate) struct Body<T>(pub(crate) T);

/// The text of a body of JSON, for what keeps its spelling.
pub(crate) struct JsonText(pub(crate) String);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Body<T>, Problem> {
        let JsonText(text) = JsonText::from_request(request, state).await?;
        // A request without a body asks for the defaults.
        let text = if text.trim().is_empty() { "{}" } else { &text };
        serde_json::from_str(text).map(Body).map_err(|error| unreadable(&error))
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonText {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<JsonText, Problem> {
        let is_json = is_json(request.headers());
        let bytes = read(request, state).await?;
        // Forms and plain text can be sent by any web page without asking first; JSON cannot.
        if !is_json && !bytes.is_empty() {
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", "the body is not JSON")
                .hint("send `Content-Type: application/json`"));
        }
        let text = String::from_utf8(bytes.into()).map_err(|_| Problem::bad_request("the body is not UTF-8"))?;
        Ok(JsonText(text))
    }
}

/// The bytes of a body, within the limit.
pub(crate) async fn read<S: Send + Sync>(request: Request, state: &S) -> Answer<Bytes> {
    Bytes::from_request(request, state).await.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the body is larger than the server takes")
        }
        _ => Problem::bad_request("the body was cut off"),
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

fn unreadable(error: &serde_json::Error) -> Problem {
    let place = format!("line {}, column {}", error.line(), error.column());
    let what = if error.is_data() { "does not have the fields that this route takes" } else { "is not JSON" };
    Problem::bad_request(format!("the body {what} (at {place})")).hint("/v1/openapi.json describes it")
}
