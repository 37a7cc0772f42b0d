//! A turn store as pinocchio writes one.

use rusqlite::{Connection, params};
use turnkeep_model::{Error, ErrorKind, Result};

use super::rows::{BlockKey, MemberRow, Rows, TurnKey};

/// The tables and indexes as pinocchio makes them.
const SCHEMA: &str = include_str!("schema.sql");

/// The bytes of a database with these rows.
pub(super) fn write(rows: &Rows) -> Result<Vec<u8>> {
    fill(rows).map_err(|error| {
        Error::new(ErrorKind::Unsupported, "the sessions do not fit into a turn store")
            .because(error)
            .hint("write fewer sessions, or another format")
    })
}

fn fill(rows: &Rows) -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(SCHEMA)?;
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO turns VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
        for row in &rows.turns {
            let TurnKey { conv, session, turn } = &row.key;
            let state = (&row.metadata, &row.data, &row.runtime_key, &row.inference_id);
            insert.execute(params![
                conv,
                session,
                turn,
                row.created_ms,
                state.0,
                state.1,
                state.2,
                state.3,
                row.updated_ms
            ])?;
        }
        let mut insert = transaction.prepare("INSERT INTO blocks VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
        for row in &rows.blocks {
            let content = (&row.kind, &row.role, &row.payload, &row.metadata);
            let BlockKey { id, hash } = &row.key;
            insert.execute(params![
                id,
                hash,
                row.algorithm,
                content.0,
                content.1,
                content.2,
                content.3,
                row.first_seen_ms
            ])?;
        }
        let mut insert =
            transaction.prepare("INSERT INTO turn_block_membership VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
        for MemberRow { snapshot, ordinal, block } in &rows.members {
            let TurnKey { conv, session, turn } = &snapshot.turn;
            insert.execute(params![
                conv,
                session,
                turn,
                snapshot.phase,
                snapshot.created_ms,
                ordinal,
                block.id,
                block.hash
            ])?;
        }
    }
    transaction.commit()?;
    let bytes = connection.serialize("main")?.to_vec();
    Ok(bytes)
}
