//! An answer while it arrives: pieces of text, calls as they begin and end, and a run that is asked to stop.
//!
//! `cargo run --example streaming`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use schemars::JsonSchema;
use serde::Deserialize;
use turnkeep::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct City {
    /// The name of the city.
    city: String,
}

async fn weather(city: City) -> Result<String, ToolError> {
    Ok(format!("sunny in {}", city.city))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> turnkeep::Result<()> {
    let calls = Answer::calling("c1", "weather", r#"{"city":"Oslo"}"#);
    let script = Script::new("scripted", vec![calls, Answer::text("It is sunny."), Answer::text("Never heard.")]);
    let agent = Agent::builder()
        .model(script)
        .tool(tool("weather", "The weather of a city.", weather).pure())
        .store("memory:")
        .build()?;
    let talk = agent.open("forecast")?;

    let mut run = talk.stream("How is the weather in Oslo?");
    while let Some(event) = run.next().await {
        match event? {
            RunEvent::Text(piece) => print!("{piece}"),
            RunEvent::ToolStarted { tool, arguments, .. } => println!("{tool} {arguments} ..."),
            RunEvent::ToolFinished { tool, text, .. } => println!("{tool}: {text}"),
            RunEvent::Stopped(stopped) => println!("\n{} ({})", stopped.status, stopped.usage),
            _ => {}
        }
    }

    // Every run has a signal of its own. What was asked stays, and `resume` asks it again.
    let mut run = talk.stream("And in Bergen?");
    run.stop_signal().ask();
    while let Some(event) = run.next().await {
        if let RunEvent::Stopped(stopped) = event? {
            println!("unanswered: {}", stopped.is_unanswered());
        }
    }
    Ok(())
}
