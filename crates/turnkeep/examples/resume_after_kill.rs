//! An agent dies in the middle of a tool call; a second process goes on.
//!
//! `cargo run --example resume_after_kill`: the program starts itself as the process that dies.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::path::PathBuf;
use std::process::Command;

use turnkeep::prelude::*;
use turnkeep::runtime::{Ports, Recorder, Stopped};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Table {
    /// How many people come.
    seats: u32,
}

/// Keyed: it may be called again with the same key, by which the outside world tells a repetition.
fn agent(dies: bool) -> turnkeep::Result<Agent> {
    let book = move |table: Table, call: ToolContext| async move {
        if dies {
            std::process::abort();
        }
        Ok::<_, ToolError>(format!("booked {} seats under {}", table.seats, call.key))
    };
    let calls = Answer::calling("c1", "book", r#"{"seats": 4}"#);
    Agent::builder()
        .model(Script::new("scripted", vec![calls, Answer::text("Your table is booked.")]))
        .tool(tool("book", "Books a table.", book).keyed())
        .build()
}

async fn live(url: &str, dies: bool) -> Result<Stopped, Box<dyn std::error::Error>> {
    let (store, agent, id) = (turnkeep::store::open(url)?, agent(dies)?, SessionId::new("dinner"));
    if dies {
        let session = turnkeep::Session { id: Some(id), ..agent.session() };
        let mut recorder = Recorder::create(store, session, Ports::default()).await?;
        return Ok(agent.run(&mut recorder, "Book a table.").await?);
    }
    let mut recorder = Recorder::resume(store, &id, Ports::default()).await?;
    Ok(agent.resume(&mut recorder).await?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if let Some(url) = std::env::args().nth(1) {
        pollster::block_on(live(&url, true))?;
        return Ok(());
    }
    let folder: PathBuf = tempfile::tempdir()?.keep();
    let url = format!("file:{}", folder.join("sessions").display());
    let status = Command::new(std::env::current_exe()?).arg(&url).status()?;
    println!("the first process ended: {status}");
    let stopped = pollster::block_on(live(&url, false))?;
    println!("the second process: {}", stopped.text.unwrap_or_default());
    Ok(())
}
