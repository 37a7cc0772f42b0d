//! Sinks that look at what is written and keep nothing of it.

use super::redact::Rules;
use crate::json::{JsonString, Sink};
use crate::shape::Shape;

/// Looks for keys.
pub(super) struct Keys<'a> {
    wanted: &'a [&'a str],
    found: bool,
}

impl Keys<'_> {
    /// Whether one of these keys stands in a value.
    pub(super) fn any<T: Shape>(part: &T, wanted: &[&str]) -> bool {
        let mut keys = Keys { wanted, found: false };
        part.write(&mut keys);
        keys.found
    }
}

impl Sink for Keys<'_> {
    fn null(&mut self) {}
    fn bool(&mut self, _: bool) {}
    fn number(&mut self, _: &str) {}
    fn text(&mut self, _: &str) {}
    fn string(&mut self, _: &JsonString) {}
    fn begin_array(&mut self) {}
    fn end_array(&mut self) {}
    fn begin_object(&mut self) {}
    fn key(&mut self, key: &str) {
        self.found |= self.wanted.contains(&key);
    }
    fn spelled_key(&mut self, key: &JsonString) {
        self.found |= self.wanted.iter().any(|wanted| key.is(wanted));
    }
    fn end_object(&mut self) {}
}

/// Looks for secrets in every text and key, and at every number.
pub(super) struct Secrets<'a> {
    rules: &'a Rules,
    key: String,
    found: bool,
}

impl Secrets<'_> {
    /// Whether a secret stands in a value.
    pub(super) fn any<T: Shape>(part: &T, rules: &Rules) -> bool {
        let mut secrets = Secrets { rules, key: String::new(), found: false };
        part.write(&mut secrets);
        secrets.found
    }
}

impl Sink for Secrets<'_> {
    fn null(&mut self) {}
    fn bool(&mut self, _: bool) {}
    fn number(&mut self, text: &str) {
        self.found |= self.rules.is_card(text);
    }
    fn text(&mut self, text: &str) {
        self.found = self.found || self.rules.finds(text, &self.key);
    }
    fn string(&mut self, text: &JsonString) {
        self.text(&text.to_str_lossy());
    }
    fn begin_array(&mut self) {}
    fn end_array(&mut self) {}
    fn begin_object(&mut self) {
        self.key.clear();
    }
    fn key(&mut self, key: &str) {
        self.found = self.found || self.rules.finds(key, "");
        self.key.clear();
        self.key.push_str(key);
    }
    fn spelled_key(&mut self, key: &JsonString) {
        self.key(&key.to_str_lossy());
    }
    fn end_object(&mut self) {
        self.key.clear();
    }
}

/// Visits every text and key.
pub(super) struct Texts<F>(pub(super) F);

impl<F: FnMut(&str)> Sink for Texts<F> {
    fn null(&mut self) {}
    fn bool(&mut self, _: bool) {}
    fn number(&mut self, _: &str) {}
    fn text(&mut self, text: &str) {
        (self.0)(text);
    }
    fn string(&mut self, text: &JsonString) {
        (self.0)(&text.to_str_lossy());
    }
    fn begin_array(&mut self) {}
    fn end_array(&mut self) {}
    fn begin_object(&mut self) {}
    fn key(&mut self, key: &str) {
        (self.0)(key);
    }
    fn spelled_key(&mut self, key: &JsonString) {
        (self.0)(&key.to_str_lossy());
    }
    fn end_object(&mut self) {}
}
