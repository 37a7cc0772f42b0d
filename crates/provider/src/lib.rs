//! Models behind HTTP.
//!
//! A [`Transport`] carries one HTTP exchange: over the network, from a cassette, or from a script that plays a vendor.
//! Everything above it is the same for all three, so what is tested offline is what runs. A [`WireModel`] asks a vendor's
//! model over one of them; several models, one after the other, are an agent's `with_fallback`, which records the switch.
//! An [`Endpoint`](endpoint::Endpoint) is such a model as a configuration describes it.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `http` | the network: an HTTP client with TLS. Without it, scripts and cassettes answer |

mod address;
pub mod auth;
pub mod cassette;
pub mod endpoint;
mod error;
#[cfg(feature = "http")]
pub mod http;
mod key;
mod model;
mod network;
mod price;
mod providers;
mod retry;
pub mod scripted;
mod scrub;
mod secret;
mod transport;

pub use address::Streaming;
pub use error::{ProviderError, ProviderErrorKind};
pub use key::{COMMAND_TIME, KeySource};
pub use model::{Payload, Prepared, Timeouts, WireModel};
pub use network::{HttpOptions, Proxy};
pub use price::Prices;
pub use providers::{PROVIDERS, Provider};
pub use retry::{Jitter, Retry, SystemJitter};
pub use scrub::{HIDDEN, Scrubber};
pub use secret::Secret;
pub use transport::{
    Body, Header, HeaderValue, HttpRequest, HttpResponse, Method, Transport, TransportError, TransportErrorKind,
};
