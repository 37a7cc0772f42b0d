//! Conversations as one item: `ConversationState`.

use turnkeep_model::json::{Fields, Json, Node, Object, Text, Value};
use turnkeep_model::{EvaluationId, Session, Time, Turn};

use super::conversation::{FIELDS, prompt_of};
use super::group::Group;
use super::message::{Message, NameKey, Unpacker, holds_text, into_fields, into_text, is_absent, is_text_or_absent};
use super::{FORMAT, python};
use crate::fields::{Opened, kept_pairs, open};
use crate::tree;

const NAME: NameKey = NameKey::Name;

/// The keys of a conversation that are read.
const STATE: [&str; 6] = ["evaluation_id", "prompt_ns", "prompt_key", "created_at", "system_message", "turns"];

/// The keys of a turn.
const TURN: [&str; 6] =
    ["assistant_message", "tool_messages", "provider_payload", "evaluation_id", "created_at", "turn_number"];

/// The note that a conversation leaves out its turns, of which it has none.
const NO_TURNS: &str = "no_turns";

/// Whether an item is a conversation.
pub(super) fn is_state(item: &Node<'_>) -> bool {
    let are_turns = |turns: &Node<'_>| turns.as_array().is_some_and(|turns| turns.iter().all(is_turn));
    is_unique(item)
        && ["evaluation_id", "prompt_ns", "prompt_key"].into_iter().all(|key| holds_text(item, key))
        && is_text_or_absent(item, "created_at")
        && item.get("system_message").is_some_and(|system| is_role(system, "system", Calls::None))
        && item.get("turns").is_none_or(are_turns)
}

/// Whether a value is an object without a key that stands twice.
fn is_unique(node: &Node<'_>) -> bool {
    node.as_object().is_some_and(|fields| !python::has_duplicates(fields))
}

/// Whether a message may call tools where it stands.
#[derive(PartialEq)]
enum Calls {
    None,
    Some,
}

