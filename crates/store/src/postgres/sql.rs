//! Statements and rows: prepared once a connection, and columns read with an error instead of a panic.

use deadpool_postgres::GenericClient;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql};

use super::fault::failed;
use crate::error::Result;

/// The values of a statement.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(super) async fn query(client: &impl GenericClient, text: &str, values: Values<'_>) -> Result<Vec<Row>> {
    let statement = client.prepare_cached(text).await.map_err(failed)?;
    client.query(&statement, values).await.map_err(failed)
}

pub(super) async fn query_opt(client: &impl GenericClient, text: &str, values: Values<'_>) -> Result<Option<Row>> {
    let statement = client.prepare_cached(text).await.map_err(failed)?;
    client.query_opt(&statement, values).await.map_err(failed)
}

/// A row that is always there.
pub(super) async fn query_one(client: &impl GenericClient, text: &str, values: Values<'_>) -> Result<Row> {
    let statement = client.prepare_cached(text).await.map_err(failed)?;
    client.query_one(&statement, values).await.map_err(failed)
}

pub(super) async fn execute(client: &impl GenericClient, text: &str, values: Values<'_>) -> Result<u64> {
    let statement = client.prepare_cached(text).await.map_err(failed)?;
    client.execute(&statement, values).await.map_err(failed)
}

pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, index: usize) -> Result<T> {
    row.try_get(index).map_err(failed)
}

pub(super) fn unsigned(row: &Row, index: usize) -> Result<u64> {
    get::<i64>(row, index).map(|number| u64::try_from(number).unwrap_or_default())
}

/// A number as PostgreSQL stores it.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
