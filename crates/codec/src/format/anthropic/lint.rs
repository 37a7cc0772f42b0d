//! What the vendor demands of a request.

use turnkeep_model::json::{Node, Object};
use turnkeep_model::{Error, ErrorKind, Result};

use super::restore;
use super::wire::Messages;
use crate::codec::DecodeOptions;
use crate::input::Input;
use crate::lint::{Finding, Severity, Strictness};
use crate::models;
use crate::sniff::Confidence;
use crate::wire::rule::{Evidence, Found, Rule, findings, request_of};
use crate::wire::view::View;
use crate::wire::{Kind, Wire};

use super::rules::{content, settings, tools};

/// What Anthropic demands of a request.
pub static RULES: &[&[Rule]] = &[content::RULES, tools::RULES, settings::RULES];

/// Rules on what a request must say of itself; a session has no place for it before it becomes a request.
const REQUIRED: &[&str] = &["AN-MODEL", "AN-MAXTOKENS"];

/// Checks a request body, the request of an exchange, or a session before it is put right.
pub fn lint(input: &Input<'_>, strictness: Strictness) -> Result<Vec<Finding>> {
    if let Some(body) = input.document().ok().and_then(|document| request_of(&document.node, is_request)) {
        return Ok(check(body, strictness));
    }
    let codec = match crate::sniff(input) {
        Ok(sniffed) => sniffed.codec,
        // What is nobody else's and has messages is a request, broken as it may be.
        Err(error) => {
            let node = input.document().ok().map(|document| &document.node);
            let body = node.filter(|node| node.get("messages").and_then(Node::as_array).is_some());
            return body.map(|body| check(body, strictness)).ok_or(error);
        }
    };
    let decoded = codec.decode(input.again(), &DecodeOptions::default())?;
    let Some(session) = decoded.archive.main_session() else {
        return Err(Error::new(ErrorKind::NotFound, "there is no session to check"));
    };
    let Some(body) = restore::parts(session, Kind::Request).request else { return Ok(Vec::new()) };
    let mut found = check(&body.to_node(), strictness);
    found.retain(|finding| !REQUIRED.contains(&finding.rule));
    Ok(found)
}

fn check(body: &Node<'_>, strictness: Strictness) -> Vec<Finding> {
    let view = View::of(body, content::kinds, tools::call_key);
    let of_models = models::findings(super::WIRE, None, body, None, strictness);
    RULES.iter().flat_map(|rules| findings(rules, &view, strictness)).chain(of_models).collect()
}

fn is_request(body: &Object) -> bool {
    let looks = Messages.sniff_request(body).confidence > Confidence::No;
    looks || body.contains("messages") && !body.contains("turnkeep") && only_known(body)
}

/// Whether every field is one that a request may have: then it is judged as a request, broken as it may be.
fn only_known(body: &Object) -> bool {
    body.iter().all(|(key, _)| super::decode::REQUEST.contains(&&*key.to_str_lossy()))
}

/// Shorthand of a rule that is an error for every model.
pub(super) const fn error(
    id: &'static str,
    evidence: Evidence,
    fix: &'static str,
    check: fn(&View<'_, '_>) -> Found,
) -> Rule {
    Rule { id, severity: Severity::Error, models: "", evidence, fix, check }
}

/// Shorthand of a rule that is a warning for every model.
pub(super) const fn warning(
    id: &'static str,
    evidence: Evidence,
    fix: &'static str,
    check: fn(&View<'_, '_>) -> Found,
) -> Rule {
    Rule { id, severity: Severity::Warning, models: "", evidence, fix, check }
}
