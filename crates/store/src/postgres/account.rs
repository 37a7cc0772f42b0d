//! What is stored, in bytes.

use deadpool_postgres::GenericClient;
use turnkeep_model::SessionId;

use super::base::Base;
use super::sql::{get, query, query_one, unsigned};
use crate::capability::{SessionUse, Usage};
use crate::error::Result;

/// Every table but that of versions.
pub(super) const TABLES: [&str; 6] = ["session", "fork", "batch", "body", "head", "words"];

pub(super) async fn usage(base: &Base) -> Result<Usage> {
    let client = base.client().await?;
    let mut usage = Usage { sessions: sessions(&client).await?, raw: own_lines(&client).await?, ..Usage::default() };
    for table in TABLES {
        let bytes = table_size(&client, table).await?;
        let slot = match table {
            "batch" => &mut usage.journals,
            "body" => &mut usage.bodies,
            "words" => &mut usage.search,
            _ => &mut usage.listing,
        };
        *slot += bytes;
        usage.total += bytes;
    }
    Ok(usage)
}

/// How many bytes all tables have.
pub(super) async fn size(client: &impl GenericClient) -> Result<u64> {
    let mut total = 0;
    for table in TABLES {
        total += table_size(client, table).await?;
    }
    Ok(total)
}

async fn table_size(client: &impl GenericClient, table: &str) -> Result<u64> {
    let text = "SELECT pg_total_relation_size((current_schema() || '.' || $1)::text::regclass)";
    unsigned(&query_one(client, text, &[&table]).await?, 0)
}

async fn own_lines(client: &impl GenericClient) -> Result<u64> {
    // The lines of a session less those it shares are those it brought.
    let text = "SELECT coalesce(sum(s.bytes - coalesce((SELECT b.bytes FROM batch b WHERE b.sid = s.past \
         AND b.first <= s.until ORDER BY b.first DESC LIMIT 1), 0)), 0)::bigint FROM session s";
    unsigned(&query_one(client, text, &[]).await?, 0)
}

async fn sessions(client: &impl GenericClient) -> Result<Vec<SessionUse>> {
    let text = "SELECT s.id, s.bytes, coalesce(o.own, 0)::bigint, coalesce((SELECT b.bytes FROM batch b \
         WHERE b.sid = s.past AND b.first <= s.until ORDER BY b.first DESC LIMIT 1), 0) FROM session s \
         LEFT JOIN (SELECT sid, sum(length(data) + 100) AS own FROM batch GROUP BY sid) o USING (sid) \
         WHERE s.id IS NOT NULL ORDER BY 3 DESC, 1";
    let rows = query(client, text, &[]).await?;
    let read = |row: &tokio_postgres::Row| {
        Ok(SessionUse {
            session: SessionId::new(get::<String>(row, 0)?),
            raw: unsigned(row, 1)?,
            own: unsigned(row, 2)?,
            shared: unsigned(row, 3)?,
        })
    };
    rows.iter().map(read).collect()
}
