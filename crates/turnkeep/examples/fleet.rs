//! Workers share a store, and resume what a dead one left.
//!
//! `cargo run --example fleet [URL]`: a PostgreSQL URL where the feature `postgres` is on, or the one that
//! `TURNKEEP_POSTGRES` names; else an SQLite file.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use turnkeep::SessionId;
use turnkeep::runtime::port::Answer;
use turnkeep::runtime::{Agent, Ports, Recorder, Script, Worker, say};

fn agent() -> Agent {
    Agent::new(Arc::new(Script::new("scripted", vec![Answer::text("Done.")])))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let named = std::env::var("TURNKEEP_POSTGRES").ok().filter(|url| cfg!(feature = "postgres") && !url.is_empty());
    let file = || format!("sqlite:{}", folder.path().join("fleet.db").display());
    let url = std::env::args().nth(1).or(named).unwrap_or_else(file);
    println!("the store: {}", url.split(':').next().unwrap_or_default());
    let store = turnkeep::store::open(&url)?;
    pollster::block_on(async {
        // Sessions whose runs died after the question was asked.
        for n in 0..6 {
            let id = SessionId::new(format!("job-{n}-{}", std::process::id()));
            let session = turnkeep::Session { id: Some(id.clone()), ..agent().session() };
            drop(Recorder::create(store.clone(), session, Ports::default()).await?);
            say(&*store, &id, &Ports::default(), "Do it.").await?;
        }
        Ok::<(), turnkeep::runtime::Error>(())
    })?;
    let workers: Vec<_> = (0..2)
        .map(|n| {
            let worker = Worker::new(&format!("worker-{n}"), agent(), store.clone(), Ports::default());
            std::thread::spawn(move || {
                let mut done = 0;
                while let Ok(Some((id, went))) = pollster::block_on(worker.work()) {
                    println!(
                        "worker {n}: {id} {}",
                        went.map_or_else(|error| error.to_string(), |stopped| stopped.status.kind().to_owned())
                    );
                    done += 1;
                }
                done
            })
        })
        .collect();
    let done: usize = workers.into_iter().filter_map(|worker| worker.join().ok()).sum();
    println!("{done} sessions finished");
    Ok(())
}
