//! `cargo xtask test` and `cargo xtask lint`: which checks there are, and what was not checked.
//!
//! The test command builds one set of features, because building is what costs: all of them, which is what most tests
//! need. Lints build the workspace once more for every set, so they are a command of their own. The continuous build
//! runs both, and the tests of the other sets.

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::cargo::Cargo;
use crate::postgres_server::Fsync;
use crate::runner::{self, Kills, Runner, Set};
use crate::services::{self, POSTGRES, Postgres, continuous};
use crate::tally::Tally;
use crate::workspace::Workspace;
use crate::{Outcome, cost, external as others, public_api, scaffold, tidy, viewer};

/// Which tests were asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    sets: Sets,
    external: bool,
    crash: bool,
}

/// Which sets of features are tested.
#[derive(Debug, Default, PartialEq, Eq)]
enum Sets {
    /// All features at once, with doctests and examples.
    #[default]
    AllFeatures,
    /// Only the other sets: what `AllFeatures` leaves out.
    Others,
    Every,
}

impl Request {
    /// Reads the flags, if all of them are known.
    pub(crate) fn parse(flags: &[&str]) -> Option<Request> {
        let mut request = Request::default();
        for flag in flags {
            match *flag {
                "--all-sets" => request.sets = Sets::Every,
                "--other-sets" => request.sets = Sets::Others,
                "--external" => request.external = true,
                "--crash" => request.crash = true,
                _ => return None,
            }
        }
        Some(request)
    }

    fn kills(&self) -> Kills {
        if self.crash { Kills::Many } else { Kills::Few }
    }
}

