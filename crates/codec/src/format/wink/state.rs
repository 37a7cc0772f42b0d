//! Conversations as one item: `ConversationState`.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{EvaluationId, PromptId, Session, Time, Turn};

use super::FORMAT;
use super::conversation::{FIELDS, prompt_of};
use super::message::{Ends, Group, Message, NameKey, Unpacker, is_absent, take_text};

const NAME: NameKey = NameKey("name");

/// Puts the conversation of an item into a session; gives the item back where it has another shape.
pub(super) fn unpack(item: &Json, session: &mut Session) -> Option<()> {
    let mut object = item.as_object()?.clone();
    if object.has_duplicates() {
        return None;
    }
    let evaluation = take_text(&mut object, "evaluation_id")??;
    let prompt = prompt_of(take_text(&mut object, "prompt_ns")??, take_text(&mut object, "prompt_key")??);
    let Some(Json::Object(system)) = object.remove("system_message") else { return None };
    let system = read_as("system", system).filter(|system| system.calls.is_empty())?;
    let created = take_text(&mut object, "created_at")?;
    let turns = match object.remove("turns") {
        Some(Json::Array(turns)) => turns.into_iter().map(StateTurn::read).collect::<Option<Vec<_>>>()?,
        _ => return None,
    };
    let mut unpacker = Unpacker::default();
    let mut all = Vec::new();
    let system = if is_nothing(&system) { Vec::new() } else { unpacker.blocks(system) };
    if turns.is_empty() && !system.is_empty() {
        all.push(Turn { evaluation: evaluation_id(&evaluation), ..Turn::default() });
    }
    all.extend(turns.into_iter().enumerate().map(|(index, turn)| turn.unpack(index, &mut unpacker)));
    if let Some(first) = all.first_mut() {
        first.blocks.splice(0..0, system);
    }
    if implied_evaluation(&all) != evaluation {
        object.set("evaluation_id", evaluation);
    }
    session.prompt = prompt;
    session.timing.created = created.map(Time::new);
    session.turns = all;
    if !object.is_empty() {
        session.extra.part_mut(FORMAT).fields.set(FIELDS, object);
    }
    Some(())
}

/// Reads a message that must have this role where it stands.
fn read_as(role: &str, object: Object) -> Option<Message> {
    Message::read(object, NAME).filter(|message| message.role == role)
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

struct StateTurn {
    assistant: Message,
    tools: Vec<Message>,
    object: Object,
}

impl StateTurn {
    fn read(value: Json) -> Option<StateTurn> {
        let Json::Object(mut object) = value else { return None };
        if object.has_duplicates() {
            return None;
        }
        let Some(Json::Object(assistant)) = object.remove("assistant_message") else { return None };
        let tools = match object.get("tool_messages") {
            None => Vec::new(),
            Some(Json::Array(tools)) => {
                let read =
                    |tool: &Json| read_as("tool", tool.as_object()?.clone()).filter(|tool| tool.calls.is_empty());
                tools.iter().map(read).collect::<Option<_>>()?
            }
            Some(_) => return None,
        };
        object.get("turn_number").map_or(Some(()), |number| number.as_number().map(|_| ()))?;
        Some(StateTurn { assistant: read_as("assistant", assistant)?, tools, object })
    }

    fn unpack(mut self, index: usize, unpacker: &mut Unpacker) -> Turn {
        let mut turn = Turn { blocks: unpacker.blocks(self.assistant), ..Turn::default() };
        turn.blocks.extend(self.tools.into_iter().flat_map(|tool| unpacker.blocks(tool)));
        let mut missing: Vec<Json> = Vec::new();
        if self.object.remove("tool_messages").is_none() {
            missing.push("tool_messages".into());
        }
        match self.object.remove("provider_payload") {
            None => missing.push("provider_payload".into()),
            Some(payload) => turn.provider_payload = payload,
        }
        turn.evaluation = take_if_text(&mut self.object, "evaluation_id").map(EvaluationId::new);
        turn.timing.created = take_if_text(&mut self.object, "created_at").map(Time::new);
        let number = self.object.remove("turn_number");
        let part = turn.extra.part_mut(FORMAT);
        match number {
            None => missing.push("turn_number".into()),
            Some(number) if number == Json::from(index as u64 + 1) => {}
            Some(number) => part.spelling.set("turn_number", number),
        }
        if !missing.is_empty() {
            part.spelling.set("absent", missing);
        }
        part.fields = self.object;
        turn.extra.tidy();
        turn
    }
}

fn take_if_text(object: &mut Object, key: &str) -> Option<String> {
    take_text(object, key).flatten()
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
        .map(|(index, (turn, answer, tools))| pack_turn(index, session.turns.get(turn), &answer, &tools));
    object.push("turns", turns.collect::<Vec<_>>());
    Json::Object(object)
}

fn pack_turn(index: usize, turn: Option<&Turn>, answer: &Message, tools: &[Message]) -> Json {
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
        object.push("tool_messages", tools.iter().map(|tool| tool.write(NAME).into()).collect::<Vec<Json>>());
    }
    match part.spelling.get("turn_number") {
        Some(number) => object.push("turn_number", number.clone()),
        None if absent("turn_number") => {}
        None => object.push("turn_number", index as u64 + 1),
    }
    Json::Object(object)
}
