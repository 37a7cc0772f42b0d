//! The PostgreSQL store against a raw `INSERT` of the same bytes, on the same server.

const NAME: &str = "postgres, batches a second / raw inserts a second";

/// Measures one who appends turn by turn, each batch a commit.
#[cfg(not(feature = "postgres"))]
pub(crate) fn append(report: &mut crate::report::Report) -> crate::Outcome<()> {
    report.skipped(NAME, "no PostgreSQL could be started");
    Ok(())
}

#[cfg(feature = "postgres")]
pub(crate) use driven::append;

#[cfg(feature = "postgres")]
mod driven {
    use std::time::Duration;

    use tokio::runtime::Runtime;
    use tokio_postgres::{Client, NoTls};
    use turnkeep_model::{Batch, SessionId};
    use turnkeep_store::open;

    use super::super::journal;
    use super::NAME;
    use crate::Outcome;
    use crate::race::{clocked, tenth};
    use crate::report::{Bound, Report, Row};

    const TURNS: usize = 200;

    /// Measures one who appends turn by turn, each batch a commit.
    pub(crate) fn append(report: &mut Report) -> Outcome<()> {
        let Ok(url) = std::env::var("TURNKEEP_POSTGRES") else {
            report.skipped(NAME, "TURNKEEP_POSTGRES names no database");
            return Ok(());
        };
        let place = format!("{url}{}schema=turnkeep_bench", if url.contains('?') { '&' } else { '?' });
        let destroy = || turnkeep_store::PostgresStore::destroy(place.strip_prefix("postgres:").unwrap_or(&place));
        destroy()?;
        let measured = race(&url, &place);
        destroy()?;
        let (mut ours, mut theirs, cpu, raw_cpu) = measured?;
        let (ours, theirs) = (tenth(&mut ours), tenth(&mut theirs));
        let rate = |time: Duration| 1.0 / time.as_secs_f64();
        report.measured(Row::number(NAME, rate(ours), rate(theirs), "/s", Bound::AtLeast(0.8)));
        let name = "processor time of that / raw insert";
        let per = u32::try_from(TURNS)?;
        report.measured(Row::time(name, cpu / per, raw_cpu / per, Bound::AtMost(3.0)));
        Ok(())
    }

    type Measured = (Vec<Duration>, Vec<Duration>, Duration, Duration);

    /// The time of every batch on both sides, in turns.
    fn race(url: &str, place: &str) -> Outcome<Measured> {
        let store = open(place)?;
        let raw = Raw::open(url)?;
        let session = SessionId::new("bench");
        let (mut ours, mut theirs, mut cpu, mut raw_cpu) = (Vec::new(), Vec::new(), Duration::ZERO, Duration::ZERO);
        for batch in journal::session(TURNS).flatten() {
            let append = || journal::append(&*store, &session, std::slice::from_ref(&batch));
            let ((), used, wall) = clocked(append)?;
            ours.push(wall);
            cpu += used;
            let ((), used, wall) = clocked(|| raw.insert(&batch))?;
            theirs.push(wall);
            raw_cpu += used;
        }
        Ok((ours, theirs, cpu, raw_cpu))
    }

    /// One table, one row a batch, no more than it takes to keep the lines.
    struct Raw {
        // The connection is a task of it.
        _runtime: Runtime,
        client: Client,
        insert: tokio_postgres::Statement,
    }

    impl Raw {
        fn open(url: &str) -> Outcome<Raw> {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
            let (client, insert) = runtime.block_on(async {
                let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
                tokio::spawn(connection);
                let table = "DROP TABLE IF EXISTS turnkeep_bench.line; \
                     CREATE TABLE turnkeep_bench.line (session text, seq bigint, body bytea, PRIMARY KEY (session, seq))";
                client.batch_execute(table).await?;
                let insert = client.prepare("INSERT INTO turnkeep_bench.line VALUES ($1, $2, $3)").await?;
                Ok::<_, tokio_postgres::Error>((client, insert))
            })?;
            Ok(Raw { _runtime: runtime, client, insert })
        }

        fn insert(&self, batch: &Batch) -> Outcome<()> {
            let (line, seq) = (batch.to_line(), i64::try_from(batch.seq.0)?);
            let insert = async { self.client.execute(&self.insert, &[&"bench", &seq, &line.as_bytes()]).await };
            // Both sides are waited for in the same way.
            pollster::block_on(insert)?;
            Ok(())
        }
    }
}
