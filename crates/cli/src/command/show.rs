//! `turnkeep show`

use turnkeep_model::json::Layout;
use turnkeep_model::{Archive, Journal};

use super::{Ending, reduced};
use crate::args::{Show, open_any};
use crate::exit::{Exit, Stop};
use crate::page::{Page, Results};
use crate::policy_args::Manner;
use crate::report::say_losses;
use crate::terminal::{print, print_json_text, width};

pub(super) fn run(args: &Show) -> Ending {
    if args.ledger {
        return super::run::ledger(args);
    }
    let mut opened = open_any(&args.input, &args.reading, &args.place)?;
    if args.expand {
        expand(args, &mut opened.archive)?;
    }
    let pipeline = args.reducing.pipeline(Manner::Ours, None, &opened.archive)?;
    let reductions = pipeline.apply_to(&mut opened.archive)?;
    if args.dry_run {
        reduced::print(&reductions)?;
        return Ok(Exit::Ok);
    }
    opened.losses.extend(reductions);
    if args.json {
        print_json_text(&format!("{}\n", opened.archive.to_json(Layout::Pretty)))?;
    } else {
        let results = if args.full { Results::Full } else { Results::Short };
        print(&as_text(&opened.archive, opened.format, results))?;
        say_losses(&opened.losses, "`turnkeep convert` with --report FILE lists them all");
    }
    Ok(Exit::Ok)
}

/// Puts back what summaries stand for, as the journal has it.
fn expand(args: &Show, archive: &mut Archive) -> Result<(), Stop> {
    let journal = match &archive.journal {
        Some(journal) => Journal::clone(journal),
        None if archive.seq.is_some() && !args.input.exists() => super::journal(&args.place, &args.input)?,
        None => return Ok(()),
    };
    let main = archive.main as usize;
    if let Some(session) = archive.sessions.get_mut(main) {
        let (id, parent) = (session.id.take(), session.parent.take());
        *session = turnkeep_model::expanded(&journal)?;
        session.id = id;
        session.parent = parent;
    }
    Ok(())
}

fn as_text(archive: &Archive, format: &str, results: Results) -> String {
    let mut page = Page::new(width()).with_results(results);
    for (index, session) in archive.sessions.iter().enumerate() {
        let is_main = archive.sessions.len() > 1 && index == archive.main as usize;
        page.session(session, &format!("{format}{}", if is_main { ", main session" } else { "" }));
    }
    if archive.sessions.is_empty() {
        page.note("there is no session in it");
    }
    page.finish()
}
