//! `turnkeep lint`

use std::fmt::Write;

use turnkeep_codec::lint::{Finding, Severity, Strictness, lint, lint_session};
use turnkeep_codec::{Codec, Confidence, EncodeOptions, Input, Target, format};
use turnkeep_file::Source;
use turnkeep_model::{Error, ErrorKind, Json, Result};

use super::Ending;
use crate::args::{Lint, source_of};
use crate::exit::Exit;
use crate::report::object;
use crate::terminal::{BOLD, GREEN, RED, YELLOW, counted, print, print_json, say};
use crate::visible::visible;

pub(super) fn run(args: &Lint) -> Ending {
    let source = source_of(&args.input, &args.reading.limits())?;
    let findings = judge(args, &source).map_err(|error| error.file(source.name()))?;
    if args.json {
        print_json(&object([("findings", Json::Array(findings.iter().map(as_json).collect()))]))?;
    } else {
        print(&as_text(&findings, source.name()))?;
    }
    let broken = findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if broken { Exit::Lint } else { Exit::Ok })
}

/// Judges the bytes as they are, or, where they are of another family of formats, as the target would be written.
fn judge(args: &Lint, source: &Source) -> Result<Vec<Finding>> {
    let strictness = if args.strict { Strictness::Strict } else { Strictness::Lax };
    let target = &named(&args.target);
    let input = source.input();
    match foreign(args, &input) {
        None => lint(input, target, strictness),
        Some(codec) if format::wire(args.target.codec.spec().id).is_some() => {
            let archive = codec.decode(input, &Default::default())?.archive;
            let nothing = || Error::new(ErrorKind::NotFound, "there is no session to judge");
            lint_session(archive.main_session().ok_or_else(nothing)?, target, strictness)
        }
        Some(codec) => {
            say(&format!("{} is written as {target} first, and that is judged", codec.spec().id));
            let written = written_as(codec, input, &args.target)?;
            lint(Input::new(&written).named(source.name()), target, strictness)
        }
    }
}

fn written_as(codec: &'static dyn Codec, input: Input<'_>, target: &Target) -> Result<Vec<u8>> {
    let decoded = codec.decode(input, &Default::default())?;
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
    let line = finding.line.map_or(Json::Null, |line| Json::from(line as u64));
    object([
        ("rule", finding.rule.into()),
        ("severity", finding.severity.as_str().into()),
        ("at", finding.at.as_str().into()),
        ("line", line),
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
    let at = if finding.at.is_empty() { String::new() } else { format!(" {}:", visible(&finding.at)) };
    let severity = finding.severity.as_str();
    let place = format!("{BOLD}{}{line}:{BOLD:#}{at}", visible(name));
    let _ = writeln!(text, "{place} {style}{severity}{style:#}[{}]: {}", finding.rule, visible(&finding.what));
}
