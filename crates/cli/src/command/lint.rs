//! `turnkeep lint`

use std::fmt::Write;

use turnkeep_codec::lint::{Finding, Severity, Strictness, lint, lint_session};
use turnkeep_codec::{Codec, Confidence, Decoded, EncodeOptions, Input, Sniffed, Target, format};
use turnkeep_file::Source;
use turnkeep_model::{Error, ErrorKind, Json, Result};

use super::CommandResult;
use crate::args::Lint;
use crate::exit::Exit;
use crate::input_args::source_of;
use crate::report::{note_ambiguous, object, with_ambiguous};
use crate::terminal::{BOLD, GREEN, RED, YELLOW, counted, print, print_json, print_note};
use crate::visible::visible_line;

pub(super) fn run(args: &Lint) -> CommandResult {
    let source = source_of(&args.input, &args.reading.limits())?;
    let findings = judge(args, &source).map_err(|error| error.file(source.name()))?;
    let ambiguous = ambiguous(args, &source);
    if args.json {
        let told = object([("findings", Json::Array(findings.iter().map(as_json).collect()))]);
        print_json(&with_ambiguous(told, &ambiguous))?;
    } else {
        print(&as_text(&findings, source.name()))?;
    }
    let broken = findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if broken { Exit::Lint } else { Exit::Ok })
}

/// The formats that the input may be just as well; they are also said.
fn ambiguous(args: &Lint, source: &Source) -> Vec<&'static str> {
    let found = args.reading.from.is_none().then(|| turnkeep_codec::sniff(&source.input()).ok()).flatten();
    let Some(Sniffed { codec, others, .. }) = found else { return Vec::new() };
    note_ambiguous(source.name(), codec.spec().id, &others);
    others
}

/// Judges the bytes as they are, or, where they are of another family of formats, as the target would be written.
fn judge(args: &Lint, source: &Source) -> Result<Vec<Finding>> {
    let strictness = if args.strict { Strictness::Strict } else { Strictness::Lax };
    let target = &named(&args.target);
    let family = args.family.as_deref();
    let input = source.input().of_family(family);
    match &args.reading.from {
        Some(from) => turnkeep_codec::check_named(from.codec, &input)?,
        None => check_readable(&input)?,
    }
    match foreign(args, &input) {
        None => lint(input, target, strictness),
        Some(codec) if format::wire(args.target.codec.spec().id).is_some() => {
            let (_, Decoded { archive, .. }) = turnkeep_codec::decode(input, Some(codec), &Default::default())?;
            let nothing = || Error::new(ErrorKind::NotFound, "there is no session to judge");
            lint_session(archive.main_session().ok_or_else(nothing)?, target, family, strictness)
        }
        Some(codec) => {
            print_note(&format!("{} is written as {target} first, and that is judged", codec.spec().id));
            let written = written_as(codec, input, &args.target)?;
            lint(Input::new(&written).named(source.name()), target, strictness)
        }
    }
}

/// Refuses files of other systems, and lines, lists and streams that no format takes: rules look at one document, and
/// would find nothing in them.
fn check_readable(input: &Input<'_>) -> Result<()> {
    let is_document = || input.document().is_ok_and(|document| document.node.is_object());
    match turnkeep_codec::sniff(input) {
        Err(error) if error.kind() == ErrorKind::Unsupported || !is_document() => Err(error),
        _ => Ok(()),
    }
}

fn written_as(codec: &'static dyn Codec, input: Input<'_>, target: &Target) -> Result<Vec<u8>> {
    let (_, decoded) = turnkeep_codec::decode(input, Some(codec), &Default::default())?;
    Ok(turnkeep_codec::encode(&decoded.archive, target, &EncodeOptions::default())?.bytes)
}

/// The target as rules are asked for: its id, and its variant where one is named.
pub(super) fn named(target: &Target) -> String {
    let id = target.codec.spec().id;
    target.variant.as_ref().map_or_else(|| id.to_owned(), |variant| format!("{id}:{variant}"))
}

/// The format of the input, if it is certainly of another family than the target.
fn foreign(args: &Lint, input: &Input<'_>) -> Option<&'static dyn Codec> {
    let certain = |found: &turnkeep_codec::Sniffed| found.guess.confidence == Confidence::Certain;
    let sniffed = || turnkeep_codec::sniff(input).ok().filter(certain).map(|found| found.codec);
    // Turns and fixtures have the same rules; two wires of one vendor have not.
    let family = |codec: &dyn Codec| match codec.spec().id {
        id if id.starts_with("geppetto.") => "geppetto",
        id => id,
    };
    let named = args.reading.from.as_ref().map(|source| source.codec);
    named.or_else(sniffed).filter(|codec| family(*codec) != family(args.target.codec))
}

pub(super) fn as_json(finding: &Finding) -> Json {
    let number = |number: Option<usize>| number.map_or(Json::Null, |number| Json::from(number as u64));
    object([
        ("rule", finding.rule.into()),
        ("severity", finding.severity.as_str().into()),
        ("at", finding.at.as_str().into()),
        ("line", number(finding.line)),
        ("column", number(finding.column)),
        ("what", finding.what.as_str().into()),
    ])
}

fn as_text(findings: &[Finding], name: &str) -> String {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let mut text = String::new();
    findings.iter().for_each(|finding| push_finding(finding, name, &mut text));
    if findings.is_empty() {
        let _ = writeln!(text, "{GREEN}no findings{GREEN:#}");
    } else {
        let (errors, warnings) = (counted(errors, "error", "errors"), counted(warnings, "warning", "warnings"));
        let _ = writeln!(text, "{errors}, {warnings}");
    }
    text
}

fn push_finding(finding: &Finding, name: &str, text: &mut String) {
    let style = match finding.severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
    };
    let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    let column = finding.column.map(|column| format!(":{column}")).unwrap_or_default();
    let at = if finding.at.is_empty() { String::new() } else { format!(" {}:", visible_line(&finding.at)) };
    let severity = finding.severity.as_str();
    let place = format!("{BOLD}{}{line}{column}:{BOLD:#}{at}", visible_line(name));
    let _ = writeln!(text, "{place} {style}{severity}{style:#}[{}]: {}", finding.rule, visible_line(&finding.what));
}
