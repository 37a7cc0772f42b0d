//! Conversations as one item: `ConversationState`.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{EvaluationId, PromptId, Session, Time, Turn};

use super::FORMAT;
use super::conversation::{FIELDS, prompt_of};
use super::message::{Ends, Group, Message, NameKey, Unpacker, holds_text, is_absent, is_text_or_absent, take_text};

const NAME: NameKey = NameKey("name");

/// The note that a conversation leaves out its turns, of which it has none.
const NO_TURNS: &str = "no_turns";

/// Whether an item is a conversation.
pub(super) fn is_state(item: &Json) -> bool {
    let Json::Object(object) = item else { return false };
    let are_turns = |turns: &Json| turns.as_array().is_some_and(|turns| turns.iter().all(is_turn));
    !object.has_duplicates()
        && ["evaluation_id", "prompt_ns", "prompt_key"].into_iter().all(|key| holds_text(object, key))
        && is_text_or_absent(object, "created_at")
        && object.get("system_message").is_some_and(|system| is_role(system, "system", Calls::None))
        && object.get("turns").is_none_or(are_turns)
}

/// Whether a message may call tools where it stands.
#[derive(PartialEq)]
enum Calls {
    None,
    Some,
}

/// Whether a value is a message that has this role where it stands.
fn is_role(value: &Json, role: &str, calls: Calls) -> bool {
    let Json::Object(object) = value else { return false };
    let lists_none = || object.get("tool_calls").and_then(Json::as_array).is_none_or(<[Json]>::is_empty);
    object.get_str("role").as_deref() == Some(role)
        && Message::is_message(object, NAME)
        && (calls == Calls::Some || lists_none())
}

fn is_turn(value: &Json) -> bool {
    let Json::Object(object) = value else { return false };
    let tools = match object.get("tool_messages") {
        None => true,
        Some(Json::Array(tools)) => tools.iter().all(|tool| is_role(tool, "tool", Calls::None)),
        Some(_) => false,
    };
    !object.has_duplicates()
        && tools
        && object.get("assistant_message").is_some_and(|answer| is_role(answer, "assistant", Calls::Some))
        && object.get("turn_number").is_none_or(|number| number.as_number().is_some())
        && ["evaluation_id", "created_at"].into_iter().all(|key| is_text_or_absent(object, key))
}

/// Puts the conversation of an item that [`is_state`] accepts into a session.
pub(super) fn unpack(item: Json, session: &mut Session) {
    let mut object = as_object(item);
    let evaluation = take_text(&mut object, "evaluation_id").unwrap_or_default();
    let ns = take_text(&mut object, "prompt_ns").unwrap_or_default();
    session.prompt = prompt_of(ns, take_text(&mut object, "prompt_key").unwrap_or_default());
    session.timing.created = take_text(&mut object, "created_at").map(Time::new);
    let system = Message::read_alone(object.remove("system_message").map(as_object).unwrap_or_default(), NAME);
    let turns = match object.remove("turns") {
        Some(Json::Array(turns)) => turns,
        _ => {
            session.extra.part_mut(FORMAT).spelling.set(NO_TURNS, true);
            Vec::new()
        }
    };
    let mut unpacker = Unpacker::default();
    let mut all = Vec::new();
    let system = if is_nothing(&system) { Vec::new() } else { unpacker.blocks(system) };
    if turns.is_empty() && !system.is_empty() {
        all.push(Turn { evaluation: evaluation_id(&evaluation), ..Turn::default() });
    }
    all.extend(turns.into_iter().enumerate().map(|(index, turn)| unpack_turn(index, as_object(turn), &mut unpacker)));
    if let Some(first) = all.first_mut() {
        first.blocks.splice(0..0, system);
    }
    if implied_evaluation(&all) != evaluation {
        object.set("evaluation_id", evaluation);
    }
    session.turns = all;
    if !object.is_empty() {
        session.extra.part_mut(FORMAT).fields.set(FIELDS, object);
    }
}

fn as_object(value: Json) -> Object {
    match value {
        Json::Object(object) => object,
        _ => Object::new(),
    }
}

/// A system message that says nothing stands for none: the specification has no way to leave it out.
fn is_nothing(system: &Message) -> bool {
    *system == no_system()
}

fn no_system() -> Message {
    Message { role: "system".to_owned(), ..Message::default() }
}

fn evaluation_id(text: &str) -> Option<EvaluationId> {
    (!text.is_empty()).then(|| EvaluationId::new(text))
}

