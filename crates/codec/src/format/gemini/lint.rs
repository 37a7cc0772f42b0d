//! The wire's rules.

use std::borrow::Cow;

use turnkeep_model::json::Node;
use turnkeep_model::{Error, ErrorKind, Result};

use super::SPELLINGS;
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
    check: fn(&[Content<'_, '_>]) -> Vec<String>,
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
        check: |contents| at(contents, |content| content.parts == 0),
    },
];

/// A content, or several of one role that follow each other: the vendor merges them.
struct Content<'b, 'a> {
    index: usize,
    role: Option<&'b Node<'a>>,
    parts: usize,
    calls: Vec<&'b Node<'a>>,
    responses: Vec<&'b Node<'a>>,
}

/// Checks a request body as it is.
///
/// # Errors
/// Where the bytes are unusable.
pub(crate) fn lint(input: Input<'_>, strictness: Strictness) -> Result<Vec<Finding>> {
    let body = input.into_document()?.node;
    if !body.is_object() {
        return Err(Error::new(ErrorKind::NotThisFormat, "a request body is an object"));
    }
    let contents = body.get("contents").and_then(Node::as_array).unwrap_or_default();
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

fn merge<'b, 'a>(contents: &'b [Node<'a>]) -> Vec<Content<'b, 'a>> {
    let mut merged: Vec<Content<'b, 'a>> = Vec::new();
    for (index, content) in contents.iter().enumerate().filter(|(_, content)| content.is_object()) {
        let role = content.get("role");
        let goes_on = merged.last().is_some_and(|last| same(last.role, role) && last.parts > 0);
        if !goes_on {
            merged.push(Content { index, role, parts: 0, calls: Vec::new(), responses: Vec::new() });
        }
        if let Some(last) = merged.last_mut() {
            last.extend(content.get("parts").and_then(Node::as_array).unwrap_or_default());
        }
    }
    merged
}

fn same(one: Option<&Node<'_>>, other: Option<&Node<'_>>) -> bool {
    one.map(|node| &node.value) == other.map(|node| &node.value)
}

/// The object under a key in either spelling.
fn named<'b, 'a>(part: &'b Node<'a>, key: &str) -> Option<&'b Node<'a>> {
    let snake = || SPELLINGS.iter().find(|(camel, _)| *camel == key).and_then(|(_, snake)| part.get(snake));
    part.get(key).or_else(snake).filter(|inner| inner.is_object())
}

impl<'b, 'a> Content<'b, 'a> {
    fn extend(&mut self, parts: &'b [Node<'a>]) {
        for part in parts.iter().filter(|part| part.is_object()) {
            self.parts += 1;
            self.calls.extend(named(part, "functionCall"));
            self.responses.extend(named(part, "functionResponse"));
        }
    }

    fn place(&self) -> String {
        format!("contents[{}]", self.index)
    }
}

fn at(contents: &[Content<'_, '_>], broken: impl Fn(&Content<'_, '_>) -> bool) -> Vec<String> {
    contents.iter().filter(|content| broken(content)).map(Content::place).collect()
}

fn invalid_roles(contents: &[Content<'_, '_>]) -> Vec<String> {
    at(contents, |content| match content.role {
        None => false,
        Some(role) => !matches!(role.as_str().as_deref(), Some("user" | "model" | "function")),
    })
}

/// Turns of calls with the turn that follows them.
fn followed<'c, 'b, 'a>(
    contents: &'c [Content<'b, 'a>],
) -> impl Iterator<Item = (&'c Content<'b, 'a>, Option<&'c Content<'b, 'a>>)> {
    let next = |index: usize| contents.get(index + 1);
    contents
        .iter()
        .enumerate()
        .filter(|(_, content)| !content.calls.is_empty())
        .map(move |(index, content)| (content, next(index)))
}

/// The last turn of calls may wait for its responses only if nothing follows it.
fn wrong_counts(contents: &[Content<'_, '_>]) -> Vec<String> {
    let wrong = followed(contents)
        .filter(|(content, next)| next.is_some_and(|next| next.responses.len() != content.calls.len()));
    wrong.map(|(content, _)| content.place()).collect()
}

fn orphans(contents: &[Content<'_, '_>]) -> Vec<String> {
    let mut places = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| contents.get(before));
        if !content.responses.is_empty() && before.is_none_or(|before| before.calls.is_empty()) {
            places.push(content.place());
        }
    }
    places
}

fn wrong_names(contents: &[Content<'_, '_>]) -> Vec<String> {
    let wrong = followed(contents).filter(|(content, next)| {
        next.is_some_and(|next| {
            let (calls, responses) = (&content.calls, &next.responses);
            let (own, other) = (sorted(calls, "id"), sorted(responses, "id"));
            let ids_differ = own.len() == calls.len() && other.len() == responses.len() && own != other;
            calls.len() == responses.len() && (sorted(calls, "name") != sorted(responses, "name") || ids_differ)
        })
    });
    wrong.map(|(content, _)| content.place()).collect()
}

fn sorted<'b>(nodes: &[&'b Node<'_>], key: &str) -> Vec<Cow<'b, str>> {
    let mut words: Vec<_> = nodes.iter().filter_map(|node| node.get_str(key)).collect();
    words.sort();
    words
}

fn calls_first(contents: &[Content<'_, '_>]) -> Vec<String> {
    let first = contents.first().filter(|first| !first.calls.is_empty());
    first.map(Content::place).into_iter().collect()
}
