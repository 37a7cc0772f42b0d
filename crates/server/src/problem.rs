//! What went wrong, as RFC 9457 describes it.
//!
//! A problem names what happened and what helps. It never shows the content of a session, a path of the server's machine, or a
//! secret: what only the operator may know goes to the log.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use turnkeep_model::ErrorKind;
use utoipa::ToSchema;

/// The result of a handler.
pub(crate) type Answer<T> = Result<T, Problem>;

/// Why a request was not done.
#[derive(Debug, Clone)]
pub struct Problem(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    status: StatusCode,
    kind: &'static str,
    detail: String,
    remedy: Option<String>,
    headers: HeaderMap,
    /// What only the log is told.
    cause: Option<String>,
}

/// The body of a problem (`application/problem+json`).
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// The kind of problem: `urn:turnkeep:problem:` and a word.
    #[serde(rename = "type")]
    kind: String,
    /// The status in words.
    title: String,
    /// The status of the answer.
    status: u16,
    /// What happened.
    detail: String,
    /// What helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

impl Problem {
    /// A problem of this status. `kind` is one word that programs can tell it by.
    pub fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Problem {
        let (detail, headers) = (detail.into(), HeaderMap::new());
        Problem(Box::new(Inner { status, kind, detail, remedy: None, headers, cause: None }))
    }

    /// 400: the request itself is wrong.
    pub fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    /// 404.
    pub fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    /// 403.
    pub fn forbidden(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// 500, with a cause for the log.
    pub fn internal(cause: impl std::fmt::Display) -> Problem {
        let problem = Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the server could not do this");
        problem.hint("the operator finds the cause in the server's log").cause(cause)
    }

    /// Adds what helps.
    #[must_use]
    pub fn hint(mut self, remedy: impl Into<String>) -> Problem {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: impl TryInto<HeaderValue>) -> Problem {
        if let Ok(value) = value.try_into() {
            self.0.headers.insert(name, value);
        }
        self
    }

    pub(crate) fn cause(mut self, cause: impl std::fmt::Display) -> Problem {
        self.0.cause = Some(cause.to_string());
        self
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// The word that programs tell it by.
    pub fn kind(&self) -> &'static str {
        self.0.kind
    }

    /// Of an error of any room: its kind decides, and what it says is shown unless only the operator can act on it.
    fn of(kind: ErrorKind, what: &str, remedy: Option<&str>, whole: &dyn std::fmt::Display) -> Problem {
        let (status, word) = of_kind(kind);
        if status.is_server_error() {
            let problem = Problem::new(status, word, "the store could not do this").cause(whole);
            return if status == StatusCode::SERVICE_UNAVAILABLE {
                problem.with(header::RETRY_AFTER, "1")
            } else {
                problem
            };
        }
        let problem = Problem::new(status, word, what);
        match remedy {
            Some(remedy) => problem.hint(remedy),
            None => problem,
        }
    }
}

/// The status and the word of a kind of error.
fn of_kind(kind: ErrorKind) -> (StatusCode, &'static str) {
    match kind {
        ErrorKind::NotFound => (StatusCode::NOT_FOUND, "not_found"),
        ErrorKind::Conflict => (StatusCode::CONFLICT, "conflict"),
        ErrorKind::Mismatch => (StatusCode::CONFLICT, "mismatch"),
        ErrorKind::NeedsHuman => (StatusCode::CONFLICT, "needs_human"),
        ErrorKind::NotThisFormat => (StatusCode::UNPROCESSABLE_ENTITY, "not_this_format"),
        ErrorKind::Unsupported => (StatusCode::UNPROCESSABLE_ENTITY, "unsupported"),
        ErrorKind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
        ErrorKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        ErrorKind::Corrupt => (StatusCode::INTERNAL_SERVER_ERROR, "corrupt"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "io"),
    }
}

impl From<turnkeep_store::Error> for Problem {
    fn from(error: turnkeep_store::Error) -> Problem {
        let kind = turnkeep_runtime::Error::from(error.clone()).kind();
        Problem::of(kind, error.what(), error.remedy(), &error)
    }
}

impl From<turnkeep_runtime::Error> for Problem {
    fn from(error: turnkeep_runtime::Error) -> Problem {
        use std::error::Error;
        match error.source().and_then(|source| source.downcast_ref::<turnkeep_store::Error>()) {
            Some(stored) => stored.clone().into(),
            None => Problem::of(error.kind(), &error.to_string(), error.remedy(), &error),
        }
    }
}

/// What a codec or a configuration says.
impl From<turnkeep_model::Error> for Problem {
    fn from(error: turnkeep_model::Error) -> Problem {
        Problem::of(error.kind(), error.what(), error.remedy(), &error)
    }
}

/// What is wrong with a document that a caller sent: where, never what stands there.
pub(crate) fn of_document(error: &turnkeep_model::Error) -> Problem {
    let place = match (error.at_line(), error.at_path()) {
        (Some(line), "") => format!(" at line {line}"),
        (_, "") => String::new(),
        (_, path) => format!(" at {path}"),
    };
    let detail = format!("the document cannot be read{place}: {}", error.what());
    let word = if error.kind() == ErrorKind::NotThisFormat { "not_this_format" } else { "unreadable" };
    let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, word, detail);
    match error.remedy() {
        Some(remedy) => problem.hint(remedy),
        None => problem,
    }
}

/// What only the log is told of an answer; a layer takes it out of the extensions.
#[derive(Debug, Clone)]
pub(crate) struct Cause(pub(crate) String);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Inner { status, kind, detail, remedy, headers, cause } = *self.0;
        let body = ProblemBody {
            kind: format!("urn:turnkeep:problem:{kind}"),
            title: status.canonical_reason().unwrap_or("Problem").to_owned(),
            status: status.as_u16(),
            detail,
            remedy,
        };
        let text = serde_json::to_string(&body).unwrap_or_default();
        let mut response = (status, headers, text).into_response();
        let json = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(cause) = cause {
            response.extensions_mut().insert(Cause(cause));
        }
        response
    }
}
