//! How many requests a token may still make.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::config::Limits;

/// A window for each token.
pub(crate) struct Rates {
    requests: u32,
    window: Duration,
    used: Mutex<HashMap<String, Window>>,
}

struct Window {
    began: Instant,
    used: u32,
}

/// What is left of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) allowed: bool,
    remaining: u32,
    pub(crate) seconds: u64,
    requests: u32,
    window: u64,
}

/// Windows that are over are forgotten when there are more than this.
const MANY: usize = 10_000;

impl Rates {
    pub(crate) fn new(limits: &Limits) -> Rates {
        Rates { requests: limits.requests, window: limits.window, used: Mutex::default() }
    }

    /// Counts a request.
    pub(crate) fn count(&self, token: &str) -> Left {
        let now = Instant::now();
        let mut all = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() > MANY {
            all.retain(|_, window| now.duration_since(window.began) < self.window);
        }
        let window = all.entry(token.to_owned()).or_insert(Window { began: now, used: 0 });
        if now.duration_since(window.began) >= self.window {
            *window = Window { began: now, used: 0 };
        }
        window.used = window.used.saturating_add(1);
        let left = self.window.saturating_sub(now.duration_since(window.began));
        Left {
            allowed: window.used <= self.requests,
            remaining: self.requests.saturating_sub(window.used),
            seconds: left.as_secs().max(1),
            requests: self.requests,
            window: self.window.as_secs(),
        }
    }
}

impl Left {
    /// Tells a client, in the fields of the IETF's draft.
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        let policy = format!("\"default\";q={};w={}", self.requests, self.window);
        let left = format!("\"default\";r={};t={}", self.remaining, self.seconds);
        for (name, value) in [("ratelimit-policy", policy), ("ratelimit", left)] {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_has_a_window_of_its_own() {
        let rates = Rates::new(&Limits { requests: 2, ..Limits::default() });

        let first: Vec<bool> = (0..3).map(|_| rates.count("a").allowed).collect();

        assert_eq!(first, [true, true, false]);
        assert!(rates.count("b").allowed);
    }
}
