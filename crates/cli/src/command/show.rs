//! `turnkeep show`

use std::pin::pin;

use futures_util::StreamExt;
use pollster::block_on;
use turnkeep_model::json::Layout;
use turnkeep_model::{Archive, Journal, SessionId, Turn};
use turnkeep_store::{Condensed, Outline, Store, StoreExt};

use super::{CommandResult, reduced};
use crate::args::Show;
use crate::exit::{CliError, Exit};
use crate::facts::Facts;
use crate::input_args::{STORED, is_no_session, open_any, stored_id};
use crate::page::{Page, Results};
use crate::policy_args::Manner;
use crate::report::note_losses;
use crate::terminal::{print, print_json_text, width};

pub(super) fn run(args: &Show) -> CommandResult {
    if args.ledger {
        return super::journal::ledger(args);
    }
    if let Some(id) = stored_id(&args.input, &args.store).filter(|_| args.changes_nothing()) {
        match stream(args, &SessionId::new(id)) {
            // Then it may be a file.
            Err(error) if is_no_session(&error) => {}
            shown => return shown,
        }
    }
    let mut opened = open_any(&args.input, &args.reading, &args.store)?;
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
        print(&as_text(&opened.archive, opened.format, page(args)))?;
        note_losses(&opened.losses, "`turnkeep convert` with --report FILE lists them all");
    }
    Ok(Exit::Ok)
}

/// Prints a stored session turn by turn: however long it is, one turn is in memory.
fn stream(args: &Show, id: &SessionId) -> CommandResult {
    let store = args.store.open_existing()?;
    let condensed = if args.expand { Condensed::Originals } else { Condensed::Summary };
    let outline = block_on(store.outline(id, condensed))?;
    let mut facts = Facts::default();
    each_turn(&*store, id, &outline, |turn| {
        facts.take(turn);
        Ok(())
    })?;
    let mut page = page(args);
    page.begin(&outline.session, facts, STORED);
    each_turn(&*store, id, &outline, |turn| {
        page.turn(turn);
        Ok(print(&page.take())?)
    })?;
    page.end(&outline.session);
    print(&page.take())?;
    Ok(Exit::Ok)
}

fn each_turn(
    store: &dyn Store,
    id: &SessionId,
    outline: &Outline,
    mut see: impl FnMut(&Turn) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut turns = pin!(store.turns(id, outline));
    while let Some(turn) = block_on(turns.next()).transpose()? {
        see(&turn)?;
    }
    Ok(())
}

/// Puts back what summaries stand for, as the journal has it.
fn expand(args: &Show, archive: &mut Archive) -> Result<(), CliError> {
    let journal = match &archive.journal {
        Some(journal) => Journal::clone(journal),
        None if archive.seq.is_some() && !args.input.exists() => super::journal(&args.store, &args.input)?,
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

fn page(args: &Show) -> Page {
    Page::new(width()).with_results(if args.full { Results::Full } else { Results::Short })
}

fn as_text(archive: &Archive, format: &str, mut page: Page) -> String {
    for (index, session) in archive.sessions.iter().enumerate() {
        let is_main = archive.sessions.len() > 1 && index == archive.main as usize;
        page.session(session, &format!("{format}{}", if is_main { ", main session" } else { "" }));
    }
    if archive.sessions.is_empty() {
        page.note("there is no session in it");
    }
    page.finish()
}
