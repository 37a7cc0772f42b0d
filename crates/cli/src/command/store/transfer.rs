//! `turnkeep import`, `export` and `copy`

use std::path::{Path, PathBuf};
use std::pin::pin;

use futures_util::StreamExt;
use pollster::block_on;
use turnkeep_file::{ConvertOptions, Opened, Saving};
use turnkeep_model::policy::{Policy, Redact, RedactTarget};
use turnkeep_model::{Archive, Journal, Loss, SessionId};
use turnkeep_store::url::{DRIVERS, Keeps};
use turnkeep_store::{Copying, ErrorKind, Imported, Store, StoreExt, Summary};

use super::super::convert::{file_of, write};
use super::super::{CommandResult, condense, reduced};
use super::batch_result::{BatchResult, Next};
use crate::exit::{CliError, Exit};
use crate::input_args::source_of;
use crate::policy_args::Manner;
use crate::progress::Progress;
use crate::report::{self, note_losses, object};
use crate::store::{StoreArgs, file_of as file_of_store, open};
use crate::store_args::{Copy, Export, Import};
use crate::terminal::{counted, json_bytes, print_bytes};
use crate::visible::visible_line;

pub(crate) fn import(args: &Import) -> CommandResult {
    let url = args.store.url()?;
    lasting(&url)?;
    not_itself(&url, &args.files)?;
    let store = args.store.open()?;
    let mut result = BatchResult::new(args.json.into(), Progress::of("import", args.files.len()));
    for file in &args.files {
        let name = file.display().to_string();
        let next = match read(args, file) {
            Ok(opened) => import_all(&*store, &opened, &name, &mut result),
            Err(error) => result.failed("file", &name, &error),
        };
        if next == Next::Ends {
            break;
        }
        result.progress.step();
    }
    result.end("imported", "")
}

/// What a file holds.
fn read(args: &Import, file: &Path) -> Result<Opened, CliError> {
    let opened = args.reading.open(source_of(file, &args.reading.limits())?)?;
    note_losses(&opened.losses, "`turnkeep convert` with --report FILE lists them all");
    Ok(opened)
}

/// Appends every session of an archive; the main one as its own journal tells it, if it has one.
fn import_all(store: &dyn Store, opened: &Opened, name: &str, result: &mut BatchResult) -> Next {
    let archive = &opened.archive;
    for (index, session) in archive.sessions.iter().enumerate() {
        let journal = match &archive.journal {
            Some(journal) if index == archive.main as usize => Journal::clone(journal),
            _ => Journal::of(session),
        };
        let imported = match block_on(store.import(&journal)) {
            Ok(imported) => imported,
            Err(error) if result.failed("file", name, &error.clone().into()) == Next::Ends => return Next::Ends,
            Err(_) => continue,
        };
        let (id, new) = (imported.session().as_str(), matches!(imported, Imported::New(_)));
        let word = if new { "imported" } else { "known" };
        let told =
            [("session", id.into()), ("new", new.into()), ("last", journal.last().0.into()), ("file", name.into())];
        result.done(&format!("{word} {}\n", visible_line(id)), report::with_ambiguous(object(told), &opened.ambiguous));
    }
    Next::Goes
}

/// Refuses a store that ends with the command: what it is given would be gone.
fn lasting(url: &str) -> Result<(), CliError> {
    let driver = DRIVERS.iter().find(|driver| url.split(':').next() == Some(driver.scheme));
    match driver.map(|driver| driver.keeps) {
        Some(Keeps::WhileOpen) => {
            let what = "this store ends with the command, and everything in it".to_owned();
            Err(CliError::Usage(what, "name one that stays, as in sqlite:PATH or file:DIR".to_owned()))
        }
        Some(Keeps::Forever) | None => Ok(()),
    }
}

/// Refuses the file of the store: whoever reads it beside SQLite takes SQLite's locks away.
fn not_itself(url: &str, files: &[PathBuf]) -> Result<(), CliError> {
    let Some(store) = file_of_store(url).and_then(|file| file.canonicalize().ok()) else {
        return Ok(());
    };
    match files.iter().find(|file| file.canonicalize().is_ok_and(|file| file == store)) {
        Some(file) => {
            let what = format!("{} is the store itself", visible_line(&file.display().to_string()));
            Err(CliError::Usage(what, "its sessions are there already; --store URL names another store".to_owned()))
        }
        None => Ok(()),
    }
}

/// A stored session as an archive, with its journal.
pub(crate) fn load(store: &StoreArgs, id: &str) -> Result<Archive, CliError> {
    let store = store.open_existing()?;
    let id = SessionId::new(id);
    let loaded = block_on(store.load(&id))?;
    Ok(Archive { seq: Some(loaded.seq), ..Archive::from(loaded.session) })
}

/// The journal of a stored session.
pub(crate) fn journal(store: &StoreArgs, id: &Path) -> Result<Journal, CliError> {
    Ok(block_on(store.open()?.journal(&SessionId::new(id.to_string_lossy())))?)
}

/// The format of journals.
const JOURNAL: &str = "turnkeep.jsonl";

/// The format of pages.
const PAGE_OF_HTML: &str = "html";

