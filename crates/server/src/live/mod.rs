//! Sessions as they happen, for any protocol.
//!
//! Of every session that someone follows, one `feed` reads the journal and what happens now, makes each envelope once, and hands
//! it to all who follow. A `Follow` joins it at any place of the journal: what is older is read from the store, so nothing is
//! missing and nothing comes twice. Whoever is too slow is told so and goes on from the store; nobody waits for them.

mod event;
mod feed;
mod follow;
mod projection;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_core::Stream;
use turnkeep_model::{Seq, SessionId};
use turnkeep_runtime::Hub;
use turnkeep_store::Store;

pub use event::{LiveEvent, LiveItem};
pub use projection::{Preset, View};

use feed::Feed;
use follow::Follow;

/// The sessions of one tenant, as they happen.
pub struct Live {
    store: Arc<dyn Store>,
    hub: Hub,
    feeds: Mutex<Feeds>,
}

type Feeds = HashMap<(SessionId, View), Arc<Feed>>;

impl Live {
    pub(crate) fn new(store: Arc<dyn Store>, hub: Hub) -> Live {
        Live { store, hub, feeds: Mutex::default() }
    }

    /// What happens to a session after a place of its journal; `None` is from now on. The stream ends after
    /// [`LiveItem::Gone`], and where the store fails: whoever follows joins again at the last place they saw.
    pub fn follow(
        self: &Arc<Self>,
        session: &SessionId,
        after: Option<Seq>,
        view: View,
    ) -> impl Stream<Item = LiveItem> + Send + Unpin + use<> {
        let follow = Follow::new(self.clone(), session.clone(), after, view);
        Box::pin(futures_util::stream::unfold(follow, |mut follow| async move {
            let item = follow.next().await?;
            Some((item, follow))
        }))
    }

    /// How many sessions are followed, in every view.
    pub fn followed(&self) -> usize {
        self.lock().len()
    }

    /// Ends what follows a session that is no longer there.
    pub(crate) fn gone(&self, session: &SessionId) {
        self.lock().iter().filter(|((id, _), _)| id == session).for_each(|(_, feed)| feed.end_gone());
    }

    /// The feed of a session, with a place in it that no item passes by.
    fn join(self: &Arc<Self>, session: &SessionId, view: View) -> (Arc<Feed>, feed::Receiver) {
        let mut feeds = self.lock();
        let key = (session.clone(), view);
        if let Some(feed) = feeds.get(&key).filter(|feed| !feed.has_ended()) {
            return (feed.clone(), feed.subscribe());
        }
        let feed = Arc::new(Feed::new());
        let receiver = feed.subscribe();
        feeds.insert(key, feed.clone());
        tokio::spawn(feed::run(self.clone(), feed.clone(), session.clone(), view));
        (feed, receiver)
    }

    /// Takes a feed out that nobody follows; whether it may end.
    fn leave(&self, session: &SessionId, view: View, feed: &Arc<Feed>) -> Leaving {
        let mut feeds = self.lock();
        if feed.followers() > 0 && !feed.has_ended() {
            return Leaving::Stays;
        }
        let key = (session.clone(), view);
        if feeds.get(&key).is_some_and(|known| Arc::ptr_eq(known, feed)) {
            feeds.remove(&key);
        }
        Leaving::Ends
    }

    fn lock(&self) -> MutexGuard<'_, Feeds> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a feed may end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    Stays,
    Ends,
}
