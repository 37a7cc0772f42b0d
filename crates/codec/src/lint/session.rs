//! A session, judged before it is put right: as the request it would be, the findings told of places in the session.

use turnkeep_model::json::Json;
use turnkeep_model::{Error, ErrorKind, Result, Session};

use super::view::{PathSegment, segments};
use super::wire::unrepaired;
use super::{Finding, Strictness, judge};

/// The field that ties a place of a body to a block while it is judged. Nobody ever sees it.
const TIE: &str = "x_turnkeep_at";

/// Checks a session against the rules of a wire, as `openai.chat` or `openai.chat:mistral`, before any repair. `family` is
/// the model that is asked, where the name that the session has for it does not tell.
///
/// # Errors
/// `NotFound` where the target is no wire whose rules are known.
pub fn lint_session(
    session: &Session,
    target: &str,
    family: Option<&str>,
    strictness: Strictness,
) -> Result<Vec<Finding>> {
    let (id, dialect) = target.split_once(':').map_or((target, None), |(id, dialect)| (id, Some(dialect)));
    let Some(judge) = judge(id, dialect, strictness) else {
        return Err(Error::new(ErrorKind::NotFound, format!("`{target}` is no vendor's wire")));
    };
    let mut body = unrepaired(judge.wire, session);
    if let (Some(family), Json::Object(body)) = (family, &mut body) {
        body.set(judge.wire.contract().naming.key(), family);
    }
    let mut findings = judge.unrepaired(&body);
    let tied = unrepaired(judge.wire, &with_ties(session, id));
    for finding in &mut findings {
        if let Some(place) = place_of(&finding.at, &tied) {
            finding.what = format!("{} (it would be sent as `{}`)", finding.what, finding.at);
            finding.at = place;
        }
    }
    Ok(findings)
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
    for segment in segments(at) {
        let next = match (here, segment) {
            (Json::Object(object), PathSegment::Key(key)) => object.get(key),
            (Json::Array(items), PathSegment::Index(index)) => items.get(index),
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
