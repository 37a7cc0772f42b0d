//! From sessions to turn documents.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{
    Author, Block as ModelBlock, Body, CallId, Extra, ExtraPart, Media, Part, Reasoning, Session, ToolCall, ToolResult,
    ToolSpec, Turn as ModelTurn,
};

use super::decode::is_structured;
use super::document::{Block, KIND_RAW, Kind, Turn};
use super::keys::typed;
use super::read::VERSION;
use super::{FORMAT, outcome};

/// The turn document of a session.
pub(super) fn turn(session: &Session) -> Turn {
    document(session, |_| true)
}

/// The fixture of a session: the blocks of turns that a fixture appended are its follow-ups.
pub(super) fn fixture(session: &Session) -> (Turn, Vec<Block>) {
    let followups = blocks(session, is_followup);
    (document(session, |turn| !is_followup(turn)), followups)
}

fn is_followup(turn: &ModelTurn) -> bool {
    turn.extra.spelling(FORMAT, "followup").is_some()
}

fn document(session: &Session, chosen: impl Fn(&ModelTurn) -> bool) -> Turn {
    let spelled =
        |key: &str| session.extra.spelling(FORMAT, key).and_then(Json::as_str).map(std::borrow::Cow::into_owned);
    let last = session.turns.iter().rfind(|turn| chosen(turn));
    let mut unknown = session.extra.fields(FORMAT).cloned().unwrap_or_default();
    let mut run_id = unknown.remove("run_id").as_ref().and_then(Json::as_str).map(std::borrow::Cow::into_owned);
    // What stands around the blocks was read into the turn that was the last one then; others may have followed it.
    let newest = |of: fn(&ModelTurn) -> &Object| {
        session
            .turns
            .iter()
            .filter(|turn| chosen(turn))
            .map(of)
            .rfind(|map| !map.is_empty())
            .cloned()
            .unwrap_or_default()
    };
    let mut metadata = newest(|turn| &turn.metadata);
    let mut data = newest(|turn| &turn.data);
    let id = session.turns.iter().filter(|turn| chosen(turn)).filter_map(|turn| turn.id.as_ref()).next_back();
    match (spelled("session_id").as_deref(), &session.id) {
        (_, None) => {}
        (Some("run_id"), Some(id)) => run_id = Some(id.to_string()),
        (Some("plain"), Some(id)) => metadata.set("session_id", id.as_str()),
        (_, Some(id)) => metadata.set(&typed("session_id"), id.as_str()),
    }
    if let Some(last) = last {
        put_turn_keys(last, &mut metadata);
    }
    put_settings(session, &mut data);
    let made = blocks(session, &chosen);
    Turn {
        version: spelled("version").is_none().then_some(VERSION),
        id: id.map(ToString::to_string),
        run_id,
        blocks: (spelled("blocks").is_none() || !made.is_empty()).then_some(made),
        metadata: present(metadata, spelled("metadata").is_some()),
        data: present(data, spelled("data").is_some()),
        unknown,
        bare: bare(&session.extra),
    }
}

fn present(map: Object, even_empty: bool) -> Option<Object> {
    (!map.is_empty() || even_empty).then_some(map)
}

fn bare(extra: &Extra) -> Vec<String> {
    let places = extra.spelling(FORMAT, "bare").and_then(super::keys::as_strings);
    places.unwrap_or_default()
}

fn blocks(session: &Session, chosen: impl Fn(&ModelTurn) -> bool) -> Vec<Block> {
    let mut made: Vec<(Block, Author, u32)> = Vec::new();
    for (turn_index, block_index, block) in session.in_message_order() {
        let Some(turn) = session.turns.get(turn_index).filter(|turn| chosen(turn)) else { continue };
        if let (Body::Media(media), Some((open, author, ordinal))) = (&block.body, made.last_mut())
            && *author == block.author
            && *ordinal == block.message.ordinal
            && holds_images(open)
        {
            push_image(open, media, &block.extra);
            continue;
        }
        let mut doc = self::block(block);
        if Some(block_index) == turn.blocks.iter().rposition(ModelBlock::is_answer) {
            put_block_result(turn, &mut doc);
        }
        made.push((doc, block.author.clone(), block.message.ordinal));
    }
    made.into_iter().map(|(block, ..)| block).collect()
}

