//! What a vendor's wire demands, as data.

use turnkeep_model::Number;
use turnkeep_model::json::{Json, Node, Object};

use super::codec::shortened;
use super::view::View;
use crate::lint::{Finding, Severity, Strictness};

/// One demand of a vendor.
pub struct Rule {
    /// Its id.
    pub id: &'static str,
    /// How bad it is to break it.
    pub severity: Severity,
    /// The models it applies to: part of their name, or empty for all.
    pub models: &'static str,
    /// How it is known.
    pub evidence: Evidence,
    /// What to do.
    pub fix: &'static str,
    /// Finds the places that break it, each with what is wrong there.
    pub(crate) check: fn(&View<'_, '_>) -> Found,
}

/// The places that break a rule, each with what is wrong there.
pub(crate) type Found = Vec<(String, String)>;

/// How a rule is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// What the vendor answered where it was broken, word by word.
    Answer(&'static str),
    /// What documentation or types say, in our words; no answer is at hand.
    Stated(&'static str),
}

impl Evidence {
    /// The words, whoever says them.
    pub fn text(&self) -> &'static str {
        match self {
            Evidence::Answer(text) | Evidence::Stated(text) => text,
        }
    }
}

impl std::fmt::Display for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Evidence::Answer(text) => write!(f, "the vendor answers \"{text}\""),
            Evidence::Stated(text) => f.write_str(text),
        }
    }
}

/// The places of a body that break some rules.
pub(crate) fn findings(rules: &[Rule], view: &View<'_, '_>, strictness: Strictness) -> Vec<Finding> {
    let body = view.body;
    let model = body.get_str("model").or_else(|| body.get_str("modelId")).unwrap_or_default();
    let applies = |rule: &&Rule| rule.models.is_empty() || model.contains(rule.models);
    let mut found = Vec::new();
    for rule in rules.iter().filter(applies) {
        for (at, what) in (rule.check)(view) {
            let severity = if strictness == Strictness::Strict { Severity::Error } else { rule.severity };
            let what = format!("{what}; {}; {}", rule.evidence, rule.fix);
            found.push(Finding { rule: rule.id, severity, at, line: None, what });
        }
    }
    found
}

/// The elements of an array in a body.
pub(crate) fn items<'b, 'a>(node: &'b Node<'a>, key: &str) -> &'b [Node<'a>] {
    node.get(key).and_then(Node::as_array).unwrap_or_default()
}

/// The value at some keys of a body.
pub(crate) fn at<'b, 'a>(node: &'b Node<'a>, keys: &[&str]) -> Option<&'b Node<'a>> {
    keys.iter().try_fold(node, |node, key| node.get(key))
}

/// A number at some keys of a body.
pub(crate) fn number_at(node: &Node<'_>, keys: &[&str]) -> Option<f64> {
    at(node, keys).and_then(Node::as_number).as_ref().map(Number::as_f64)
}

/// The request that a document is or holds, if `is_request` says so of it, shortened.
pub(crate) fn request_of<'b, 'a>(document: &'b Node<'a>, is_request: impl Fn(&Object) -> bool) -> Option<&'b Node<'a>> {
    let body = match (document.get("request"), document.get("response")) {
        (Some(request), Some(_)) if request.is_object() => request,
        _ => document,
    };
    match shortened(body) {
        Json::Object(short) if is_request(&short) => Some(body),
        _ => None,
    }
}
