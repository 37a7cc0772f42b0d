//! A call waits for a person, who decides in another process.
//!
//! `cargo run --example approval`: the program starts itself as the person.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::process::Command;
use std::sync::Arc;

use turnkeep::model::event::Effect;
use turnkeep::model::{Author, Block, CallId, Json, SessionId, ToolCall};
use turnkeep::runtime::human::{Judgement, decide};
use turnkeep::runtime::port::{Answer, Brief, Consent, FnTool};
use turnkeep::runtime::{Agent, Ports, Recorder, Script, Tools};

#[derive(serde::Deserialize)]
struct Empty {}

fn agent() -> Result<Agent, Box<dyn std::error::Error>> {
    let delete =
        FnTool::blocking("delete", "Deletes it all.", Json::Null, Effect::Once, |_: Empty, _: Brief| Ok("deleted"));
    let delete = delete.with_consent(Consent::Needed { within: None });
    let call = ToolCall { call: CallId::given("c1"), name: "delete".into(), arguments: "{}".into() };
    let calls = Answer { blocks: vec![Block::new(Author::Assistant, call)], ..Answer::default() };
    let model = Script::new("scripted", vec![calls, Answer::text("As you wish.")]);
    Ok(Agent::new(Arc::new(model)).with_tools(Tools::new([Arc::new(delete) as _])?))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let id = SessionId::new("cleaning");
    if let Some(url) = std::env::args().nth(1) {
        let store = turnkeep::store::open(&url)?;
        let no = Judgement::deny("not before the backup");
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
