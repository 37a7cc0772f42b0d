//! `turnkeep convert` of a directory: every file, on all cores; a bad file is reported and the rest is done.

use std::collections::HashSet;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use turnkeep_file::{Source, make_directory, output_name, walk};
use turnkeep_model::{Error, ErrorKind, Json, Loss, Result};

use super::Ending;
use super::convert::{Converted, convert, file_of, output_directory, write};
use crate::args::Convert;
use crate::exit::{Exit, Stop};
use crate::report::{object, say_losses, text_or_null};
use crate::terminal::{complain_of, counted, json_bytes, say};

/// One file of the batch: where it stands, and where it goes.
struct Job {
    input: PathBuf,
    output: PathBuf,
    clashes: bool,
}

pub(super) fn run(args: &Convert) -> Ending {
    let directory = output_directory(args)?;
    make_directory(&directory)?;
    let own = below(&args.input, &directory);
    if own.as_deref() == Some(Path::new("")) {
        let what = format!("{} would be written into itself", args.input.display());
        return Err(Stop::Usage(what, "name another directory with -o".to_owned()));
    }
    let jobs = jobs(args, &directory, own.as_deref())?;
    let results = all(args, &jobs);
    if let Some(path) = &args.report {
        write(file_of(path), &json_bytes(&as_json(args, &jobs, &results)))?;
    }
    Ok(conclude(args, &results))
}

/// Where the output stands below the input, if it does: empty where they are the same.
fn below(input: &Path, output: &Path) -> Option<PathBuf> {
    let (input, output) = (fs::canonicalize(input).ok()?, fs::canonicalize(output).ok()?);
    output.strip_prefix(input).ok().map(Path::to_owned)
}

fn jobs(args: &Convert, directory: &Path, own: Option<&Path>) -> Result<Vec<Job>> {
    let mut taken = HashSet::new();
    let job = |relative: PathBuf| {
        let output = directory.join(output_name(&relative, &args.to));
        let clashes = !taken.insert(output.clone());
        Job { input: args.input.join(relative), output, clashes }
    };
    // Output of an earlier batch is no input.
    let is_input = |path: &PathBuf| own.is_none_or(|own| !path.starts_with(own));
    Ok(walk(&args.input)?.into_iter().filter(is_input).map(job).collect())
}

/// Does every job, in any order; the results are in the order of the jobs.
fn all(args: &Convert, jobs: &[Job]) -> Vec<Result<Converted>> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut results: Vec<Option<Result<Converted>>> = jobs.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from).min(jobs.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                let due = || next.fetch_add(1, Ordering::Relaxed);
                while let Some((index, job)) = Some(due()).and_then(|index| Some((index, jobs.get(index)?))) {
                    // The receiver lives as long as the scope.
                    let _ = sender.send((index, one(args, job)));
                }
            });
        }
        drop(sender);
        for (done, (index, result)) in receiver.iter().enumerate() {
            progress(done + 1, jobs.len());
            if let Some(slot) = results.get_mut(index) {
                *slot = Some(result);
            }
        }
    });
    results.into_iter().flatten().collect()
}

fn one(args: &Convert, job: &Job) -> Result<Converted> {
    let name = job.input.display().to_string();
    if job.clashes {
        let what = format!("another file is already written as {}", job.output.display());
        return Err(Error::new(ErrorKind::Conflict, what).file(name).hint("rename one of them, or convert it alone"));
    }
    let source = Source::read(&job.input, &args.reading.limits())?;
    let mut converted = convert(args, &args.to, source)?;
    if !args.strict || converted.losses.is_empty() {
        make_directory(job.output.parent().unwrap_or(Path::new(".")))?;
        turnkeep_file::save(&job.output, &converted.bytes)?;
    }
    // Only the report is still needed, and a batch may be larger than the memory.
    converted.bytes = Vec::new();
    Ok(converted)
}

fn progress(done: usize, total: usize) {
    if io::stderr().is_terminal() {
        eprint!("\r{done} of {total} files{}", if done == total { "\r\x1b[K" } else { "" });
    }
}

/// Says how it went, and gives the exit code.
fn conclude(args: &Convert, results: &[Result<Converted>]) -> Exit {
    for error in results.iter().filter_map(|result| result.as_ref().err()) {
        complain_of(&error.to_string(), error.remedy());
    }
    let converted: Vec<_> = results.iter().flatten().collect();
    let losses: Vec<Loss> = converted.iter().flat_map(|converted| converted.losses.clone()).collect();
    if args.report.is_none() {
        say_losses(&losses, "--report FILE lists them all");
    }
    let failed = results.len() - converted.len();
    let refused = converted.iter().filter(|converted| args.strict && !converted.losses.is_empty()).count();
    let written = converted.len() - refused;
    let refusals = if refused > 0 { format!(", {refused} not written because of --strict") } else { String::new() };
    say(&format!("{} written, {failed} failed{refusals}", counted(written, "file", "files")));
    match (failed, refused) {
        (0, 0) => Exit::Ok,
        (0, _) => Exit::Losses,
        _ => Exit::Corrupt,
    }
}

fn as_json(args: &Convert, jobs: &[Job], results: &[Result<Converted>]) -> Json {
    let files = jobs.iter().zip(results).map(|(job, result)| {
        let input = ("in", Json::from(job.input.display().to_string()));
        match result {
            Ok(converted) => {
                let output = ("out", Json::from(job.output.display().to_string()));
                with(converted.as_json(), [input, output])
            }
            Err(error) => object([input, ("error", error.to_string().into()), ("help", text_or_null(error.remedy()))]),
        }
    });
    object([("to", args.to.codec.spec().id.into()), ("files", Json::Array(files.collect()))])
}

/// The pairs, and then those of the object.
fn with<const N: usize>(json: Json, pairs: [(&str, Json); N]) -> Json {
    let rest = match json {
        Json::Object(object) => object,
        _ => return object(pairs),
    };
    let mut all: turnkeep_model::Object = pairs.into_iter().collect();
    rest.into_iter().for_each(|(key, value)| all.push(key, value));
    Json::Object(all)
}
