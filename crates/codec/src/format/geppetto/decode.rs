//! From turn documents to sessions.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{
    Author, Block as ModelBlock, BlockId, Body, CallId, Data, EvaluationId, ItemId, Loss, LossKind, Part, Reasoning,
    Session, SessionId, Text, ToolCall, ToolResult, Turn as ModelTurn, TurnId, canon,
};

use super::document::{Block, Kind, Turn};
use super::image::{image_block, images};
use super::keys::typed;
use super::settings::take_settings;
use super::{FORMAT, outcome};
use crate::turns::TurnBuilder;

/// The session that a turn document holds, and what had to be made up.
pub(super) fn session(turn: Turn) -> (Session, Vec<Loss>) {
    let mut decoder = Decoder::default();
    decoder.blocks(turn.blocks.clone().unwrap_or_default());
    let session = decoder.finish(turn);
    (session, decoder.losses)
}

/// The session of a fixture: each block to append opens a turn of its own.
pub(super) fn fixture(turn: Option<Turn>, followups: Vec<Block>) -> (Session, Vec<Loss>) {
    let mut decoder = Decoder::default();
    let turn = turn.unwrap_or_default();
    decoder.blocks(turn.blocks.clone().unwrap_or_default());
    let mut session = decoder.finish(turn);
    decoder.turns = TurnBuilder::default();
    for block in followups {
        decoder.turns.begin_turn();
        decoder.block(block);
        decoder.turns.current().extra.part_mut(FORMAT).spelling.set("followup", true);
    }
    session.turns.extend(std::mem::take(&mut decoder.turns).finish());
    (session, decoder.losses)
}

#[derive(Default)]
struct Decoder {
    turns: TurnBuilder,
    ordinal: u32,
    calls: u32,
    losses: Vec<Loss>,
}

impl Decoder {
    fn blocks(&mut self, blocks: Vec<Block>) {
        blocks.into_iter().for_each(|block| self.block(block));
    }

    fn block(&mut self, mut block: Block) {
        if block.fill_role() {
            let what = format!("block {} has no role; a model's text is by the assistant", self.ordinal);
            self.losses.push(Loss::decode(LossKind::Synthesised, "", what));
        }
        for block in self.bodies(block) {
            self.turns.push(block.in_message(self.ordinal));
        }
        self.ordinal += 1;
    }

    /// The blocks that one block of the source is: text and its images are several.
    fn bodies(&mut self, mut block: Block) -> Vec<ModelBlock> {
        let kind = block.kind();
        let had_payload = block.payload.is_some();
        let mut payload = block.payload.take().unwrap_or_default();
        let was_empty = had_payload && payload.is_empty();
        let mut notes = Object::new();
        let item_id = if kind == Kind::Other { None } else { take_text(&mut payload, "item_id") };
        let media = if matches!(kind, Kind::User | Kind::System | Kind::LlmText) { images(&mut payload) } else { None };
        let body = match kind {
            Kind::User | Kind::System | Kind::LlmText => text(&mut payload, media.is_some(), &mut notes),
            Kind::ToolCall => Some(self.call(&mut payload, &mut notes)),
            Kind::ToolUse => Some(self.result(&mut payload, &mut notes)),
            Kind::Reasoning => Some(reasoning(&mut payload)),
            Kind::Other => Some(other(&block, &mut payload, had_payload)),
        };
        if was_empty && kind != Kind::Other {
            notes.set("payload", "empty");
        }
        let mut blocks = Vec::new();
        blocks.extend(body.map(|body| ModelBlock::new(author(&block), body)));
        blocks.extend(media.into_iter().flatten().map(|image| image_block(author(&block), image)));
        if let Some(first) = blocks.first_mut() {
            first.item_id = item_id.map(ItemId::new);
            dress(first, block, payload, notes);
        }
        blocks
    }

    fn call(&mut self, payload: &mut Object, notes: &mut Object) -> Body {
        let call = self.call_id(payload);
        let name = take_text(payload, "name").unwrap_or_else(|| note(notes, "name", "absent"));
        let arguments = match payload.remove("args") {
            None => note(notes, "args", "absent"),
            Some(Json::String(text)) if text.to_str().is_ok() => {
                let text = text.to_str_lossy().into_owned();
                if is_structured(&text) {
                    notes.set("args", "text");
                }
                text
            }
            Some(value) if value.is_plain() => canon::canonical(&value),
            Some(value) => value.to_text(),
        };
        ToolCall { call, name, arguments }.into()
    }

    fn result(&mut self, payload: &mut Object, notes: &mut Object) -> Body {
        let call = self.call_id(payload);
        let parts = match payload.remove("result") {
            None => {
                notes.set("result", "absent");
                Vec::new()
            }
            Some(Json::Null) => Vec::new(),
            Some(Json::String(text)) if text.to_str().is_ok() => {
                vec![Part::Text(Text { text: text.to_str_lossy().into_owned() })]
            }
            Some(value) => vec![Part::Data(Data { json: value })],
        };
        let error = take_text(payload, "error").filter(|error| {
            if error.is_empty() {
                notes.set("error", "empty");
            }
            !error.is_empty()
        });
        ToolResult { call, name: None, parts, error, is_error: None, outcome: None }.into()
    }

