//! Asking somebody else.

use std::sync::{Arc, Mutex};

use pollster::block_on;
use turnkeep_provider::{Fallback, FaultKind, Retry, Switch, WireModel};
use turnkeep_runtime::port::{Model, NoDeltas, Request};

use crate::kit;
use crate::server::{End, Play, Server};

fn good() -> Play {
    Play::new(200, kit::content_type("openai.chat"), kit::stream("openai.chat"))
}

fn model(name: &str, play: Play) -> (Arc<WireModel>, Server) {
    let server = Server::new([play]);
    (Arc::new(kit::model("groq", &server.url).named(name).with_account(name).with_retry(Retry::never())), server)
}

/// Who answered, what the switches were, and how often the second was asked.
fn asked(first: Play) -> (Option<String>, Vec<String>, usize) {
    let (first, _one) = model("first", first);
    let (second, two) = model("second", good());
    let switches: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = switches.clone();
    let both = Fallback::new(first, [second as Arc<dyn Model>]).telling(move |switch: &Switch| {
        told.lock().unwrap().push(format!("{:?}", switch.why.class));
    });
    let session = kit::question();
    let request = Request { session: &session, options: &session.options, tools: &[], turn: 0 };
    let answer = block_on(both.answer(request, &NoDeltas));
    let by = answer.ok().and_then(|_| both.identity().account);
    (by, switches.lock().unwrap().clone(), two.seen().len())
}

#[test]
fn another_is_asked_where_one_is_not_available_or_busy() {
    for status in [429, 500, 502, 503, 529] {
        let (by, switches, seen) = asked(Play::json(status, "{}"));
        let class = match status {
            429 => FaultKind::RateLimited,
            500 => FaultKind::ServerError,
            529 => FaultKind::Overloaded,
            _ => FaultKind::Unavailable,
        };

        assert_eq!((by.as_deref(), switches, seen), (Some("second"), vec![format!("{:?}", Some(class.as_str()))], 1));
    }
}

#[test]
fn another_is_asked_where_the_key_is_not_accepted() {
    for (status, class) in [(401, FaultKind::Unauthorized), (402, FaultKind::Unpaid), (403, FaultKind::Forbidden)] {
        let (by, switches, seen) = asked(Play::json(status, "{}"));

        assert_eq!((by.as_deref(), switches, seen), (Some("second"), vec![format!("{:?}", Some(class.as_str()))], 1));
    }
}

#[test]
fn the_error_lists_every_endpoint_and_what_it_answered() {
    let (first, _one) = model("first", Play::json(401, "{\"error\":{\"message\":\"who are you\"}}"));
    let (second, _two) = model("second", Play::json(503, "{\"error\":{\"message\":\"come back later\"}}"));
    let both = Fallback::new(first, [second as Arc<dyn Model>]);
    let session = kit::question();
    let request = Request { session: &session, options: &session.options, tools: &[], turn: 0 };

    let error = block_on(both.answer(request, &NoDeltas)).unwrap_err();

    assert_eq!(error.class.as_deref(), Some(FaultKind::Unavailable.as_str()));
    for told in ["none of 2 endpoints answered: groq", "who are you", "; groq", "come back later"] {
        assert!(error.message.contains(told), "{told}: {}", error.message);
    }
}

#[test]
fn nobody_else_is_asked_where_an_answer_began_or_the_request_is_wrong() {
    let begun = Play::new(200, "text/event-stream", "data: {\"id\":\"1\",\"choices\":[]}\n\n").ending(End::Cut);

    assert_eq!(asked(begun), (None, vec![], 0));
    assert_eq!(asked(Play::json(400, "{}")), (None, vec![], 0));
}