fn holds_images(block: &Block) -> bool {
    matches!(block.kind(), Kind::User | Kind::System | Kind::LlmText)
}

fn block(block: &ModelBlock) -> Block {
    let none = ExtraPart::default();
    let part = block.extra.part(FORMAT).unwrap_or(&none);
    let spelled = |key: &str| part.spelling.get_str(key);
    let mut unknown = part.fields.clone();
    unknown.remove("image");
    let mut payload = match unknown.remove("payload") {
        Some(Json::Object(payload)) => payload,
        _ => Object::new(),
    };
    let (kind, raw_kind) = kind(block);
    let had_payload = fill(block, &mut payload, &part.spelling);
    if let (Some(item_id), true) = (&block.item_id, kind != Kind::Other) {
        payload.set("item_id", item_id.as_str());
    }
    let role = match part.spelling.get("role") {
        Some(role) => role.as_str().map(std::borrow::Cow::into_owned),
        None => default_role(kind, &block.author),
    };
    let holds_kind_raw = spelled("kind_raw").is_some();
    let mut doc = Block {
        id: block.id.as_ref().map(ToString::to_string),
        kind: spelled("kind").is_none().then_some(kind),
        raw_kind: raw_kind.filter(|_| spelled("kind").is_none()),
        role,
        payload: present(payload, had_payload || spelled("payload").is_some()),
        metadata: present(block.metadata.clone(), spelled("metadata").is_some()),
        holds_kind_raw,
        unknown,
        bare: bare(&block.extra),
        ..Block::default()
    };
    if let (Some(raw), false) = (&doc.raw_kind, holds_kind_raw) {
        doc.metadata.get_or_insert_default().set(KIND_RAW, raw.as_str());
    }
    doc
}

fn kind(block: &ModelBlock) -> (Kind, Option<String>) {
    let kind = match (&block.body, &block.author) {
        (Body::ToolCall(_), _) => Kind::ToolCall,
        (Body::ToolResult(_), _) => Kind::ToolUse,
        (Body::Reasoning(_), _) => Kind::Reasoning,
        (Body::Summary(_), _) => Kind::System,
        (Body::Other { kind, .. }, _) => {
            let raw = Some(kind.clone()).filter(|kind| Kind::from_word(kind).is_none());
            return (Kind::Other, raw);
        }
        (_, Author::User) => Kind::User,
        (_, Author::System | Author::Developer) => Kind::System,
        (_, Author::Assistant) => Kind::LlmText,
        (_, _) => Kind::Other,
    };
    (kind, None)
}

fn default_role(kind: Kind, author: &Author) -> Option<String> {
    match kind {
        Kind::Other => Some(author.to_string()).filter(|role| role != "assistant"),
        kind => kind.role().map(str::to_owned),
    }
}

/// Puts the body into the payload; says whether the payload is there even if it is empty.
fn fill(block: &ModelBlock, payload: &mut Object, spelling: &Object) -> bool {
    let absent = |key: &str| spelling.get_str(key).as_deref() == Some("absent");
    match &block.body {
        Body::Text(text) if absent("text") && text.text.is_empty() => {}
        Body::Text(text) => payload.set("text", text.text.as_str()),
        Body::Summary(summary) => payload.set("text", summary.text.as_str()),
        Body::Reasoning(reasoning) => fill_reasoning(reasoning, payload),
        Body::ToolCall(call) => fill_call(call, payload, spelling),
        Body::ToolResult(result) => fill_result(result, payload, spelling),
        Body::Media(media) => payload.set("images", vec![image(media, &block.extra)]),
        Body::Other { raw: Json::Object(raw), .. } => {
            *payload = raw.clone();
            return true;
        }
        Body::Other { raw: Json::Null, .. } => {}
        Body::Other { raw, .. } => payload.set("raw", raw.clone()),
        _ => {}
    }
    false
}