/// A set of cargo features, as flags.
type Features = (&'static str, &'static [&'static str]);

const NONE: Features = ("no features", &["--no-default-features"]);
const DEFAULT: Features = ("default features", &[]);
const ALL: Features = ("all features", &["--all-features"]);

const WORKSPACE: &[&str] = &["--workspace"];
/// The crates that say so where a feature is missing. The tests of the others are a part of those with all features.
const FEATURED: &[&str] = &["--package", "turnkeep-cli", "--package", "turnkeep-store"];

/// Runs the tests up to the first set that fails.
pub(crate) fn test(workspace: &Workspace, request: &Request) -> Outcome<()> {
    let runner = Runner::choose(workspace);
    let mut checks = Checks::default();
    let mut verdict = checks.run(workspace, runner, request);
    if verdict.is_ok() && request.external {
        verdict = checks.external(workspace);
    }
    println!();
    for skipped in checks.skipped.iter().cloned().chain(skipped(request, runner, &checks.tally)) {
        println!("skipped: {skipped}");
    }
    checks.tally.slowest(10).iter().for_each(|line| println!("slow: {line}"));
    println!("{} passed, {} failed", checks.tally.passed, checks.tally.failed);
    verdict
}

/// Runs only the checks by others.
pub(crate) fn external(workspace: &Workspace) -> Outcome<()> {
    let mut checks = Checks::default();
    let verdict = checks.external(workspace);
    checks.skipped.iter().for_each(|skipped| println!("skipped: {skipped}"));
    verdict
}

/// Runs what no test finds, the cheap checks first.
pub(crate) fn lint(workspace: &Workspace) -> Outcome<()> {
    step("tidy", || tidy::check(workspace))?;
    step("format", || format(workspace))?;
    for (name, features) in [ALL, DEFAULT, NONE] {
        step(&format!("clippy, {name}"), || clippy(workspace, features))?;
    }
    step("crates of a dependent", || cost::check(workspace))?;
    step("the library without features", || without_features(workspace))?;
    step("documentation and public items", || public_api::check(workspace))
}

#[derive(Default)]
struct Checks {
    tally: Tally,
    skipped: Vec<String>,
}

impl Checks {
    fn run(&mut self, workspace: &Workspace, runner: Runner, request: &Request) -> Outcome<()> {
        if request.sets != Sets::Others {
            self.all_features(workspace, runner, request.kills())?;
        }
        if request.sets != Sets::AllFeatures {
            for (name, features) in [DEFAULT, NONE] {
                let set = Set { packages: FEATURED, features, kills: request.kills(), postgres: None, node: None };
                step(&format!("tests, {name}"), || runner.run(workspace, &set, &mut self.tally))?;
            }
            step("a new format", || scaffold::trial(workspace))?;
        }
        Ok(())
    }

    /// Tests, doctests and examples of one build.
    fn all_features(&mut self, workspace: &Workspace, runner: Runner, kills: Kills) -> Outcome<()> {
        // It ends with this function.
        let postgres = Postgres::find(Fsync::Off);
        self.skipped.extend(postgres.skipped(continuous())?);
        let node = services::node(&workspace.target);
        if node.is_none() {
            self.skipped.push("pusher-js, laravel-echo and the pusher SDK (Node or npm is missing)".to_owned());
        }
        match viewer::install(workspace) {
            Some(folder) => step("viewer", || viewer::check(workspace, &folder))?,
            None => self.skipped.push("the viewer's types, tests and build (Node or npm is missing)".to_owned()),
        }
        let (name, features) = ALL;
        let set = Set { packages: WORKSPACE, features, kills, postgres: postgres.url(), node };
        step(&format!("tests, {name}"), || runner.run(workspace, &set, &mut self.tally))?;
        step("doctests", || runner::doctests(workspace, &mut self.tally))?;
        step("examples", || examples(workspace, &postgres.url().unwrap_or_default()))
    }

    fn external(&mut self, workspace: &Workspace) -> Outcome<()> {
        step("external", || {
            self.skipped.extend(others::check(workspace)?);
            Ok(())
        })
    }
}

/// Every example runs, and ends well; the fleet shares a PostgreSQL where there is one.
fn examples(workspace: &Workspace, postgres: &str) -> Outcome<()> {
    // As the tests are built: `cargo run` of one package would choose features for that package alone, and build every
    // crate below it once more.
    Cargo::new(workspace, &["build", "--quiet", "--workspace", "--all-features", "--examples"]).run()?;
    let folder = workspace.target.join("debug/examples");
    // The folder holds what examples read, too.
    let is_source = |file: &&PathBuf| {
        file.starts_with("crates/turnkeep/examples") && file.extension().is_some_and(|extension| extension == "rs")
    };
    for name in workspace.files.iter().filter(is_source).filter_map(|file| file.file_stem()) {
        Cargo::program(workspace, &folder.join(name)).env(POSTGRES, postgres).run()?;
    }
    Ok(())
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

/// Builds the library as a dependent without features does: in a build of the whole workspace, tests bring features in.
fn without_features(workspace: &Workspace) -> Outcome<()> {
    Cargo::new(workspace, &["check", "--quiet", "--package", "turnkeep", "--no-default-features"]).run()
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
        (
            request.sets == Sets::AllFeatures,
            "other sets of features, and a format made by `cargo xtask new format` (--all-sets)",
        ),
        (request.sets == Sets::Others, "all features at once, doctests and examples (left out by --other-sets)"),
        (!request.external, "--external (the vendors' own types, their stream readers, a mock server)"),
        (!request.crash, "--crash (ten times as many processes are killed)"),
        (true, "tidiness, format and lints (cargo xtask lint)"),
    ];
    let reasons = reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, reason)| reason.to_owned());
    reasons.chain(tally.ignored.iter().map(|name| format!("{name} (ignored)"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_flags_are_accepted_and_others_refused() {
        let all = Request { sets: Sets::Every, external: true, crash: true };

        assert_eq!(Request::parse(&["--crash", "--external", "--all-sets"]), Some(all));
        assert_eq!(Request::parse(&[]), Some(Request::default()));
        assert_eq!(Request::parse(&["--fast"]), None);
    }

    #[test]
    fn what_was_not_run_is_named() {
        let tally = Tally { ignored: vec!["slow_one".to_owned()], ..Tally::default() };

        let skipped = skipped(&Request::default(), Runner::CargoTest, &tally);

        for name in ["--external", "--crash", "other sets", "tidiness"] {
            assert!(skipped.iter().any(|line| line.starts_with(name)), "{name}: {skipped:?}");
        }
        assert!(skipped.contains(&"slow_one (ignored)".to_owned()), "{skipped:?}");
    }
}
