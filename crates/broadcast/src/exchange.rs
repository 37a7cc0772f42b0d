//! One request, and what its answer means for a broadcaster.

use turnkeep_model::ErrorKind;
use turnkeep_provider::{HttpRequest, Transport, TransportErrorKind};
use turnkeep_runtime::{Error, Result};

/// Sends a request; any status of success is fine.
///
/// # Errors
/// `Unavailable` where trying again may help, `TooLarge` where the peer takes less, `Mismatch` where it does not know the
/// key, `NotFound`, and `Unsupported` where the request is wrong.
pub(crate) async fn send(transport: &dyn Transport, request: HttpRequest, peer: &str) -> Result<()> {
    let answer = transport.send(request).await.map_err(|error| {
        let kind = match error.kind {
            TransportErrorKind::Request => ErrorKind::Unsupported,
            TransportErrorKind::Tls => ErrorKind::Mismatch,
            _ => ErrorKind::Unavailable,
        };
        Error::new(kind, format!("{peer} cannot be reached: {error}"))
    })?;
    let refused =
        |kind, hint: &str| Err(Error::new(kind, format!("{peer} answered with status {}", answer.status)).hint(hint));
    match answer.status {
        200..=299 => Ok(()),
        401 | 403 => refused(ErrorKind::Mismatch, "check the key and the secret, and the clock of this machine"),
        404 | 410 => refused(ErrorKind::NotFound, "check the address"),
        413 => refused(ErrorKind::TooLarge, "lower the limit of the request's size"),
        408 | 425 | 429 | 500.. => refused(ErrorKind::Unavailable, "it is tried again"),
        _ => refused(ErrorKind::Unsupported, "check that the address speaks this protocol"),
    }
}
