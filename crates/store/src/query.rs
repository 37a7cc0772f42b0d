//! What to list, in which order, and where to go on.
//!
//! Every driver gives the same page for the same query: databases translate it to SQL, the others use [`Query::page`].

use std::cmp::Ordering;

use turnkeep_model::SessionId;

use crate::error::{Error, ErrorKind, Result};
use crate::summary::Summary;

/// Which sessions to list. What is not set does not filter.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The session of this id.
    pub id: Option<SessionId>,
    /// Sessions that carry all of these labels; a label without a value matches any.
    pub tags: Vec<(String, Option<String>)>,
    /// Sessions that stand here: the word of a status.
    pub status: Option<String>,
    /// Sessions with this text in their title; the case of ASCII letters does not matter.
    pub text: Option<String>,
    /// Forks of this session.
    pub parent: Option<SessionId>,
    /// Sessions changed at this time or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Sessions changed before this time.
    pub before: Option<i64>,
    /// The order.
    pub sort: Sort,
    /// How many at most on one page; 0 for the usual number, `usize::MAX` for all. A store may have to look at every
    /// session to make one page: whoever wants all of them asks for one.
    pub limit: usize,
    /// Where the page before ended.
    pub after: Option<Cursor>,
}

/// The order of a listing. Equal ones follow their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// The last changed first.
    #[default]
    Updated,
    /// The newest first.
    Created,
    /// By id.
    Id,
}

/// Where a page ended. It names a place in the order, not a number of rows, so that sessions that come or go meanwhile
/// move no other one to another page. Cursors are ordered as a listing is: the newest first, and of equal times the lesser id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) time: i64,
    pub(crate) id: SessionId,
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The sessions.
    pub sessions: Vec<Summary>,
    /// Where to go on, if there is more.
    pub next: Option<Cursor>,
}

const USUAL_LIMIT: usize = 100;

/// The longest page there is: every database takes this number, and one more, as a limit.
const LONGEST: usize = i32::MAX as usize - 1;

impl Cursor {
    /// The cursor as a word that can be handed around.
    pub fn to_word(&self) -> String {
        format!("{}.{}", self.time, self.id)
    }

    /// The cursor of a word.
    ///
    /// # Errors
    /// `Unsupported` if the word is no cursor.
    pub fn from_word(word: &str) -> Result<Cursor> {
        let parsed = word.split_once('.').and_then(|(time, id)| Some((time.parse().ok()?, SessionId::new(id))));
        let (time, id) = parsed.ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, "this is no place in a listing")
                .hint("take the word that the page before ended with")
        })?;
        Ok(Cursor { time, id })
    }
}

impl Sort {
    /// Where a summary stands in this order.
    pub(crate) fn place(self, summary: &Summary) -> Cursor {
        Cursor { time: self.time(summary), id: summary.id.clone() }
    }

    /// The time that it goes by.
    pub(crate) fn time(self, summary: &Summary) -> i64 {
        match self {
            Sort::Updated => summary.updated,
            Sort::Created => summary.created,
            Sort::Id => 0,
        }
    }
}

/// The newest first; of equal times the lesser id.
fn order(a: (i64, &SessionId), b: (i64, &SessionId)) -> Ordering {
    b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1))
}

impl Ord for Cursor {
    fn cmp(&self, other: &Cursor) -> Ordering {
        order((self.time, &self.id), (other.time, &other.id))
    }
}

impl PartialOrd for Cursor {
    fn partial_cmp(&self, other: &Cursor) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Query {
    /// How many at most on one page.
    pub(crate) fn page_size(&self) -> usize {
        if self.limit == 0 { USUAL_LIMIT } else { self.limit.min(LONGEST) }
    }

    pub(crate) fn matches(&self, summary: &Summary) -> bool {
        let carries = |(key, value): &(String, Option<String>)| {
            summary.tags.iter().any(|(k, v)| k == key && value.as_ref().is_none_or(|value| value == v))
        };
        let lower = |text: &str| text.to_ascii_lowercase();
        self.id.as_ref().is_none_or(|id| *id == summary.id)
            && self.status.as_ref().is_none_or(|status| Some(status) == summary.status.as_ref())
            && self
                .text
                .as_ref()
                .is_none_or(|text| summary.title.as_deref().is_some_and(|title| lower(title).contains(&lower(text))))
            && self.parent.as_ref().is_none_or(|id| summary.origin.as_ref().is_some_and(|origin| origin.session == *id))
            && self.since.is_none_or(|since| summary.updated >= since)
            && self.before.is_none_or(|before| summary.updated < before)
            && self.tags.iter().all(carries)
    }

    /// The page of these summaries, for stores that have all of them at hand. Only the page is sorted and copied.
    pub fn page<'a>(&self, all: impl Iterator<Item = &'a Summary>) -> Page {
        let place = |summary: &'a Summary| (self.sort.time(summary), &summary.id);
        let is_after = |summary: &&'a Summary| match &self.after {
            Some(after) => order(place(summary), (after.time, &after.id)) == Ordering::Greater,
            None => true,
        };
        let order = |a: &&'a Summary, b: &&'a Summary| order(place(a), place(b));
        let mut found: Vec<&Summary> = all.filter(|summary| self.matches(summary)).filter(is_after).collect();
        let more = found.len() > self.page_size();
        if more {
            found.select_nth_unstable_by(self.page_size(), order);
            found.truncate(self.page_size());
        }
        found.sort_unstable_by(order);
        self.page_of(found, more)
    }

    /// The page of summaries that come in order and after the cursor. Those behind the page are not looked at.
    pub(crate) fn page_in_order<'a>(&self, ordered: impl Iterator<Item = &'a Summary>) -> Page {
        let mut matching = ordered.filter(|summary| self.matches(summary));
        let found: Vec<&Summary> = matching.by_ref().take(self.page_size()).collect();
        let more = matching.next().is_some();
        self.page_of(found, more)
    }

    fn page_of(&self, found: Vec<&Summary>, more: bool) -> Page {
        let next = found.last().filter(|_| more).map(|last| self.sort.place(last));
        Page { sessions: found.into_iter().cloned().collect(), next }
    }
}
