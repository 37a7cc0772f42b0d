//! What a vendor's wire demands, as data.

use turnkeep_model::json::{Json, Object};

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
    pub(crate) check: fn(&Object) -> Vec<(String, String)>,
}

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
pub(crate) fn findings(rules: &[Rule], body: &Object, strictness: Strictness) -> Vec<Finding> {
    let model = body.get_str("model").or_else(|| body.get_str("modelId")).unwrap_or_default();
    let applies = |rule: &&Rule| rule.models.is_empty() || model.contains(rule.models);
    let mut found = Vec::new();
    for rule in rules.iter().filter(applies) {
        for (at, what) in (rule.check)(body) {
            let severity = if strictness == Strictness::Strict { Severity::Error } else { rule.severity };
            let what = format!("{what}; {}; {}", rule.evidence, rule.fix);
            found.push(Finding { rule: rule.id, severity, at, line: None, what });
        }
    }
    found
}

/// The elements of an array in a body.
pub(crate) fn items<'a>(object: &'a Object, key: &str) -> &'a [Json] {
    object.get(key).and_then(Json::as_array).unwrap_or_default()
}

/// The value at some keys of a body.
pub(crate) fn at<'a>(object: &'a Object, keys: &[&str]) -> Option<&'a Json> {
    let (last, path) = keys.split_last()?;
    let parent = path.iter().try_fold(object, |object, key| object.get(key).and_then(Json::as_object))?;
    parent.get(last)
}

/// A number at some keys of a body.
pub(crate) fn number_at(object: &Object, keys: &[&str]) -> Option<f64> {
    at(object, keys).and_then(Json::as_number).map(turnkeep_model::Number::as_f64)
}
