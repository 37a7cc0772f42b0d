//! What the vendors of this wire refuse, as data.

mod history;
mod rules;
mod settings;
mod view;

use turnkeep_model::{Error, ErrorKind, Result, line_and_column};

use super::profile::{self, Profile};
use crate::input::{Document, Input};
use crate::lint::{Finding, Severity, Strictness};
use crate::models;
use crate::wire::Kind;
use view::Request;

/// One thing that a vendor refuses or does not like.
pub(crate) struct Rule {
    /// What is told of it.
    pub(crate) told: crate::lint::Rule,
    /// Whether a vendor has the rule.
    applies: fn(&Profile) -> bool,
    /// Where a request breaks it.
    check: fn(&Request<'_>, &Profile, &mut Vec<Hit>),
}

/// One place that breaks a rule.
struct Hit {
    at: String,
    offset: u32,
    what: String,
}

/// Every rule that some vendor has.
pub(crate) fn rules() -> Vec<&'static crate::lint::Rule> {
    rules::RULES.iter().map(|rule| &rule.told).collect()
}

/// Checks a body against the rules of the vendor `name`.
///
/// # Errors
/// Where the bytes are unusable.
pub(crate) fn lint(input: &Input<'_>, strictness: Strictness, name: &str) -> Result<Vec<Finding>> {
    let profile = profile::named(Some(name));
    match input.document().ok().filter(|document| document.node.get("messages").is_some()) {
        Some(document) => Ok(check(&Request::of(&document.node), document.text, profile, strictness)),
        None => foreign(input.again(), strictness, profile),
    }
}

fn check(request: &Request<'_>, text: &str, profile: &Profile, strictness: Strictness) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in rules::RULES.iter().filter(|rule| (rule.applies)(profile)) {
        let mut hits = Vec::new();
        (rule.check)(request, profile, &mut hits);
        findings.extend(hits.into_iter().map(|hit| finding(rule, hit, text, strictness)));
    }
    findings.extend(models::findings(super::ID, Some(profile.name), request.body, Some(text), strictness));
    findings
}

fn finding(rule: &'static Rule, hit: Hit, text: &str, strictness: Strictness) -> Finding {
    let severity = match strictness {
        Strictness::Strict => Severity::Error,
        Strictness::Lax => rule.told.severity,
    };
    let what = format!("{}; the vendor answers: {}; {}", hit.what, rule.told.evidence, rule.told.fix);
    let line = Some(line_and_column(text, hit.offset as usize).0);
    Finding { rule: rule.told.id, severity, at: hit.at, line, what }
}

/// What is not a request of this wire is judged as the request it would be without repair. Answers alone are no
/// history yet.
fn foreign(input: Input<'_>, strictness: Strictness, profile: &Profile) -> Result<Vec<Finding>> {
    let (_, decoded) = crate::convert::decode(input, None, &crate::codec::DecodeOptions::default())?;
    let Some(session) = decoded.archive.main_session() else {
        return Err(Error::new(ErrorKind::NotFound, "there is no session to judge"));
    };
    let answered_only = session.extra.spelling(super::ID, "kind").and_then(turnkeep_model::Json::as_str);
    if answered_only.and_then(|word| Kind::from_word(&word)).is_some_and(|kind| kind != Kind::Exchange) {
        return Ok(Vec::new());
    }
    let body = super::restore::parts(session, Kind::Request).request.unwrap_or_default().to_text();
    let Document { node, text, .. } = Input::new(body.as_bytes()).into_document()?;
    let mut findings = check(&Request::of(&node), text, profile, strictness);
    findings.iter_mut().for_each(|finding| finding.line = None);
    Ok(findings)
}