/// Whether a value is a message that has this role where it stands.
fn is_role(node: &Node<'_>, role: &str, calls: Calls) -> bool {
    let lists_none = || node.get("tool_calls").and_then(Node::as_array).is_none_or(<[Node<'_>]>::is_empty);
    node.get_str("role").as_deref() == Some(role)
        && Message::is_message(node, NAME)
        && (calls == Calls::Some || lists_none())
}

fn is_turn(node: &Node<'_>) -> bool {
    let tools = match node.get("tool_messages") {
        None => true,
        Some(tools) => {
            tools.as_array().is_some_and(|tools| tools.iter().all(|tool| is_role(tool, "tool", Calls::None)))
        }
    };
    is_unique(node)
        && tools
        && node.get("assistant_message").is_some_and(|answer| is_role(answer, "assistant", Calls::Some))
        && node.get("turn_number").is_none_or(|number| matches!(number.value, Value::Number(_)))
        && ["evaluation_id", "created_at"].into_iter().all(|key| is_text_or_absent(node, key))
}

fn text_of(node: Option<Node<'_>>) -> Option<String> {
    node.and_then(into_text).map(std::borrow::Cow::into_owned)
}

fn items_of(node: Option<Node<'_>>) -> Option<Vec<Node<'_>>> {
    match node?.value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

fn message_of(node: Option<Node<'_>>) -> Message<'_> {
    Message::read_alone(node.map(into_fields).unwrap_or_default(), NAME)
}

/// Puts the conversation of an item that [`is_state`] accepts into a session.
pub(super) fn unpack(item: Node<'_>, session: &mut Session) {
    let Opened { slots, rest, .. } = open(into_fields(item), &STATE);
    let [evaluation, ns, key, created, system, turns] = slots;
    let evaluation = text_of(evaluation).unwrap_or_default();
    session.prompt = prompt_of(text_of(ns).unwrap_or_default(), text_of(key).unwrap_or_default());
    session.timing.created = text_of(created).map(Time::new);
    let system = message_of(system);
    let turns = items_of(turns).unwrap_or_else(|| {
        session.extra.part_mut(FORMAT).spelling.set(NO_TURNS, true);
        Vec::new()
    });
    let mut unpacker = Unpacker::default();
    let mut all = Vec::new();
    // The specification has no way to leave the system message out.
    let system = if system.is_silent_system() { Vec::new() } else { unpacker.blocks(system) };
    if turns.is_empty() && !system.is_empty() {
        all.push(Turn { evaluation: evaluation_id(&evaluation), ..Turn::default() });
    }
    all.extend(turns.into_iter().enumerate().map(|(index, turn)| unpack_turn(index, into_fields(turn), &mut unpacker)));
    if let Some(first) = all.first_mut() {
        first.blocks.splice(0..0, system);
    }
    let mut unknown = kept_pairs(rest);
    if implied_evaluation(&all) != evaluation {
        unknown.set("evaluation_id", evaluation);
    }
    session.turns = all;
    if !unknown.is_empty() {
        session.extra.part_mut(FORMAT).fields.set(FIELDS, unknown);
    }
}

fn evaluation_id(text: &str) -> Option<EvaluationId> {
    (!text.is_empty()).then(|| EvaluationId::new(text))
}

fn implied_evaluation(turns: &[Turn]) -> &str {
    turns.first().and_then(|turn| turn.evaluation.as_ref()).map_or("", |evaluation| evaluation.as_str())
}

fn unpack_turn(index: usize, fields: Fields<'_>, unpacker: &mut Unpacker) -> Turn {
    let Opened { slots: [answer, tools, payload, evaluation, created, number], rest, .. } = open(fields, &TURN);
    let mut turn = Turn { blocks: unpacker.blocks(message_of(answer)), ..Turn::default() };
    let mut missing: Vec<Json> = Vec::new();
    match items_of(tools) {
        Some(tools) => {
            let read = |tool| unpacker.blocks(Message::read_alone(into_fields(tool), NAME));
            turn.blocks.extend(tools.into_iter().flat_map(read));
        }
        None => missing.push("tool_messages".into()),
    }
    match payload {
        None => missing.push("provider_payload".into()),
        Some(payload) => turn.provider_payload = payload.into_json(),
    }
    turn.evaluation = text_of(evaluation).map(EvaluationId::new);
    turn.timing.created = text_of(created).map(Time::new);
    let part = turn.extra.part_mut(FORMAT);
    match number.map(Node::into_json) {
        None => missing.push("turn_number".into()),
        Some(number) if number == Json::from(index as u64 + 1) => {}
        Some(number) => part.spelling.set("turn_number", number),
    }
    if !missing.is_empty() {
        part.spelling.set("absent", missing);
    }
    part.fields = kept_pairs(rest);
    turn.extra.tidy();
    turn
}

/// Whether a `ConversationState` can hold every message where it stands: a system message at most, then turns of one
/// answer and its results.
pub(super) fn fits(session: &Session, messages: &[Group<'_>]) -> bool {
    let mut next = 0;
    for group in messages.iter().skip(usize::from(messages.first().is_some_and(is_system))) {
        match group.role {
            "assistant" if group.turn == next => next += 1,
            "tool" if group.turn + 1 == next && !group.has_calls() => {}
            _ => return false,
        }
    }
    next == session.turns.len() || (next == 0 && session.turns.len() <= 1)
}

fn is_system(group: &Group<'_>) -> bool {
    group.turn == 0 && group.role == "system" && !group.has_calls()
}

/// The item of a session's conversation. What does not stand where the specification wants it goes where it can.
pub(super) fn pack<'s>(session: &'s Session, groups: &[Group<'s>]) -> Node<'s> {
    let mut system = None;
    let mut turns: Vec<(usize, Node<'s>, Vec<Node<'s>>)> = Vec::new();
    for group in groups {
        match (group.role, turns.last_mut()) {
            ("system", None) if system.is_none() && !group.has_calls() => system = Some(written(group)),
            ("tool", Some((.., tools))) if !group.has_calls() => tools.push(written(group)),
            ("assistant", _) => turns.push((group.turn, written(group), Vec::new())),
            // The specification has no place for it.
            _ => {}
        }
    }
    let kept = session.extra.fields(FORMAT).and_then(|fields| fields.get(FIELDS)).and_then(Json::as_object);
    let mut fields = kept_fields(kept);
    let mut push = |key: &'static str, value: Node<'s>| fields.push((Text::Plain(key), value));
    if let Some(created) = &session.timing.created {
        push("created_at", tree::text(created.as_str()));
    }
    if !kept.is_some_and(|kept| kept.contains("evaluation_id")) {
        push("evaluation_id", tree::text(implied_evaluation(&session.turns)));
    }
    let (ns, key) = session.prompt.as_ref().map_or(("", ""), |prompt| (&prompt.ns, &prompt.key));
    push("prompt_key", tree::text(key));
    push("prompt_ns", tree::text(ns));
    push("system_message", system.unwrap_or_else(silent_system));
    if !turns.is_empty() || session.extra.spelling(FORMAT, NO_TURNS).is_none() {
        let turns = turns.into_iter().enumerate();
        let turns =
            turns.map(|(index, (turn, answer, tools))| pack_turn(index, session.turns.get(turn), answer, tools));
        push("turns", tree::array(turns));
    }
    tree::object(fields)
}

fn written<'s>(group: &Group<'s>) -> Node<'s> {
    group.write(NAME, None, |_| None)
}

fn kept_fields(kept: Option<&Object>) -> Fields<'_> {
    kept.into_iter().flat_map(Object::iter).map(|(key, value)| (key.to_text(), value.to_node())).collect()
}

/// A system message that says nothing stands for none: the specification has no way to leave it out.
fn silent_system<'s>() -> Node<'s> {
    let pairs = [
        ("content", tree::text("")),
        ("name", tree::null()),
        ("role", tree::text("system")),
        ("tool_call_id", tree::null()),
        ("tool_calls", tree::array([])),
    ];
    tree::object(pairs.into_iter().map(|(key, value)| (Text::Plain(key), value)).collect())
}

fn pack_turn<'s>(index: usize, turn: Option<&'s Turn>, answer: Node<'s>, tools: Vec<Node<'s>>) -> Node<'s> {
    let part = turn.and_then(|turn| turn.extra.part(FORMAT));
    let absent = |key: &str| part.is_some_and(|part| is_absent(&part.spelling, key));
    let mut fields = kept_fields(part.map(|part| &part.fields));
    let mut push = |key: &'static str, value: Node<'s>| fields.push((Text::Plain(key), value));
    push("assistant_message", answer);
    if let Some(created) = turn.and_then(|turn| turn.timing.created.as_ref()) {
        push("created_at", tree::text(created.as_str()));
    }
    if let Some(evaluation) = turn.and_then(|turn| turn.evaluation.as_ref()) {
        push("evaluation_id", tree::text(evaluation.as_str()));
    }
    let payload = turn.map_or_else(tree::null, |turn| turn.provider_payload.to_node());
    if payload.value != Value::Null || !absent("provider_payload") {
        push("provider_payload", payload);
    }
    if !tools.is_empty() || !absent("tool_messages") {
        push("tool_messages", tree::array(tools));
    }
    match part.and_then(|part| part.spelling.get("turn_number")) {
        Some(number) => push("turn_number", number.to_node()),
        None if absent("turn_number") => {}
        None => push("turn_number", tree::count(index as u64 + 1)),
    }
    tree::object(fields)
}
