//! What the server itself keeps: tokens, tickets, keys of repeated requests, and its runs.
//!
//! It is a store like those of the tenants, beside them, so that it works with every driver and is shared by all servers of a
//! database. A document is a journal of text lines; its compare-and-swap is what makes a ticket single-use and gives a run one
//! owner.

use std::sync::Arc;

use turnkeep_model::event::{LogAdded, SessionChanged, SessionOpened};
use turnkeep_model::{Batch, Entry, Event, Seq, Session, SessionId};
use turnkeep_store::{ErrorKind, Query, Result, Store, StoreExt};

/// The store of the server itself.
#[derive(Clone)]
pub struct Control {
    store: Arc<dyn Store>,
}

/// A label by which documents are found.
pub(crate) type Label<'a> = (&'a str, &'a str);

/// A document as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    /// Its key.
    pub(crate) key: String,
    /// Its lines; the last one counts where only one does.
    pub(crate) lines: Vec<String>,
    /// Where it stands, for the next compare-and-swap.
    pub(crate) at: Seq,
}

impl Document {
    pub(crate) fn last(&self) -> &str {
        self.lines.last().map_or("", String::as_str)
    }
}

/// The label that tells kinds of documents apart.
const KIND: &str = "kind";

fn id(kind: &str, key: &str) -> SessionId {
    SessionId::new(format!("{kind}/{key}"))
}

fn labels(kind: &str, label: Option<Label<'_>>) -> Vec<(String, String)> {
    let own = |(key, value): Label<'_>| (key.to_owned(), value.to_owned());
    [(KIND, kind)].into_iter().chain(label).map(own).collect()
}

fn line(text: &str) -> Entry {
    Event::from(LogAdded { line: text.to_owned() }).into()
}

impl Control {
    /// Over this store.
    pub fn new(store: Arc<dyn Store>) -> Control {
        Control { store }
    }

    /// Makes a document. `Conflict` where it is there already.
    pub(crate) async fn create(&self, kind: &str, key: &str, text: &str, label: Option<Label<'_>>) -> Result<Seq> {
        let session = Session { tags: labels(kind, label), ..Session::default() };
        let opened = Event::from(SessionOpened { session: Box::new(session) }).into();
        let batch = Batch::new(Seq::START.next(), vec![opened, line(text)]);
        self.store.append(&id(kind, key), Seq::START, &batch).await
    }

    /// Adds a line to a document that stands at `at`, and may label it anew. `Conflict` where someone else was faster.
    pub(crate) async fn append(
        &self,
        kind: &str,
        key: &str,
        at: Seq,
        text: &str,
        label: Option<Label<'_>>,
    ) -> Result<Seq> {
        let tags = label.map(|label| labels(kind, Some(label)));
        let changed = tags.map(|tags| Event::from(SessionChanged { tags: Some(tags), ..SessionChanged::default() }));
        let events = changed.map(Entry::from).into_iter().chain([line(text)]).collect();
        self.store.append(&id(kind, key), at, &Batch::new(at.next(), events)).await
    }

    /// A document, if it is there.
    pub(crate) async fn get(&self, kind: &str, key: &str) -> Result<Option<Document>> {
        match self.store.load(&id(kind, key)).await {
            Ok(loaded) => Ok(Some(Document { key: key.to_owned(), lines: loaded.session.logs, at: loaded.seq })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The documents of a kind, or those of them that carry a label.
    pub(crate) async fn list(&self, kind: &str, label: Option<Label<'_>>) -> Result<Vec<Document>> {
        self.list_changed_before(kind, label, None).await
    }

    /// The same, only those that nobody changed since a time in milliseconds.
    pub(crate) async fn list_changed_before(
        &self,
        kind: &str,
        label: Option<Label<'_>>,
        before: Option<i64>,
    ) -> Result<Vec<Document>> {
        let tags = labels(kind, label).into_iter().map(|(key, value)| (key, Some(value))).collect();
        let query = Query { tags, before, limit: usize::MAX, ..Query::default() };
        let prefix = format!("{kind}/");
        let mut found = Vec::new();
        for summary in self.store.list(&query).await?.sessions {
            if let Some(key) = summary.id.as_str().strip_prefix(&prefix) {
                found.extend(self.get(kind, key).await?);
            }
        }
        Ok(found)
    }

    /// Whether there is any document of a kind.
    pub(crate) async fn any(&self, kind: &str) -> Result<bool> {
        let query = Query { tags: vec![(KIND.to_owned(), Some(kind.to_owned()))], limit: 1, ..Query::default() };
        Ok(!self.store.list(&query).await?.sessions.is_empty())
    }

    /// Removes a document; whether it was there.
    pub(crate) async fn remove(&self, kind: &str, key: &str) -> Result<bool> {
        match self.store.delete(&id(kind, key)).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}
