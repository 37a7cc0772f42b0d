//! `turnkeep repair`

use std::fmt::Write;

use turnkeep_codec::lint::{Finding, Severity};
use turnkeep_codec::wire::repair::{Repaired, repair};
use turnkeep_codec::{EncodeOptions, Target, format};
use turnkeep_file::Opened;
use turnkeep_model::{Error, ErrorKind, Json};

use super::convert::{file_of, write};
use super::{CommandResult, lint};
use crate::args::Repair;
use crate::exit::{CliError, Exit};
use crate::input_args::{is_dash, open_any, source_of};
use crate::report::{self, object};
use crate::terminal::{GREEN, RED, counted, json_bytes, print, print_note};
use crate::visible::visible_line;

pub(super) fn run(args: &Repair) -> CommandResult {
    let (opened, bytes) = open(args)?;
    let target = target(args, &opened)?;
    let session = opened.archive.main_session().ok_or_else(nothing)?;
    let given = bytes.as_deref().filter(|bytes| is_request(bytes, &opened, &target));
    let mut options = EncodeOptions::default();
    options.model.clone_from(&args.model);
    options.family.clone_from(&args.family);
    let repaired = repair(session, given, &target, &options)?;
    tell(args, &target, &opened, &repaired)?;
    let broken = repaired.after.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if broken { Exit::Lint } else { Exit::Ok })
}

/// The sessions, and the bytes they were read from unless they are stored.
fn open(args: &Repair) -> Result<(Opened, Option<Vec<u8>>), CliError> {
    if !is_dash(&args.input) && !args.input.exists() {
        return Ok((open_any(&args.input, &args.reading, &args.store)?, None));
    }
    let source = source_of(&args.input, &args.reading.limits())?;
    let bytes = source.input().bytes().to_vec();
    Ok((args.reading.open(source)?, Some(bytes)))
}

fn target(args: &Repair, opened: &Opened) -> Result<Target, CliError> {
    let own = || format::wire(opened.format).and_then(|_| Target::parse(opened.format).ok());
    args.target.clone().or_else(own).ok_or_else(|| {
        let what = format!("{} is no vendor's wire, and no target is named", opened.format);
        CliError::Usage(what, "name one with --for, as in --for anthropic.messages".to_owned())
    })
}

/// Whether bytes are a request of the target's wire already; answers and streams are not.
fn is_request(bytes: &[u8], opened: &Opened, target: &Target) -> bool {
    let id = target.codec.spec().id;
    let kind = |archive: &turnkeep_model::Archive| {
        let session = archive.main_session()?;
        session.extra.spelling(id, "kind").and_then(Json::as_str).map(|word| word == "request")
    };
    opened.format == id && !bytes.is_empty() && kind(&opened.archive) == Some(true)
}

fn nothing() -> CliError {
    Error::new(ErrorKind::NotFound, "there is no session to repair").into()
}

/// Writes the request, and tells the edits where it does not stand.
fn tell(args: &Repair, target: &Target, opened: &Opened, repaired: &Repaired) -> Result<(), CliError> {
    let report = as_json(target, opened, repaired);
    if let Some(path) = &args.report {
        write(file_of(path), &json_bytes(&report))?;
    }
    let file = args.output.as_deref().and_then(file_of);
    if args.dry_run || file.is_some() {
        let text =
            if args.json { String::from_utf8(json_bytes(&report)).unwrap_or_default() } else { as_text(repaired) };
        print(&text)?;
    } else {
        as_text(repaired).lines().for_each(print_note);
    }
    if !args.dry_run {
        write(file, &repaired.body)?;
    }
    Ok(())
}

fn as_json(target: &Target, opened: &Opened, repaired: &Repaired) -> Json {
    let findings = |findings: &[Finding]| Json::Array(findings.iter().map(lint::as_json).collect());
    let report = object([
        ("from", opened.format.into()),
        ("for", lint::named(target).as_str().into()),
        ("edits", report::losses(&repaired.edits)),
        ("before", findings(&repaired.before)),
        ("after", findings(&repaired.after)),
    ]);
    report::with_ambiguous(report, &opened.ambiguous)
}

fn as_text(repaired: &Repaired) -> String {
    let mut text = String::new();
    for edit in &repaired.edits {
        let _ = writeln!(text, "{}", crate::tally::line(edit));
    }
    let errors = |findings: &[Finding]| findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let (before, after) = (errors(&repaired.before), errors(&repaired.after));
    let edits = counted(repaired.edits.len(), "edit", "edits");
    match after {
        0 if repaired.edits.is_empty() => {
            let _ = writeln!(text, "{GREEN}nothing to repair{GREEN:#}");
        }
        0 => {
            let refused = counted(before, "error", "errors");
            let _ = writeln!(text, "{GREEN}valid{GREEN:#} after {edits}; {refused} before");
        }
        _ => {
            let left = counted(after, "error is", "errors are");
            let _ = writeln!(text, "{RED}{left} left{RED:#} after {edits}");
            for finding in repaired.after.iter().filter(|finding| finding.severity == Severity::Error) {
                let _ = writeln!(
                    text,
                    "  {}: {}[{}]",
                    visible_line(&finding.at),
                    visible_line(&finding.what),
                    finding.rule
                );
            }
        }
    }
    text
}
