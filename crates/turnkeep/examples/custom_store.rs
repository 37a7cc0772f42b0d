//! A store of one's own: here one that tells of every append, over another store.
//!
//! `cargo run --example custom_store`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use turnkeep::model::{Batch, Seq};
use turnkeep::prelude::*;
use turnkeep::store::{Batches, BoxFuture, Deleted, Page, Query, Result};

struct Telling(Arc<dyn Store>);

impl Store for Telling {
    fn append<'a>(&'a self, session: &'a SessionId, at: Seq, batch: &'a Batch) -> BoxFuture<'a, Result<Seq>> {
        Box::pin(async move {
            let last = self.0.append(session, at, batch).await?;
            let kinds: Vec<&str> = batch.events.iter().map(|entry| entry.event.kind()).collect();
            println!("{session} {last}: {}", kinds.join(", "));
            Ok(last)
        })
    }

    fn read<'a>(&'a self, session: &'a SessionId, after: Seq) -> Batches<'a> {
        self.0.read(session, after)
    }

    fn list<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Page>> {
        self.0.list(query)
    }

    fn fork<'a>(&'a self, session: &'a SessionId, at: Seq, child: &'a SessionId) -> BoxFuture<'a, Result<()>> {
        self.0.fork(session, at, child)
    }

    fn delete<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<Deleted>> {
        self.0.delete(session)
    }

    /// Search, leases and all else that the other store can do.
    fn inner(&self) -> Option<&dyn Store> {
        Some(&*self.0)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> turnkeep::Result<()> {
    let store = Arc::new(Telling(turnkeep::open_store("memory:")?));
    let script = Script::new("scripted", vec![Answer::text("Hello!")]);
    let agent = Agent::builder().model(script).store_in(store).build()?;

    let stopped = agent.open("hello")?.ask("Say hello.").await?;
    println!("{}", stopped.text.unwrap_or_default());
    Ok(())
}
