//! What is stored: bytes on the disk, forks, listings.

use std::path::Path;
use std::time::{Duration, Instant};

use pollster::block_on;
use turnkeep_model::event::SessionChanged;
use turnkeep_model::{Batch, Event, Seq, SessionId};
use turnkeep_store::{Accounting, Durability, Query, SqliteStore, Store, StoreExt};

use super::journal;
use crate::race::tenth;
use crate::report::{Bound, Report, Row};
use crate::{Outcome, sessions};

/// What a plain listing reads of a session.
type Listed = (String, Option<String>, Option<String>, [i64; 6]);

const TURNS: usize = 1_000;
const FORKS: u64 = 20;

/// After how many turns there is surely enough to train a dictionary from.
const LEARNED: usize = 100;

const SESSIONS: usize = 10_000;

fn filled(scratch: &Path, name: &str) -> Outcome<std::sync::Arc<SqliteStore>> {
    let store = journal::open(&journal::fresh(scratch, name), Durability::Process)?;
    for (batches, turn) in journal::session(TURNS).zip(0..) {
        journal::append(&*store, &SessionId::new("bench"), &batches)?;
        if turn == LEARNED {
            await_dictionary(&store)?;
        }
    }
    Ok(store)
}

/// Waits for the dictionary to be trained: no agent is as fast as this program, so that a real session waits for nothing.
fn await_dictionary(store: &SqliteStore) -> Outcome<()> {
    let start = Instant::now();
    while block_on(store.usage())?.dictionaries <= 4096 && start.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    Ok(())
}

/// Measures the bytes of a session of 1000 turns with forks and heads, without the search index.
pub(crate) fn bytes(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let store = filled(scratch, "bytes.db")?;
    let last = block_on(store.last(&SessionId::new("bench")))?;
    for n in 0..FORKS {
        block_on(store.fork(&SessionId::new("bench"), last, &SessionId::new(format!("fork{n}"))))?;
    }
    let usage = block_on(store.usage())?;
    let raw: usize = sessions::turns(TURNS).map(|turn| sessions::weigh(&turn)).sum();
    let stored = (usage.total - usage.search) as f64 / 1e3;
    let name = "bytes on disk of 1000 turns, 20 forks / raw JSON";
    report.measured(Row::number(name, stored, raw as f64 / 1e3, " kB", Bound::AtMost(0.45)));
    Ok(())
}

/// Measures forks of a session of 1000 turns.
pub(crate) fn forks(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let file = scratch.join("bytes.db");
    let store = journal::open(&file, Durability::Power)?;
    let last = block_on(store.last(&SessionId::new("bench")))?;
    let before = block_on(store.usage())?.total;
    let mut times = Vec::new();
    for n in 0..100 {
        let start = Instant::now();
        block_on(store.fork(&SessionId::new("bench"), last, &SessionId::new(format!("other{n}"))))?;
        times.push(start.elapsed());
    }
    let grown = (block_on(store.usage())?.total - before) as f64 / 100.0;
    report.measured(Row::time(
        "fork of 1000 turns / 0.5 ms",
        tenth(&mut times),
        Duration::from_micros(500),
        Bound::AtMost(1.0),
    ));
    report.measured(Row::number("bytes of a fork of 1000 turns / 4 kB", grown, 4096.0, " B", Bound::AtMost(1.0)));
    Ok(())
}

/// Measures a listing of ten thousand sessions against the bare query.
pub(crate) fn listing(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let file = journal::fresh(scratch, "listing.db");
    let store = journal::open(&file, Durability::Process)?;
    let titled = |n: usize| {
        let changed = SessionChanged { title: Some(format!("session number {n}")), ..SessionChanged::default() };
        Batch::new(Seq(1), vec![Event::from(changed).into()])
    };
    for n in 0..SESSIONS {
        block_on(store.append(&SessionId::new(format!("session-{n:06}")), Seq::START, &titled(n)))?;
    }
    let plain = rusqlite::Connection::open(&file)?;
    let mut select = plain.prepare("SELECT id, title, status, last, turns, blocks, bytes, created, updated FROM session WHERE id IS NOT NULL ORDER BY updated DESC, id LIMIT 10000")?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let query = Query { limit: SESSIONS, ..Query::default() };
    for _ in 0..20 {
        let start = Instant::now();
        let page = block_on(store.list(&query))?;
        ours.push(start.elapsed());
        let start = Instant::now();
        let rows: Vec<Listed> = select
            .query_map([], |row| {
                let number = |index| row.get::<_, i64>(index);
                let numbers = [number(3)?, number(4)?, number(5)?, number(6)?, number(7)?, number(8)?];
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, numbers))
            })?
            .collect::<rusqlite::Result<_>>()?;
        theirs.push(start.elapsed());
        if page.sessions.len() != rows.len() {
            return Err("the listings differ".into());
        }
    }
    let name = "list of 10000 sessions / raw indexed query";
    report.measured(Row::time(name, tenth(&mut ours), tenth(&mut theirs), Bound::AtMost(2.0)));
    Ok(())
}