fn set_text(map: &mut Object, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        map.set(key, text);
    }
}

fn fill_reasoning(reasoning: &Reasoning, payload: &mut Object) {
    set_text(payload, "text", reasoning.text.as_deref());
    set_text(payload, "signature", reasoning.signature.as_deref());
    set_text(payload, "encrypted_content", reasoning.encrypted.as_deref());
    let part = |text: &String| -> Json {
        let pairs = [("type", Json::from("summary_text")), ("text", Json::from(text.as_str()))];
        Json::Object(pairs.into_iter().collect())
    };
    if !reasoning.summary.is_empty() {
        payload.set("summary", reasoning.summary.iter().map(part).collect::<Vec<_>>());
    }
}

fn fill_call(call: &ToolCall, payload: &mut Object, spelling: &Object) {
    let spelled = |key: &str| spelling.get_str(key);
    set_call_id(&call.call, payload);
    if !(call.name.is_empty() && spelled("name").is_some()) {
        payload.set("name", call.name.as_str());
    }
    match spelled("args").as_deref() {
        Some("absent") if call.arguments.is_empty() => {}
        Some("text") => payload.set("args", call.arguments.as_str()),
        _ if is_structured(&call.arguments) => payload.set("args", call.arguments_json().unwrap_or_default()),
        _ => payload.set("args", call.arguments.as_str()),
    }
}

fn fill_result(result: &ToolResult, payload: &mut Object, spelling: &Object) {
    set_call_id(&result.call, payload);
    match result.parts.as_slice() {
        [] if spelling.get("result").is_some() => {}
        [] => payload.set("result", Json::Null),
        [part] => payload.set("result", part_value(part)),
        parts => payload.set("result", parts.iter().map(part_value).collect::<Vec<_>>()),
    }
    match &result.error {
        Some(error) => payload.set("error", error.as_str()),
        None if spelling.get("error").is_some() => payload.set("error", ""),
        None => {}
    }
}

fn part_value(part: &Part) -> Json {
    match part {
        Part::Text(text) => Json::from(text.text.as_str()),
        Part::Data(data) => data.json.clone(),
        Part::Media(media) => image(media, &Extra::NONE),
        Part::Other { raw, .. } => Json::Object(raw.clone()),
        _ => Json::Null,
    }
}

fn set_call_id(call: &CallId, payload: &mut Object) {
    set_text(payload, "id", call.as_given());
}

fn push_image(open: &mut Block, media: &Media, extra: &Extra) {
    let payload = open.payload.get_or_insert_default();
    let mut images = payload.get("images").and_then(Json::as_array).map(<[Json]>::to_vec).unwrap_or_default();
    images.push(image(media, extra));
    payload.set("images", images);
}

fn image(media: &Media, extra: &Extra) -> Json {
    let mut map = match extra.fields(FORMAT).and_then(|fields| fields.get("image")) {
        Some(Json::Object(map)) => map.clone(),
        _ => Object::new(),
    };
    let as_url = extra.spelling(FORMAT, "content").is_some();
    match (&media.media_type, &media.inline) {
        (Some(media_type), Some(base64)) if as_url => map.set("content", format!("data:{media_type};base64,{base64}")),
        (media_type, inline) => {
            set_text(&mut map, "media_type", media_type.as_deref());
            set_text(&mut map, "content", inline.as_deref());
        }
    }
    set_text(&mut map, "url", media.url.as_deref());
    set_text(&mut map, "file_id", media.file_id.as_deref());
    set_text(&mut map, "detail", media.detail.as_deref());
    Json::Object(map)
}

/// Where what geppetto notes of an inference stands.
fn result_place(turn: &ModelTurn) -> Option<String> {
    turn.extra.spelling(FORMAT, "inference_result").and_then(Json::as_str).map(std::borrow::Cow::into_owned)
}

