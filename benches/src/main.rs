//! Measures turnkeep: ratios to what one would use instead, taken in the same run, each with the bound it must hold.
//!
//! `cargo xtask bench [model|codec [FORMAT]|wires|policy|store|watch|growth|runtime|provider|fanout|peers|all] [--write]` runs this in release mode.

#![expect(clippy::print_stdout, reason = "a program that prints its measurements")]

mod convert;
mod documents;
mod fanout;
mod growth;
mod peers;
mod plain;
mod policy;
mod prose;
mod provider;
mod python;
mod race;
mod random;
mod reduce;
mod report;
mod runtime;
mod sessions;
mod store;
mod tokens;
mod turns;
mod watch;
mod wires;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use documents::Job;
use report::Report;

type Failure = Box<dyn std::error::Error>;
type Outcome<T> = Result<T, Failure>;

const USAGE: &str = "usage: cargo xtask bench [model|codec [FORMAT]|wires|policy|store|watch|growth|runtime|provider|fanout|postgres|peers|all] [--write]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("bench: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every bound holds.
fn run(words: &[&str]) -> Outcome<bool> {
    match words {
        ["peak", job, file] => {
            println!("{}", documents::peak(Job::parse(job).ok_or(USAGE)?, Path::new(file))?);
            Ok(true)
        }
        [] | ["all"] => measure(ALL).map(|report| report.holds()),
        ["model"] => measure(&[model]).map(|report| report.holds()),
        ["store"] => measure(&[store::all]).map(|report| report.holds()),
        ["store", "peak", file] => {
            println!("{}", store::peak(Path::new(file))?);
            Ok(true)
        }
        ["watch"] => measure(&[watch::all]).map(|report| report.holds()),
        ["watch", "append", url] => watch::append(url).map(|()| true),
        ["growth"] => measure(&[growth::all]).map(|report| report.holds()),
        ["postgres"] => measure(&[store::postgres]).map(|report| report.holds()),
        ["peers"] => peers::run(&scratch()?, false),
        ["peers", "--write"] => peers::run(&scratch()?, true),
        ["runtime"] => measure(&[runtime::all]).map(|report| report.holds()),
        ["provider"] => measure(&[provider::all]).map(|report| report.holds()),
        ["fanout"] => measure(&[fanout::all]).map(|report| report.holds()),
        ["fanout", "serve"] => fanout::serve().map(|()| true),
        ["codec", format] => {
            let mut report = Report::start();
            convert::speed(&mut report, Some(format))?;
            Ok(report.holds())
        }
        ["codec"] => measure(&[codec]).map(|report| report.holds()),
        ["policy"] => measure(&[policy::speed, reduce::slim]).map(|report| report.holds()),
        ["wires"] => measure(&[wires::speed]).map(|report| report.holds()),
        ["--write"] | ["all", "--write"] => {
            let report = measure(ALL)?;
            let before = fs::read_to_string("docs/benchmarks.md").unwrap_or_default();
            fs::write("docs/benchmarks.md", format!("{}\n{}", report.to_markdown(), peers::rest(&before)))?;
            Ok(report.holds())
        }
        _ => Err(USAGE.into()),
    }
}

/// Every group, in the order of the page.
const ALL: &[Group] = &[
    model,
    codec,
    wires::speed,
    policy::speed,
    reduce::slim,
    store::all,
    watch::all,
    growth::all,
    runtime::all,
    provider::all,
    fanout::all,
];

type Group = fn(&mut Report, &Path) -> Outcome<()>;

fn model(report: &mut Report, scratch: &Path) -> Outcome<()> {
    documents::speed(report)?;
    documents::memory(report, scratch)
}

fn codec(report: &mut Report, scratch: &Path) -> Outcome<()> {
    turns::speed(report, scratch)?;
    convert::speed(report, None)
}

fn measure(groups: &[Group]) -> Outcome<Report> {
    let scratch = scratch()?;
    let mut report = Report::start();
    for group in groups {
        group(&mut report, &scratch)?;
    }
    Ok(report)
}

/// A folder for the files of a run, beside the build.
fn scratch() -> Outcome<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.ancestors().nth(2).ok_or("the program stands in no target folder")?.join("bench");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
