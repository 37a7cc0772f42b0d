//! One HTTP exchange, whoever carries it.

use std::fmt;
use std::pin::Pin;

use futures_core::Stream;
use turnkeep_runtime::port::BoxFuture;

use crate::secret::Secret;

/// Carries an HTTP exchange.
pub trait Transport: Send + Sync {
    /// Sends a request; the answer's body arrives after its head, in the chunks it came in. Dropping the body, or the
    /// future, ends the exchange.
    ///
    /// # Errors
    /// Where no answer begins. An answer of any status is an answer.
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, TransportError>>;
}

/// How a request is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads something.
    Get,
    /// Asks for something to be done.
    Post,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// How.
    pub method: Method,
    /// Where.
    pub url: String,
    /// Headers, in order.
    pub headers: Vec<Header>,
    /// What is sent.
    pub body: Vec<u8>,
}

/// A header of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Its name, in lower case.
    pub name: String,
    /// What it says.
    pub value: HeaderValue,
}

/// What a header of a request says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderValue {
    /// Something everybody may see.
    Plain(String),
    /// Something that is only sent.
    Secret(Secret),
}

/// The body of an answer, in the chunks it came in.
pub type Body = Pin<Box<dyn Stream<Item = Result<Vec<u8>, TransportError>> + Send>>;

/// An answer: its head, and its body on the way.
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// What arrives.
    pub body: Body,
}

impl HttpResponse {
    /// The first header of a name, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Why an exchange failed below HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportError {
    /// What the caller can do about it.
    pub kind: TransportErrorKind,
    /// What happened, without secrets and without content.
    pub message: String,
}

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// No connection: nothing was sent.
    Connect,
    /// The host has no address: nothing was sent.
    Dns,
    /// The peer is not who it should be, or speaks no TLS.
    Tls,
    /// Nothing came in time.
    Timeout,
    /// The connection ended before the answer did.
    Cut,
    /// The answer is larger than allowed.
    TooLarge,
    /// The answer cannot be read as what it claims to be.
    Malformed,
    /// A replay has no such exchange.
    Mismatch,
    /// The request itself is wrong: its address or its headers.
    Request,
}

impl TransportError {
    /// An error of a kind.
    pub fn new(kind: TransportErrorKind, message: impl Into<String>) -> TransportError {
        TransportError { kind, message: message.into() }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TransportError {}
