//! Asking somebody else: which failures of a vendor pass a question on to the agent's next model.

use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::event::Choice;
use turnkeep_model::{Event, SessionId};
use turnkeep_provider::{ProviderErrorKind, Retry, WireModel};
use turnkeep_runtime::{Agent, Ports, Recorder, Stopped};
use turnkeep_store::StoreExt;

use crate::kit;
use crate::server::{End, Play, Server};

/// An answer without calls: the run is over with it.
fn good() -> Play {
    let answer = r#"{"id":"1","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"Sunny."},"finish_reason":"stop"}]}"#;
    Play::json(200, answer)
}

fn model(name: &str, play: Play) -> (Arc<WireModel>, Server) {
    let server = Server::new([play]);
    (Arc::new(kit::model("groq", &server.url).named(name).with_account(name).with_retry(Retry::never())), server)
}

/// The account that took over, and the class of the failure before it.
type Switch = (Option<String>, Option<String>);

/// What came of asking both, and the accounts that took over, each with the class of the failure before it.
fn run(first: Play, second: Play) -> (Stopped, Vec<Switch>, usize) {
    let (first, _one) = model("first", first);
    let (second, two) = model("second", second);
    let agent = Agent::new(first).with_fallback(second).with_retries(0);
    let store = turnkeep_store::open("memory:").unwrap();
    let session = turnkeep_model::Session { id: Some("s".into()), ..agent.session() };
    let mut recorder = block_on(Recorder::create(store.clone(), session, Ports::default())).unwrap();
    let stopped = block_on(agent.run(&mut recorder, "Why?")).unwrap();
    let journal = block_on(store.journal(&SessionId::new("s"))).unwrap();
    let mut class = None;
    let mut switches = Vec::new();
    for entry in journal.batches.into_iter().flat_map(|batch| batch.events) {
        match entry.event {
            Event::ModelFailed(failed) => class = failed.class,
            Event::EndpointChosen(chosen) if chosen.choice == Some(Choice::Fallback) => {
                switches.push((chosen.account, class.take()));
            }
            _ => {}
        }
    }
    (stopped, switches, two.seen().len())
}

/// The journal has one switch to the second model, for this reason, and it was asked once.
fn passes_on(status: u16, class: ProviderErrorKind) {
    let (stopped, switches, seen) = run(Play::json(status, "{}"), good());

    let switch = (Some("second".to_owned()), Some(class.as_str().to_owned()));
    assert_eq!((stopped.status.kind(), switches, seen), ("completed", vec![switch], 1), "{status}");
}

#[test]
fn another_is_asked_where_one_is_not_available_or_busy() {
    for (status, class) in [
        (429, ProviderErrorKind::RateLimited),
        (500, ProviderErrorKind::ServerError),
        (502, ProviderErrorKind::Unavailable),
        (503, ProviderErrorKind::Unavailable),
        (529, ProviderErrorKind::Overloaded),
    ] {
        passes_on(status, class);
    }
}

#[test]
fn another_is_asked_where_the_key_is_not_accepted() {
    for (status, class) in
        [(401, ProviderErrorKind::Unauthorized), (402, ProviderErrorKind::Unpaid), (403, ProviderErrorKind::Forbidden)]
    {
        passes_on(status, class);
    }
}

#[test]
fn the_error_lists_every_endpoint_and_what_it_answered() {
    let first = Play::json(401, "{\"error\":{\"message\":\"who are you\"}}");
    let second = Play::json(503, "{\"error\":{\"message\":\"come back later\"}}");

    let (stopped, ..) = run(first, second);

    let turnkeep_model::Status::Failed(failed) = stopped.status else { panic!("{:?}", stopped.status) };
    for told in ["none of 2 endpoints answered: groq", "who are you", "; groq", "come back later"] {
        assert!(failed.error.contains(told), "{told}: {}", failed.error);
    }
}

#[test]
fn nobody_else_is_asked_where_an_answer_began_or_the_request_is_wrong() {
    let begun = Play::new(200, "text/event-stream", "data: {\"id\":\"1\",\"choices\":[]}\n\n").ending(End::Cut);

    for play in [begun, Play::json(400, "{}")] {
        let (stopped, switches, seen) = run(play, good());

        assert_eq!((stopped.status.kind(), switches, seen), ("failed", vec![], 0));
    }
}
