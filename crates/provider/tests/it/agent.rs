//! Agents over real connections: tools on every wire, and what is recorded.

use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::event::{Effect, ModelAnswered};
use turnkeep_model::{Author, Block, CallId, Event, Session, SessionId, ToolCall, Turn};
use turnkeep_provider::{Prices, Streaming, WireModel};
use turnkeep_runtime::port::{FnTool, ToolOutput};
use turnkeep_runtime::{Agent, Ports, Recorder, Tools, rebuild};
use turnkeep_store::{MemoryStore, Store, StoreExt};

use crate::kit::{self, WIRES};
use crate::server::{Play, Server};

/// A call of the tool, as each vendor answers it.
fn call(wire: &str) -> &'static str {
    match wire {
        "openai.chat" => {
            r#"{"id":"1","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Ulm\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1000,"completion_tokens":100}}"#
        }
        "openai.responses" => {
            r#"{"id":"resp_1","object":"response","status":"completed","model":"m-1","output":[{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA-planted"},{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"weather","arguments":"{\"city\":\"Ulm\"}"}],"usage":{"input_tokens":1000,"output_tokens":100}}"#
        }
        "anthropic.messages" => {
            r#"{"id":"msg_1","type":"message","role":"assistant","model":"m-1-2026","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"call_1","name":"weather","input":{"city":"Ulm"}}],"stop_reason":"tool_use","usage":{"input_tokens":1000,"output_tokens":100}}"#
        }
        "gemini.contents" => {
            r#"{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"weather","args":{"city":"Ulm"}},"thoughtSignature":"c2ln"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1000,"candidatesTokenCount":100},"modelVersion":"m-1"}"#
        }
        "ollama.chat" => {
            r#"{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"weather","arguments":{"city":"Ulm"}}}]},"done":true,"done_reason":"stop","prompt_eval_count":1000,"eval_count":100}"#
        }
        _ => {
            r#"{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"c2ln"}}},{"toolUse":{"toolUseId":"call_1","name":"weather","input":{"city":"Ulm"}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1000,"outputTokens":100,"totalTokens":1100}}"#
        }
    }
}

/// What of the first answer must be in the second request, as it came.
fn replayed(wire: &str) -> &'static str {
    match wire {
        "openai.responses" => "gAAA-planted",
        "anthropic.messages" | "gemini.contents" | "bedrock.converse" => "c2ln",
        _ => "weather",
    }
}

fn tools() -> Tools {
    let schema = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
    let schema = turnkeep_model::json::parse(schema).unwrap().into_json();
    let tool = FnTool::new("weather", "Tells the weather.", schema, Effect::Pure, |_, _| {
        Box::pin(std::future::ready(Ok(ToolOutput::text("rain in Ulm"))))
    });
    Tools::new([Arc::new(tool) as _]).unwrap()
}

fn begun() -> (Arc<dyn Store>, Recorder) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(turnkeep_store::Options::default()));
    let session = Session { id: Some(SessionId::new("s")), ..Session::default() };
    let recorder = block_on(Recorder::create(store.clone(), session, Ports::default())).unwrap();
    (store, recorder)
}

fn answered(store: &Arc<dyn Store>) -> Vec<ModelAnswered> {
    let journal = block_on(store.journal(&SessionId::new("s"))).unwrap();
    let of = |event: &Event| if let Event::ModelAnswered(answered) = event { Some(answered.clone()) } else { None };
    journal.records().filter_map(|record| of(&record.event)).collect()
}

