//! Which program runs the tests.

use crate::Outcome;
use crate::cargo::Cargo;
use crate::services;
use crate::tally::{self, Tally};
use crate::workspace::Workspace;

/// A program that runs tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    Nextest,
    CargoTest,
}

/// How often the tests kill processes: as often as they do by themselves, or many times that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kills {
    Few,
    Many,
}

impl Kills {
    fn count(self) -> &'static str {
        match self {
            Kills::Few => "1",
            Kills::Many => "10",
        }
    }
}

/// How one set of tests is run.
pub(crate) struct Set<'a> {
    /// Which packages, as flags.
    pub(crate) packages: &'a [&'a str],
    pub(crate) features: &'a [&'a str],
    pub(crate) kills: Kills,
    /// The URL of a database, if there is one.
    pub(crate) postgres: Option<String>,
    /// The folder of the packages that run under Node, if there is one.
    pub(crate) node: Option<String>,
}

const NEXTEST: &[&str] = &["nextest", "run", "--no-fail-fast", "--status-level=pass", "--final-status-level=skip"];
const CARGO_TEST: &[&str] = &["test", "--all-targets", "--no-fail-fast"];
/// Cargo's harness reports times only under this variable. It is set for the test programs and not for cargo, where it
/// would build everything anew.
#[cfg(unix)]
const TIMED: &[&str] = &[
    "--config",
    "target.'cfg(all())'.runner=['env','RUSTC_BOOTSTRAP=1']",
    "--",
    "-Zunstable-options",
    "--report-time",
];
#[cfg(not(unix))]
const TIMED: &[&str] = &[];
const DOCTESTS: &[&str] = &["test", "--workspace", "--doc", "--all-features", "--no-fail-fast"];

impl Runner {
    /// Nextest if it is installed.
    pub(crate) fn choose(workspace: &Workspace) -> Runner {
        let nextest = Cargo::new(workspace, &["nextest", "--version"]).works();
        if nextest { Runner::Nextest } else { Runner::CargoTest }
    }

    /// Runs every test but the doctests.
    pub(crate) fn run(self, workspace: &Workspace, set: &Set<'_>, tally: &mut Tally) -> Outcome<()> {
        let (before, after, add): (_, &[&str], AddLine) = match self {
            Runner::Nextest => (NEXTEST, &[], Tally::add_nextest_line),
            Runner::CargoTest => (CARGO_TEST, TIMED, Tally::add_cargo_line),
        };
        let mut cargo = Cargo::new(workspace, &[before, set.packages, set.features, after].concat());
        cargo = cargo.env("TURNKEEP_KILLS", set.kills.count());
        if let Some(url) = &set.postgres {
            cargo = cargo.env(services::POSTGRES, url);
        }
        if let Some(folder) = &set.node {
            cargo = cargo.env(services::NODE, folder);
        }
        count(cargo, tally, add)
    }
}

/// Runs the doctests, which only cargo can.
pub(crate) fn doctests(workspace: &Workspace, tally: &mut Tally) -> Outcome<()> {
    count(Cargo::new(workspace, DOCTESTS), tally, Tally::add_cargo_line)
}

type AddLine = fn(&mut Tally, &str);

/// Thousands of tests pass; only what did not is worth a line.
fn count(cargo: Cargo, tally: &mut Tally, add: AddLine) -> Outcome<()> {
    let (lines, verdict) = cargo.watched(|line| !tally::is_pass(line))?;
    lines.iter().for_each(|line| add(tally, line));
    verdict
}
