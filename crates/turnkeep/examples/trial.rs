//! Typed async tools, one of them approved by a person; streaming; SQLite; side-state; and a resume on another wire.

#![expect(clippy::print_stdout, clippy::indexing_slicing, reason = "an example shows what it does")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use turnkeep::prelude::*;
use turnkeep::provider::scripted::model;

#[derive(Deserialize, JsonSchema)]
struct Wish {
    to: String,
}

#[derive(Deserialize, Serialize, JsonSchema, Debug)]
struct Ticket {
    train: String,
    eur: u32,
}

impl SliceItem for Ticket {
    const NAME: &'static str = "tickets";
}

async fn find(wish: Wish) -> Result<Vec<String>, ToolError> {
    Ok(vec![format!("ICE 9 to {}, 42 EUR", wish.to)])
}

async fn buy(ticket: Ticket, call: ToolContext) -> Result<String, ToolError> {
    let bought = format!("bought {} for {} EUR under the key {}", ticket.train, ticket.eur, call.key);
    call.slices.dispatch(ticket);
    Ok(bought)
}

fn agent(wire: &str, url: &str) -> turnkeep::Result<Agent> {
    Agent::builder()
        .model(model(wire, include_str!("trial.script.yaml"))?)
        .system("You sell train tickets.")
        .tool(tool("find", "Finds trains.", find).pure())
        .tool(tool("buy", "Buys a ticket.", buy).once().needs_approval())
        .slice::<Ticket>()
        .store(url)
        .build()
}

#[tokio::main]
async fn main() -> turnkeep::Result<()> {
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite:{}", folder.path().join("trips.db").display());
    let trip = agent("openai.chat", &url)?.open("trip")?;
    let mut run = trip.stream("To Berlin, please.");
    while let Some(event) = run.next().await {
        match event? {
            RunEvent::Text(piece) => print!("{piece}"),
            RunEvent::ToolStarted { tool, arguments, .. } => println!("[{tool} {arguments}]"),
            RunEvent::Stopped(stopped) if !stopped.waiting.is_empty() => {
                println!("\napprove {}? yes", stopped.waiting[0].arguments);
                trip.decide(&stopped.waiting[0].call, &ConsentDecision::approve()).await?;
            }
            _ => {}
        }
    }
    // Another process, another vendor: the session goes on where it stands.
    let stopped = agent("anthropic.messages", &url)?.open("trip")?.resume().await?;
    println!("{}\n{:?}\n{}", stopped.text.unwrap_or_default(), trip.slice::<Ticket>().await?, stopped.usage);
    Ok(())
}