    fn call_id(&mut self, payload: &mut Object) -> CallId {
        self.calls += 1;
        take_text(payload, "id").map_or(CallId::Minted(self.calls - 1), CallId::given)
    }

    fn finish(&mut self, turn: Turn) -> Session {
        let mut session = Session { turns: std::mem::take(&mut self.turns).finish(), ..Session::default() };
        session.turns.iter_mut().for_each(take_block_result);
        let has_more = turn.id.is_some() || turn.metadata.is_some() || turn.data.is_some();
        if session.turns.is_empty() && has_more {
            session.turns.push(ModelTurn::default());
        }
        take_envelope(&mut session, turn);
        session
    }
}

/// Whether arguments in this very text are written as a map, and so had to be told from a text.
pub(super) fn is_structured(text: &str) -> bool {
    match turnkeep_model::json::parse(text).map(turnkeep_model::json::Node::into_json) {
        Ok(Json::String(_)) | Err(_) => false,
        Ok(value) => value.is_plain() && canon::canonical(&value) == text,
    }
}

fn note(notes: &mut Object, key: &str, value: &str) -> String {
    notes.set(key, value);
    String::new()
}

pub(super) fn take_text(map: &mut Object, key: &str) -> Option<String> {
    let text = map.get(key)?.as_str()?.into_owned();
    map.remove(key);
    Some(text)
}

fn text(payload: &mut Object, has_images: bool, notes: &mut Object) -> Option<Body> {
    match take_text(payload, "text") {
        Some(text) => Some(Text { text }.into()),
        None if has_images => None,
        None => Some(Text { text: note(notes, "text", "absent") }.into()),
    }
}

fn reasoning(payload: &mut Object) -> Body {
    Reasoning {
        text: take_text(payload, "text"),
        summary: summary(payload),
        signature: take_text(payload, "signature"),
        encrypted: take_text(payload, "encrypted_content"),
        scope: None,
    }
    .into()
}

/// The parts of a summary, if every one of them is of the known kind.
fn summary(payload: &mut Object) -> Vec<String> {
    let part = |item: &Json| {
        let item = item.as_object()?;
        let known = item.len() == 2 && item.get_str("type").as_deref() == Some("summary_text");
        item.get_str("text").filter(|_| known).map(std::borrow::Cow::into_owned)
    };
    let items = payload.get("summary").and_then(Json::as_array).filter(|items| !items.is_empty());
    let Some(parts) = items.and_then(|items| items.iter().map(part).collect::<Option<Vec<_>>>()) else {
        return Vec::new();
    };
    payload.remove("summary");
    parts
}

fn other(block: &Block, payload: &mut Object, had_payload: bool) -> Body {
    let kind = block.raw_kind.clone().or(block.kind.map(|kind| kind.as_str().to_owned())).unwrap_or_default();
    let raw = if had_payload { Json::Object(std::mem::take(payload)) } else { Json::Null };
    Body::Other { kind, raw }
}

pub(super) fn author(block: &Block) -> Author {
    match block.kind() {
        Kind::User => Author::User,
        Kind::System => Author::System,
        Kind::LlmText | Kind::ToolCall | Kind::Reasoning => Author::Assistant,
        Kind::ToolUse => Author::Tool,
        Kind::Other => block.role.as_deref().map_or(Author::Assistant, Author::from_word),
    }
}

/// Gives the first block of a message what the source's block had around its content.
fn dress(target: &mut ModelBlock, block: Block, payload: Object, mut notes: Object) {
    let expected = match block.kind() {
        Kind::Other => block.role.clone().filter(|role| role != "assistant"),
        kind => kind.role().map(str::to_owned),
    };
    if block.role != expected {
        notes.set("role", block.role.map_or(Json::Null, Json::from));
    }
    if block.kind.is_none() {
        notes.set("kind", "absent");
    }
    if block.holds_kind_raw {
        notes.set("kind_raw", "held");
    }
    if block.metadata.as_ref().is_some_and(Object::is_empty) {
        notes.set("metadata", "empty");
    }
    let mut metadata = block.metadata.unwrap_or_default();
    if !block.holds_kind_raw {
        metadata.remove(super::document::KIND_RAW);
    }
    if !block.bare.is_empty() {
        notes.set("bare", block.bare.into_iter().map(Json::from).collect::<Vec<_>>());
    }
    target.id = block.id.map(BlockId::new);
    target.metadata = metadata;
    let part = target.extra.part_mut(FORMAT);
    part.fields = block.unknown.into_iter().chain(part.fields.clone()).collect();
    if !payload.is_empty() {
        part.fields.push("payload", payload);
    }
    for (key, value) in notes {
        part.spelling.push(key, value);
    }
    target.extra.tidy();
}

