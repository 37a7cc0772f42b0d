//! The wire's rules.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Error, ErrorKind, Result};

use super::spelled;
use crate::input::Input;
use crate::lint::{Finding, Severity, Strictness};

/// A rule: its name, what the vendor answers where it is broken, and what it finds.
struct Rule {
    id: &'static str,
    severity: Severity,
    /// What the vendor answers.
    evidence: &'static str,
    /// What to do.
    fix: &'static str,
    check: fn(&[Content<'_>]) -> Vec<String>,
}

const RULES: &[Rule] = &[
    Rule {
        id: "contents.missing",
        severity: Severity::Error,
        evidence: "* GenerateContentRequest.contents: contents is not specified",
        fix: "send at least one content",
        check: |contents| if contents.is_empty() { vec!["contents".to_owned()] } else { Vec::new() },
    },
    Rule {
        id: "role.invalid",
        severity: Severity::Error,
        evidence: "Please use a valid role: user, model.",
        fix: "name the role `user` or `model`",
        check: invalid_roles,
    },
    Rule {
        id: "response.count",
        severity: Severity::Error,
        evidence: "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        fix: "answer every call of the turn once, in the turn after it",
        check: wrong_counts,
    },
    Rule {
        id: "response.orphan",
        severity: Severity::Error,
        evidence: "Please ensure that function response turn comes immediately after a function call turn.",
        fix: "put the responses right after their calls, or drop them",
        check: orphans,
    },
    Rule {
        id: "response.name",
        severity: Severity::Error,
        evidence: "Please ensure that function response turn comes immediately after a function call turn.",
        fix: "name the response after the call it answers",
        check: wrong_names,
    },
    Rule {
        id: "call.first",
        severity: Severity::Error,
        evidence: "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        fix: "begin the history with a user's turn",
        check: calls_first,
    },
    Rule {
        id: "parts.empty",
        severity: Severity::Warning,
        evidence: "the content has no parts",
        fix: "drop the content",
        check: |contents| at(contents, |content| content.parts.is_empty()),
    },
];

/// A content, or several of one role that follow each other: the vendor merges them.
struct Content<'a> {
    index: usize,
    role: Option<&'a Json>,
    parts: Vec<&'a Object>,
}

/// Checks a request body as it is.
///
/// # Errors
/// Where the bytes are unusable.
pub(crate) fn lint(input: Input<'_>, strictness: Strictness) -> Result<Vec<Finding>> {
    let Json::Object(body) = input.into_document()?.node.into_json() else {
        return Err(Error::new(ErrorKind::NotThisFormat, "a request body is an object"));
    };
    let contents = body.get("contents").and_then(Json::as_array).unwrap_or_default();
    let merged = merge(contents);
    let mut findings = Vec::new();
    for rule in RULES {
        let severity = if strictness == Strictness::Strict { Severity::Error } else { rule.severity };
        for place in (rule.check)(&merged) {
            let what = format!("the vendor answers \"{}\"; {}", rule.evidence, rule.fix);
            findings.push(Finding { rule: rule.id, severity, at: place, line: None, what });
        }
    }
    Ok(findings)
}

fn merge(contents: &[Json]) -> Vec<Content<'_>> {
    let mut merged: Vec<Content<'_>> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let Some(content) = content.as_object() else { continue };
        let role = content.get("role");
        let parts: Vec<&Object> = content
            .get("parts")
            .and_then(Json::as_array)
            .unwrap_or_default()
            .iter()
            .filter_map(Json::as_object)
            .collect();
        match merged.last_mut() {
            Some(last) if last.role == role && !last.parts.is_empty() => last.parts.extend(parts),
            _ => merged.push(Content { index, role, parts }),
        }
    }
    merged
}

impl<'a> Content<'a> {
    fn named(&self, key: &str) -> Vec<&'a Object> {
        let inner = |part: &&'a Object| spelled(part, key).and_then(|key| part.get(key)).and_then(Json::as_object);
        self.parts.iter().filter_map(inner).collect()
    }

    fn calls(&self) -> Vec<&'a Object> {
        self.named("functionCall")
    }

    fn responses(&self) -> Vec<&'a Object> {
        self.named("functionResponse")
    }

    fn place(&self) -> String {
        format!("contents[{}]", self.index)
    }
}

fn at(contents: &[Content<'_>], broken: impl Fn(&Content<'_>) -> bool) -> Vec<String> {
    contents.iter().filter(|content| broken(content)).map(Content::place).collect()
}

fn invalid_roles(contents: &[Content<'_>]) -> Vec<String> {
    at(contents, |content| match content.role {
        None => false,
        Some(role) => !matches!(role.as_str().as_deref(), Some("user" | "model" | "function")),
    })
}

/// Turns of calls with the turn that follows them.
fn followed<'c, 'a>(contents: &'c [Content<'a>]) -> impl Iterator<Item = (&'c Content<'a>, Option<&'c Content<'a>>)> {
    let next = |index: usize| contents.get(index + 1);
    contents
        .iter()
        .enumerate()
        .filter(|(_, content)| !content.calls().is_empty())
        .map(move |(index, content)| (content, next(index)))
}

/// The last turn of calls may wait for its responses only if nothing follows it.
fn wrong_counts(contents: &[Content<'_>]) -> Vec<String> {
    let wrong = followed(contents)
        .filter(|(content, next)| next.is_some_and(|next| next.responses().len() != content.calls().len()));
    wrong.map(|(content, _)| content.place()).collect()
}

fn orphans(contents: &[Content<'_>]) -> Vec<String> {
    let mut places = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| contents.get(before));
        if !content.responses().is_empty() && before.is_none_or(|before| before.calls().is_empty()) {
            places.push(content.place());
        }
    }
    places
}

fn wrong_names(contents: &[Content<'_>]) -> Vec<String> {
    let names = |objects: Vec<&Object>| {
        let mut names: Vec<String> =
            objects.iter().map(|object| object.get_str("name").unwrap_or_default().into_owned()).collect();
        names.sort();
        names
    };
    let ids = |objects: Vec<&Object>| {
        let mut ids: Vec<String> = objects.iter().filter_map(|object| object.get_str("id").map(Into::into)).collect();
        ids.sort();
        ids
    };
    let wrong = followed(contents).filter(|(content, next)| {
        next.is_some_and(|next| {
            let (calls, responses) = (content.calls(), next.responses());
            let ids_differ = {
                let (own, other) = (ids(calls.clone()), ids(responses.clone()));
                own.len() == calls.len() && other.len() == responses.len() && own != other
            };
            calls.len() == responses.len() && (names(calls) != names(responses) || ids_differ)
        })
    });
    wrong.map(|(content, _)| content.place()).collect()
}

fn calls_first(contents: &[Content<'_>]) -> Vec<String> {
    let first = contents.first().filter(|first| !first.calls().is_empty());
    first.map(Content::place).into_iter().collect()
}
