//! What is wrong with a request, rule by rule.

use turnkeep_model::json::Node;
use turnkeep_model::{Error, ErrorKind, Result, line_and_column};

use super::rules::RULES;
use super::view::Request;
use super::wire::Gemini;
use super::{FORMAT, restore};
use crate::codec::DecodeOptions;
use crate::input::{Document, Input};
use crate::lint::{Finding, Rule, Severity, Strictness};
use crate::models;
use crate::sniff::Confidence;
use crate::wire::{Kind, Wire};

/// Every rule.
pub(crate) fn rules() -> Vec<Rule> {
    let told = |rule: &super::rules::Rule| Rule {
        id: rule.id,
        severity: rule.severity,
        models: rule.models,
        evidence: rule.evidence.text(),
        fix: rule.fix,
    };
    RULES.iter().map(told).collect()
}

/// Checks a request body, the request of an exchange, or a session before it is put right.
///
/// # Errors
/// Where the bytes are unusable.
pub(crate) fn lint(input: &Input<'_>, strictness: Strictness) -> Result<Vec<Finding>> {
    let document = input.document().ok();
    if let Some((body, document)) = document.and_then(|document| Some((request_of(&document.node)?, document))) {
        return Ok(check(body, Some(document.text), strictness));
    }
    let (_, decoded) = crate::convert::decode(input.again(), None, &DecodeOptions::default())?;
    let Some(session) = decoded.archive.main_session() else {
        return Err(Error::new(ErrorKind::NotFound, "there is no session to check"));
    };
    // An answer alone is no history yet.
    if session.extra.spelling(FORMAT, "kind").is_some() {
        return Ok(Vec::new());
    }
    let text = restore::parts(session, Kind::Request).request.unwrap_or_default().to_text();
    let Document { node, .. } = Input::new(text.as_bytes()).into_document()?;
    Ok(check(&node, None, strictness))
}

/// The request that a document is or holds.
fn request_of<'b, 'a>(document: &'b Node<'a>) -> Option<&'b Node<'a>> {
    let held = document.get("request").filter(|_| document.get("response").is_some());
    let body = held.unwrap_or(document);
    let settings = ["generationConfig", "systemInstruction"];
    let known = body.get("contents").is_some() || settings.iter().any(|key| body.get(key).is_some());
    let sniffs = || match body.clone().into_json() {
        turnkeep_model::Json::Object(object) => Gemini.sniff_request(&object).confidence > Confidence::No,
        _ => false,
    };
    (known || held.is_some() && sniffs()).then_some(body)
}

fn check(body: &Node<'_>, text: Option<&str>, strictness: Strictness) -> Vec<Finding> {
    let request = Request::of(body);
    let mut findings = Vec::new();
    for rule in RULES {
        let severity = if strictness == Strictness::Strict { Severity::Error } else { rule.severity };
        for (at, offset) in (rule.check)(&request) {
            let what = format!("{}; {}", rule.evidence, rule.fix);
            let line = text.map(|text| line_and_column(text, offset as usize).0);
            findings.push(Finding { rule: rule.id, severity, at, line, what });
        }
    }
    findings.extend(models::findings(FORMAT, None, body, text, strictness));
    findings
}
