//! `turnkeep convert` of a directory: every file, on all cores; a bad file is reported and the rest is done.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use turnkeep_file::{Conversion, ConvertOptions, Source, make_directory, output_name, walk};
use turnkeep_model::{Error, ErrorKind, Json, Result};

use super::CommandResult;
use super::convert::{as_json as report_of, convert, file_of, options, output_directory, write};
use crate::args::Convert;
use crate::exit::{CliError, Exit};
use crate::parallel::{cores, in_parallel};
use crate::progress::Progress;
use crate::report::{object, text_or_null};
use crate::tally::Tally;
use crate::terminal::{counted, json_bytes, print_error_text, print_note};

/// One file of the batch: where it stands, and where it goes.
struct Job {
    input: PathBuf,
    output: PathBuf,
    clashes: bool,
}

/// What became of a file.
struct Done {
    /// What its report says; without its bytes, and without its losses where nobody asked for a report.
    converted: Conversion,
    /// Whether `--strict` refuses it.
    refused: bool,
}

/// What became of all files.
struct Batch {
    done: Vec<Result<Done>>,
    losses: Tally,
}

pub(super) fn run(args: &Convert) -> CommandResult {
    let options = options(args)?;
    let directory = output_directory(args)?;
    if !args.dry_run {
        make_directory(&directory)?;
    }
    let own = below(&args.input, &directory);
    if own.as_deref() == Some(Path::new("")) {
        let what = format!("{} would be written into itself", args.input.display());
        return Err(CliError::Usage(what, "name another directory with -o".to_owned()));
    }
    let jobs = jobs(args, &directory, own.as_deref())?;
    let batch = all(args, &options, &jobs);
    if let Some(path) = &args.report {
        write(file_of(path), &json_bytes(&as_json(args, &jobs, &batch.done)))?;
    }
    Ok(conclude(args, &batch))
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
fn all(args: &Convert, options: &ConvertOptions, jobs: &[Job]) -> Batch {
    let mut done: Vec<Option<Result<Done>>> = jobs.iter().map(|_| None).collect();
    let mut losses = Tally::default();
    let mut progress = Progress::of("convert", jobs.len());
    in_parallel(
        jobs,
        cores(),
        |job| one(args, options, job),
        |index, result| {
            progress.step();
            if let Some(slot) = done.get_mut(index) {
                *slot = Some(result.map(|converted| settle(args, converted, &mut losses)));
            }
        },
    );
    progress.end();
    Batch { done: done.into_iter().flatten().collect(), losses }
}

/// Counts the losses of a file. They are kept only for a report: a batch may be larger than the memory.
fn settle(args: &Convert, mut converted: Conversion, losses: &mut Tally) -> Done {
    converted.losses.iter().for_each(|loss| losses.add(loss));
    let refused = args.strict && converted.essential_losses() > 0;
    if args.report.is_none() {
        converted.losses = Vec::new();
    }
    Done { converted, refused }
}

fn one(args: &Convert, options: &ConvertOptions, job: &Job) -> Result<Conversion> {
    let name = job.input.display().to_string();
    if job.clashes {
        let what = format!("another file is already written as {}", job.output.display());
        return Err(Error::new(ErrorKind::Conflict, what).file(name).hint("rename one of them, or convert it alone"));
    }
    let source = Source::read(&job.input, &args.reading.limits())?;
    let mut converted = convert(args, options, &args.to, source)?;
    if !args.dry_run && (!args.strict || converted.essential_losses() == 0) {
        make_directory(job.output.parent().unwrap_or(Path::new(".")))?;
        turnkeep_file::save(&job.output, &converted.bytes)?;
    }
    converted.bytes = Vec::new();
    Ok(converted)
}

/// Says how it went, and gives the exit code.
fn conclude(args: &Convert, batch: &Batch) -> Exit {
    let results = &batch.done;
    for error in results.iter().filter_map(|result| result.as_ref().err()) {
        print_error_text(&error.to_string(), error.remedy());
    }
    let converted: Vec<&Done> = results.iter().flatten().collect();
    if args.report.is_none() {
        batch.losses.print_note("--report FILE lists them all");
    }
    let failed = results.len() - converted.len();
    let refused = converted.iter().filter(|done| done.refused).count();
    let written = if args.dry_run { 0 } else { converted.len() - refused };
    let refusals = if refused > 0 { format!(", {refused} not written because of --strict") } else { String::new() };
    print_note(&format!("{} written, {failed} failed{refusals}", counted(written, "file", "files")));
    match (failed, refused) {
        (0, 0) => Exit::Ok,
        (0, _) => Exit::Losses,
        _ => Exit::Corrupt,
    }
}

fn as_json(args: &Convert, jobs: &[Job], results: &[Result<Done>]) -> Json {
    let files = jobs.iter().zip(results).map(|(job, result)| {
        let input = ("in", Json::from(job.input.display().to_string()));
        match result {
            Ok(done) => {
                let output = ("out", Json::from(job.output.display().to_string()));
                with(report_of(&done.converted), [input, output])
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
