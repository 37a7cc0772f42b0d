//! The project's own commands. `cargo xtask` lists them.

#![expect(clippy::print_stdout, reason = "a program that reports to its terminal")]

mod cargo;
mod docs;
mod external;
mod runner;
#[path = "../../crates/testkit/src/server.rs"]
#[allow(dead_code, unreachable_pub, reason = "a file of the test kit, which chores must not wait for to be built")]
mod server;
mod services;
mod steps;
mod tally;
mod tidy;
mod workspace;

use std::process::ExitCode;

use cargo::Cargo;
use server::Sync;
use services::Postgres;
use steps::Request;
use workspace::Workspace;

type Failure = Box<dyn std::error::Error>;
type Outcome<T> = Result<T, Failure>;

const USAGE: &str = "\
cargo xtask test [--external] [--crash]      format, tidiness, lints, tests and doctests
cargo xtask external                         only what --external adds: checks by the vendors' own SDKs
cargo xtask tidy                             the rules that no compiler knows
cargo xtask golden                           writes the golden files anew; review them like code
cargo xtask docs                             writes the generated documents
cargo xtask bench [model|codec|wires|policy|store|growth|runtime|provider|postgres|peers|all] [--write]  measures ratios and checks their bounds";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Outcome<()> {
    let workspace = Workspace::find()?;
    match words {
        ["test", flags @ ..] => steps::test(&workspace, &Request::parse(flags).ok_or(USAGE)?),
        ["external"] => steps::external(&workspace),
        ["tidy"] => tidy::check(&workspace),
        ["golden"] => Cargo::new(&workspace, &["test", "--workspace"]).env("UPDATE_GOLDEN", "1").run(),
        ["docs"] => docs::write(&workspace),
        ["bench", words @ ..] => bench(&workspace, words),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("no such command\n{USAGE}").into()),
    }
}

/// Measurements of an unoptimised build would say nothing.
fn bench(workspace: &Workspace, words: &[&str]) -> Outcome<()> {
    let mut build = vec!["run", "--release", "--quiet", "--package", "turnkeep-bench", "--features", "tokens"];
    let store = matches!(words, [] | ["all" | "store" | "postgres" | "--write", ..]);
    if matches!(words, [] | ["all" | "growth" | "--write", ..]) {
        // The command itself is measured, too.
        Cargo::new(workspace, &["build", "--release", "--quiet", "--package", "turnkeep-cli"]).run()?;
    }
    // As in earnest: what is acknowledged is on the disk.
    let postgres = store.then(|| Postgres::find(Sync::On));
    let url = postgres.as_ref().and_then(Postgres::url);
    if url.is_some() {
        build.extend(["--features", "postgres"]);
    }
    build.push("--");
    let cargo = Cargo::new(workspace, &[&build, words].concat());
    match url {
        Some(url) => cargo.env(services::POSTGRES, &url).run(),
        None => cargo.run(),
    }
}
