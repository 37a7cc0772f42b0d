//! What is wrong with the database as a whole: its pages, its tables, counts of bodies, rows that belong to no session.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::db::Db;
use super::lineage::{signed, unsigned};
use super::schema::{failed, migrate};
use super::{heads, index_check};
use crate::error::Result;
use crate::verify::Finding;

/// What belongs to a session row, by its number.
const BELONGINGS: [&str; 5] = ["head", "tag", "fork", "fork_tag", "unindexed"];

/// Checks what is not of any one session.
pub(super) fn check(db: &mut Db) -> Result<Vec<Finding>> {
    let mut findings = check_pages(db)?;
    if tables(&db.connection)? != tables(&fresh()?)? {
        findings.push(damaged("the tables are not those that this program makes".to_owned()));
    }
    findings.extend(check_bodies(db)?);
    findings.extend(check_belongings(db)?);
    findings.extend(index_check::check(db)?);
    Ok(findings)
}

fn damaged(what: String) -> Finding {
    Finding::Damaged { session: None, seq: None, what }
}

/// What SQLite finds: indexes hold a second copy of ids, times and labels.
fn check_pages(db: &Db) -> Result<Vec<Finding>> {
    let mut select = db.connection.prepare("PRAGMA integrity_check(20)").map_err(failed)?;
    let lines = select.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
    let lines: Vec<String> = lines.collect::<rusqlite::Result<_>>().map_err(failed)?;
    Ok(lines.into_iter().filter(|line| line != "ok").map(damaged).collect())
}

/// An empty database of the newest version.
pub(super) fn fresh() -> Result<Connection> {
    let mut connection = Connection::open_in_memory().map_err(failed)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// The statements that made the tables, but those of the search index that SQLite made by itself.
fn tables(connection: &Connection) -> Result<Vec<(String, String)>> {
    let text = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'words_*' ORDER BY name";
    let mut select = connection.prepare(text).map_err(failed)?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

fn check_bodies(db: &Db) -> Result<Vec<Finding>> {
    let mut uses = uses(db)?;
    let mut findings = Vec::new();
    let mut select = db.connection.prepare("SELECT hash, refs FROM body").map_err(failed)?;
    let rows = select.query_map([], |row| Ok((row.get::<_, Vec<u8>>(0)?, unsigned(row, 1)?))).map_err(failed)?;
    for row in rows {
        let (hash, refs) = row.map_err(failed)?;
        let used = uses.remove(&hash).unwrap_or_default();
        if used != refs {
            findings.push(Finding::Stale { what: format!("a body is used {used} times and counted {refs}") });
        }
    }
    let missing = uses.into_values().map(|used| damaged(format!("a large body that is used {used} times is missing")));
    findings.extend(missing);
    Ok(findings)
}

/// How often every body is used.
fn uses(db: &Db) -> Result<HashMap<Vec<u8>, u64>> {
    let mut uses = HashMap::new();
    let mut select = db.connection.prepare("SELECT bodies FROM batch WHERE bodies IS NOT NULL").map_err(failed)?;
    let rows = select.query_map([], |row| row.get::<_, Vec<u8>>(0)).map_err(failed)?;
    for row in rows {
        for hash in row.map_err(failed)?.chunks(32) {
            *uses.entry(hash.to_vec()).or_insert(0) += 1;
        }
    }
    Ok(uses)
}

/// What belongs to no session.
fn check_belongings(db: &Db) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for table in BELONGINGS {
        let text = format!("SELECT count(*) FROM {table} WHERE sid NOT IN (SELECT sid FROM session)");
        let count: u64 = db.connection.query_row(&text, [], |row| unsigned(row, 0)).map_err(failed)?;
        if count > 0 {
            findings.push(Finding::Stale { what: format!("{count} rows of `{table}` belong to no session") });
        }
    }
    let text = "SELECT count(*) FROM batch WHERE at >> 32 NOT IN (SELECT sid FROM session)";
    let count: u64 = db.connection.query_row(text, [], |row| unsigned(row, 0)).map_err(failed)?;
    findings.extend((count > 0).then(|| damaged(format!("{count} batches belong to no session"))));
    Ok(findings)
}

/// Counts the uses of bodies anew, and drops cached heads and what belongs to no session.
pub(super) fn recount(db: &mut Db) -> Result<()> {
    let uses = uses(db)?;
    db.connection.execute("UPDATE body SET refs = 0", []).map_err(failed)?;
    for (hash, count) in uses {
        let counted = params![hash, signed(count)];
        db.connection.execute("UPDATE body SET refs = ?2 WHERE hash = ?1", counted).map_err(failed)?;
    }
    db.connection.execute("DELETE FROM body WHERE refs = 0", []).map_err(failed)?;
    for table in BELONGINGS {
        let text = format!("DELETE FROM {table} WHERE sid NOT IN (SELECT sid FROM session)");
        db.connection.execute(&text, []).map_err(failed)?;
    }
    heads::forget(db)
}
