//! What is wrong with a request, rule by rule.

mod body;
mod check;
mod rules;
mod told;

pub use rules::{RULES, Rule};
pub(crate) use told::rules;

use turnkeep_model::Result;
use turnkeep_model::json::{Json, Node, Object};

use self::body::Body;
use super::profile::{OPENAI, Profile};
use super::{request, wire};
use crate::codec::DecodeOptions;
use crate::input::Input;
use crate::lint::{Finding, Severity, Strictness};
use crate::sniff::Confidence;
use crate::wire::Wire;

/// Checks a request against the rules of a vendor that speaks this wire. A document of another kind is judged by the
/// request that its session makes up before repair.
///
/// # Errors
/// Where the bytes are unusable.
pub fn lint(input: Input<'_>, strictness: Strictness, profile: &str) -> Result<Vec<Finding>> {
    let (request, within) = request_of(input)?;
    let profile = Profile::by_name(profile).unwrap_or(&OPENAI);
    Ok(findings(&request, profile, strictness, within))
}

fn findings(request: &Object, profile: &Profile, strictness: Strictness, within: &str) -> Vec<Finding> {
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
    findings
}

/// The request to judge, and where it stands in the document.
fn request_of(input: Input<'_>) -> Result<(Object, &'static str)> {
    let has = |key: &str| input.document().is_ok_and(|document| document.node.get(key).is_some());
    if has("input") && !has("messages") {
        return match input.into_document()?.node.into_json() {
            Json::Object(body) => Ok((body, "")),
            _ => Ok((Object::new(), "")),
        };
    }
    let exchange = input.document().ok().and_then(|document| document.node.get("request"));
    if let Some(Json::Object(request)) = exchange.cloned().map(Node::into_json)
        && wire::Responses.sniff_request(&request).confidence > Confidence::No
    {
        return Ok((request, "request."));
    }
    let (_, decoded) = crate::convert::decode(input, None, &DecodeOptions::default())?;
    let session = decoded.archive.main_session().cloned().unwrap_or_default();
    let blocks: Vec<_> = session.in_message_order().into_iter().map(|(_, _, block)| block).collect();
    match request::write(&session, &blocks, request::model(&session)) {
        Json::Object(body) => Ok((body, "")),
        _ => Ok((Object::new(), "")),
    }
}
