//! What a vendor refuses, in its own words.

use turnkeep_codec::Input;
use turnkeep_codec::lint::{self, Severity, Strictness};
use turnkeep_codec::wire::Wire;
use turnkeep_codec::wire::mock::{Refusal, seal};
use turnkeep_model::{Body, Reasoning};

use super::asked::Asked;
use super::script::{Script, Signatures};

/// Why a vendor refuses a request: the first rule that its history breaks.
pub(super) fn refusal(wire: &dyn Wire, profile: Option<&str>, asked: &Asked, script: &Script) -> Option<Refusal> {
    broken_rule(wire, profile, asked).or_else(|| foreign_seal(wire, asked, script))
}

fn broken_rule(wire: &dyn Wire, profile: Option<&str>, asked: &Asked) -> Option<Refusal> {
    let text = asked.body.to_text();
    let id = wire.spec().id;
    let target = profile.map_or_else(|| id.to_owned(), |profile| format!("{id}:{profile}"));
    let findings = lint::lint(Input::new(text.as_bytes()), &target, Strictness::Lax).ok()?;
    let broken = findings.into_iter().find(|finding| finding.severity == Severity::Error)?;
    let rule = lint::rules(id).into_iter().find(|rule| rule.id == broken.rule);
    let message = rule.map_or_else(|| broken.what.clone(), |rule| rule.evidence.replace("{}", &broken.at));
    Some(refused(message))
}

/// Thinking that another vendor sealed, or nobody.
fn foreign_seal(wire: &dyn Wire, asked: &Asked, script: &Script) -> Option<Refusal> {
    if script.signatures == Signatures::Any {
        return None;
    }
    let thoughts = asked.session.blocks().filter_map(|(_, block)| match &block.body {
        Body::Reasoning(reasoning) => Some(reasoning),
        _ => None,
    });
    let is_own = |given: &str, reasoning: &Reasoning| {
        let thought = reasoning.text.clone().unwrap_or_else(|| reasoning.summary.join("\n\n"));
        given == seal(wire.spec().id, &thought) || script.seals().any(|seal| seal == given)
    };
    let mut foreign = thoughts.filter(|reasoning| {
        let seals = [&reasoning.signature, &reasoning.encrypted];
        seals.into_iter().flatten().any(|given| !is_own(given, reasoning))
    });
    foreign.next().map(|_| refused(wire.mock().foreign_seal()))
}

fn refused(message: impl Into<String>) -> Refusal {
    Refusal { status: 400, class: None, message: message.into() }
}
