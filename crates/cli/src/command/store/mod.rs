//! Commands on stored sessions.

mod carry;
mod change;
mod erase;
mod label;
mod list;
mod upkeep;

pub(super) use carry::journal;
pub(crate) use carry::load;
pub(super) use carry::{copy, export, import};
pub(super) use change::{fork, rm};
pub(super) use erase::erase;
pub(super) use label::tag;
pub(super) use list::{ls, search};
pub(super) use upkeep::{du, gc, verify};

use std::collections::HashMap;

use pollster::block_on;
use turnkeep_model::SessionId;
use turnkeep_store::{Query, Sort, Store};

use crate::exit::Stop;

/// The ids of all sessions, parents before their forks.
fn all_ids(store: &dyn Store) -> Result<Vec<SessionId>, Stop> {
    let mut query = Query { sort: Sort::Id, limit: 500, ..Query::default() };
    let mut found = Vec::new();
    loop {
        let page = block_on(store.list(&query))?;
        found.extend(page.sessions);
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    let origins: HashMap<&SessionId, &SessionId> =
        found.iter().filter_map(|summary| Some((&summary.id, &summary.origin.as_ref()?.session))).collect();
    let mut ordered: Vec<_> =
        found.iter().map(|summary| (generation(&origins, &summary.id), summary.last, &summary.id)).collect();
    ordered.sort();
    Ok(ordered.into_iter().map(|(_, _, id)| id.clone()).collect())
}

/// How many forks lie between a session and the first of its line. An id that was used again may make a circle.
fn generation(origins: &HashMap<&SessionId, &SessionId>, id: &SessionId) -> usize {
    let parents = std::iter::successors(Some(id), |id| origins.get(*id).copied());
    parents.skip(1).take(origins.len()).count()
}
