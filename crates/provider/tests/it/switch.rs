//! A session that was begun on one wire goes on on every other.

use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::{Author, Block, Body, Effort, Json, Options, Session, StopReason, Turn};
use turnkeep_provider::{Transport, WireModel};
use turnkeep_runtime::port::{Model, Request};
use turnkeep_runtime::{Recorder, Tools};
use turnkeep_store::{Store, StoreExt};

use crate::stage::{Spy, WIRES, Weather, agent, model, ports, vendor};

const BEGUN: &str = "
turnkeep_script: 1
signatures: own
answers:
  - reasoning: I need the weather.
    text: One moment.
    calls: [{name: weather, arguments: {city: Paris}}, {name: weather, arguments: {city: Rome}}]
  - reasoning: Now I know it.
    text: Sunny in both.
";

/// The first two answers are in the history already.
const CONTINUED: &str = "
turnkeep_script: 1
signatures: own
answers:
  - text: this is never said
  - text: nor is this
  - reasoning: One more city.
    calls: [{name: weather, arguments: {city: Oslo}}]
  - text: Sunny in Oslo too.
";

fn options() -> Options {
    Options::default().with_max_tokens(4000).with_reasoning(Effort::High).with_budget_tokens(2048)
}

fn opened(agent: &turnkeep_runtime::Agent, options: Options) -> Session {
    let mut session = agent.session();
    session.options = options;
    session.turns.push(Turn { blocks: vec![Block::text(Author::System, "You know the sky.")], ..Turn::default() });
    session
}

/// A session with tools and thinking that was recorded on a wire.
fn begun(wire: &str, options: Options) -> (Arc<dyn Store>, Recorder) {
    let agent = agent(model(wire, Arc::new(vendor(wire, BEGUN))));
    let store = turnkeep_store::open("memory:").unwrap();
    let mut recorder = block_on(Recorder::create(store.clone(), opened(&agent, options), ports())).unwrap();
    let stopped = block_on(agent.run(&mut recorder, "How is the weather in Paris and Rome?")).unwrap();
    assert_eq!(stopped.text.as_deref(), Some("Sunny in both."), "{wire}: {stopped:?}");
    (store, recorder)
}

fn thoughts(session: &Session) -> usize {
    session.blocks().filter(|(_, block)| matches!(block.body, Body::Reasoning(_))).count()
}

#[test]
fn every_session_goes_on_on_every_wire() {
    for (from, ..) in WIRES {
        for (to, ..) in WIRES {
            let (store, recorder) = begun(from, options());
            let id = recorder.id().clone();
            drop(recorder);
            let spy = Spy::on(vendor(to, CONTINUED));
            let agent = agent(model(to, spy.clone()));
            let mut recorder = block_on(Recorder::resume(store.clone(), &id, ports())).unwrap();

            let stopped = block_on(agent.run(&mut recorder, "And in Oslo?")).unwrap();

            assert_eq!(
                (stopped.reason.clone(), stopped.text.as_deref()),
                (Some(StopReason::Completed), Some("Sunny in Oslo too.")),
                "{from} to {to}: {stopped:?}"
            );
            assert_eq!(spy.count(), 2, "{from} to {to}");
            let loaded = block_on(store.load(&id)).unwrap().session;
            assert_eq!(loaded, *recorder.session(), "{from} to {to}");
            assert_eq!((loaded.turns.len(), thoughts(&loaded)), (4, 3), "{from} to {to}");
        }
    }
}

/// The request that `to` would be sent after a session on `from`.
fn first_request(from: &str, to: &str, options: Options) -> (Json, Vec<String>) {
    let (_, recorder) = begun(from, options.clone());
    let target: WireModel = model(to, Arc::new(vendor(to, CONTINUED)) as Arc<dyn Transport>);
    let tools = Tools::new([Arc::new(Weather) as Arc<dyn turnkeep_runtime::port::Tool>]).unwrap();
    let session = recorder.session();
    let in_force = session.options.over(&target.identity().defaults);
    let request = Request { session, options: &in_force, tools: tools.specs(), turn: 2 };
    let prepared = target.prepare(&request);
    (prepared.body, prepared.losses.iter().map(|loss| loss.at.clone()).collect())
}

#[test]
fn restored_settings_are_in_the_first_request_on_every_wire() {
    let expected = [
        ("openai.chat", ["\"max_tokens\":4000", "\"reasoning_effort\":\"high\""]),
        ("openai.responses", ["\"max_output_tokens\":4000", "\"effort\":\"high\""]),
        ("anthropic.messages", ["\"max_tokens\":4000", "\"budget_tokens\":2048"]),
        ("gemini.contents", ["\"maxOutputTokens\":4000", "\"thinkingLevel\":\"HIGH\""]),
        ("ollama.chat", ["\"num_predict\":4000", "\"think\":"]),
        ("bedrock.converse", ["\"maxTokens\":4000", "\"budget_tokens\":2048"]),
    ];
    for (from, ..) in WIRES {
        for (to, settings) in expected {
            let text = first_request(from, to, options()).0.to_text();

            assert!(settings.iter().all(|setting| text.contains(setting)), "{from} to {to}: {text}");
            assert!(text.contains("You know the sky."), "{from} to {to}: {text}");
        }
    }
}

#[test]
fn a_restored_temperature_is_in_the_first_request_on_every_wire() {
    let options = Options::default().with_max_tokens(4000).with_temperature(0.3);
    for (from, ..) in WIRES {
        for (to, ..) in WIRES {
            let (body, losses) = first_request(from, to, options.clone());
            // OpenAI's thinking models take none, and that is told.
            let told = to == "openai.responses" && losses.iter().any(|at| at == "options.temperature");

            assert!(
                body.to_text().contains("\"temperature\":0.3") || told,
                "{from} to {to}: {} {losses:?}",
                body.to_text()
            );
        }
    }
}

#[test]
fn what_another_vendor_sealed_is_not_sent_and_told() {
    let sealed = ["openai.responses", "anthropic.messages", "bedrock.converse"];
    for from in sealed {
        let (_, own) = first_request(from, from, options());
        assert!(!own.iter().any(|at| at.contains("signature") || at.contains("encrypted")), "{from}: {own:?}");
        for (to, ..) in WIRES.into_iter().filter(|(to, ..)| *to != from) {
            let (_, losses) = first_request(from, to, options());
            assert!(losses.iter().any(|at| at.starts_with("turns[0].blocks")), "{from} to {to}: {losses:?}");
        }
    }
}
