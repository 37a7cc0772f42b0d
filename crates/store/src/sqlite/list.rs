//! Listing: one statement that an index of the wanted order answers.

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};
use turnkeep_model::{Seq, SessionId};

use super::db::Db;
use super::lineage::unsigned;
use super::schema::failed;
use crate::error::Result;
use crate::query::{Page, Query, Sort};
use crate::summary::{Origin, Summary};

const COLUMNS: &str = "sid, id, origin, until, last, turns, blocks, bytes, created, updated, title, status";

/// The most summaries that room is made for at once.
const ROOM: usize = 16 << 10;

/// The summary of a row, without its labels. A column that is not there costs as much to look at as one that is.
fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let id = |index| Ok::<_, rusqlite::Error>(row.get_ref(index)?.as_str_or_null()?.map(SessionId::from));
    let origin = match id(2)? {
        Some(session) => Some(Origin { session, seq: Seq(unsigned(row, 3)?) }),
        None => None,
    };
    Ok(Summary {
        id: id(1)?.unwrap_or_else(|| SessionId::new("")),
        origin,
        title: row.get(10)?,
        status: row.get(11)?,
        tags: Vec::new(),
        last: Seq(unsigned(row, 4)?),
        turns: unsigned(row, 5)?,
        blocks: unsigned(row, 6)?,
        bytes: unsigned(row, 7)?,
        created: row.get(8)?,
        updated: row.get(9)?,
    })
}

impl Db {
    /// The summary of a row, without its labels.
    pub(super) fn row_summary(&self, sid: i64) -> Result<Summary> {
        let mut select =
            self.connection.prepare_cached(&format!("SELECT {COLUMNS} FROM session WHERE sid = ?1")).map_err(failed)?;
        select.query_row([sid], summary).map_err(failed)
    }

    pub(super) fn list(&self, query: &Query) -> Result<Page> {
        let (filter, values) = conditions(query);
        let order = match query.sort {
            Sort::Updated => "updated DESC, id",
            Sort::Created => "created DESC, id",
            Sort::Id => "id",
        };
        let size = query.page_size();
        let text = format!(
            "SELECT {COLUMNS} FROM session s WHERE id IS NOT NULL{filter} ORDER BY {order} LIMIT {}",
            size.saturating_add(1)
        );
        let labelled = self.any_tags()?;
        let mut select = self.connection.prepare_cached(&text).map_err(failed)?;
        let mut rows = select.query(params_from_iter(values)).map_err(failed)?;
        let mut sessions = Vec::with_capacity(size.saturating_add(1).min(ROOM));
        while let Some(row) = rows.next().map_err(failed)? {
            let mut found = summary(row).map_err(failed)?;
            if labelled {
                found.tags = self.tags(row.get(0).map_err(failed)?)?;
            }
            sessions.push(found);
        }
        let more = sessions.len() > size;
        sessions.truncate(size);
        let next = sessions.last().filter(|_| more).map(|summary| query.sort.place(summary));
        Ok(Page { sessions, next })
    }

    fn any_tags(&self) -> Result<bool> {
        self.connection.prepare_cached("SELECT 1 FROM tag").and_then(|mut select| select.exists([])).map_err(failed)
    }

    pub(super) fn tags(&self, sid: i64) -> Result<Vec<(String, String)>> {
        let mut select =
            self.connection.prepare_cached("SELECT key, value FROM tag WHERE sid = ?1 ORDER BY n").map_err(failed)?;
        let tags = select.query_map([sid], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
        tags.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}

/// The condition that a session `s` carries a label, and the values it speaks of.
pub(super) fn carries(key: &str, value: Option<&str>) -> (&'static str, Vec<Value>) {
    let words = [Some(key), value].into_iter().flatten().map(|word| Value::from(word.to_owned())).collect();
    match value {
        Some(_) => ("EXISTS (SELECT 1 FROM tag WHERE tag.sid = s.sid AND key = ? AND value = ?)", words),
        None => ("EXISTS (SELECT 1 FROM tag WHERE tag.sid = s.sid AND key = ?)", words),
    }
}

/// The conditions of a query, and the values they speak of.
fn conditions(query: &Query) -> (String, Vec<Value>) {
    let mut text = String::new();
    let mut values: Vec<Value> = Vec::new();
    let mut add = |condition: &str, value: Vec<Value>| {
        text.push_str(" AND ");
        text.push_str(condition);
        values.extend(value);
    };
    let word = |word: &str| vec![Value::from(word.to_owned())];
    if let Some(id) = &query.id {
        add("id = ?", word(id.as_str()));
    }
    if let Some(status) = &query.status {
        add("status = ?", word(status));
    }
    if let Some(part) = &query.text {
        add("instr(lower(title), lower(?)) > 0", word(part));
    }
    if let Some(parent) = &query.parent {
        add("origin = ?", word(parent.as_str()));
    }
    if let Some(since) = query.since {
        add("updated >= ?", vec![since.into()]);
    }
    if let Some(before) = query.before {
        add("updated < ?", vec![before.into()]);
    }
    for (key, value) in &query.tags {
        let (condition, values) = carries(key, value.as_deref());
        add(condition, values);
    }
    if let Some(after) = &query.after {
        let id = Value::from(after.id.as_str().to_owned());
        let column = match query.sort {
            Sort::Updated => "updated",
            Sort::Created => "created",
            Sort::Id => {
                add("id > ?", vec![id]);
                return (text, values);
            }
        };
        let condition = format!("({column} <= ? AND ({column} < ? OR id > ?))");
        add(&condition, vec![after.time.into(), after.time.into(), id]);
    }
    (text, values)
}