/// The last answer of a turn carries what geppetto notes of the inference.
fn take_block_result(turn: &mut ModelTurn) {
    let has_calls = turn.blocks.iter().any(|block| matches!(block.body, Body::ToolCall(_)));
    let Some(at) = turn.blocks.iter().rposition(ModelBlock::is_answer) else { return };
    let Some(block) = turn.blocks.get_mut(at) else { return };
    let mut metadata = std::mem::take(&mut block.metadata);
    take_result(&mut metadata, turn, has_calls);
    if let Some(block) = turn.blocks.get_mut(at) {
        block.metadata = metadata;
    }
}

fn take_result(metadata: &mut Object, turn: &mut ModelTurn, has_calls: bool) -> bool {
    let key = typed("inference_result");
    let Some(Json::Object(result)) = metadata.get(&key) else { return false };
    let mut result = result.clone();
    if result.is_empty() {
        return false;
    }
    outcome::take(&mut result, turn, has_calls);
    if result.is_empty() {
        metadata.remove(&key);
    } else {
        metadata.set(&key, result);
    }
    true
}

/// Moves what stands around the blocks to the session and its last turn.
fn take_envelope(session: &mut Session, turn: Turn) {
    let mut notes = Object::new();
    if turn.version.is_none() {
        notes.set("version", "absent");
    }
    for (key, map) in [("metadata", &turn.metadata), ("data", &turn.data)] {
        if map.as_ref().is_some_and(Object::is_empty) {
            notes.set(key, "empty");
        }
    }
    if turn.blocks.is_none() {
        notes.set("blocks", "absent");
    }
    if !turn.bare.is_empty() {
        notes.set("bare", turn.bare.into_iter().map(Json::from).collect::<Vec<_>>());
    }
    let mut metadata = turn.metadata.unwrap_or_default();
    let mut data = turn.data.unwrap_or_default();
    take_session_id(session, &mut metadata, turn.run_id, &mut notes);
    take_settings(session, &mut data);
    if let Some(last) = session.turns.last_mut() {
        last.id = turn.id.map(TurnId::new);
        take_turn_keys(last, &mut metadata);
        last.metadata = metadata;
        last.data = data;
    }
    let part = session.extra.part_mut(FORMAT);
    part.fields = part.fields.clone().into_iter().chain(turn.unknown).collect();
    for (key, value) in notes {
        part.spelling.push(key, value);
    }
    session.extra.tidy();
}

/// The key under which `value` stands: the typed one, or the plain one of older files.
fn present_key(map: &Object, value: &str) -> Option<String> {
    [typed(value), value.to_owned()].into_iter().find(|key| map.contains(key))
}

fn take_session_id(session: &mut Session, metadata: &mut Object, run_id: Option<String>, notes: &mut Object) {
    let key = present_key(metadata, "session_id");
    let found = key.and_then(|key| take_text(metadata, &key).map(|id| (key, id)));
    match (found, run_id) {
        (Some((key, id)), run_id) => {
            if key == "session_id" {
                notes.set("session_id", "plain");
            }
            session.id = Some(SessionId::new(id));
            if let Some(run_id) = run_id {
                session.extra.part_mut(FORMAT).fields.push("run_id", run_id);
            }
        }
        (None, Some(run_id)) => {
            notes.set("session_id", "run_id");
            session.id = Some(SessionId::new(run_id));
        }
        (None, None) => {}
    }
}

fn take_turn_keys(turn: &mut ModelTurn, metadata: &mut Object) {
    if let Some(key) = present_key(metadata, "inference_id")
        && let Some(id) = take_text(metadata, &key)
    {
        if key == "inference_id" {
            turn.extra.part_mut(FORMAT).spelling.set("inference_id", "plain");
        }
        turn.evaluation = Some(EvaluationId::new(id));
    }
    if outcome::is_noted(turn) {
        return;
    }
    let has_answer = turn.blocks.iter().any(ModelBlock::is_answer);
    let has_calls = turn.blocks.iter().any(|block| matches!(block.body, Body::ToolCall(_)));
    if take_result(metadata, turn, has_calls) {
        turn.extra.part_mut(FORMAT).spelling.set("inference_result", "turn");
        return;
    }
    let plain = ["provider", "model", "stop_reason", "usage"].iter().any(|key| metadata.contains(key));
    outcome::take_plain(metadata, turn, |map, value| {
        let key = if plain { value.to_owned() } else { typed(value) };
        map.contains(&key).then_some(key)
    });
    if outcome::is_noted(turn) && (has_answer || plain) {
        turn.extra.part_mut(FORMAT).spelling.set("inference_result", if plain { "plain" } else { "keys" });
    }
}
