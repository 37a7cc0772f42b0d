//! What is wrong with the tables as a whole: counts of bodies, rows that belong to no session, the search index.

use deadpool_postgres::{GenericClient, Transaction};
use tokio_postgres::IsolationLevel;
use turnkeep_model::SessionId;

use super::base::Base;
use super::check::check_session;
use super::fault::failed;
use super::index_check;
use super::sql::{execute, get, query, query_one, unsigned};
use crate::error::Result;
use crate::verify::Finding;

/// How often every body is used.
const USES: &str = "(SELECT h, count(*) AS n FROM batch, unnest(bodies) AS t (h) GROUP BY h)";

/// Checks one session, or what is not of any one; all of it as of one moment.
pub(super) async fn check(base: &Base, session: Option<&SessionId>) -> Result<Vec<Finding>> {
    let mut client = base.client().await?;
    let moment = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let moment = moment.start().await.map_err(failed)?;
    match session {
        Some(session) => check_session(&moment, base, session).await,
        None => {
            let mut findings = check_bodies(&moment).await?;
            findings.extend(check_belongings(&moment).await?);
            findings.extend(check_hours(&moment).await?);
            findings.extend(index_check::check(&moment, base).await?);
            Ok(findings)
        }
    }
}

async fn check_bodies(client: &impl GenericClient) -> Result<Vec<Finding>> {
    let text = format!(
        "SELECT coalesce(u.n, 0), coalesce(b.refs, 0), b.hash IS NULL FROM body b FULL JOIN {USES} u ON u.h = b.hash \
         WHERE b.refs IS DISTINCT FROM u.n"
    );
    let mut findings = Vec::new();
    for row in query(client, &text, &[]).await? {
        let (used, counted) = (unsigned(&row, 0)?, unsigned(&row, 1)?);
        findings.push(if get(&row, 2)? {
            let what = format!("a large body that is used {used} times is missing");
            Finding::Damaged { session: None, seq: None, what }
        } else {
            Finding::Stale { what: format!("a body is used {used} times and counted {counted}") }
        });
    }
    Ok(findings)
}

/// Batches that belong to no session.
async fn check_belongings(client: &impl GenericClient) -> Result<Option<Finding>> {
    let text = "SELECT count(*) FROM batch WHERE sid NOT IN (SELECT sid FROM session)";
    let count = unsigned(&query_one(client, text, &[]).await?, 0)?;
    let what = format!("{count} batches belong to no session");
    Ok((count > 0).then_some(Finding::Damaged { session: None, seq: None, what }))
}

/// Sessions that a listing by time would put into the wrong place.
async fn check_hours(client: &impl GenericClient) -> Result<Option<Finding>> {
    let count =
        unsigned(&query_one(client, "SELECT count(*) FROM session WHERE hour <> updated / 3600000", &[]).await?, 0)?;
    let what = format!("{count} sessions are listed in the wrong hour");
    Ok((count > 0).then_some(Finding::Stale { what }))
}

/// Counts the uses of bodies anew, puts sessions into their hours, and drops cached heads.
pub(super) async fn recount(transaction: &Transaction<'_>) -> Result<()> {
    // Appenders wait: what they add must be counted, too.
    transaction.batch_execute("LOCK TABLE batch, body IN SHARE ROW EXCLUSIVE MODE").await.map_err(failed)?;
    let counted = format!("UPDATE body SET refs = u.n FROM {USES} u WHERE u.h = body.hash AND refs <> u.n");
    execute(transaction, &counted, &[]).await?;
    let unused = format!("DELETE FROM body WHERE NOT EXISTS (SELECT 1 FROM {USES} u WHERE u.h = body.hash)");
    execute(transaction, &unused, &[]).await?;
    execute(transaction, "UPDATE session SET hour = updated / 3600000 WHERE hour <> updated / 3600000", &[]).await?;
    execute(transaction, "DELETE FROM head", &[]).await.map(drop)
}
