//! The session channels of one connection: what was stored, and then what happens.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{AbortHandle, Abortable, SelectAll, Stream, StreamExt, abortable};

use super::channel::Channel;
use super::feed::{FeedItem, Items};
use super::frame::{self, Frame};

/// Says on a channel that its session is gone.
const GONE: &str = "session.gone";

const NO_SESSION: &str = "There is no such session, or it is not told of on this channel.";

/// One session, as one channel tells of it.
struct Follower {
    channel: Channel,
    /// `None` after the end.
    items: Option<Items>,
    progress: Progress,
}

/// How far a reader is. A record may have several events, and after a lag the record that was begun comes once more.
#[derive(Debug, Default)]
struct Progress {
    /// The record that was told last, and how many of its events.
    last: Option<(u64, usize)>,
    /// How many events of that record are still to be left out.
    repeated: usize,
}

impl Progress {
    /// Whether an event is news.
    fn is_new(&mut self, seq: Option<u64>) -> bool {
        let Some(seq) = seq else { return true };
        match &mut self.last {
            Some((last, _)) if *last == seq && self.repeated > 0 => {
                self.repeated -= 1;
                return false;
            }
            Some((last, told)) if *last == seq => *told += 1,
            last => *last = Some((seq, 1)),
        }
        self.repeated = 0;
        true
    }

    fn lagged(&mut self) {
        self.repeated = self.last.map_or(0, |(_, told)| told);
    }
}

impl Follower {
    /// A session that is not there is told where a page wants its past; else the channel is one that others publish to.
    fn gone(&self) -> Option<Frame> {
        let name = self.channel.name();
        match (self.progress.last, self.channel.after()) {
            (Some(_), _) => Some(frame::event(GONE, name, r#""{}""#, None)),
            (None, Some(_)) => Some(no_session(&self.channel)),
            (None, None) => None,
        }
    }
}

/// Tells that a channel has no session to tell of.
pub(super) fn no_session(channel: &Channel) -> Frame {
    frame::subscription_error(channel.name(), "NoSession", NO_SESSION, 404)
}

/// What a follower has to say.
#[derive(Debug)]
pub(super) enum Told {
    Frame(Frame),
    /// Its session cannot be read further, though it is there: what follows would be missing.
    Broken,
}

impl Stream for Follower {
    type Item = Told;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Told>> {
        loop {
            let Some(items) = self.items.as_mut() else { return Poll::Ready(None) };
            match std::task::ready!(items.poll_next_unpin(context)) {
                Some(FeedItem::Event { seq, name, json }) => {
                    if self.progress.is_new(seq) {
                        let frame = frame::event(&name, self.channel.name(), &frame::quote(&json), None);
                        return Poll::Ready(Some(Told::Frame(frame)));
                    }
                }
                Some(FeedItem::Lagged) => self.progress.lagged(),
                Some(FeedItem::Gone) => {
                    self.items = None;
                    return Poll::Ready(self.gone().map(Told::Frame));
                }
                None => {
                    self.items = None;
                    return Poll::Ready(Some(Told::Broken));
                }
            }
        }
    }
}

/// The sessions that a connection follows. What it does not read is not fetched: a slow reader costs no memory.
#[derive(Default)]
pub(super) struct Following {
    followers: SelectAll<Abortable<Follower>>,
    handles: HashMap<Arc<str>, AbortHandle>,
}

impl Following {
    /// Tells of a session on a channel.
    pub(super) fn start(&mut self, channel: &Channel, items: Items) {
        let follower = Follower { channel: channel.clone(), items: Some(items), progress: Progress::default() };
        let (follower, handle) = abortable(follower);
        self.followers.push(follower);
        self.handles.insert(channel.name().clone(), handle);
    }

    pub(super) fn stop(&mut self, channel: &Channel) {
        self.handles.remove(channel.name()).iter().for_each(AbortHandle::abort);
    }

    /// What comes next; waits for ever where nothing is followed.
    pub(super) async fn next(&mut self) -> Told {
        match self.followers.next().await {
            Some(told) => told,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_comes_once_more_after_a_lag_is_told_from_where_it_was() {
        let mut progress = Progress::default();
        let mut told = |seq: u64| progress.is_new(Some(seq));
        assert_eq!([told(1), told(2), told(2)], [true, true, true]);

        progress.lagged();

        let mut told = |seq: u64| progress.is_new(Some(seq));
        assert_eq!([told(2), told(2), told(2), told(3), told(3)], [false, false, true, true, true]);
    }

    #[test]
    fn after_a_lag_between_two_records_nothing_is_left_out() {
        let mut progress = Progress::default();
        progress.is_new(Some(1));

        progress.lagged();

        assert!(progress.is_new(None), "pieces of answers have no record");
        assert_eq!([2, 2, 3].map(|seq| progress.is_new(Some(seq))), [true, true, true]);
    }
}
