//! A store of one's own: here one that tells of every append, over another store.
//!
//! `cargo run --example custom_store`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use turnkeep::SessionId;
use turnkeep::model::{Batch, Seq};
use turnkeep::runtime::port::Answer;
use turnkeep::runtime::{Agent, Ports, Recorder, Script};
use turnkeep::store::{Batches, BoxFuture, Deleted, Page, Query, Result, Store};

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
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let store = Arc::new(Telling(turnkeep::store::open("memory:")?));
    let agent = Agent::new(Arc::new(Script::new("scripted", vec![Answer::text("Hello!")])));
    pollster::block_on(async {
        let session = turnkeep::Session { id: Some(SessionId::new("hello")), ..agent.session() };
        let mut recorder = Recorder::create(store, session, Ports::default()).await?;
        agent.run(&mut recorder, "Say hello.").await
    })?;
    Ok(())
}