#[test]
fn an_agent_calls_a_tool_on_every_wire_and_its_result_and_thinking_go_back() {
    for (wire, provider) in WIRES {
        let stream = Play::new(200, kit::content_type(wire), kit::stream(wire));
        let server = Server::new([Play::json(200, call(wire)).header("x-request-id", "req-1"), stream]);
        let price = |text| turnkeep_model::Decimal::parse(text);
        let model = kit::model(provider, &server.url).with_wire(wire).unwrap().with_prices(Prices {
            input: price("3"),
            output: price("15"),
            ..Prices::default()
        });
        let (store, mut recorder) = begun();
        let agent = Agent::new(Arc::new(model)).with_tools(tools());

        block_on(agent.run(&mut recorder, "What is the weather in Ulm?")).unwrap();

        let second = server.seen()[1].json().to_text();
        assert!(second.contains("rain in Ulm") && second.contains(replayed(wire)), "{wire}: {second}");
        let session = block_on(store.load(&SessionId::new("s"))).unwrap().session;
        let turn: &Turn = &session.turns[0];
        assert_eq!((turn.provider.as_deref(), turn.api.as_deref()), (Some(*provider), Some(*wire)));
        assert_eq!(turn.usage.cost, price("0.0045"), "{wire}");
        assert!(turn.provider_payload.as_object().is_some(), "{wire}");
        let headers = answered(&store)[0].headers.clone();
        assert_eq!(headers, [("x-request-id".to_owned(), "req-1".to_owned())], "{wire}");
    }
}

#[test]
fn the_request_that_was_sent_is_made_anew_from_the_journal() {
    for (wire, provider) in WIRES {
        let stream = Play::new(200, kit::content_type(wire), kit::stream(wire));
        let server = Server::new([Play::json(200, call(wire)), stream]);
        let model = Arc::new(kit::model(provider, &server.url).with_wire(wire).unwrap());
        let (store, mut recorder) = begun();
        let agent = Agent::new(model.clone()).with_tools(tools());

        block_on(agent.run(&mut recorder, "What is the weather in Ulm?")).unwrap();

        for (answered, seen) in answered(&store).iter().zip(server.seen()) {
            let rebuilt = block_on(rebuild(&*store, &"s".into(), answered.seq.unwrap())).unwrap();
            let sent = answered.request.clone().unwrap();
            assert_eq!(sent.digest, turnkeep_model::canon::digest(&seen.json()), "{wire}");
            let again = model.prepare(&rebuilt.request());
            let same = again.sent.digest == sent.digest;
            assert!(same || sent.body == seen.json(), "{wire}: neither the journal nor the body gives the request");
        }
    }
}

/// The switch from one wire to every other, with the losses that the journal keeps.
#[test]
fn a_session_goes_on_at_every_other_vendor() {
    for (from, provider) in WIRES {
        for (to, other) in WIRES {
            let first =
                Server::new([Play::json(200, call(from)), Play::new(200, kit::content_type(from), kit::stream(from))]);
            let (_, mut recorder) = begun();
            let one = kit::model(provider, &first.url).with_wire(from).unwrap();
            block_on(Agent::new(Arc::new(one)).with_tools(tools()).run(&mut recorder, "And in Ulm?")).unwrap();
            let mut session = recorder.session().clone();
            let more = Block::text(Author::User, "And tomorrow?").in_message(90);
            session.turns.push(Turn { blocks: vec![more], ..Turn::default() });
            let second = Server::new([Play::new(200, kit::content_type(to), kit::stream(to))]);
            let two: WireModel = kit::model(other, &second.url).with_wire(to).unwrap();

            let answer = kit::ask(&two, &session, &turnkeep_runtime::port::NoDeltas).unwrap();

            let sent = second.seen()[0].json().to_text();
            assert!(sent.contains("rain in Ulm") && sent.contains("And tomorrow?"), "{from} to {to}: {sent}");
            assert_eq!(sent.contains("gAAA-planted"), *to == "openai.responses" && from == to, "{from} to {to}");
            assert!(!answer.blocks.is_empty());
        }
    }
}

#[test]
fn a_call_without_an_id_is_given_one_by_the_runtime() {
    let server = Server::new([Play::json(200, call("ollama.chat"))]);
    let model = kit::model("ollama", &server.url).with_streaming(Streaming::Off);

    let answer = kit::asked(&model).unwrap();

    let calls: Vec<&ToolCall> = answer
        .blocks
        .iter()
        .filter_map(|block| if let turnkeep_model::Body::ToolCall(call) = &block.body { Some(call) } else { None })
        .collect();
    assert!(matches!(calls[0].call, CallId::Minted(_)), "{calls:?}");
}
