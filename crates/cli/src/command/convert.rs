//! `turnkeep convert`

use std::path::{Path, PathBuf};

use turnkeep_codec::{EncodeOptions, Mode, Target, pack};
use turnkeep_file::{OpenOptions, Opened, Source, is_bundle};
use turnkeep_model::{Json, Loss, Result, Severity};

use super::{Ending, batch, condense, reduced};
use crate::args::{Convert, is_dash, source_of};
use crate::exit::{Exit, Stop};
use crate::policy_args::Manner;
use crate::reduce_args::Packing;
use crate::report::{self, object, say_losses, texts};
use crate::terminal::{json_bytes, print_bytes};

/// What a conversion gave.
pub(super) struct Converted {
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    pub(super) ambiguous: Vec<&'static str>,
    pub(super) bytes: Vec<u8>,
    pub(super) losses: Vec<Loss>,
}

pub(super) fn run(args: &Convert) -> Ending {
    check_dashes(args)?;
    if args.input.is_dir() && !is_bundle(&args.input) {
        return batch::run(args);
    }
    let source = source_of(&args.input, &args.reading.limits())?;
    let converted = convert(args, &opening(args)?, &target_of(args), source)?;
    let refused = if args.strict { converted.refused_by_strict() } else { 0 };
    if refused == 0 && !args.dry_run {
        write(output_file(args), &converted.bytes)?;
    }
    match &args.report {
        Some(path) => write(file_of(path), &json_bytes(&converted.as_json()))?,
        None if args.dry_run => reduced::print(&converted.losses)?,
        None => say_losses(&converted.losses, "--report FILE lists them all"),
    }
    if refused > 0 { Err(Stop::Losses(refused)) } else { Ok(Exit::Ok) }
}

/// How the input is read.
pub(super) fn opening(args: &Convert) -> Result<OpenOptions> {
    let mut opening = args.reading.options()?;
    if args.compat {
        opening.decoding.mode = Mode::Compat;
    }
    Ok(opening)
}

/// Reads, reduces and writes, all in memory.
pub(super) fn convert(args: &Convert, opening: &OpenOptions, target: &Target, source: Source) -> Result<Converted> {
    let name = source.name().to_owned();
    let Opened { mut archive, mut losses, format, ambiguous, .. } = opening.open_source(source)?;
    let manner = if args.compat { Manner::Original } else { Manner::Ours };
    let pipeline = args.reducing.pipeline(manner, args.model.as_deref(), &archive)?;
    let reduced = condense::applied(&args.condensing, pipeline, &mut archive, target);
    losses.extend(reduced.map_err(|error| error.file(name.as_str()))?);
    let encoded = turnkeep_codec::encode(&archive, target, &encoding(args)).map_err(|error| error.file(name))?;
    losses.extend(encoded.losses);
    let to = target.codec.spec().id;
    Ok(Converted { from: format, to, ambiguous, bytes: packed(&args.packing, encoded.bytes, to)?, losses })
}

/// The bytes, compressed if asked for.
pub(super) fn packed(packing: &Packing, bytes: Vec<u8>, format: &str) -> Result<Vec<u8>> {
    match packing.compress {
        Some(level) => pack::pack(&bytes, format, level),
        None => Ok(bytes),
    }
}

impl Converted {
    /// How many losses `--strict` refuses: those of content and settings. Another spelling of the same is none of them.
    pub(super) fn refused_by_strict(&self) -> usize {
        self.losses.iter().filter(|loss| loss.severity() != Severity::Spelling).count()
    }

    /// The report, as a program reads it.
    pub(super) fn as_json(&self) -> Json {
        let losses = ("losses", report::losses(&self.losses));
        let ambiguous = (!self.ambiguous.is_empty()).then(|| ("ambiguous", texts(&self.ambiguous)));
        object([("from", self.from.into()), ("to", self.to.into()), losses].into_iter().chain(ambiguous))
    }
}

fn encoding(args: &Convert) -> EncodeOptions {
    let mut options = if args.compat { EncodeOptions::compat() } else { EncodeOptions::default() };
    options.omit_data = args.omit_data;
    options.as_request = args.written_as.is_some();
    options.model.clone_from(&args.model);
    options
}

fn target_of(args: &Convert) -> Target {
    match output_file(args) {
        Some(path) => turnkeep_file::target_for(args.to.clone(), path),
        None => args.to.clone(),
    }
}

/// Writes a file, or standard output where there is none.
pub(super) fn write(path: Option<&Path>, bytes: &[u8]) -> std::result::Result<(), Stop> {
    match path {
        Some(path) => turnkeep_file::save(path, bytes)?,
        None => print_bytes(bytes)?,
    }
    Ok(())
}

fn output_file(args: &Convert) -> Option<&Path> {
    args.output.as_deref().and_then(file_of)
}

/// The file that a path means; `-` means none.
pub(super) fn file_of(path: &Path) -> Option<&Path> {
    (!is_dash(path)).then_some(path)
}

fn check_dashes(args: &Convert) -> std::result::Result<(), Stop> {
    let report_to_stdout = args.report.as_deref().is_some_and(is_dash);
    if report_to_stdout && output_file(args).is_none() {
        let remedy = "name a file with -o or with --report";
        return Err(Stop::Usage("output and report cannot both be standard output".to_owned(), remedy.to_owned()));
    }
    Ok(())
}

/// The directory that a batch goes to.
pub(super) fn output_directory(args: &Convert) -> std::result::Result<PathBuf, Stop> {
    let name = args.input.display();
    match output_file(args) {
        Some(path) => Ok(path.to_owned()),
        None => Err(Stop::Usage(
            format!("{name} is a directory, and there is no directory to write to"),
            "name one with -o DIR, or name a file to convert".to_owned(),
        )),
    }
}
