//! `Host` and `Origin`: a server on the loopback interface can be reached by every web page that is open on the machine.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::problem::Problem;

/// What pages of other origins may send.
const ALLOWED_HEADERS: &str =
    "authorization, content-type, if-match, if-none-match, idempotency-key, last-event-id, x-socket-id";

/// What they may read of an answer.
const EXPOSED_HEADERS: &str =
    "etag, location, link, ratelimit, ratelimit-policy, retry-after, turnkeep-seq, turnkeep-more";

/// Refuses requests under a name that is not ours: the defence against DNS rebinding.
pub(crate) async fn check_host(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match host_of(&request) {
        Some(host) if is_ours(&app, host) => next.run(request).await,
        _ => Problem::new(StatusCode::MISDIRECTED_REQUEST, "wrong_host", "this server is not called so")
            .hint("name it in `hosts` of [server] in turnkeep.toml")
            .into_response(),
    }
}

/// Under which name a request came: HTTP 2 has it in the address, HTTP 1 in a header.
fn host_of(request: &Request) -> Option<&str> {
    let header = || request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    request.uri().authority().map(Authority::as_str).or_else(header)
}

fn is_ours(app: &App, host: &str) -> bool {
    let name = name_of(host);
    let known = |known: &String| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(host);
    // A public server has tokens, which no page of another name has; without named hosts it takes any.
    is_loopback(name) || app.config.hosts.iter().any(known) || (app.public && app.config.hosts.is_empty())
}

/// The name without its port.
fn name_of(host: &str) -> &str {
    if let Some(end) = host.strip_prefix('[').and_then(|rest| rest.find(']')) {
        return host.get(1..=end).unwrap_or(host);
    }
    host.rsplit_once(':').map_or(host, |(name, _)| name)
}

fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Refuses pages of other origins, but for those that are configured, which are told so as browsers want it.
pub(crate) async fn check_origin(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let Some(origin) = request.headers().get(header::ORIGIN).cloned() else {
        return next.run(request).await;
    };
    let cross = is_allowed(&app.config.origins, &origin);
    if !cross && !is_own(&request, &origin) {
        return Problem::forbidden("pages of this origin may not use the server")
            .hint("name the origin in `origins` of [server] in turnkeep.toml")
            .into_response();
    }
    let preflight =
        request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if preflight { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    if cross {
        response.headers_mut().extend(cors(&origin));
    }
    response
}

pub(crate) fn is_allowed(origins: &[String], origin: &HeaderValue) -> bool {
    origins.iter().any(|allowed| allowed.as_bytes().eq_ignore_ascii_case(origin.as_bytes()))
}

/// Whether the page came from this server, under the name that the request uses.
fn is_own(request: &Request, origin: &HeaderValue) -> bool {
    let host = host_of(request);
    origin.to_str().ok().zip(host).is_some_and(|(origin, host)| is_of_host(origin, host))
}

/// Whether an origin is that of a host. The scheme may differ: a proxy takes TLS off.
pub(crate) fn is_of_host(origin: &str, host: &str) -> bool {
    origin.split_once("://").is_some_and(|(_, from)| from.eq_ignore_ascii_case(host))
}

fn cors(origin: &HeaderValue) -> [(HeaderName, HeaderValue); 6] {
    [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone()),
        (header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PATCH, DELETE")),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED_HEADERS)),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS)),
        (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600")),
        (header::VARY, HeaderValue::from_static("origin")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_with_or_without_a_port() {
        let table =
            [("localhost:7780", "localhost"), ("[::1]:7780", "::1"), ("127.0.0.1", "127.0.0.1"), ("a.b:1", "a.b")];
        for (host, name) in table {
            assert_eq!(name_of(host), name);
        }
        assert!(is_loopback("127.0.0.1") && is_loopback("::1") && is_loopback("LOCALHOST"));
        assert!(!is_loopback("127.0.0.1.evil.example") && !is_loopback("0.0.0.0"));
    }
}
