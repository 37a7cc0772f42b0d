//! How time and memory grow: what lists, verifies, collects or shows takes ten times as long for ten times as much.

mod command;
mod stores;

use std::path::Path;
use std::time::Duration;

use crate::Outcome;
use crate::report::{Bound, Report, Row};

/// What ten times as much may cost: a sort, and caches that no longer hold everything, are no square.
const GROWTH: Bound = Bound::AtMost(12.0);

/// Everything that is measured of growth.
pub(crate) fn all(report: &mut Report, scratch: &Path) -> Outcome<()> {
    stores::all(report, scratch)?;
    command::all(report, scratch)
}

/// One row for every step from one size to the next.
fn rows(report: &mut Report, what: &str, unit: &str, sizes: &[usize], times: &[Duration]) {
    let steps = sizes.windows(2).zip(times.windows(2));
    for (sizes, times) in steps {
        if let ([few, many], [short, long]) = (sizes, times) {
            report.measured(Row::time(format!("{what}, {many} {unit} / {few}"), *long, *short, GROWTH));
        }
    }
}
