//! Secrets and the user's patterns, in every text of a tree.

use regex_lite::Regex;

use crate::error::Result;
use crate::json::{self, Json, JsonString, Object};
use crate::loss::Loss;
use crate::policy::edit::{self, Edit, Opaque};
use crate::policy::finder::{Secrets, Texts};
use crate::policy::secret::{self, Names, SecretKind, SecretMatch};
use crate::session::Session;
use crate::shape::Shape;

/// Keys whose texts are bytes that nobody reads, or that only their vendor does: they are left alone.
const OPAQUE: [&str; 6] = ["inline", "signature", "encrypted", "encrypted_content", "thoughtSignature", "digest"];

/// Keys below which stands foreign JSON: there every key is looked at, and a number may become a text.
const FOREIGN: [&str; 11] = [
    "metadata",
    "data",
    "provider_payload",
    "items",
    "raw",
    "json",
    "fields",
    "spelling",
    "context",
    "parameters",
    "schema",
];

/// Keys of our own shape whose texts are words and ties, not content: what they say holds a session together.
const STRUCTURE: [&str; 24] = [
    "type",
    "author",
    "call",
    "state",
    "reason",
    "stop_reason",
    "outcome",
    "policy",
    "mode",
    "decision",
    "reasoning",
    "kind",
    "created",
    "updated",
    "started",
    "completed",
    "time",
    "deadline",
    "cost",
    "model",
    "provider",
    "api",
    "media_type",
    "detail",
];

/// Whether a tree is of our own shape, or foreign.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shaped {
    Ours,
    Foreign,
}

/// What is looked for, and the names of what was found.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    known: bool,
    patterns: Vec<Regex>,
    names: Names,
}

impl Rules {
    /// Looks for every known kind of secret.
    pub(super) fn of_secrets() -> Rules {
        Rules { known: true, patterns: Vec::new(), names: Names::default() }
    }

    /// Looks for nothing yet.
    pub(super) fn none() -> Rules {
        Rules { known: false, ..Rules::of_secrets() }
    }

    /// Looks also for what patterns match.
    pub(super) fn with_patterns(self, patterns: Vec<Regex>) -> Rules {
        Rules { patterns, ..self }
    }

    /// Hides the secrets of a session.
    pub(super) fn hide(&mut self, session: &mut Session) -> Result<Vec<Loss>> {
        if !self.concerns(session) {
            return Ok(Vec::new());
        }
        let names = &mut self.names;
        session.write(&mut Texts(|text: &str| names.notice(text)));
        edit::session(self, session, Opaque::Drop)
    }

    /// Whether a text under a key holds a secret.
    pub(crate) fn finds(&self, text: &str, key: &str) -> bool {
        if OPAQUE.contains(&key) {
            return false;
        }
        !self.found(text, key).is_empty()
            || may_hide_in_escapes(text) && self.nested(text, key).is_some_and(|tree| self.is_told(&tree))
    }

    /// Whether a number is one of a card.
    pub(crate) fn is_card(&self, number: &str) -> bool {
        self.known && number.len() >= 13 && secret::is_card(number)
    }

    /// Whether a tree holds a secret.
    pub(super) fn is_told(&self, tree: &Json) -> bool {
        Secrets::any(&Tree(tree), self)
    }

    fn found(&self, text: &str, key: &str) -> Vec<SecretMatch> {
        let mut found = if self.known { secret::scan(text) } else { Vec::new() };
        if self.known && secret::is_assigned(key, text) {
            found.push(SecretMatch { range: 0..text.len(), kind: SecretKind::Secret });
        }
        if self.patterns.is_empty() {
            return found_apart(found);
        }
        let taken: Vec<_> = secret::placeholders(text).collect();
        let matches = self.patterns.iter().flat_map(|pattern| pattern.find_iter(text)).map(|hit| hit.range());
        let free = |range: &std::ops::Range<usize>| {
            !range.is_empty() && !taken.iter().any(|taken| range.start < taken.end && taken.start < range.end)
        };
        found.extend(matches.filter(free).map(|range| SecretMatch { range, kind: SecretKind::Match }));
        found_apart(found)
    }

    /// The JSON that a text is, where it is some.
    fn nested(&self, text: &str, key: &str) -> Option<Json> {
        let is_likely = text.trim_start().starts_with(['{', '[', '"']) || key == "arguments";
        is_likely.then(|| json::parse(text).ok())?.map(json::Node::into_json)
    }

    fn text(&mut self, text: &str, key: &str) -> Option<String> {
        if OPAQUE.contains(&key) {
            return None;
        }
        let found = self.found(text, key);
        if found.is_empty() && !may_hide_in_escapes(text) {
            return None;
        }
        if let Some(mut tree) = self.nested(text, key) {
            // Written anew only where something was hidden.
            let before = tree.clone();
            self.json(&mut tree, key, Shaped::Foreign);
            return (tree != before).then(|| tree.to_text());
        }
        (!found.is_empty()).then(|| self.names.hide(text, &found))
    }

    fn json(&mut self, tree: &mut Json, key: &str, shaped: Shaped) {
        match tree {
            Json::String(text) => {
                if let Some(hidden) = self.text(&text.to_str_lossy(), key) {
                    *text = JsonString::from(hidden);
                }
            }
            Json::Number(number) if shaped == Shaped::Foreign && self.is_card(number.as_str()) => {
                *tree = self.names.placeholder(SecretKind::Card, number.as_str()).into();
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.json(item, key, shaped)),
            Json::Object(object) => self.object(object, shaped),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn object(&mut self, object: &mut Object, shaped: Shaped) {
        let is_tool = ["arguments", "parts", "parameters", "description"].iter().any(|key| object.contains(key));
        let is_fixed = |name: &str| {
            shaped == Shaped::Ours && (STRUCTURE.contains(&name) || is_tool && name == "name" || name == "names")
        };
        let pairs = std::mem::take(object);
        *object = pairs
            .into_iter()
            .map(|(key, mut value)| {
                let name = key.to_str_lossy().into_owned();
                if is_fixed(&name) && matches!(value, Json::String(_)) {
                    return (key, value);
                }
                let below = if FOREIGN.contains(&name.as_str()) { Shaped::Foreign } else { shaped };
                self.json(&mut value, &name, below);
                let renamed = if shaped == Shaped::Foreign { self.text(&name, "") } else { None };
                (renamed.map_or(key, JsonString::from), value)
            })
            .collect();
    }
}

fn found_apart(found: Vec<SecretMatch>) -> Vec<SecretMatch> {
    if found.len() > 1 { secret::apart(found) } else { found }
}

/// Whether escapes may hide something in a text that is JSON.
fn may_hide_in_escapes(text: &str) -> bool {
    text.contains("\\u")
}

/// A tree as something to be written.
struct Tree<'a>(&'a Json);

impl Shape for Tree<'_> {
    fn write<S: json::Sink>(&self, out: &mut S) {
        self.0.write(out);
    }

    fn read(_: json::Node<'_>, reading: &mut crate::shape::ShapeReader) -> Result<Self> {
        Err(reading.missing("tree"))
    }
}

impl Edit for Rules {
    fn concerns<T: Shape>(&self, part: &T) -> bool {
        Secrets::any(part, self)
    }

    fn tree(&mut self, tree: &mut Json) {
        self.json(tree, "", Shaped::Ours);
    }

    fn why(&self) -> &'static str {
        "a secret was replaced by a placeholder"
    }
}
