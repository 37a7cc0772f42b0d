//! `turnkeep slim`

use turnkeep_codec::format::cognesy::view::{self, Slimmed};
use turnkeep_codec::{EncodeOptions, Mode, pack};
use turnkeep_model::policy::condense::estimate;
use turnkeep_model::view::View;
use turnkeep_model::{Archive, Error, ErrorKind, Json, Loss};

use super::CommandResult;
use super::convert::{file_of, write};
use crate::exit::{CliError, Exit};
use crate::input_args::{open_any, source_of};
use crate::reduce_args::Slim;
use crate::report::{self, note_losses, object};
use crate::tally::line;
use crate::terminal::{DIM, counted, json_bytes, print, print_note};

/// The format of views.
const FORMAT: &str = "cognesy.slim";

pub(super) fn run(args: &Slim) -> CommandResult {
    match &args.restore {
        Some(_) => restore(args),
        None => reduce(args),
    }
}

fn reduce(args: &Slim) -> CommandResult {
    let opened = open_any(&args.input, &args.reading, &args.store)?;
    let session = opened.archive.main_session().ok_or_else(nothing)?;
    let mode = if args.compat { Mode::Compat } else { Mode::Faithful };
    let Slimmed { view, losses } = view::slim(session, &args.config(), args.dialect, mode)?;
    let losses: Vec<Loss> = opened.losses.into_iter().chain(losses).collect();
    let text = view::write(&view, args.dialect);
    let before = opened.archive.to_json(turnkeep_model::json::Layout::Compact);
    let size = Size { view: &view, text: &text, before: &before };
    let told = report::with_ambiguous(size.as_json(opened.format, &losses), &opened.ambiguous);
    if let Some(path) = &args.report {
        write(file_of(path), &json_bytes(&told))?;
    }
    if args.dry_run {
        return rehearse(args, &size, &told, &losses);
    }
    write(args.output.as_deref().and_then(file_of), &packed(args, text.clone(), FORMAT)?)?;
    print_note(&format!("{DIM}{}{DIM:#}", size.as_text()));
    if args.report.is_none() {
        note_losses(&losses, "--report FILE lists them all");
    }
    Ok(Exit::Ok)
}

/// The bytes, compressed if that is asked for.
fn packed(args: &Slim, bytes: Vec<u8>, format: &str) -> Result<Vec<u8>, CliError> {
    match args.packing.compress {
        Some(level) => Ok(pack::pack(&bytes, format, level)?),
        None => Ok(bytes),
    }
}

fn rehearse(args: &Slim, size: &Size<'_>, told: &Json, losses: &[Loss]) -> CommandResult {
    if args.json {
        print(&String::from_utf8_lossy(&json_bytes(told)))?;
        return Ok(Exit::Ok);
    }
    let lines: String = losses.iter().map(|loss| format!("{}\n", line(loss))).collect();
    print(&format!("{}\n{lines}", size.as_text()))?;
    Ok(Exit::Ok)
}

/// How large a view is, and the session it is of.
struct Size<'a> {
    view: &'a View,
    text: &'a [u8],
    before: &'a str,
}

impl Size<'_> {
    fn tokens(&self) -> u64 {
        estimate(&String::from_utf8_lossy(self.text))
    }

    fn as_text(&self) -> String {
        format!(
            "{}, {} of {}; {} bytes, about {} tokens (of {} bytes, about {} tokens)",
            counted(self.view.messages.len(), "message", "messages"),
            self.view.steps.len(),
            counted(usize::try_from(self.view.step_count).unwrap_or(usize::MAX), "step", "steps"),
            self.text.len(),
            self.tokens(),
            self.before.len(),
            estimate(self.before),
        )
    }

    fn as_json(&self, from: &str, losses: &[Loss]) -> Json {
        let size = |bytes: usize, tokens: u64| object([("bytes", (bytes as u64).into()), ("tokens", tokens.into())]);
        object([
            ("from", from.into()),
            ("to", FORMAT.into()),
            ("messages", (self.view.messages.len() as u64).into()),
            ("steps", (self.view.steps.len() as u64).into()),
            ("step_count", self.view.step_count.into()),
            ("before", size(self.before.len(), estimate(self.before))),
            ("after", size(self.text.len(), self.tokens())),
            ("losses", report::losses(losses)),
        ])
    }
}

/// Reads a snapshot, and writes the session that it can restore.
fn restore(args: &Slim) -> CommandResult {
    let source = source_of(&args.input, &args.reading.limits())?;
    let view = view::read(source.input()).map_err(|error| error.file(source.name()))?;
    let (session, mut losses) = view::restore(&view);
    let Some(target) = &args.restore else { return Ok(Exit::Ok) };
    let encoded = turnkeep_codec::encode(&Archive::from(session), target, &EncodeOptions::default())?;
    losses.extend(encoded.losses);
    if !args.dry_run {
        let bytes = packed(args, encoded.bytes, target.codec.spec().id)?;
        write(args.output.as_deref().and_then(file_of), &bytes)?;
    }
    match &args.report {
        Some(path) => {
            let to = ("to", target.codec.spec().id.into());
            let told = object([("from", FORMAT.into()), to, ("losses", report::losses(&losses))]);
            write(file_of(path), &json_bytes(&told))?;
        }
        None => note_losses(&losses, "--report FILE lists them all"),
    }
    Ok(Exit::Ok)
}

fn nothing() -> CliError {
    Error::new(ErrorKind::NotFound, "there is no session to show").into()
}
