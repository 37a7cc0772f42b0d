//! `turnkeep convert`

use std::path::{Path, PathBuf};

use turnkeep_codec::{EncodeOptions, Mode, Target};
use turnkeep_file::{Conversion, ConvertOptions, Source, is_bundle};
use turnkeep_model::{Json, Result};

use super::{CommandResult, batch, condense, reduced};
use crate::args::Convert;
use crate::exit::{CliError, Exit};
use crate::input_args::{is_dash, source_of};
use crate::policy_args::Manner;
use crate::report::{self, note_losses, object};
use crate::terminal::{json_bytes, print_bytes};

pub(super) fn run(args: &Convert) -> CommandResult {
    check_dashes(args)?;
    if args.input.is_dir() && !is_bundle(&args.input) {
        return batch::run(args);
    }
    let source = source_of(&args.input, &args.reading.limits())?;
    let converted = convert(args, &options(args)?, &target_of(args), source)?;
    let refused = if args.strict { converted.essential_losses() } else { 0 };
    if refused == 0 && !args.dry_run {
        write(output_file(args), &converted.bytes)?;
    }
    match &args.report {
        Some(path) => write(file_of(path), &json_bytes(&as_json(&converted)))?,
        None if args.dry_run => reduced::print(&converted.losses)?,
        None => note_losses(&converted.losses, "--report FILE lists them all"),
    }
    if refused > 0 { Err(CliError::Losses(refused)) } else { Ok(Exit::Ok) }
}

/// How the input is read and the output written.
pub(super) fn options(args: &Convert) -> Result<ConvertOptions> {
    let mut options = ConvertOptions::default();
    options.opening = args.reading.options()?;
    options.encoding = if args.compat { EncodeOptions::compat() } else { EncodeOptions::default() };
    options.encoding.omit_data = args.omit_data;
    options.encoding.as_request = args.written_as.is_some();
    options.encoding.model.clone_from(&args.model);
    options.encoding.family.clone_from(&args.family);
    options.compress = args.packing.compress;
    if args.compat {
        options.opening.decoding.mode = Mode::Compat;
    }
    Ok(options)
}

/// Converts as the arguments say, and says what the input may be besides.
pub(super) fn convert(args: &Convert, options: &ConvertOptions, target: &Target, source: Source) -> Result<Conversion> {
    let name = source.name().to_owned();
    let manner = if args.compat { Manner::Original } else { Manner::Ours };
    options.convert(source, target, |read| {
        report::note_ambiguous(&name, read.codec.spec().id, &read.ambiguous);
        let pipeline = args.reducing.pipeline(manner, args.model.as_deref(), &read.archive)?;
        condense::applied(&args.condensing, pipeline, &mut read.archive, target)
    })
}

/// The report of a conversion, as a program reads it.
pub(super) fn as_json(converted: &Conversion) -> Json {
    let losses = ("losses", report::losses(&converted.losses));
    let pairs = [("from", converted.from.into()), ("to", converted.to.into()), losses];
    report::with_ambiguous(object(pairs), &converted.ambiguous)
}

fn target_of(args: &Convert) -> Target {
    match output_file(args) {
        Some(path) => turnkeep_file::target_for(args.to.clone(), path),
        None => args.to.clone(),
    }
}

/// Writes a file, or standard output where there is none.
pub(super) fn write(path: Option<&Path>, bytes: &[u8]) -> std::result::Result<(), CliError> {
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

fn check_dashes(args: &Convert) -> std::result::Result<(), CliError> {
    let report_to_stdout = args.report.as_deref().is_some_and(is_dash);
    if report_to_stdout && output_file(args).is_none() {
        let remedy = "name a file with -o or with --report";
        return Err(CliError::Usage("output and report cannot both be standard output".to_owned(), remedy.to_owned()));
    }
    Ok(())
}

/// The directory that a batch goes to.
pub(super) fn output_directory(args: &Convert) -> std::result::Result<PathBuf, CliError> {
    let name = args.input.display();
    match output_file(args) {
        Some(path) => Ok(path.to_owned()),
        None => Err(CliError::Usage(
            format!("{name} is a directory, and there is no directory to write to"),
            "name one with -o DIR, or name a file to convert".to_owned(),
        )),
    }
}
