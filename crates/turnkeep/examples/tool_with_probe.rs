//! A tool that must not act twice, and that can be asked whether it acted.
//!
//! `cargo run --example tool_with_probe`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::{Arc, Mutex};

use turnkeep::model::event::Effect;
use turnkeep::model::{Author, Block, CallId, Json, ToolCall, ToolSpec};
use turnkeep::runtime::port::{Answer, Found, Probe, Tool, ToolContext, ToolError, ToolOutput};
use turnkeep::runtime::{Agent, Ports, Recorder, Script, Tools};
use turnkeep::store::BoxFuture;

/// A bank that books a charge, and whose answer gets lost.
#[derive(Default)]
struct Bank {
    booked: Mutex<Vec<String>>,
}

impl Tool for Bank {
    fn spec(&self) -> ToolSpec {
        let parameters = r#"{"type":"object","properties":{"eur":{"type":"integer"}},"required":["eur"]}"#;
        ToolSpec {
            name: "charge".into(),
            description: Some("Charges the card.".into()),
            parameters: parameters.parse().unwrap_or_default(),
            ..ToolSpec::default()
        }
    }

    fn effect(&self) -> Effect {
        Effect::Once
    }

    fn call<'a>(&'a self, _: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async {
            if let Ok(mut booked) = self.booked.lock() {
                booked.push(context.key.clone());
            }
            Err(ToolError::unsure("the line broke after the request was sent"))
        })
    }

    fn probe(&self) -> Option<&dyn Probe> {
        Some(self)
    }
}

impl Probe for Bank {
    fn probe<'a>(&'a self, _: &'a Json, context: &'a ToolContext) -> BoxFuture<'a, Result<Found, ToolError>> {
        Box::pin(async {
            let booked = self.booked.lock().is_ok_and(|booked| booked.contains(&context.key));
            Ok(if booked { Found::Done(ToolOutput::text("charged")) } else { Found::NotDone })
        })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bank = Arc::new(Bank::default());
    let call = ToolCall { call: CallId::given("c1"), name: "charge".into(), arguments: r#"{"eur":42}"#.into() };
    let calls = Answer { blocks: vec![Block::new(Author::Assistant, call)], ..Answer::default() };
    let model = Script::new("scripted", vec![calls, Answer::text("The card was charged.")]);
    let agent = Agent::new(Arc::new(model)).with_tools(Tools::new([bank.clone() as _])?);
    let store = turnkeep::store::open("memory:")?;

    let stopped = pollster::block_on(async {
        let mut recorder = Recorder::create(store, agent.session(), Ports::default()).await?;
        agent.run(&mut recorder, "Charge me.").await
    })?;
    let charges = bank.booked.lock().map(|booked| booked.len()).unwrap_or_default();
    println!("{} ({charges} charge)", stopped.text.unwrap_or_default());
    Ok(())
}
