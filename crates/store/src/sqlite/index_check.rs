//! Whether the search index says what the journals say.
//!
//! An index of one session is made anew in memory, and its words and their places compared with those that are stored.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rusqlite::{Connection, params};
use turnkeep_model::{Batch, Seq};

use super::check::{row_at, rows};
use super::db::Db;
use super::integrity::fresh;
use super::lineage::{Segment, key, unsigned};
use super::schema::failed;
use crate::error::{ErrorKind, Result};
use crate::search_text::text_of;
use crate::verify::Finding;

/// A session row, and how much of it is indexed.
struct Part {
    own: Segment,
    indexed: Seq,
}

pub(super) fn check(db: &mut Db) -> Result<Vec<Finding>> {
    let mut there = with_instances(&db.connection, "main", digests)?;
    let anew = fresh()?;
    let mut wrong = lagging(db)?;
    for Part { own, indexed } in parts(db)? {
        let due = there.remove(&own.sid).unwrap_or_default();
        wrong += match index(db, &anew, Segment { until: indexed, ..own }) {
            Ok(()) => {
                let told = with_instances(&anew, "main", digests)?.remove(&own.sid).unwrap_or_default();
                u64::from(told != due)
            }
            // Whoever reads the journal says what is wrong with it.
            Err(error) if error.kind() == ErrorKind::Corrupt => 0,
            Err(error) => return Err(error),
        };
        anew.execute_batch("INSERT INTO words (words) VALUES ('delete-all')").map_err(failed)?;
    }
    wrong += there.len() as u64;
    let what = format!("the search index has other words than {wrong} journals");
    Ok((wrong > 0).then_some(Finding::Stale { what }).into_iter().collect())
}

/// Drops the index; it is made anew before the next search.
pub(super) fn forget(db: &mut Db) -> Result<()> {
    let statements = "INSERT INTO words (words) VALUES ('delete-all'); UPDATE session SET indexed = 0; \
         INSERT OR IGNORE INTO unindexed SELECT sid FROM session;";
    db.connection.execute_batch(statements).map_err(failed)
}

/// How many sessions would not be caught up, or are indexed beyond their end.
fn lagging(db: &Db) -> Result<u64> {
    let text = "SELECT count(*) FROM session WHERE indexed > last \
         OR (max(indexed, until) < last AND sid NOT IN (SELECT sid FROM unindexed))";
    db.connection.query_row(text, [], |row| unsigned(row, 0)).map_err(failed)
}

fn parts(db: &Db) -> Result<Vec<Part>> {
    let mut select = db.connection.prepare("SELECT sid, until, last, indexed FROM session").map_err(failed)?;
    let rows = select.query_map([], |row| {
        let own = Segment { sid: row.get(0)?, after: Seq(unsigned(row, 1)?), until: Seq(unsigned(row, 2)?) };
        Ok(Part { own, indexed: Seq(unsigned(row, 3)?) })
    });
    rows.map_err(failed)?.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Indexes a part of a journal in a database of its own.
fn index(db: &mut Db, anew: &Connection, part: Segment) -> Result<()> {
    for row in rows(db, part)? {
        let stored = row_at(db, row.at)?;
        let batch = Batch::from_line_spelled(&db.line(&stored)?, stored.spelling)?;
        for (entry, seq) in batch.events.iter().zip(batch.seq.0..) {
            if let Some(text) = text_of(&entry.event) {
                anew.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")
                    .and_then(|mut insert| insert.execute(params![key(part.sid, Seq(seq)).unwrap_or_default(), text]))
                    .map_err(failed)?;
            }
        }
    }
    Ok(())
}

/// Looks at every word of the index of a database. The view of them is made for that, also by those who only read.
fn with_instances<T>(connection: &Connection, schema: &str, look: impl Fn(&Connection) -> Result<T>) -> Result<T> {
    let guarded: i64 = connection.pragma_query_value(None, "query_only", |row| row.get(0)).map_err(failed)?;
    let make = format!(
        "PRAGMA query_only = OFF; CREATE VIRTUAL TABLE temp.instances USING fts5vocab ({schema}, words, instance)"
    );
    let made = connection.execute_batch(&make).map_err(failed);
    let seen = made.and_then(|()| look(connection));
    let dropped = format!("DROP TABLE IF EXISTS temp.instances; PRAGMA query_only = {guarded}");
    connection.execute_batch(&dropped).map_err(failed)?;
    seen
}

/// The words of every session row, each with its place, as one number.
fn digests(connection: &Connection) -> Result<HashMap<i64, u64>> {
    let mut digests = HashMap::new();
    let mut select = connection.prepare("SELECT term, doc, offset FROM temp.instances").map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let mut hasher = DefaultHasher::new();
        let term = row.get_ref(0).and_then(|term| Ok(term.as_bytes()?)).map_err(failed)?;
        term.hash(&mut hasher);
        let (doc, offset): (i64, i64) = (row.get(1).map_err(failed)?, row.get(2).map_err(failed)?);
        (doc, offset).hash(&mut hasher);
        let sum: &mut u64 = digests.entry(doc >> 32).or_default();
        *sum = sum.wrapping_add(hasher.finish());
    }
    Ok(digests)
}
