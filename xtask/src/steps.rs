//! `cargo xtask test`: every check there is, the cheap ones first.

use std::path::Path;
use std::time::Instant;

use crate::cargo::Cargo;
use crate::runner::{self, Kills, Runner, Set};
use crate::server::Sync;
use crate::services::{POSTGRES, Postgres, continuous};
use crate::tally::Tally;
use crate::workspace::Workspace;
use crate::{Outcome, external as others, tidy};

/// Which checks were asked for beyond the usual ones.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    external: bool,
    crash: bool,
}

impl Request {
    /// Reads the flags, if all of them are known.
    pub(crate) fn parse(flags: &[&str]) -> Option<Request> {
        let mut request = Request::default();
        for flag in flags {
            match *flag {
                "--external" => request.external = true,
                "--crash" => request.crash = true,
                _ => return None,
            }
        }
        Some(request)
    }
}

/// A set of cargo features, as flags.
type Features = (&'static str, &'static [&'static str]);

const DEFAULT: Features = ("default features", &[]);
const NONE: Features = ("no features", &["--no-default-features"]);
const ALL: Features = ("all features", &["--all-features"]);

/// Without features only those are tested again that say so where one is missing; for the others that is no more than a
/// part of all features.
const WORKSPACE: &[&str] = &["--workspace"];
const FEATURED: &[&str] = &["--package", "turnkeep-cli", "--package", "turnkeep-store"];

/// Runs the checks up to the first that fails.
pub(crate) fn test(workspace: &Workspace, request: &Request) -> Outcome<()> {
    let runner = Runner::choose(workspace);
    let mut session = Checks { tally: Tally::default(), tests_ran: false, skipped: Vec::new() };
    let kills = if request.crash { Kills::Many } else { Kills::Few };
    let mut verdict = session.run(workspace, runner, kills);
    if verdict.is_ok() && request.external {
        verdict = session.external(workspace);
    }
    println!();
    for skipped in session.skipped.iter().cloned().chain(skipped(request, runner, &session.tally)) {
        println!("skipped: {skipped}");
    }
    match (&verdict, session.tests_ran) {
        (_, true) => println!("{} passed, {} failed", session.tally.passed, session.tally.failed),
        (_, false) => println!("no test was run"),
    }
    verdict
}

/// Runs only the checks by others.
pub(crate) fn external(workspace: &Workspace) -> Outcome<()> {
    let mut session = Checks { tally: Tally::default(), tests_ran: false, skipped: Vec::new() };
    let verdict = session.external(workspace);
    session.skipped.iter().for_each(|skipped| println!("skipped: {skipped}"));
    verdict
}

struct Checks {
    tally: Tally,
    tests_ran: bool,
    skipped: Vec<String>,
}

impl Checks {
    fn run(&mut self, workspace: &Workspace, runner: Runner, kills: Kills) -> Outcome<()> {
        step("tidy", || tidy::check(workspace))?;
        step("format", || format(workspace))?;
        let sets = feature_sets(workspace);
        for (name, features) in &sets {
            step(&format!("clippy, {name}"), || clippy(workspace, features))?;
        }
        self.tests_ran = true;
        for (name, features) in sets.iter().filter(|set| sets.len() == 1 || **set != DEFAULT) {
            // Only the tests of all features know of services; these end with the round.
            let postgres = (*name == ALL.0).then(|| Postgres::find(Sync::Off));
            if let Some(postgres) = &postgres {
                self.skipped.extend(postgres.skipped(continuous())?);
            }
            let packages = if *name == NONE.0 { FEATURED } else { WORKSPACE };
            let set = Set { packages, features, kills, postgres: postgres.as_ref().and_then(Postgres::url) };
            step(&format!("tests, {name}"), || runner.run(workspace, &set, &mut self.tally))?;
        }
        step("doctests", || runner::doctests(workspace, &mut self.tally))?;
        step("examples", || examples(workspace))
    }

    fn external(&mut self, workspace: &Workspace) -> Outcome<()> {
        step("external", || {
            self.skipped.extend(others::check(workspace)?);
            Ok(())
        })
    }
}

/// Every example runs, and ends well; the fleet shares a PostgreSQL where there is one.
fn examples(workspace: &Workspace) -> Outcome<()> {
    let postgres = Postgres::find(Sync::Off);
    let url = postgres.url().unwrap_or_default();
    let names = workspace.files.iter().filter(|file| file.starts_with("crates/turnkeep/examples"));
    for name in names.filter_map(|file| file.file_stem()).filter_map(|name| name.to_str()) {
        Cargo::new(workspace, &["run", "--quiet", "--package", "turnkeep", "--all-features", "--example", name])
            .env(POSTGRES, &url)
            .run()?;
    }
    Ok(())
}

fn feature_sets(workspace: &Workspace) -> Vec<Features> {
    let any = workspace.crates.iter().any(|member| member.has_features);
    if any { vec![NONE, DEFAULT, ALL] } else { vec![DEFAULT] }
}

/// Checks what cargo reaches, and then every Rust file there is: some are reached by no target.
fn format(workspace: &Workspace) -> Outcome<()> {
    Cargo::new(workspace, &["fmt", "--all", "--check"]).run()?;
    let files = workspace.files.iter().filter_map(|file| file.to_str()).filter(|file| file.ends_with(".rs"));
    let arguments: Vec<&str> = ["--check", "--edition", "2024"].into_iter().chain(files).collect();
    Cargo::companion(workspace, "rustfmt", &arguments).run()
}

fn clippy(workspace: &Workspace, features: &[&str]) -> Outcome<()> {
    let lint = ["clippy", "--workspace", "--all-targets", "--quiet"];
    Cargo::new(workspace, &[&lint, features, &["--", "-D", "warnings"]].concat()).run()
}

fn step(name: &str, run: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
    println!("== {name}");
    let start = Instant::now();
    let verdict = run();
    let word = if verdict.is_ok() { "ok" } else { "FAILED" };
    println!("== {name}: {word} in {:.1} s", start.elapsed().as_secs_f64());
    verdict
}

/// What a reader might believe was checked and was not, by name.
fn skipped(request: &Request, runner: Runner, tally: &Tally) -> Vec<String> {
    let corpus = std::env::var_os("TURNKEEP_CORPUS").is_some_and(|folder| Path::new(&folder).is_dir());
    let reasons = [
        (!corpus, "the public corpus (TURNKEEP_CORPUS names no folder)"),
        (runner == Runner::CargoTest, "nextest (not installed; cargo test ran the tests)"),
        (!request.external, "--external (the vendors' own types, their stream readers, a mock server)"),
        (!request.crash, "--crash (ten times as many processes are killed)"),
    ];
    let reasons = reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, reason)| reason.to_owned());
    reasons.chain(tally.ignored.iter().map(|name| format!("{name} (ignored)"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_flags_are_accepted_and_others_refused() {
        assert_eq!(Request::parse(&["--crash", "--external"]), Some(Request { external: true, crash: true }));
        assert_eq!(Request::parse(&["--fast"]), None);
    }

    #[test]
    fn what_was_not_run_is_named() {
        let request = Request { external: false, crash: false };
        let tally = Tally { ignored: vec!["slow_one".to_owned()], ..Tally::default() };

        let skipped = skipped(&request, Runner::CargoTest, &tally);

        assert!(skipped.iter().any(|line| line.starts_with("--external")), "{skipped:?}");
        assert!(skipped.iter().any(|line| line.starts_with("--crash")), "{skipped:?}");
        assert!(skipped.contains(&"slow_one (ignored)".to_owned()), "{skipped:?}");
    }
}
