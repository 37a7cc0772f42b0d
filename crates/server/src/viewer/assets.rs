//! The files of the page.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The page. A policy allows its own script and style, and nothing from elsewhere.
pub(super) async fn page() -> Response {
    html(turnkeep_viewer::POLICY, turnkeep_viewer::PAGE.to_owned())
}

pub(super) async fn script() -> Response {
    asset("text/javascript; charset=utf-8", turnkeep_viewer::SCRIPT)
}

pub(super) async fn style() -> Response {
    asset("text/css; charset=utf-8", turnkeep_viewer::STYLE)
}

/// A page of this server under a policy.
pub(super) fn html(policy: &'static str, text: String) -> Response {
    let headers: [(HeaderName, HeaderValue); 6] = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy)),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (StatusCode::OK, headers, text).into_response()
}

/// A file that changes with the program: a browser asks whether it did.
fn asset(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (StatusCode::OK, headers, text).into_response()
}
