//! `turnkeep redact`

use turnkeep_codec::{EncodeOptions, Target};
use turnkeep_file::Opened;
use turnkeep_model::{Json, Loss, Result};

use super::convert::{file_of, write};
use super::{CommandResult, reduced};
use crate::exit::{CliError, Exit};
use crate::input_args::open_any;
use crate::policy_args::{Manner, RedactFile};
use crate::report::{self, note_losses, object};
use crate::terminal::{json_bytes, print_json};

pub(super) fn run(args: &RedactFile) -> CommandResult {
    let Opened { mut archive, format, ambiguous, .. } = open_any(&args.input, &args.reading, &args.store)?;
    let pipeline = args.reducing().pipeline(Manner::Ours, None, &archive)?;
    let mut losses = pipeline.apply_to(&mut archive)?;
    let target = target(args, format)?;
    let encoded = turnkeep_codec::encode(&archive, &target, &EncodeOptions::default())?;
    losses.extend(encoded.losses);
    if !args.dry_run {
        write(args.output.as_deref().and_then(file_of), &encoded.bytes)?;
    }
    let told =
        object([("from", format.into()), ("to", target.codec.spec().id.into()), ("losses", report::losses(&losses))]);
    tell(args, &report::with_ambiguous(told, &ambiguous), &losses)?;
    Ok(Exit::Ok)
}

/// The named format, that of the input where it can be written, or the native one.
fn target(args: &RedactFile, format: &str) -> Result<Target> {
    let own = || Target::parse(format).ok().filter(|target| target.codec.spec().writes);
    args.to.clone().or_else(own).map_or_else(|| Target::parse("turnkeep"), Ok)
}

fn tell(args: &RedactFile, report: &Json, losses: &[Loss]) -> std::result::Result<(), CliError> {
    if let Some(path) = &args.report {
        write(file_of(path), &json_bytes(report))?;
    }
    let is_free = args.dry_run || args.output.as_deref().and_then(file_of).is_some();
    match (args.json && is_free, args.dry_run) {
        (true, _) => print_json(report)?,
        (false, true) => reduced::print(losses)?,
        (false, false) => note_losses(losses, "--report FILE lists them all"),
    }
    Ok(())
}
