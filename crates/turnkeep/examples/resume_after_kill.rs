//! An agent dies in the middle of a tool call; a second process goes on.
//!
//! `cargo run --example resume_after_kill`: the program starts itself as the process that dies.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use turnkeep::model::event::Effect;
use turnkeep::model::{Author, Block, CallId, Json, SessionId, ToolCall};
use turnkeep::runtime::port::{Answer, Brief, FnTool};
use turnkeep::runtime::{Agent, Ports, Recorder, Script, Stopped, Tools};

/// Keyed: it may be called again with the same key, by which the outside world tells a repetition.
fn agent(dies: bool) -> Result<Agent, Box<dyn std::error::Error>> {
    let book = FnTool::blocking("book", "Books a table.", Json::Null, Effect::Keyed, move |_: Empty, call: Brief| {
        if dies {
            std::process::abort();
        }
        Ok(format!("booked under {}", call.key))
    });
    let call = ToolCall { call: CallId::given("c1"), name: "book".into(), arguments: "{}".into() };
    let calls = Answer { blocks: vec![Block::new(Author::Assistant, call)], ..Answer::default() };
    let model = Script::new("scripted", vec![calls, Answer::text("Your table is booked.")]);
    Ok(Agent::new(Arc::new(model)).with_tools(Tools::new([Arc::new(book) as _])?))
}

#[derive(serde::Deserialize)]
struct Empty {}

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
