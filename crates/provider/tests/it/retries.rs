//! Sending again.

use std::sync::Arc;
use std::time::Duration;

use turnkeep_provider::{Jitter, ProviderErrorKind, Retry};

use crate::kit::{self, Impatient};
use crate::server::{End, Play, Server};

struct Always(f64);

impl Jitter for Always {
    fn next(&self) -> f64 {
        self.0
    }
}

fn good() -> Play {
    Play::new(200, kit::content_type("openai.chat"), kit::stream("openai.chat"))
}

fn busy(status: u16) -> Play {
    Play::json(status, r#"{"error":{"message":"busy"}}"#)
}

/// What came of asking, how long was waited in between, and how often it was sent.
fn tried(plays: Vec<Play>) -> (Option<ProviderErrorKind>, Vec<Duration>, usize) {
    let server = Server::new(plays);
    let clock = Arc::new(Impatient::default());
    let model = kit::model("groq", &server.url).with_clock(clock.clone()).with_jitter(Arc::new(Always(1.0)));
    let asked = kit::asked(&model);
    let waits = clock.0.lock().unwrap().clone();
    (asked.err().map(|error| error.kind), waits, server.seen().len())
}

#[test]
fn what_may_pass_is_sent_again_after_longer_and_longer_waits() {
    let waits = [500, 1000, 2000].map(Duration::from_millis).to_vec();

    assert_eq!(tried(vec![busy(500), busy(503), busy(529), good()]), (None, waits.clone(), 4));
    assert_eq!(tried(vec![busy(503)]), (Some(ProviderErrorKind::Unavailable), waits, 4));
}

#[test]
fn a_vendor_says_how_long_to_wait() {
    let in_seconds = busy(429).header("retry-after", "7");
    let in_milliseconds = busy(429).header("retry-after-ms", "70").header("retry-after", "1");
    let as_a_date = busy(503).header("retry-after", "Thu, 01 Jan 2026 00:00:05 GMT");

    let waits = [Duration::from_secs(7), Duration::from_millis(70), Duration::from_secs(5)].to_vec();
    assert_eq!(tried(vec![in_seconds, in_milliseconds, as_a_date, good()]), (None, waits, 4));
}

#[test]
fn a_wait_that_is_too_long_is_not_waited() {
    let play = busy(429).header("retry-after", "3600");

    assert_eq!(tried(vec![play, good()]), (Some(ProviderErrorKind::RateLimited), vec![], 1));
}

#[test]
fn a_request_whose_answer_began_is_never_sent_again() {
    let begun = Play::new(200, "text/event-stream", "data: {\"id\":\"1\",\"choices\":[]}\n\n").ending(End::Cut);

    assert_eq!(tried(vec![begun, good()]), (Some(ProviderErrorKind::Cut), vec![], 1));
}

#[test]
fn a_request_that_is_wrong_is_not_sent_again() {
    assert_eq!(tried(vec![busy(400), good()]), (Some(ProviderErrorKind::Invalid), vec![], 1));
    assert_eq!(tried(vec![busy(401), good()]), (Some(ProviderErrorKind::Unauthorized), vec![], 1));
}

#[test]
fn a_connection_that_is_closed_before_an_answer_is_made_again() {
    assert_eq!(tried(vec![good().ending(End::Slam), good()]), (None, vec![Duration::from_millis(500)], 2));
}

#[test]
fn what_was_tried_often_enough_is_not_tried_again_by_an_agent() {
    let server = Server::new([busy(503)]);
    let clock = Arc::new(Impatient::default());
    let often = kit::model("groq", &server.url).with_clock(clock.clone());
    let once = often.clone().with_retry(Retry::never());
    let wait = |model| turnkeep_runtime::port::ModelError::from(kit::asked(model).unwrap_err()).retry_after;

    assert_eq!((wait(&often), wait(&once)), (None, Some(Duration::from_secs(1))));
}
