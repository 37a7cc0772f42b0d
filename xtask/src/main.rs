//! The project's own commands. `cargo xtask` lists them.

#![expect(clippy::print_stdout, reason = "a program that reports to its terminal")]

mod cargo;
mod checks;
mod cost;
mod external;
mod package;
#[path = "../../crates/testkit/src/postgres_server.rs"]
#[allow(dead_code, unreachable_pub, reason = "a file of the test kit, which chores must not wait for to be built")]
mod postgres_server;
mod public_api;
mod runner;
mod scaffold;
mod services;
mod tally;
mod tidy;
mod viewer;
mod workspace;

use std::process::ExitCode;

use cargo::Cargo;
use checks::Request;
use postgres_server::Fsync;
use services::Postgres;
use workspace::Workspace;

type Failure = Box<dyn std::error::Error>;
type Outcome<T> = Result<T, Failure>;

const USAGE: &str = "\
cargo xtask test [--all-sets] [--crash] [--external]  tests, doctests and examples with all features; the ten slowest tests
                 --all-sets                  with default features and with none, too (--other-sets: only with those)
                 --crash                     kills ten times as many processes
cargo xtask lint                             tidiness, format, clippy with all features, default ones and none, the crates of
                                             a dependent, documentation and the list of public items
cargo xtask package                          makes every package, and tests examples/external against them
cargo xtask api                              only documentation and public items; UPDATE_GOLDEN=1 agrees with them
cargo xtask cost                             crates, seconds of a first build and size of a program that depends on turnkeep
cargo xtask external                         only what --external adds: checks by the vendors' own SDKs
cargo xtask tidy [--numbers]                 the rules that no compiler knows; the sizes of crates, for reading
cargo xtask new format FAMILY.KIND           writes a small format that works: module, table line, fixtures, tests, pages
cargo xtask golden                           writes the golden files anew; review them like code
cargo xtask docs                             writes the generated documents
cargo xtask bench [model|codec|wires|policy|store|watch|growth|runtime|provider|fanout|postgres|peers|all] [--write]  measures ratios and checks their bounds";

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
        ["test", flags @ ..] => checks::test(&workspace, &Request::parse(flags).ok_or(USAGE)?),
        ["lint"] => checks::lint(&workspace),
        ["package"] => package::check(&workspace),
        ["cost"] => cost::print(&workspace),
        ["api"] => public_api::check(&workspace),
        ["new", "format", id] => scaffold::new_format(&workspace, id),
        ["external"] => checks::external(&workspace),
        ["tidy", "--numbers"] => {
            tidy::numbers::print(&workspace);
            Ok(())
        }
        ["tidy"] => tidy::check(&workspace),
        ["golden"] => {
            Cargo::new(&workspace, &["test", "--workspace", "--all-features"]).env("UPDATE_GOLDEN", "1").run()
        }
        ["docs"] => docs(&workspace),
        ["bench", words @ ..] => bench(&workspace, words),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("no such command\n{USAGE}").into()),
    }
}

/// Writes the generated documents. The generator is built as the tests are, so that nothing is built for it alone.
fn docs(workspace: &Workspace) -> Outcome<()> {
    Cargo::new(workspace, &["build", "--quiet", "--workspace", "--all-features", "--bin", "xtask-docs"]).run()?;
    Cargo::program(workspace, &workspace.target.join("debug/xtask-docs")).run()
}

/// Measurements of an unoptimised build would say nothing.
fn bench(workspace: &Workspace, words: &[&str]) -> Outcome<()> {
    let mut build = vec!["run", "--release", "--quiet", "--package", "turnkeep-bench", "--features", "tokens"];
    let store = matches!(words, [] | ["all" | "store" | "watch" | "growth" | "postgres" | "--write", ..]);
    if matches!(words, [] | ["all" | "growth" | "--write", ..]) {
        // The command itself is measured, too.
        Cargo::new(workspace, &["build", "--release", "--quiet", "--package", "turnkeep-cli"]).run()?;
    }
    // As in earnest: what is acknowledged is on the disk.
    let postgres = store.then(|| Postgres::find(Fsync::On));
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
