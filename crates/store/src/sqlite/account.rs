//! `du`: how many bytes every session and every kind of row takes.

use rusqlite::params;
use turnkeep_model::SessionId;

use super::db::Db;
use super::lineage::unsigned;
use super::schema::failed;
use crate::capability::{SessionUse, Usage};
use crate::error::Result;

pub(super) fn usage(db: &Db) -> Result<Usage> {
    let mut usage = Usage { sessions: sessions(db)?, ..Usage::default() };
    usage.raw = own_lines(db)?;
    let mut select = db
        .connection
        .prepare("SELECT coalesce(m.tbl_name, d.name), sum(d.pgsize) FROM dbstat d LEFT JOIN sqlite_schema m ON m.name = d.name GROUP BY 1")
        .map_err(failed)?;
    let rows = select.query_map([], |row| Ok((row.get::<_, String>(0)?, unsigned(row, 1)?))).map_err(failed)?;
    for row in rows {
        let (table, bytes) = row.map_err(failed)?;
        let slot = match table.as_str() {
            "batch" => &mut usage.journals,
            "body" => &mut usage.bodies,
            "dictionary" => &mut usage.dictionaries,
            name if name.starts_with("words") => &mut usage.search,
            _ => &mut usage.listing,
        };
        *slot += bytes;
    }
    let free = "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size";
    usage.free = db.connection.query_row(free, [], |row| unsigned(row, 0)).map_err(failed)?;
    usage.total = usage.journals + usage.bodies + usage.dictionaries + usage.search + usage.listing + usage.free;
    Ok(usage)
}

fn own_lines(db: &Db) -> Result<u64> {
    // The lines of a session less those it shares are those it brought.
    let shared = "SELECT coalesce(sum(bytes), 0) FROM session WHERE past IS NULL";
    let forks = "SELECT coalesce(sum(c.bytes - b.bytes), 0) FROM session c JOIN batch b \
         ON b.at = (SELECT max(at) FROM batch WHERE at <= (c.past << 32) + c.until) WHERE c.past IS NOT NULL";
    let roots: u64 = db.connection.query_row(shared, [], |row| unsigned(row, 0)).map_err(failed)?;
    let own: u64 = db.connection.query_row(forks, [], |row| unsigned(row, 0)).map_err(failed)?;
    Ok(roots + own)
}

fn sessions(db: &Db) -> Result<Vec<SessionUse>> {
    let mut select = db
        .connection
        .prepare(
            "SELECT s.id, s.bytes, \
             (SELECT coalesce(sum(length(data) + 40), 0) FROM batch WHERE at BETWEEN s.sid << 32 AND (s.sid << 32) + 4294967295), \
             CASE WHEN s.past IS NULL THEN 0 ELSE coalesce((SELECT b.bytes FROM batch b \
             WHERE b.at <= (s.past << 32) + s.until ORDER BY b.at DESC LIMIT 1), 0) END \
             FROM session s WHERE s.id IS NOT NULL ORDER BY 3 DESC, 1",
        )
        .map_err(failed)?;
    let rows = select.query_map(params![], |row| {
        Ok(SessionUse {
            session: SessionId::new(row.get::<_, String>(0)?),
            raw: unsigned(row, 1)?,
            own: unsigned(row, 2)?,
            shared: unsigned(row, 3)?,
        })
    });
    rows.map_err(failed)?.collect::<rusqlite::Result<_>>().map_err(failed)
}
