//! `turnkeep diff`

use std::fmt::Write;

use turnkeep_file::Opened;
use turnkeep_model::shape::Shape;
use turnkeep_model::{Change, Json, Session, json::TreeSink};

use super::CommandResult;
use crate::args::Diff;
use crate::exit::{CliError, Exit};
use crate::input_args::{is_dash, open_any};
use crate::report::{self, object};
use crate::terminal::{BOLD, GREEN, RED, counted, print, print_json, width};
use crate::visible::{shortened, visible_line};

pub(super) fn run(args: &Diff) -> CommandResult {
    if is_dash(&args.a) && is_dash(&args.b) {
        let remedy = "give one of the two as a file";
        return Err(CliError::Usage("standard input can be read only once".to_owned(), remedy.to_owned()));
    }
    let open = |path| open_any(path, &args.reading, &args.store);
    let (a, b) = (open(&args.a)?, open(&args.b)?);
    let changes = compare(&a, &b);
    if args.json {
        let equal = Json::Bool(changes.is_empty());
        let told = object([("equal", equal), ("changes", report::changes(&changes))]);
        print_json(&report::with_ambiguous(told, &either(&a.ambiguous, &b.ambiguous)))?;
    } else {
        print(&as_text(&changes))?;
    }
    Ok(if changes.is_empty() { Exit::Ok } else { Exit::DIFFERENT })
}

/// The formats that either of two inputs may be just as well, each once.
fn either(a: &[&'static str], b: &[&'static str]) -> Vec<&'static str> {
    let more = b.iter().filter(|id| !a.contains(id));
    a.iter().chain(more).copied().collect()
}

/// Every place where the sessions of `b` differ from those of `a`, session by session.
pub(super) fn compare(a: &Opened, b: &Opened) -> Vec<Change> {
    let count = a.archive.sessions.len().max(b.archive.sessions.len());
    let pairs = (0..count).map(|index| (index, a.archive.sessions.get(index), b.archive.sessions.get(index)));
    pairs
        .flat_map(|(index, old, new)| match (old, new) {
            (Some(old), Some(new)) => {
                let prefix = a.archive.prefix(index);
                let within = |change: Change| Change { at: format!("{prefix}{}", change.at), ..change };
                turnkeep_model::diff(old, new).into_iter().map(within).collect()
            }
            (old, new) => {
                vec![Change { at: format!("sessions[{index}]"), before: old.map(as_json), after: new.map(as_json) }]
            }
        })
        .collect()
}

fn as_json(session: &Session) -> Json {
    let mut sink = TreeSink::default();
    session.write(&mut sink);
    sink.into_json()
}

/// The changes for a person.
pub(super) fn as_text(changes: &[Change]) -> String {
    if changes.is_empty() {
        return "no differences\n".to_owned();
    }
    let mut text = String::new();
    let room = width().saturating_sub(4);
    for change in changes {
        let _ = writeln!(text, "{BOLD}{}{BOLD:#}", visible_line(&change.at));
        if let Some(before) = &change.before {
            let _ = writeln!(text, "  {RED}- {}{RED:#}", shortened(&before.to_text(), room));
        }
        if let Some(after) = &change.after {
            let _ = writeln!(text, "  {GREEN}+ {}{GREEN:#}", shortened(&after.to_text(), room));
        }
    }
    let _ = writeln!(text, "{}", counted(changes.len(), "difference", "differences"));
    text
}
