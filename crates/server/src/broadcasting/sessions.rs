//! The sessions of tenants, as channels tell of them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::{BoxFuture, ready};
use futures_util::stream::{self, StreamExt};
use turnkeep_model::{Seq, SessionId};
use turnkeep_runtime::envelope::Channel;
use turnkeep_store::{Error, ErrorKind, Result, StoreExt};

use crate::live::LiveItem;
use crate::ops::Metrics;
use crate::pusher::frame::Frame;
use crate::pusher::{App, FeedItem, Items, SessionFeed};
use crate::tenant::{TenantName, Tenants};

/// Follows the sessions of the app's tenant.
pub(super) struct TenantSessions {
    pub(super) tenants: Arc<Tenants>,
    pub(super) metrics: Arc<Metrics>,
}

impl SessionFeed for TenantSessions {
    fn follow<'a>(&'a self, app: &'a App, session: &'a str, after: Option<u64>) -> BoxFuture<'a, Items> {
        Box::pin(async move {
            match self.begin(app, session, after.map(Seq)).await {
                Ok(items) => items,
                Err(error) if error.kind() == ErrorKind::NotFound => stream::iter([FeedItem::Gone]).boxed(),
                // An end without a word is a failure: the reader is closed, and comes back.
                Err(_) => stream::empty().boxed(),
            }
        })
    }
}

impl TenantSessions {
    async fn begin(&self, app: &App, session: &str, after: Option<Seq>) -> Result<Items> {
        let unknown = || Error::new(ErrorKind::NotFound, "the channel is of no session");
        let (name, session) = TenantName::new(&app.tenant).ok().zip(decode(session)).ok_or_else(unknown)?;
        let tenant = self.tenants.named(&name).await?;
        let last = tenant.store.last(&session).await?;
        let metrics = self.metrics.clone();
        let items = tenant.live.follow(&session, Some(after.unwrap_or(last)), app.view);
        Ok(items.filter_map(move |item| ready(told(item, &metrics))).boxed())
    }
}

fn told(item: LiveItem, metrics: &Metrics) -> Option<FeedItem> {
    match item {
        LiveItem::Event(event) => {
            let json = Frame::try_from(event.json.clone()).ok()?;
            Some(FeedItem::Event { seq: event.seq.map(|seq| seq.0), name: event.name.clone(), json })
        }
        LiveItem::Lagged { .. } => {
            metrics.lagged.fetch_add(1, Ordering::Relaxed);
            Some(FeedItem::Lagged)
        }
        LiveItem::Gone => Some(FeedItem::Gone),
    }
}

/// The id that a channel's spelling stands for; `None` where it is none, or only the digest of one.
fn decode(encoded: &str) -> Option<SessionId> {
    Channel::parse(&format!("agent.{encoded}"))?.0.session()
}
