//! The PostgreSQL store against raw `INSERT`s of the same bytes, on the same server.

const NAME: &str = "postgres, turns a second after 10 / raw inserts of their batches";

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
    use turnkeep_store::{Store, open};

    use super::super::journal;
    use super::NAME;
    use crate::Outcome;
    use crate::race::{clocked, tenth};
    use crate::report::{Bound, Report, Row};

    /// After how many turns it is measured, and for how many.
    const LENGTHS: [usize; 2] = [10, 1_000];
    const MEASURED: usize = 200;

    /// Measures one who appends turn by turn, each batch a commit.
    pub(crate) fn append(report: &mut Report) -> Outcome<()> {
        let Ok(url) = std::env::var("TURNKEEP_POSTGRES") else {
            report.skipped(NAME, "TURNKEEP_POSTGRES names no database");
            return Ok(());
        };
        let place = format!("{url}{}schema=turnkeep_bench", if url.contains('?') { '&' } else { '?' });
        let destroy = || turnkeep_store::PostgresStore::destroy(place.strip_prefix("postgres:").unwrap_or(&place));
        destroy()?;
        let measured = measure(report, &url, &place);
        destroy()?;
        measured
    }

    fn measure(report: &mut Report, url: &str, place: &str) -> Outcome<()> {
        let store = open(place)?;
        LENGTHS.into_iter().try_for_each(|length| turns(report, &*store, url, length))
    }

    /// The turns after a history, in turns with the raw side.
    fn turns(report: &mut Report, store: &dyn Store, url: &str, length: usize) -> Outcome<()> {
        let (raw, session) = (Raw::open(url)?, SessionId::new(format!("after {length}")));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let (mut cpu, mut raw_cpu) = (Duration::ZERO, Duration::ZERO);
        for (index, batches) in journal::session(length + MEASURED).enumerate() {
            let ((), used, wall) = clocked(|| journal::append(store, &session, &batches))?;
            let insert = || batches.iter().try_for_each(|batch| raw.insert(session.as_str(), batch));
            let ((), raw_used, raw_wall) = clocked(insert)?;
            if index >= length {
                ours.push(wall);
                theirs.push(raw_wall);
                cpu += used;
                raw_cpu += raw_used;
            }
        }
        let rate = |walls: &mut [Duration]| 1.0 / tenth(walls).as_secs_f64();
        let name = format!("postgres, turns a second after {length} / raw inserts of their batches");
        report.measured(Row::number(name, rate(&mut ours), rate(&mut theirs), "/s", Bound::AtLeast(0.8)));
        let per = u32::try_from(MEASURED)?;
        let name = format!("processor time of that after {length} / raw inserts");
        report.measured(Row::time(name, cpu / per, raw_cpu / per, Bound::AtMost(3.0)));
        Ok(())
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
                let table = "CREATE TABLE IF NOT EXISTS turnkeep_bench.line \
                     (session text, seq bigint, body bytea, PRIMARY KEY (session, seq))";
                client.batch_execute(table).await?;
                let insert = client.prepare("INSERT INTO turnkeep_bench.line VALUES ($1, $2, $3)").await?;
                Ok::<_, tokio_postgres::Error>((client, insert))
            })?;
            Ok(Raw { _runtime: runtime, client, insert })
        }

        fn insert(&self, session: &str, batch: &Batch) -> Outcome<()> {
            let (line, seq) = (batch.to_line(), i64::try_from(batch.seq.0)?);
            let insert = async { self.client.execute(&self.insert, &[&session, &seq, &line.as_bytes()]).await };
            // Both sides are waited for in the same way.
            pollster::block_on(insert)?;
            Ok(())
        }
    }
}