fn implied_evaluation(turns: &[Turn]) -> String {
    turns.first().and_then(|turn| turn.evaluation.as_ref()).map(ToString::to_string).unwrap_or_default()
}

fn unpack_turn(index: usize, mut object: Object, unpacker: &mut Unpacker) -> Turn {
    let answer = object.remove("assistant_message").map(as_object).unwrap_or_default();
    let mut turn = Turn { blocks: unpacker.blocks(Message::read_alone(answer, NAME)), ..Turn::default() };
    let mut missing: Vec<Json> = Vec::new();
    match object.remove("tool_messages") {
        Some(Json::Array(tools)) => {
            let read = |tool| unpacker.blocks(Message::read_alone(as_object(tool), NAME));
            turn.blocks.extend(tools.into_iter().flat_map(read));
        }
        _ => missing.push("tool_messages".into()),
    }
    match object.remove("provider_payload") {
        None => missing.push("provider_payload".into()),
        Some(payload) => turn.provider_payload = payload,
    }
    turn.evaluation = take_text(&mut object, "evaluation_id").map(EvaluationId::new);
    turn.timing.created = take_text(&mut object, "created_at").map(Time::new);
    let part = turn.extra.part_mut(FORMAT);
    match object.remove("turn_number") {
        None => missing.push("turn_number".into()),
        Some(number) if number == Json::from(index as u64 + 1) => {}
        Some(number) => part.spelling.set("turn_number", number),
    }
    if !missing.is_empty() {
        part.spelling.set("absent", missing);
    }
    part.fields = object;
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
pub(super) fn pack(session: &Session, groups: &[Group<'_>]) -> Json {
    let ends = Ends::of(session);
    let mut system = None;
    let mut turns: Vec<(usize, Message, Vec<Message>)> = Vec::new();
    for group in groups {
        match (group.role, turns.last_mut()) {
            ("system", None) if system.is_none() && !group.has_calls() => system = Some(group.message(&ends)),
            ("tool", Some((.., tools))) if !group.has_calls() => tools.push(group.message(&ends)),
            ("assistant", _) => turns.push((group.turn, group.message(&ends), Vec::new())),
            // The specification has no place for it.
            _ => {}
        }
    }
    let mut object = match session.extra.fields(FORMAT).and_then(|fields| fields.get(FIELDS)) {
        Some(Json::Object(fields)) => fields.clone(),
        _ => Object::new(),
    };
    let PromptId { ns, key, .. } = session.prompt.clone().unwrap_or_default();
    if !object.contains("evaluation_id") {
        object.push("evaluation_id", implied_evaluation(&session.turns));
    }
    object.push("prompt_ns", ns);
    object.push("prompt_key", key);
    object.push("system_message", system.unwrap_or_else(no_system).write(NAME));
    if let Some(created) = &session.timing.created {
        object.push("created_at", created.as_str());
    }
    let turns = turns
        .into_iter()
        .enumerate()
        .map(|(index, (turn, answer, tools))| pack_turn(index, session.turns.get(turn), answer, tools));
    let turns: Vec<Json> = turns.collect();
    if !turns.is_empty() || session.extra.spelling(FORMAT, NO_TURNS).is_none() {
        object.push("turns", turns);
    }
    Json::Object(object)
}

fn pack_turn(index: usize, turn: Option<&Turn>, answer: Message, tools: Vec<Message>) -> Json {
    let none = Turn::default();
    let turn = turn.unwrap_or(&none);
    let part = turn.extra.part(FORMAT).cloned().unwrap_or_default();
    let absent = |key: &str| is_absent(&part.spelling, key);
    let mut object = part.fields.clone();
    object.push("assistant_message", answer.write(NAME));
    if let Some(created) = &turn.timing.created {
        object.push("created_at", created.as_str());
    }
    if let Some(evaluation) = &turn.evaluation {
        object.push("evaluation_id", evaluation.as_str());
    }
    if turn.provider_payload != Json::Null || !absent("provider_payload") {
        object.push("provider_payload", turn.provider_payload.clone());
    }
    if !tools.is_empty() || !absent("tool_messages") {
        object.push("tool_messages", tools.into_iter().map(|tool| tool.write(NAME).into()).collect::<Vec<Json>>());
    }
    match part.spelling.get("turn_number") {
        Some(number) => object.push("turn_number", number.clone()),
        None if absent("turn_number") => {}
        None => object.push("turn_number", index as u64 + 1),
    }
    Json::Object(object)
}
