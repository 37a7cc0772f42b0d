//! The SQLite store against raw SQLite: the same bytes, the same durability, in the same run.

mod append;
mod journal;
mod postgres;
mod raw;
mod read;
mod shape;

use std::path::Path;

use crate::Outcome;
use crate::report::Report;

pub(crate) use append::peak;
pub(crate) use journal::{append, fresh, open, session};

/// Everything that is measured of stores.
pub(crate) fn all(report: &mut Report, scratch: &Path) -> Outcome<()> {
    append::turns(report, scratch)?;
    append::flat(report, scratch)?;
    append::writers(report, scratch)?;
    append::memory(report, scratch)?;
    shape::bytes(report, scratch)?;
    shape::forks(report, scratch)?;
    read::windows(report, scratch)?;
    read::whole(report, scratch)?;
    shape::listing(report, scratch)?;
    read::search(report, scratch)?;
    postgres::append(report)
}

/// What is measured of PostgreSQL alone.
pub(crate) fn postgres(report: &mut Report, _scratch: &Path) -> Outcome<()> {
    postgres::append(report)
}
