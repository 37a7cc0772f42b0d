//! Answers in native JSON, which keeps the spelling of what was said.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use turnkeep_model::json::{JsonSink, Layout};
use turnkeep_model::shape::Shape;
use turnkeep_model::{Json, Loss, Seq, Time};
use turnkeep_store::Summary;

/// Where the last record of an answer stands.
pub(super) const SEQ: HeaderName = HeaderName::from_static("turnkeep-seq");

/// Whether there is more after it.
pub(super) const MORE: HeaderName = HeaderName::from_static("turnkeep-more");

/// An object of these pairs.
pub(crate) fn object<const N: usize>(pairs: [(&str, Json); N]) -> Json {
    Json::Object(pairs.into_iter().collect())
}

pub(super) fn text_or_null(text: Option<&str>) -> Json {
    text.map_or(Json::Null, Json::from)
}

/// A value in its native shape, as text.
pub(super) fn native<T: Shape>(value: &T) -> String {
    let mut sink = JsonSink::native(Layout::Compact);
    value.write(&mut sink);
    sink.into_text()
}

/// An answer of JSON.
pub(crate) fn json(status: StatusCode, text: impl Into<String>) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, text.into()).into_response()
}

/// The same with `ETag`: the place of the session's last record.
pub(crate) fn at(seq: Seq, response: Response) -> Response {
    with(response, [(header::ETAG, etag(seq)), (SEQ, seq.0.to_string())])
}

pub(super) fn etag(seq: Seq) -> String {
    format!("\"{}\"", seq.0)
}

pub(super) fn with<const N: usize>(mut response: Response, headers: [(HeaderName, String); N]) -> Response {
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

pub(super) fn time(millis: i64) -> String {
    Time::from_instant(jiff::Timestamp::from_millisecond(millis).unwrap_or_default()).to_string()
}

/// A session as listings show it, as `turnkeep ls --json` does.
pub(super) fn summary(summary: &Summary) -> Json {
    let parent = summary.origin.as_ref().map_or(Json::Null, |origin| {
        object([("session", origin.session.as_str().into()), ("seq", origin.seq.0.into())])
    });
    let tag = |(key, value): &(String, String)| Json::Array(vec![key.as_str().into(), value.as_str().into()]);
    object([
        ("id", summary.id.as_str().into()),
        ("parent", parent),
        ("title", text_or_null(summary.title.as_deref())),
        ("status", text_or_null(summary.status.as_deref())),
        ("tags", Json::Array(summary.tags.iter().map(tag).collect())),
        ("last", summary.last.0.into()),
        ("turns", summary.turns.into()),
        ("blocks", summary.blocks.into()),
        ("bytes", summary.bytes.into()),
        ("created", time(summary.created).into()),
        ("updated", time(summary.updated).into()),
    ])
}

/// Losses, as reports list them.
pub(super) fn losses(losses: &[Loss]) -> Json {
    let one = |loss: &Loss| {
        object([
            ("at", loss.at.as_str().into()),
            ("kind", loss.kind.as_str().into()),
            ("side", loss.side.as_str().into()),
            ("what", loss.what.as_str().into()),
            ("severity", loss.severity().as_str().into()),
        ])
    };
    Json::Array(losses.iter().map(one).collect())
}
