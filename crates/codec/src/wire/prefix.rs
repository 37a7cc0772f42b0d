//! Where opaque reasoning can be verified: by the account that it was made for, and, with some vendors, only behind what
//! stood before it.

use std::collections::HashSet;

use turnkeep_model::json::{Json, TreeSink};
use turnkeep_model::shape::{FlatShape, Shape};
use turnkeep_model::{Body, Reasoning, Session, Turn, canon};

/// Whether some reasoning was made for another account than the one it would be sent from, as far as both are known.
pub(crate) fn is_of_other_account(reasoning: &Reasoning, turn: Option<&Turn>, account: Option<&str>) -> bool {
    let made_for = reasoning.scope.as_ref().and_then(|scope| scope.account.as_deref());
    let made_for = made_for.or_else(|| turn.and_then(|turn| turn.account.as_deref()));
    matches!((made_for, account), (Some(made_for), Some(account)) if made_for != account)
}

/// Stamps opaque reasoning with the fingerprint of what stands before its message.
pub(crate) fn stamp(session: &mut Session) {
    for (turn, block, print) in fingerprints(session) {
        let found = session.turns.get_mut(turn).and_then(|turn| turn.blocks.get_mut(block));
        if let Some(Body::Reasoning(Reasoning { scope: Some(scope), .. })) = found.map(|block| &mut block.body) {
            scope.prefix = Some(print);
        }
    }
}

/// The places of reasoning that something else stands before than when it was made.
pub(crate) fn broken(session: &Session) -> HashSet<(usize, usize)> {
    let stamped = |turn: usize, block: usize| match &session.turns.get(turn)?.blocks.get(block)?.body {
        Body::Reasoning(reasoning) => reasoning.scope.as_ref()?.prefix.as_ref(),
        _ => None,
    };
    let prints = fingerprints(session).into_iter();
    let differs = prints.filter(|(turn, block, print)| stamped(*turn, *block).is_some_and(|stamp| stamp != print));
    differs.map(|(turn, block, _)| (turn, block)).collect()
}

/// The fingerprint of what stands before each opaque piece of reasoning. A history without any costs nothing.
fn fingerprints(session: &Session) -> Vec<(usize, usize, String)> {
    let is_opaque = |body: &Body| match body {
        Body::Reasoning(reasoning) => {
            reasoning.scope.is_some() && (reasoning.signature.is_some() || reasoning.encrypted.is_some())
        }
        _ => false,
    };
    let Some(last) = session.blocks().filter(|(_, b)| is_opaque(&b.body)).map(|(_, b)| b.message.ordinal).max() else {
        return Vec::new();
    };
    let mut prints = Vec::new();
    let mut print = canon::digest(&Json::Array(session.tools.iter().map(tree).collect()));
    let mut message: Option<(u32, Vec<Json>)> = None;
    for (turn, index, block) in session.in_message_order() {
        let ordinal = block.message.ordinal;
        if ordinal > last {
            break;
        }
        if message.as_ref().is_none_or(|(open, _)| *open != ordinal) {
            if let Some((_, before)) = message.take() {
                print = canon::digest(&Json::Array([Json::from(print)].into_iter().chain(before).collect()));
            }
            message = Some((ordinal, Vec::new()));
        }
        if is_opaque(&block.body) {
            prints.push((turn, index, print.clone()));
        }
        if let Some((_, content)) = &mut message {
            content.push(content_of(&block.body, block.author.as_str()));
        }
    }
    prints
}

/// What a block says and who says it. The stamp itself is no part of it.
fn content_of(body: &Body, author: &str) -> Json {
    let mut body = body.clone();
    if let Body::Reasoning(reasoning) = &mut body {
        reasoning.scope = None;
    }
    let mut sink = TreeSink::default();
    turnkeep_model::json::Sink::begin_object(&mut sink);
    body.write_fields(&mut sink);
    turnkeep_model::json::Sink::end_object(&mut sink);
    Json::Array(vec![Json::from(author), sink.into_json()])
}

fn tree<T: Shape>(value: &T) -> Json {
    let mut sink = TreeSink::default();
    value.write(&mut sink);
    sink.into_json()
}
