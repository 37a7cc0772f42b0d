//! A session, judged before it is put right: as the request it would be, the findings told of places in the session.

use turnkeep_model::json::Json;
use turnkeep_model::{Error, ErrorKind, Result, Session};

use super::{Finding, Strictness, lint};
use crate::format;
use crate::input::Input;
use crate::wire::{Kind, Wire};

/// The field that ties a place of a body to a block while it is judged. Nobody ever sees it.
const TIE: &str = "x_turnkeep_at";

/// Rules on what a request must say of itself: a session has no place for it before it becomes one.
const OF_REQUESTS: &[&str] = &["AN-MODEL", "AN-MAXTOKENS"];

/// Checks a session against the rules of a wire, as `openai.chat` or `openai.chat:mistral`, before any repair.
///
/// # Errors
/// `NotFound` where the target is no wire whose rules are known.
pub fn lint_session(session: &Session, target: &str, strictness: Strictness) -> Result<Vec<Finding>> {
    let id = target.split(':').next().unwrap_or(target);
    let Some(wire) = format::wire(id) else {
        return Err(Error::new(ErrorKind::NotFound, format!("`{target}` is no vendor's wire")));
    };
    let body = unrepaired(wire, session);
    let text = body.to_text();
    let tied = unrepaired(wire, &with_ties(session, id));
    let mut findings = lint(Input::new(text.as_bytes()), target, strictness)?;
    findings.retain(|finding| !OF_REQUESTS.contains(&finding.rule));
    for finding in &mut findings {
        finding.line = None;
        if let Some(place) = place_of(&finding.at, &tied) {
            finding.what = format!("{} (it would be sent as `{}`)", finding.what, finding.at);
            finding.at = place;
        }
    }
    Ok(findings)
}

/// The request that a session would be if nobody put it right.
fn unrepaired(wire: &dyn Wire, session: &Session) -> Json {
    let mut session = session.clone();
    // An answer that came in a response is history by now.
    for turn in &mut session.turns {
        turn.extra.part_mut(wire.spec().id).spelling.remove("from");
        turn.extra.part_mut(wire.spec().id).spelling.remove("response");
        turn.extra.tidy();
    }
    wire.restore(&session, Kind::Request).request.unwrap_or_default()
}

fn with_ties(session: &Session, id: &str) -> Session {
    let mut session = session.clone();
    for (turn, content) in session.turns.iter_mut().enumerate() {
        for (block, content) in content.blocks.iter_mut().enumerate() {
            let place = format!("turns[{turn}].blocks[{block}]");
            content.extra.part_mut(id).fields.set(TIE, place.as_str());
            content.message.extra.part_mut(id).fields.set(TIE, place);
        }
    }
    session
}

/// The block that a place of a body came from: what ties the deepest value on the way there, or the first below it.
fn place_of(at: &str, tied: &Json) -> Option<String> {
    let mut here = tied;
    let mut found = None;
    for step in steps(at) {
        let next = match (here, step) {
            (Json::Object(object), Step::Key(key)) => object.get(key),
            (Json::Array(items), Step::Index(index)) => items.get(index),
            _ => None,
        };
        let Some(next) = next else { break };
        here = next;
        found = own_tie(here).or(found);
    }
    let is_content = at.starts_with("messages") || at.starts_with("contents") || at.starts_with("input");
    found.or_else(|| first_tie(here).filter(|_| is_content))
}

fn own_tie(value: &Json) -> Option<String> {
    let place = value.as_object()?.get_str(TIE)?;
    Some(place.into_owned())
}

fn first_tie(value: &Json) -> Option<String> {
    match value {
        Json::Object(object) => own_tie(value).or_else(|| object.iter().find_map(|(_, value)| first_tie(value))),
        Json::Array(items) => items.iter().find_map(first_tie),
        _ => None,
    }
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The keys and indices of a place, as in `messages[3].content`.
fn steps(at: &str) -> impl Iterator<Item = Step<'_>> {
    at.split(['.', '[']).filter(|word| !word.is_empty()).map(|word| match word.strip_suffix(']') {
        Some(index) => index.parse().map_or(Step::Key(word), Step::Index),
        None => Step::Key(word),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnkeep_model::json::parse;

    #[test]
    fn a_place_in_a_body_is_a_block() {
        let body = parse(
            r#"{"messages":[{"role":"user","x_turnkeep_at":"turns[0].blocks[0]","content":"a"},{"role":"assistant",
            "x_turnkeep_at":"turns[0].blocks[1]","tool_calls":[{"x_turnkeep_at":"turns[0].blocks[2]","id":"a"}]}],
            "tools":[]}"#,
        );
        let body = body.unwrap().into_json();
        let place = |at: &str| place_of(at, &body);

        assert_eq!(place("messages[1].tool_calls[0].id").as_deref(), Some("turns[0].blocks[2]"));
        assert_eq!(place("messages[0].content[3].text").as_deref(), Some("turns[0].blocks[0]"));
        assert_eq!(place("messages").as_deref(), Some("turns[0].blocks[0]"));
        assert_eq!(place("tools[0].name"), None);
    }
}
