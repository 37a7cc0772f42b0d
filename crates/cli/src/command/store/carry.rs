//! `turnkeep import`, `export` and `copy`

use std::path::Path;

use pollster::block_on;
use turnkeep_codec::EncodeOptions;
use turnkeep_model::{Archive, Journal, Json, SessionId};
use turnkeep_store::{Imported, Store, StoreExt, open};

use super::super::convert::{file_of, packed, write};
use super::super::{Ending, condense, reduced};
use super::all_ids;
use crate::args::source_of;
use crate::exit::{Exit, Stop};
use crate::policy_args::Manner;
use crate::progress::Progress;
use crate::report::{self, object, say_losses};
use crate::store_args::{Copy, Export, Import, Place};
use crate::terminal::{json_bytes, print, print_json};
use crate::visible::visible;

pub(crate) fn import(args: &Import) -> Ending {
    let store = args.place.open()?;
    let mut told = Vec::new();
    let mut progress = Progress::of("import", args.files.len());
    for file in &args.files {
        let source = source_of(file, &args.reading.limits())?;
        let name = source.name().to_owned();
        let opened = args.reading.options()?.open_source(source)?;
        say_losses(&opened.losses, "`turnkeep convert` with --report FILE lists them all");
        for (imported, journal) in import_all(&*store, &opened.archive)? {
            if !args.json {
                let word = if matches!(imported, Imported::New(_)) { "imported" } else { "known" };
                print(&format!("{word} {}\n", visible(imported.session().as_str())))?;
            }
            told.push(object([
                ("session", imported.session().as_str().into()),
                ("new", matches!(imported, Imported::New(_)).into()),
                ("last", journal.last().0.into()),
                ("file", name.as_str().into()),
            ]));
        }
        progress.step();
    }
    progress.end();
    if args.json {
        print_json(&object([("imported", Json::from(told))]))?;
    }
    Ok(Exit::Ok)
}

/// Appends every session of an archive; the main one as its own journal tells it, if it has one.
fn import_all(store: &dyn Store, archive: &Archive) -> Result<Vec<(Imported, Journal)>, Stop> {
    let mut done = Vec::new();
    for (index, session) in archive.sessions.iter().enumerate() {
        let journal = match &archive.journal {
            Some(journal) if index == archive.main as usize => Journal::clone(journal),
            _ => Journal::of(session),
        };
        done.push((block_on(store.import(&journal))?, journal));
    }
    Ok(done)
}

/// A stored session as an archive, with its journal.
pub(crate) fn load(place: &Place, id: &str) -> Result<Archive, Stop> {
    let store = place.there()?;
    let id = SessionId::new(id);
    let loaded = block_on(store.load(&id))?;
    Ok(Archive { seq: Some(loaded.seq), ..Archive::from(loaded.session) })
}

/// The journal of a stored session.
pub(crate) fn journal(place: &Place, id: &Path) -> Result<Journal, Stop> {
    Ok(block_on(place.open()?.journal(&SessionId::new(id.to_string_lossy())))?)
}

pub(crate) fn export(args: &Export) -> Ending {
    let store = args.place.there()?;
    let id = SessionId::new(args.id.as_str());
    let journal = block_on(store.journal(&id))?;
    // A journal is written as it is; other formats get the session with its own id.
    let mut archive = match args.to.codec.spec().id {
        "turnkeep.jsonl" => {
            let session = turnkeep_model::fold(&journal)?;
            Archive { seq: Some(journal.last()), journal: Some(Box::new(journal)), ..Archive::from(session) }
        }
        _ => load(&args.place, &args.id)?,
    };
    let pipeline = args.reducing.pipeline(Manner::Ours, None, &archive)?;
    let mut losses = condense::applied(&args.condensing, pipeline, &mut archive, &args.to)?;
    let mut options = EncodeOptions::default();
    options.omit_data = args.omit_data;
    let encoded = turnkeep_codec::encode(&archive, &args.to, &options)?;
    losses.extend(encoded.losses);
    if let Some(path) = &args.report {
        let told = object([
            ("from", "stored".into()),
            ("to", args.to.codec.spec().id.into()),
            ("losses", report::losses(&losses)),
        ]);
        write(file_of(path), &json_bytes(&told))?;
    }
    if args.dry_run {
        reduced::print(&losses)?;
        return Ok(Exit::Ok);
    }
    let bytes = packed(&args.packing, encoded.bytes, args.to.codec.spec().id)?;
    write(args.output.as_deref().and_then(file_of), &bytes)?;
    say_losses(&losses, "--report FILE lists them all");
    Ok(Exit::Ok)
}

pub(crate) fn copy(args: &Copy) -> Ending {
    let (from, to) = (args.place.there()?, open(&args.to_store)?);
    let ids = match args.ids.as_slice() {
        [] => all_ids(&*from)?,
        ids => ids.iter().map(|id| SessionId::new(id.as_str())).collect(),
    };
    let mut progress = Progress::of("copy", ids.len());
    let mut copied = Vec::new();
    for id in &ids {
        let verified = block_on(from.copy_to(id, &*to))?;
        copied.push(object([
            ("session", id.as_str().into()),
            ("last", verified.last.0.into()),
            ("digest", verified.digest.as_str().into()),
        ]));
        progress.step();
    }
    progress.end();
    if args.json {
        print_json(&object([("copied", Json::from(copied))]))?;
    } else {
        print(&format!(
            "copied {}, every digest compared\n",
            crate::terminal::counted(ids.len(), "session", "sessions")
        ))?;
    }
    Ok(Exit::Ok)
}
