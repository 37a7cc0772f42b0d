//! Models behind HTTP.
//!
//! A [`Transport`] carries one HTTP exchange: over the network, from a cassette, or from a script that plays a vendor.
//! Everything above it is the same for all three, so what is tested offline is what runs.

pub mod cassette;
pub mod scripted;
mod secret;
mod transport;

pub use secret::Secret;
pub use transport::{
    Body, Header, HeaderValue, HttpRequest, HttpResponse, Method, Transport, TransportError, TransportErrorKind,
};
