//! The smallest agent: one tool, one question, kept in memory.
//!
//! `cargo run --example minimal_agent`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use turnkeep::model::event::Effect;
use turnkeep::model::{Author, Block, CallId, Json, ToolCall};
use turnkeep::runtime::port::{Answer, Brief, FnTool};
use turnkeep::runtime::{Agent, Ports, Recorder, Script, Tools};

#[derive(serde::Deserialize)]
struct City {
    city: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let weather =
        FnTool::blocking("weather", "The weather of a city.", Json::Null, Effect::Pure, |city: City, _: Brief| {
            Ok(format!("sunny in {}", city.city))
        });
    let call = ToolCall { call: CallId::given("c1"), name: "weather".into(), arguments: r#"{"city":"Oslo"}"#.into() };
    let calls = Answer { blocks: vec![Block::new(Author::Assistant, call)], ..Answer::default() };
    let model = Script::new("scripted", vec![calls, Answer::text("It is sunny in Oslo.")]);
    let agent = Agent::new(Arc::new(model)).with_tools(Tools::new([Arc::new(weather) as _])?);

    let store = turnkeep::store::open("memory:")?;
    let stopped = pollster::block_on(async {
        let mut recorder = Recorder::create(store, agent.session(), Ports::default()).await?;
        agent.run(&mut recorder, "How is the weather in Oslo?").await
    })?;
    println!("{}", stopped.text.unwrap_or_default());
    Ok(())
}
