//! What is wrong with a request, rule by rule.

mod body;
mod check;
mod rules;
mod told;

pub use rules::{RULES, Rule};
pub(crate) use told::rules;

use turnkeep_model::json::{Json, Node};
use turnkeep_model::{ErrorKind, Result};

use self::body::Body;
use super::profile::{OPENAI, Profile};
use super::{FORMAT, request, wire};
use crate::codec::DecodeOptions;
use crate::input::Input;
use crate::lint::{Finding, Severity, Strictness};
use crate::models;
use crate::sniff::Confidence;
use crate::wire::{Wire, shortened};

/// Checks a request against the rules of a vendor that speaks this wire. A document of another kind is judged by the
/// request that its session makes up before repair.
///
/// # Errors
/// Where the bytes are unusable.
pub fn lint(input: &Input<'_>, strictness: Strictness, profile: &str) -> Result<Vec<Finding>> {
    let profile = Profile::by_name(profile).unwrap_or(&OPENAI);
    if let Some((request, within)) = input.document().ok().and_then(|document| request_of(&document.node)) {
        return Ok(findings(request, profile, strictness, within));
    }
    match foreign(input.again()) {
        Ok(request) => Ok(findings(&request.to_node(), profile, strictness, "")),
        // What is nobody else's and names a model is a request that asks nothing.
        Err(error) => match input.document().ok().filter(|document| document.node.get("model").is_some()) {
            Some(document) if error.kind() == ErrorKind::NotThisFormat => {
                Ok(findings(&document.node, profile, strictness, ""))
            }
            _ => Err(error),
        },
    }
}

fn findings(request: &Node<'_>, profile: &Profile, strictness: Strictness, within: &str) -> Vec<Finding> {
    let body = Body::of(request, profile);
    let mut findings = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.applies(&body)) {
        let severity = if strictness == Strictness::Strict { Severity::Error } else { rule.severity };
        findings.extend((rule.check)(&body).into_iter().map(|hit| Finding {
            rule: rule.id,
            severity,
            at: format!("{within}{}", hit.at),
            line: None,
            what: format!("{}; {}", rule.evidence.replace("{}", &hit.subject), rule.fix),
        }));
    }
    let mut of_models = models::findings(FORMAT, Some(profile.name), request, None, strictness);
    of_models.iter_mut().for_each(|finding| finding.at.insert_str(0, within));
    findings.append(&mut of_models);
    findings
}

/// The request of this wire that a document is or holds, and where it stands in it.
fn request_of<'b, 'a>(document: &'b Node<'a>) -> Option<(&'b Node<'a>, &'static str)> {
    if document.get("input").is_some() && document.get("messages").is_none() {
        return Some((document, ""));
    }
    let request = document.get("request")?;
    match shortened(request) {
        Json::Object(short) if wire::Responses.sniff_request(&short).confidence > Confidence::No => {
            Some((request, "request."))
        }
        _ => None,
    }
}

/// The request that a session makes up before repair.
fn foreign(input: Input<'_>) -> Result<Json> {
    let (_, decoded) = crate::convert::decode(input, None, &DecodeOptions::default())?;
    let session = decoded.archive.main_session().cloned().unwrap_or_default();
    let blocks: Vec<_> = session.in_message_order().into_iter().map(|(_, _, block)| block).collect();
    Ok(request::write(&session, &blocks, request::model(&session)))
}
