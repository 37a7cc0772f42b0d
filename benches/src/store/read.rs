//! Reading: the end of a long session, all of it, and search.

use std::path::Path;
use std::time::{Duration, Instant};

use pollster::block_on;
use turnkeep_model::event::{BlockAdded, TurnOpened};
use turnkeep_model::{Author, Batch, Block, Event, Seq, SessionId, Turn};
use turnkeep_store::{Durability, Search, SearchQuery, Store, StoreExt};

use super::{journal, raw};
use crate::race::tenth;
use crate::random::Random;
use crate::report::{Bound, Report, Row};
use crate::{Outcome, plain, prose};

/// Blocks to search in, and how many are appended at once.
const BLOCKS: usize = 100_000;
const TOGETHER: usize = 50;

/// Measures loading the last turns, about 20 blocks, of a short and of a long session.
pub(crate) fn windows(report: &mut Report, scratch: &Path) -> Outcome<()> {
    for (name, file) in [("10", "short.db"), ("5000", "append.db")] {
        let store = journal::open(&scratch.join(file), Durability::Process)?;
        let session = SessionId::new("bench");
        let mut times = Vec::new();
        // The first fills the cache; a process that resumes does so once.
        let blocks = block_on(store.load_window(&session, 3))?.head.session.blocks().count();
        for _ in 0..50 {
            let start = Instant::now();
            block_on(store.load_window(&session, 3))?;
            times.push(start.elapsed());
        }
        let name = format!("last {blocks} blocks after {name} turns / 1 ms");
        report.measured(Row::time(name, tenth(&mut times), Duration::from_millis(1), Bound::AtMost(1.0)));
    }
    Ok(())
}

/// Measures loading 5000 turns against reading the same lines, compressed one by one, into plain structs.
pub(crate) fn whole(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let (file, raw_file) = (journal::fresh(scratch, "whole.db"), journal::fresh(scratch, "whole-raw.db"));
    let (store, plain) = (journal::open(&file, Durability::Process)?, raw::open(&raw_file, Durability::Process)?);
    let session = SessionId::new("bench");
    plain.execute_batch("BEGIN")?;
    for batches in journal::session(5_000) {
        journal::append(&*store, &session, &batches)?;
        batches.iter().try_for_each(|batch| raw::insert_packed(&plain, "bench", batch))?;
    }
    plain.execute_batch("COMMIT")?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..8 {
        let start = Instant::now();
        let loaded = block_on(store.load(&session))?;
        ours.push(start.elapsed());
        let start = Instant::now();
        let lines = read_plain(&plain)?;
        theirs.push(start.elapsed());
        if loaded.session.turns.len() != 5_000 || lines.is_empty() {
            return Err("something was not read".into());
        }
    }
    let name = "load of 5000 turns / read, zstd, typed serde_json";
    report.measured(Row::time(name, tenth(&mut ours), tenth(&mut theirs), Bound::AtMost(1.2)));
    Ok(())
}

fn read_plain(connection: &rusqlite::Connection) -> Outcome<Vec<plain::Line>> {
    let mut select = connection.prepare_cached("SELECT body FROM line WHERE session = 'bench' ORDER BY seq")?;
    let mut rows = select.query([])?;
    let mut lines = Vec::new();
    let mut decompressor = zstd::bulk::Decompressor::new()?;
    while let Some(row) = rows.next()? {
        let bytes = decompressor.decompress(row.get_ref(0)?.as_blob()?, 1 << 20)?;
        lines.push(serde_json::from_slice(&bytes)?);
    }
    Ok(lines)
}

/// Measures a search over a hundred thousand blocks.
pub(crate) fn search(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let store = journal::open(&journal::fresh(scratch, "search.db"), Durability::Process)?;
    let session = SessionId::new("bench");
    let mut random = Random::new(11);
    let open = Event::from(TurnOpened { turn: Box::new(Turn::default()) });
    let mut at = block_on(store.append(&session, Seq::START, &Batch::new(Seq(1), vec![open.into()])))?;
    for _ in 0..BLOCKS / TOGETHER {
        let said = |_| {
            let block = Block::text(Author::User, prose::sentence(&mut random, 300));
            Event::from(BlockAdded { turn: 0, block }).into()
        };
        let batch = Batch::new(at.next(), (0..TOGETHER).map(said).collect());
        at = block_on(store.append(&session, at, &batch))?;
    }
    let look = |text: &str| SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
    block_on(Search::search(&*store, &look("first")))?;
    for (name, text) in [("a rare word", "café_1f"), ("two words", "checkpoint timeout"), ("a common word", "error")] {
        let mut times = Vec::new();
        for _ in 0..10 {
            let start = Instant::now();
            block_on(Search::search(&*store, &look(text)))?;
            times.push(start.elapsed());
        }
        let name = format!("search of 100000 blocks for {name} / 50 ms");
        report.measured(Row::time(name, tenth(&mut times), Duration::from_millis(50), Bound::AtMost(1.0)));
    }
    Ok(())
}
