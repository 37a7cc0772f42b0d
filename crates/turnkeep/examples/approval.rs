//! A call waits for a person, who decides in another process.
//!
//! `cargo run --example approval`: the program starts itself as the person.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::process::Command;

use turnkeep::prelude::*;
use turnkeep::runtime::human::{ConsentDecision, decide};
use turnkeep::runtime::{Ports, Recorder};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Folder {
    /// What to delete.
    path: String,
}

async fn delete(folder: Folder) -> Result<String, ToolError> {
    Ok(format!("deleted {}", folder.path))
}

fn agent() -> turnkeep::Result<Agent> {
    let calls = Answer::calling("c1", "delete", r#"{"path": "/tmp/old"}"#);
    Agent::builder()
        .model(Script::new("scripted", vec![calls, Answer::text("As you wish.")]))
        .tool(tool("delete", "Deletes a folder.", delete).once().needs_approval())
        .build()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let id = SessionId::new("cleaning");
    if let Some(url) = std::env::args().nth(1) {
        let store = turnkeep::store::open(&url)?;
        let no = ConsentDecision::deny("not before the backup");
        pollster::block_on(decide(&*store, &id, &CallId::given("c1"), &no, &Ports::default()))?;
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let url = format!("file:{}", folder.path().join("sessions").display());
    let (store, agent) = (turnkeep::store::open(&url)?, agent()?);
    pollster::block_on(async {
        let session = turnkeep::Session { id: Some(id.clone()), ..agent.session() };
        let mut recorder = Recorder::create(store.clone(), session, Ports::default()).await?;
        let stopped = agent.run(&mut recorder, "Clean up.").await?;
        println!("{}: {} waits for a person", stopped.status.kind(), stopped.waiting.len());
        Command::new(std::env::current_exe()?).arg(&url).status()?;
        let mut recorder = Recorder::resume(store, &id, Ports::default()).await?;
        let stopped = agent.resume(&mut recorder).await?;
        println!("{}: {}", stopped.status.kind(), stopped.text.unwrap_or_default());
        Ok(())
    })
}
