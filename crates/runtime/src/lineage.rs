//! Sessions and the sessions that came from them.

use std::collections::{HashMap, HashSet};

use futures_util::StreamExt;
use turnkeep_model::{Event, Seq, SessionId};
use turnkeep_store::{Page, Query, Sort, Store, StoreExt, Summary};

use crate::error::Result;
use crate::recorder::Recorder;

/// Every session that came from `root`, by fork or by handing over, and `root` itself: each once, children before their
/// parents, and in the order they were made.
///
/// # Errors
/// `NotFound` where there is no such session, and what the store says.
pub async fn subtree(store: &dyn Store, root: &SessionId) -> Result<Vec<SessionId>> {
    store.last(root).await?;
    let children = children(store).await?;
    let (mut order, mut seen) = (Vec::new(), HashSet::from([root]));
    // What is still to be visited, and whether its children were.
    let mut todo = vec![(root, false)];
    while let Some((id, done)) = todo.pop() {
        if done {
            order.push(id.clone());
            continue;
        }
        todo.push((id, true));
        let own = children.get(id).map(Vec::as_slice).unwrap_or_default();
        todo.extend(own.iter().rev().filter(|child| seen.insert(child)).map(|child| (child, false)));
    }
    Ok(order)
}

/// The children of every session that has some, oldest first.
async fn children(store: &dyn Store) -> Result<HashMap<SessionId, Vec<SessionId>>> {
    let mut query = Query { sort: Sort::Created, ..Query::default() };
    let mut newest_first: Vec<Summary> = Vec::new();
    loop {
        let Page { sessions, next } = store.list(&query).await?;
        newest_first.extend(sessions);
        match next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    let mut children: HashMap<SessionId, Vec<SessionId>> = HashMap::new();
    for summary in newest_first.into_iter().rev() {
        if let Some(parent) = parent_of(store, &summary).await? {
            children.entry(parent).or_default().push(summary.id);
        }
    }
    Ok(children)
}

async fn parent_of(store: &dyn Store, summary: &Summary) -> Result<Option<SessionId>> {
    if let Some(origin) = &summary.origin {
        return Ok(Some(origin.session.clone()));
    }
    let Some(first) = store.read(&summary.id, Seq::START).next().await else {
        return Ok(None);
    };
    let opened = first?.events.into_iter().find_map(|entry| match entry.event {
        Event::SessionOpened(opened) => Some(opened.session),
        _ => None,
    });
    Ok(opened.and_then(|session| session.parent).map(|parent| parent.session))
}

impl Recorder {
    /// A session of its own that begins as this one is now, and a run of it. What is recorded there is not seen here.
    ///
    /// # Errors
    /// `Conflict` where the id is taken, and what the store says.
    pub async fn fork(&self, child: &SessionId) -> Result<Recorder> {
        self.store().fork(self.id(), self.seq(), child).await?;
        Recorder::resume(self.store().clone(), child, self.ports().clone()).await
    }
}