pub(crate) fn export(args: &Export) -> CommandResult {
    if args.to.codec.spec().id == JOURNAL && args.changes_nothing() {
        return export_journal(args);
    }
    let (mut archive, mut losses) = exported(args)?;
    let pipeline = args.reducing.pipeline(Manner::Ours, None, &archive)?;
    losses.extend(condense::applied(&args.condensing, pipeline, &mut archive, &args.to)?);
    let mut options = ConvertOptions::default();
    options.encoding.omit_data = args.omit_data;
    options.compress = args.packing.compress.filter(|_| !args.dry_run);
    let encoded = options.encode(archive, &args.to)?;
    losses.extend(encoded.losses);
    report(args, &losses)?;
    if args.dry_run {
        reduced::print(&losses)?;
        return Ok(Exit::Ok);
    }
    write(args.output.as_deref().and_then(file_of), &encoded.bytes)?;
    note_losses(&losses, "--report FILE lists them all");
    Ok(Exit::Ok)
}

/// What is exported. A journal is written as it is, and a page shows one; other formats get the session with its own id.
fn exported(args: &Export) -> Result<(Archive, Vec<Loss>), CliError> {
    let format = args.to.codec.spec().id;
    if format != JOURNAL && format != PAGE_OF_HTML {
        return Ok((load(&args.store, &args.id)?, Vec::new()));
    }
    let mut journal = block_on(args.store.open_existing()?.journal(&SessionId::new(args.id.as_str())))?;
    let mut losses = Vec::new();
    if format == PAGE_OF_HTML && !args.no_redact && args.reducing.redact.is_empty() {
        // A page is made to be passed on.
        let redact = Redact::new([RedactTarget::Secrets, RedactTarget::EncryptedContent]);
        losses = redact.apply(&mut turnkeep_model::fold(&journal)?)?;
        journal = redact.journal(&journal)?;
    }
    let session = turnkeep_model::fold(&journal)?;
    Ok((Archive { seq: Some(journal.last()), journal: Some(Box::new(journal)), ..Archive::from(session) }, losses))
}

/// Writes what did not survive, where that was asked for.
fn report(args: &Export, losses: &[Loss]) -> Result<(), CliError> {
    let Some(path) = &args.report else {
        return Ok(());
    };
    let told =
        object([("from", "stored".into()), ("to", args.to.codec.spec().id.into()), ("losses", report::losses(losses))]);
    write(file_of(path), &json_bytes(&told))
}

/// How many bytes of a journal are printed at once, if its lines are shorter.
const PAGE: usize = 1 << 16;

/// Writes a journal line by line: however long it is, a few lines are in memory.
fn export_journal(args: &Export) -> CommandResult {
    let (store, id) = (args.store.open_existing()?, SessionId::new(args.id.as_str()));
    let mut lines = pin!(store.lines(&id));
    let mut next = || block_on(lines.next()).transpose().map(|line| line.map(|line| line + "\n"));
    match args.output.as_deref().and_then(file_of) {
        Some(path) => {
            let mut saving = Saving::begin(path)?;
            while let Some(line) = next()? {
                saving.write(line.as_bytes())?;
            }
            saving.finish()?;
        }
        None => {
            let mut page = String::new();
            while let Some(line) = next()? {
                page.push_str(&line);
                if page.len() >= PAGE {
                    print_bytes(std::mem::take(&mut page).as_bytes())?;
                }
            }
            print_bytes(page.as_bytes())?;
        }
    }
    report(args, &[])?;
    Ok(Exit::Ok)
}

pub(crate) fn copy(args: &Copy) -> CommandResult {
    lasting(&args.to_store)?;
    apart(&args.store, &args.to_store)?;
    let from = args.store.open_existing()?;
    let ids: Vec<SessionId> = args.ids.iter().map(|id| SessionId::new(id.as_str())).collect();
    // Before there is another store: whoever asks for what is not here gets none.
    let copying = if ids.is_empty() { block_on(Copying::all(&*from))? } else { block_on(Copying::some(&*from, &ids))? };
    let to = open(&args.to_store)?;
    let records: u64 = copying.sessions().iter().map(|summary| summary.last.0).sum();
    let mut result =
        BatchResult::new(args.json.into(), Progress::of("copy", usize::try_from(records).unwrap_or_default()));
    let mut before = 0;
    for Summary { id, last, .. } in copying.sessions() {
        let copied = block_on(copying.copy(&*from, id, &*to, &mut |seq| result.progress.reach(before + seq.0)));
        let next = match copied {
            Ok(verified) => {
                let told = [("last", verified.last.0.into()), ("digest", verified.digest.as_str().into())];
                result.done("", object([("session", id.as_str().into())].into_iter().chain(told)));
                Next::Goes
            }
            // Someone removed it since it was listed.
            Err(_) if ids.is_empty() && is_gone(&*from, id) => Next::Goes,
            Err(error) => result.failed("session", id.as_str(), &error.into()),
        };
        if next == Next::Ends {
            break;
        }
        before += last.0;
    }
    let copied = counted(result.count(), "session", "sessions");
    result.end("copied", &format!("copied {copied}, every digest compared\n"))
}

fn is_gone(store: &dyn Store, id: &SessionId) -> bool {
    block_on(store.last(id)).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Refuses to copy a store onto itself.
fn apart(store: &StoreArgs, other: &str) -> Result<(), CliError> {
    let url = store.url()?;
    let file = |url: &str| file_of_store(url).and_then(|file| file.canonicalize().ok());
    if url != other && (file(&url).is_none() || file(&url) != file(other)) {
        return Ok(());
    }
    Err(CliError::Usage("both are the same store".to_owned(), "name another with --to-store URL".to_owned()))
}
