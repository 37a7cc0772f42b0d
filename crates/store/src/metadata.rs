//! Listing by the metadata that an application keeps with its sessions.
//!
//! Listings do not hold metadata, so the head of every candidate is looked at, page by page until there are enough.

use turnkeep_model::Object;

use crate::error::Result;
use crate::ext::StoreExt;
use crate::query::{Page, Query};
use crate::store::Store;

pub(crate) async fn list_by_metadata(
    store: &(impl Store + ?Sized),
    query: &Query,
    matches: &(dyn Fn(&Object) -> bool + Send + Sync),
) -> Result<Page> {
    let wanted = query.page_size();
    let mut query = Query { limit: wanted, ..query.clone() };
    let mut sessions = Vec::new();
    loop {
        let page = store.list(&query).await?;
        let mut candidates = page.sessions.into_iter();
        for summary in candidates.by_ref() {
            let window = store.load_window(&summary.id, 0).await?;
            if matches(&window.head.session.metadata) {
                sessions.push(summary);
            }
            if sessions.len() == wanted {
                break;
            }
        }
        let more = page.next.is_some() || candidates.len() > 0;
        if sessions.len() == wanted || !more {
            let next = sessions.last().filter(|_| more).map(|last| query.sort.place(last));
            return Ok(Page { sessions, next });
        }
        query.after = page.next;
        // All that is left at once: a store may look at every session to make a page.
        query.limit = usize::MAX;
    }
}
