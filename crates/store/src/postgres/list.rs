//! Listing: one statement that an index of the wanted order answers.

use deadpool_postgres::GenericClient;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use turnkeep_model::{Seq, SessionId};

use super::base::Base;
use super::nul::{hide, show};
use super::schema::hour;
use super::sql::{get, query, query_one, unsigned};
use crate::error::Result;
use crate::query::{Page, Query, Sort};
use crate::summary::{Origin, Summary};

/// What a listing shows beside the id.
const COLUMNS: &str =
    "origin, until, last, turns, blocks, bytes, created, updated, title, status, tag_keys, tag_values";

pub(super) async fn list(base: &Base, asked: &Query) -> Result<Page> {
    let conditions = Conditions::of(asked);
    let order = match asked.sort {
        Sort::Updated => "hour DESC, updated DESC, id",
        Sort::Created => "created DESC, id",
        Sort::Id => "id",
    };
    let size = asked.page_size();
    let limit = size.saturating_add(1);
    let text = format!(
        "SELECT id, {COLUMNS} FROM session WHERE id IS NOT NULL{} ORDER BY {order} LIMIT {limit}",
        conditions.text
    );
    let rows = query(&base.client().await?, &text, &conditions.values()).await?;
    let mut sessions: Vec<Summary> = rows.iter().take(size).map(summary).collect::<Result<_>>()?;
    let next = sessions.last_mut().filter(|_| rows.len() > size).map(|summary| asked.sort.place(summary));
    Ok(Page { sessions, next })
}

/// What a listing would show of a session row, which may have lost its name.
pub(super) async fn row_summary(client: &impl GenericClient, sid: i64) -> Result<Summary> {
    let text = format!("SELECT coalesce(id, ''), {COLUMNS} FROM session WHERE sid = $1");
    summary(&query_one(client, &text, &[&sid]).await?)
}

fn summary(row: &Row) -> Result<Summary> {
    let (keys, values): (Vec<String>, Vec<String>) = (get(row, 11)?, get(row, 12)?);
    let seq = Seq(unsigned(row, 2)?);
    Ok(Summary {
        id: SessionId::new(get::<String>(row, 0)?),
        origin: get::<Option<String>>(row, 1)?.map(|id| Origin { session: SessionId::new(id), seq }),
        title: get::<Option<String>>(row, 9)?.map(show),
        status: get::<Option<String>>(row, 10)?.map(show),
        tags: keys.into_iter().map(show).zip(values.into_iter().map(show)).collect(),
        last: Seq(unsigned(row, 3)?),
        turns: unsigned(row, 4)?,
        blocks: unsigned(row, 5)?,
        bytes: unsigned(row, 6)?,
        created: get(row, 7)?,
        updated: get(row, 8)?,
    })
}

pub(super) type Value = Box<dyn ToSql + Sync + Send>;

/// The conditions of a query, and the values they speak of.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) text: String,
    values: Vec<Value>,
}

impl Conditions {
    /// Those of these labels, where the statement has a first value already.
    pub(super) fn of_tags(first: Value, tags: &[(String, Option<String>)]) -> Conditions {
        let mut conditions = Conditions { text: String::new(), values: vec![first] };
        tags.iter().for_each(|(key, value)| conditions.tag(key, value.as_deref()));
        conditions
    }

    pub(super) fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|value| value.as_ref() as _).collect()
    }

    fn of(query: &Query) -> Conditions {
        let mut conditions = Conditions::default();
        conditions.word("id = ?", query.id.as_ref().map(SessionId::as_str));
        conditions.word("status = ?", query.status.as_deref());
        let part = query.text.as_ref().map(|text| text.to_ascii_lowercase());
        conditions.word(r#"strpos(lower(title COLLATE "C"), ?) > 0"#, part.as_deref());
        conditions.word("origin = ?", query.parent.as_ref().map(SessionId::as_str));
        conditions.time("hour >= ? AND updated >= ?", query.since);
        conditions.time("hour <= ? AND updated < ?", query.before);
        for (key, value) in &query.tags {
            conditions.tag(key, value.as_deref());
        }
        conditions.after(query);
        conditions
    }

    /// Adds a condition; each `?` stands for the next of the values.
    fn add(&mut self, condition: &str, values: Vec<Value>) {
        self.text.push_str(" AND ");
        let mut parts = condition.split('?');
        self.text.push_str(parts.next().unwrap_or_default());
        for (part, value) in parts.zip(values) {
            self.values.push(value);
            self.text.push_str(&format!("${}{part}", self.values.len()));
        }
    }

    fn word(&mut self, condition: &str, word: Option<&str>) {
        if let Some(word) = word {
            self.add(condition, vec![Box::new(hide(word).into_owned())]);
        }
    }

    fn time(&mut self, condition: &str, time: Option<i64>) {
        if let Some(time) = time {
            self.add(condition, vec![Box::new(hour(time)), Box::new(time)]);
        }
    }

    fn tag(&mut self, key: &str, value: Option<&str>) {
        let key = || Box::new(hide(key).into_owned());
        self.add("tag_keys @> ARRAY[?]", vec![key()]);
        if let Some(value) = value {
            let pair = "EXISTS (SELECT 1 FROM unnest(tag_keys, tag_values) AS t (k, v) WHERE k = ? AND v = ?)";
            self.add(pair, vec![key(), Box::new(hide(value).into_owned())]);
        }
    }

    fn after(&mut self, query: &Query) {
        let Some(after) = &query.after else {
            return;
        };
        let id = Box::new(after.id.as_str().to_owned());
        let column = match query.sort {
            Sort::Updated => {
                self.add("hour <= ?", vec![Box::new(hour(after.time))]);
                "updated"
            }
            Sort::Created => "created",
            Sort::Id => return self.add("id > ?", vec![id]),
        };
        let condition = format!("({column} <= ? AND ({column} < ? OR id > ?))");
        self.add(&condition, vec![Box::new(after.time), Box::new(after.time), id]);
    }
}
