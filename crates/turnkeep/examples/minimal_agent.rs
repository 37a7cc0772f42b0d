//! The smallest agent: one tool, one question, kept in memory.
//!
//! `cargo run --example minimal_agent`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use turnkeep::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    city: String,
}

async fn weather(place: Place) -> Result<String, ToolError> {
    Ok(format!("sunny in {}", place.city))
}

#[tokio::main]
async fn main() -> turnkeep::Result<()> {
    let calls = Answer::calling("c1", "weather", r#"{"city":"Oslo"}"#);
    let agent = Agent::builder()
        .model(Script::new("scripted", vec![calls, Answer::text("It is sunny in Oslo.")]))
        .tool(tool("weather", "The weather of a city.", weather).pure())
        .store("memory:")
        .build()?;

    let stopped = agent.open("talk")?.ask("How is the weather in Oslo?").await?;
    println!("{}", stopped.text.unwrap_or_default());
    Ok(())
}
