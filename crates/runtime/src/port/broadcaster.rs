//! The port that publishes.

use std::sync::Arc;

use turnkeep_store::BoxFuture;

use crate::envelope::{Channel, Envelope};
use crate::error::Result;

/// Where envelopes are published: a file, a server that browsers are connected to, someone's own queue.
///
/// ```
/// use turnkeep_runtime::Result;
/// use turnkeep_runtime::envelope::{Channel, Envelope};
/// use turnkeep_runtime::port::{BoxFuture, Broadcaster};
///
/// struct Printer;
///
/// impl Broadcaster for Printer {
///     fn publish<'a>(&'a self, channel: &'a Channel, envelopes: &'a [Envelope]) -> BoxFuture<'a, Result<()>> {
///         Box::pin(async move {
///             for envelope in envelopes {
///                 println!("{channel} {} {}", envelope.event_name(), envelope.to_json().to_text());
///             }
///             Ok(())
///         })
///     }
/// }
/// ```
pub trait Broadcaster: Send + Sync {
    /// Publishes envelopes of one session on its channel, in this order. It is called again only when the returned future
    /// has ended, so what is published later arrives later.
    ///
    /// # Errors
    /// `Unavailable` where trying again may help: a [`Relay`](crate::Relay) then does. Whatever it says, the agent does not
    /// hear of it.
    fn publish<'a>(&'a self, channel: &'a Channel, envelopes: &'a [Envelope]) -> BoxFuture<'a, Result<()>>;
}

impl<B: Broadcaster + ?Sized> Broadcaster for Arc<B> {
    fn publish<'a>(&'a self, channel: &'a Channel, envelopes: &'a [Envelope]) -> BoxFuture<'a, Result<()>> {
        (**self).publish(channel, envelopes)
    }
}
