//! Commands on stored sessions.

mod carry;
mod change;
mod erase;
mod label;
mod list;
mod upkeep;

pub(crate) use carry::load;
pub(super) use carry::{copy, export, import};
pub(super) use change::{fork, rm};
pub(super) use erase::erase;
pub(super) use label::tag;
pub(super) use list::{ls, search};
pub(super) use upkeep::{du, gc, verify};

use pollster::block_on;
use turnkeep_model::SessionId;
use turnkeep_store::{Query, Sort, Store};

use crate::exit::Stop;

/// The ids of all sessions, parents before their forks.
fn all_ids(store: &dyn Store) -> Result<Vec<SessionId>, Stop> {
    let mut query = Query { sort: Sort::Created, limit: 500, ..Query::default() };
    let mut found = Vec::new();
    loop {
        let page = block_on(store.list(&query))?;
        found.extend(page.sessions.into_iter().map(|summary| (summary.origin.is_some(), summary.last, summary.id)));
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, _, id)| id).collect())
}
