//! Workers share a store: questions are left there, and each is answered by one worker of its queue.
//!
//! `cargo run --example fleet [URL]`: a PostgreSQL URL where the feature `postgres` is on, or the one that
//! `TURNKEEP_POSTGRES` names; else an SQLite file.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Duration;

use turnkeep::prelude::*;
use turnkeep::runtime::Ports;
use turnkeep::{Job, StopSignal, Worker, enqueue};

fn agent() -> Agent {
    Agent::new(Script::new("scripted", vec![Answer::text("Done.")]))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> turnkeep::Result<()> {
    let folder = tempfile::tempdir()?;
    let named = std::env::var("TURNKEEP_POSTGRES").ok().filter(|url| cfg!(feature = "postgres") && !url.is_empty());
    let file = || format!("sqlite:{}", folder.path().join("fleet.db").display());
    let url = std::env::args().nth(1).or(named).unwrap_or_else(file);
    println!("the store: {}", url.split(':').next().unwrap_or_default());
    let store = turnkeep::open_store(&url)?;

    // A queue of this run alone: a server may hold the jobs of others.
    let queue = format!("mail-{}", std::process::id());
    for n in 0..6 {
        let job = Job::new(format!("{queue}-{n}"), "Answer the mail.").tag("queue", &queue);
        job.enqueue(&*store).await?;
    }
    let other = format!("report-{}", std::process::id());
    enqueue(&*store, other.as_str(), "Write the report.").await?;

    // Each worker stops when the queue is empty: here that is when six mails are answered.
    let (stop, answered) = (StopSignal::default(), std::sync::atomic::AtomicUsize::new(0));
    let worker = |name: &'static str| {
        let worker = Worker::new(name, agent(), store.clone(), Ports::default())
            .with_tag("queue", Some(&queue))
            .with_poll(Duration::from_millis(20));
        let (stop, answered) = (&stop, &answered);
        async move {
            let told = |id: SessionId, went: turnkeep::Result<Stopped>| {
                let ended = went.map_or_else(|error| error.to_string(), |stopped| stopped.status.to_string());
                println!("{name}: {id} {ended}");
                if answered.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 5 {
                    stop.ask();
                }
            };
            worker.run(stop, told).await
        }
    };
    futures_util::future::try_join(worker("worker-0"), worker("worker-1")).await?;
    println!("the report still waits: {}", agent().with_store(store).open(other)?.session().await?.turns.len());
    Ok(())
}
