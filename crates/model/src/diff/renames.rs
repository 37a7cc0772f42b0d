//! Calls that only changed their id: one difference, not a call that went and one that came.

use std::collections::{HashMap, HashSet};

use super::{Change, tree};
use crate::block::{Body, ToolCall};
use crate::id::CallId;
use crate::session::Session;

/// How far ahead the same call is looked for: keeps long histories linear.
const REACH: usize = 64;

/// The first session with the ids that the second has for the same calls, and each such id as a difference; nothing where
/// there is none. Calls are the same where they stand in the same order and name the same tool.
pub(super) fn renamed(a: &Session, b: &Session) -> Option<(Session, Vec<Change>)> {
    let (known, other) = (ids(a), ids(b));
    let gone: Vec<_> = calls(a).filter(|(.., call)| !other.contains(&call.call)).collect();
    let new: Vec<_> = calls(b).filter(|(.., call)| !known.contains(&call.call)).collect();
    if gone.is_empty() || new.is_empty() {
        return None;
    }
    let mut names: HashMap<CallId, CallId> = HashMap::new();
    let mut taken: HashSet<&CallId> = HashSet::new();
    let mut changes = Vec::new();
    let mut next = 0;
    for (turn, block, call) in gone {
        let candidates = new.iter().enumerate().skip(next).take(REACH);
        let mut fits = candidates.filter(|(_, (.., other))| other.name == call.name && !taken.contains(&other.call));
        let Some((place, (.., other))) = fits.next().filter(|_| !names.contains_key(&call.call)) else { continue };
        next = place + 1;
        taken.insert(&other.call);
        names.insert(call.call.clone(), other.call.clone());
        let at = format!("turns[{turn}].blocks[{block}].call");
        changes.push(Change { at, before: Some(tree(&call.call)), after: Some(tree(&other.call)) });
    }
    (!changes.is_empty()).then(|| (with_names(a, &names), changes))
}

fn calls(session: &Session) -> impl Iterator<Item = (usize, usize, &ToolCall)> {
    session.turns.iter().enumerate().flat_map(|(turn, content)| {
        content.blocks.iter().enumerate().filter_map(move |(block, content)| match &content.body {
            Body::ToolCall(call) => Some((turn, block, call)),
            _ => None,
        })
    })
}

fn ids(session: &Session) -> HashSet<&CallId> {
    calls(session).map(|(.., call)| &call.call).collect()
}

fn with_names(session: &Session, names: &HashMap<CallId, CallId>) -> Session {
    let mut session = session.clone();
    for block in session.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        let id = match &mut block.body {
            Body::ToolCall(call) => &mut call.call,
            Body::ToolResult(result) => &mut result.call,
            _ => continue,
        };
        if let Some(name) = names.get(id) {
            *id = name.clone();
        }
    }
    session
}

#[cfg(test)]
mod tests {
    use super::super::diff;
    use super::*;
    use crate::block::{Author, Block, Text, ToolResult};
    use crate::session::Turn;

    fn session(ids: &[&str], asks: bool) -> Session {
        let mut blocks: Vec<Block> = Vec::new();
        if asks {
            blocks.push(Block::text(Author::User, "Go."));
        }
        for id in ids {
            let call = ToolCall { call: CallId::given(*id), name: "f".into(), arguments: "{}".into() };
            blocks.push(Block::new(Author::Assistant, call));
        }
        for id in ids {
            let parts = vec![Text { text: "R".into() }.into()];
            let call = CallId::given(*id);
            blocks.push(Block::new(
                Author::Tool,
                ToolResult { call, name: None, parts, error: None, is_error: None, outcome: None },
            ));
        }
        let blocks = blocks.into_iter().enumerate().map(|(at, block)| block.in_message(at as u32)).collect();
        Session { turns: vec![Turn { blocks, ..Turn::default() }], ..Session::default() }
    }

    #[test]
    fn an_id_that_changed_in_call_and_result_is_one_difference() {
        let changes = diff(&session(&["a", "b"], false), &session(&["x", "b"], false));

        let found: Vec<_> = changes.iter().map(|change| change.at.as_str()).collect();
        assert_eq!(found, ["turns[0].blocks[0].call"]);
        assert_eq!(changes.first().and_then(|change| change.before.clone()), Some("a".into()));
        assert_eq!(changes.first().and_then(|change| change.after.clone()), Some("x".into()));
    }

    #[test]
    fn renamed_calls_are_found_again_among_other_changes() {
        let changes = diff(&session(&["a", "b"], true), &session(&["x", "y"], false));

        let found: Vec<_> = changes.iter().map(|change| change.at.as_str()).collect();
        assert_eq!(found, ["turns[0].blocks[1].call", "turns[0].blocks[2].call", "turns[0].blocks[0]"]);
    }

    #[test]
    fn another_call_is_no_renamed_one() {
        let a = session(&["a"], false);
        let mut b = session(&["b"], true);
        for block in b.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
            if let Body::ToolCall(call) = &mut block.body {
                call.name = "g".into();
            }
        }

        assert!(renamed(&a, &b).is_none());
    }
}
