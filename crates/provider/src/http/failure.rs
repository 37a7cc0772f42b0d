//! What the network says of its failures, in our words.

use std::error::Error;
use std::io;

use crate::transport::{TransportError, TransportErrorKind as Kind};

/// An error of any library.
type Cause<'a> = &'a (dyn Error + 'static);

/// A request that cannot be sent.
pub(super) fn wrong(message: impl Into<String>) -> TransportError {
    TransportError::new(Kind::Request, message)
}

/// Why no answer began.
pub(super) fn no_answer(error: &hyper_util::client::legacy::Error) -> TransportError {
    let kind = if chain(error).any(is_tls) {
        Kind::Tls
    } else if chain(error).any(is_dns) {
        Kind::Dns
    } else if error.is_connect() {
        Kind::Connect
    } else {
        Kind::Cut
    };
    TransportError::new(kind, told(error))
}

/// Why an answer ended before its end.
pub(super) fn no_more(error: Cause<'_>) -> TransportError {
    let kind = if chain(error).any(is_cut) { Kind::Cut } else { Kind::Malformed };
    TransportError::new(kind, told(error))
}

/// What goes wrong below TLS during its handshake says so in words alone.
fn is_tls(cause: Cause<'_>) -> bool {
    cause.is::<rustls::Error>() || cause.to_string().starts_with("tls handshake")
}

/// The resolver's error has no type of its own.
fn is_dns(cause: Cause<'_>) -> bool {
    cause.to_string() == "dns error"
}

fn is_cut(cause: Cause<'_>) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
    let is_incomplete = cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message);
    let words = cause.to_string();
    is_incomplete
        || matches!(kind, Some(BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof))
        || words.contains("connection closed")
        || words.contains("unexpected EOF")
}

/// An error and what lies below it. An error of a socket may wrap another without naming it as its source.
fn chain(error: Cause<'_>) -> impl Iterator<Item = Cause<'_>> {
    std::iter::successors(Some(error), |&error| match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    })
}

/// The innermost cause: what is around it says only that there is one.
fn told(error: Cause<'_>) -> String {
    chain(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}
