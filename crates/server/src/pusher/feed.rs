//! Where the events of a session come from.

use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, StreamExt};

use super::app::App;
use super::frame::Frame;

/// Follows sessions: what is stored after a record, and then what happens, without a gap.
pub trait SessionFeed: Send + Sync + 'static {
    /// The events of the session that a channel of this app tells of, after the record `after`, or from now on. `session` is
    /// its id in the spelling of channels. When the future ends, "now" has been settled: only then is the reader told that it
    /// listens. A stream that ends before [`FeedItem::Gone`] has failed: its reader is closed, and comes back.
    fn follow<'a>(&'a self, app: &'a App, session: &'a str, after: Option<u64>) -> BoxFuture<'a, Items>;
}

/// The events of one session.
pub type Items = BoxStream<'static, FeedItem>;

/// What a feed yields.
#[derive(Debug, Clone)]
pub enum FeedItem {
    /// Something happened.
    Event {
        /// The record it comes from; `None` for what is not stored, such as pieces of an answer.
        seq: Option<u64>,
        /// The name of the event.
        name: String,
        /// The envelope, as JSON.
        json: Frame,
    },
    /// The reader was too slow. What was stored after the last record that it has whole comes next.
    Lagged,
    /// There is no such session, or no longer.
    Gone,
}

/// A server without sessions: its channels carry what is published to them.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSessions;

impl SessionFeed for NoSessions {
    fn follow<'a>(&'a self, _: &'a App, _: &'a str, _: Option<u64>) -> BoxFuture<'a, Items> {
        Box::pin(std::future::ready(futures_util::stream::iter([FeedItem::Gone]).boxed()))
    }
}