fn put_block_result(turn: &ModelTurn, block: &mut Block) {
    if result_place(turn).is_none() && outcome::is_noted(turn) {
        put_result(turn, block.metadata.get_or_insert_default());
    }
}

fn put_result(turn: &ModelTurn, metadata: &mut Object) {
    let key = typed("inference_result");
    let mut result = metadata.get(&key).and_then(Json::as_object).cloned().unwrap_or_default();
    outcome::put(turn, &mut result);
    if !result.is_empty() {
        metadata.set(&key, result);
    }
}

fn put_turn_keys(turn: &ModelTurn, metadata: &mut Object) {
    if let Some(id) = &turn.evaluation {
        let plain = turn.extra.spelling(FORMAT, "inference_id").is_some();
        metadata.set(&if plain { "inference_id".to_owned() } else { typed("inference_id") }, id.as_str());
    }
    let has_answer = turn.blocks.iter().any(ModelBlock::is_answer);
    match result_place(turn).as_deref() {
        Some("turn") => put_result(turn, metadata),
        Some("plain") => outcome::put_plain(turn, metadata, str::to_owned),
        Some(_) => outcome::put_plain(turn, metadata, typed),
        None if !has_answer => outcome::put_plain(turn, metadata, typed),
        None => {}
    }
}

fn put_settings(session: &Session, data: &mut Object) {
    let options = &session.options;
    let number = |number: &Option<Number>| number.clone().map(Json::Number);
    let stop =
        (!options.stop.is_empty()).then(|| options.stop.iter().map(|s| Json::from(s.as_str())).collect::<Vec<_>>());
    put_map(
        data,
        "inference_config",
        [
            ("temperature", number(&options.temperature)),
            ("top_p", number(&options.top_p)),
            ("max_response_tokens", number(&options.max_tokens)),
            ("thinking_budget", number(&options.budget_tokens)),
            ("seed", number(&options.seed)),
            ("reasoning_effort", options.reasoning.as_ref().map(|effort| effort.as_str().into())),
            ("stop", stop.map(Json::Array)),
        ],
    );
    put_map(data, "claude_inference_config", [("top_k", number(&options.top_k))]);
    put_map(
        data,
        "openai_inference_config",
        [
            ("presence_penalty", number(&options.presence_penalty)),
            ("frequency_penalty", number(&options.frequency_penalty)),
        ],
    );
    put_map(
        data,
        "tool_config",
        [
            ("tool_choice", options.tool_choice.as_ref().map(|choice| choice.mode.as_str().into())),
            ("max_iterations", number(&options.limits.steps)),
        ],
    );
    if let Some(format) = &session.response_format {
        put_map(
            data,
            "structured_output_config",
            [
                ("mode", Some(format.kind.as_str().into())),
                ("name", format.name.as_deref().map(Json::from)),
                ("description", format.description.as_deref().map(Json::from)),
                ("schema", Some(format.schema.clone()).filter(|schema| *schema != Json::Null)),
                ("strict", format.strict.map(Json::Bool)),
            ],
        );
    }
    if !session.tools.is_empty() {
        data.set(&typed("tool_definitions"), session.tools.iter().map(tool).collect::<Vec<_>>());
    }
}

fn put_map<const N: usize>(data: &mut Object, value: &str, pairs: [(&str, Option<Json>); N]) {
    let key = typed(value);
    let mut map = data.get(&key).and_then(Json::as_object).cloned().unwrap_or_default();
    let before = map.len();
    for (key, value) in pairs {
        if let Some(value) = value {
            map.set(key, value);
        }
    }
    if map.len() > before {
        data.set(&key, map);
    }
}

/// A tool, as the model is told of it.
pub(super) fn tool(tool: &ToolSpec) -> Json {
    let mut map = tool.extra.fields(FORMAT).cloned().unwrap_or_default();
    map.set("name", tool.name.as_str());
    set_text(&mut map, "description", tool.description.as_deref());
    if tool.parameters != Json::Null {
        map.set("parameters", tool.parameters.clone());
    }
    Json::Object(map)
}
