//! `turnkeep fork` and `turnkeep rm`

use pollster::block_on;
use turnkeep_model::{Seq, SessionId};
use turnkeep_store::{Deleted, StoreExt};

use super::super::CommandResult;
use super::batch_result::{BatchResult, Next};
use crate::exit::Exit;
use crate::progress::Progress;
use crate::report::object;
use crate::store_args::{Fork, Rm};
use crate::terminal::{print, print_json};
use crate::visible::visible_line;

pub(crate) fn fork(args: &Fork) -> CommandResult {
    let store = args.store.open_existing()?;
    let session = SessionId::new(args.id.as_str());
    let at = match args.at {
        Some(at) => Seq(at),
        None => block_on(store.last(&session))?,
    };
    let child = match &args.child {
        Some(child) => SessionId::new(child.as_str()),
        None => free_name(&*store, &session, at),
    };
    block_on(store.fork(&session, at, &child))?;
    if args.json {
        let pairs = [("session", child.as_str().into()), ("parent", session.as_str().into()), ("seq", at.0.into())];
        print_json(&object(pairs))?;
    } else {
        print(&format!("{}\n", visible_line(child.as_str())))?;
    }
    Ok(Exit::Ok)
}

/// The first free of `ID-fork-SEQ`, `ID-fork-SEQ-2` and so on.
fn free_name(store: &dyn turnkeep_store::Store, session: &SessionId, at: Seq) -> SessionId {
    let base = format!("{}-fork-{at}", beginning(session.as_str()));
    let mut name = SessionId::new(base.as_str());
    let mut number = 1;
    while block_on(store.last(&name)).is_ok() {
        number += 1;
        name = SessionId::new(format!("{base}-{number}"));
    }
    name
}

/// As much of an id as leaves room for what makes it another one.
fn beginning(id: &str) -> &str {
    const LONGEST: usize = 960;
    let end = (0..=LONGEST.min(id.len())).rev().find(|end| id.is_char_boundary(*end)).unwrap_or_default();
    id.get(..end).unwrap_or_default()
}

pub(crate) fn rm(args: &Rm) -> CommandResult {
    let store = args.store.open_existing()?;
    let mut result = BatchResult::new(args.json.into(), Progress::of("rm", args.ids.len()));
    for id in &args.ids {
        let next = match block_on(store.delete(&SessionId::new(id.as_str()))) {
            Ok(deleted) => {
                let told = object([("session", id.as_str().into()), ("shared", deleted.shared.0.into())]);
                result.done(&removed(id, deleted), told);
                Next::Goes
            }
            Err(error) => result.failed("session", id, &error.into()),
        };
        if next == Next::Ends {
            break;
        }
        result.progress.step();
    }
    result.end("removed", "")
}

fn removed(id: &str, deleted: Deleted) -> String {
    let kept = match deleted.shared {
        Seq::START => String::new(),
        shared => format!("; forks still share its records up to {shared}"),
    };
    format!("removed {}{kept}\n", visible_line(id))
}
