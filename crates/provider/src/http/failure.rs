//! What the network says of its failures, in our words.

use std::error::Error;

use crate::transport::{TransportError, TransportErrorKind as Kind};

/// A request that cannot be sent.
pub(super) fn wrong(message: impl Into<String>) -> TransportError {
    TransportError::new(Kind::Request, message)
}

/// Why no answer began. The address is not told: it may hold a key.
pub(super) fn no_answer(error: reqwest::Error) -> TransportError {
    let error = error.without_url();
    let kind = match cause(&error) {
        Some(cause) => cause,
        None if error.is_dns() => Kind::Dns,
        None if error.is_timeout() || error.is_connect() => Kind::Connect,
        None if error.is_builder() => Kind::Request,
        None => Kind::Cut,
    };
    TransportError::new(kind, told(&error))
}

/// Why an answer ended before its end.
pub(super) fn no_more(error: reqwest::Error) -> TransportError {
    let error = error.without_url();
    let is_garbled = error.is_decode() && !is_io(&error, |kind| kind == std::io::ErrorKind::UnexpectedEof);
    let kind = if is_garbled && !is_cut(&error) { Kind::Malformed } else { Kind::Cut };
    TransportError::new(kind, told(&error))
}

/// What lies below an error, where it says more than the error.
fn cause(error: &reqwest::Error) -> Option<Kind> {
    if chain(error).any(|cause| cause.is::<rustls::Error>() || wraps_tls(cause)) {
        return Some(Kind::Tls);
    }
    None
}

/// An error of TLS may be wrapped in one of a socket.
fn wraps_tls(cause: &(dyn Error + 'static)) -> bool {
    let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    inner.is_some_and(|inner| inner.is::<rustls::Error>())
}

fn is_cut(error: &reqwest::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    is_io(error, |kind| matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset))
        || chain(error).any(|cause| {
            cause.to_string().contains("connection closed") || cause.to_string().contains("unexpected EOF")
        })
}

fn is_io(error: &reqwest::Error, is: impl Fn(std::io::ErrorKind) -> bool) -> bool {
    chain(error).filter_map(|cause| cause.downcast_ref::<std::io::Error>()).any(|cause| is(cause.kind()))
}

fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |&error| error.source())
}

/// The innermost cause: what is around it says only that there is one.
fn told(error: &reqwest::Error) -> String {
    chain(error).last().map_or_else(|| error.to_string(), ToString::to_string)
}
