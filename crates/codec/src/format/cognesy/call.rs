//! Tool calls, in the two forms in which messages and steps hold them.

use turnkeep_model::json::{self, Json, Node};
use turnkeep_model::{Block, CallId, Extra, ExtraPart, ToolCall};

use super::FORMAT;
use super::map::{Draft, Form, KeyRule, Map, keep, note_word, part, text};
use super::php::Spelling;

/// How a call is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// `{id, name, arguments}` with the arguments as a map.
    Plain,
    /// `{id, function: {name, arguments}}` with the arguments as a text.
    Function,
}

impl Shape {
    fn as_str(self) -> &'static str {
        match self {
            Shape::Plain => "plain",
            Shape::Function => "function",
        }
    }
}

const PLAIN: Form = &[("id", KeyRule::Null), ("name", KeyRule::Empty), ("arguments", KeyRule::List)];
const FUNCTION: Form = &[("id", KeyRule::Null), ("type", KeyRule::Optional), ("function", KeyRule::Null)];
const INNER: Form = &[("name", KeyRule::Empty), ("arguments", KeyRule::Empty)];

/// The call that an item of a list is; an item that is no map gives itself back.
pub(super) fn read(item: Json, usual: Shape, mint: impl FnOnce() -> CallId) -> Result<(ToolCall, Extra), Json> {
    let is_function = item.as_object().is_some_and(|fields| matches!(fields.get("function"), Some(Json::Object(_))));
    let shape = if is_function { Shape::Function } else { Shape::Plain };
    let mut notes = ExtraPart::default();
    if shape != usual {
        notes.spelling.set("shape", shape.as_str());
    }
    let mut map = Map::open(item, if is_function { FUNCTION } else { PLAIN })?;
    let call = map.text("id").map_or_else(mint, CallId::given);
    let inner = if is_function { map.open_at("function", INNER) } else { None };
    let (name, arguments) = match inner {
        Some(mut inner) => {
            let taken = (inner.text("name").unwrap_or_default(), text_arguments(&mut inner, &mut notes));
            inner.leave(&mut notes, "call.function");
            taken
        }
        None => (map.text("name").unwrap_or_default(), map_arguments(&mut map, &mut notes)),
    };
    map.leave(&mut notes, "call");
    let mut extra = Extra::NONE;
    keep(&mut extra, notes);
    Ok((ToolCall { call, name, arguments }, extra))
}

fn text_arguments(map: &mut Map, notes: &mut ExtraPart) -> String {
    match map.get("arguments") {
        Some(Json::Object(_)) => {
            notes.spelling.set("arguments", "map");
            Spelling::BARE.line(&map.remove("arguments").unwrap_or_default())
        }
        _ => map.take("arguments", text).unwrap_or_default(),
    }
}

fn map_arguments(map: &mut Map, notes: &mut ExtraPart) -> String {
    match map.get("arguments") {
        None | Some(Json::Null) => String::new(),
        // What is empty stays where it is, list or map.
        Some(Json::Object(fields)) if fields.is_empty() => "{}".to_owned(),
        Some(Json::Array(items)) if items.is_empty() => "{}".to_owned(),
        Some(Json::Object(_) | Json::Array(_)) => Spelling::BARE.line(&map.remove("arguments").unwrap_or_default()),
        Some(_) => {
            let Some(text) = map.take("arguments", text) else { return String::new() };
            if structured(&text).is_some() || matches!(text.as_str(), "" | "{}") {
                notes.spelling.set("arguments", "text");
            }
            text
        }
    }
}

/// The map or list that a text of arguments is, if it holds something and can be read back from it.
fn structured(arguments: &str) -> Option<Json> {
    if !arguments.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let value = json::parse(arguments).ok().map(Node::into_json)?;
    match &value {
        Json::Object(fields) => !fields.is_empty(),
        Json::Array(items) => !items.is_empty(),
        _ => false,
    }
    .then_some(value)
}

/// The item that stands for a call.
pub(super) fn write(call: &ToolCall, extra: &Extra, usual: Shape) -> Json {
    let shape = match note_word(extra, "shape").as_deref() {
        Some("plain") => Shape::Plain,
        Some("function") => Shape::Function,
        _ => usual,
    };
    write_as(call, part(extra), shape)
}

/// The item that stands for a call, in one of the forms.
pub(super) fn write_as(call: &ToolCall, part: Option<&ExtraPart>, shape: Shape) -> Json {
    let spelled = part.and_then(|part| part.spelling.get_str("arguments"));
    let mut draft = Draft::default();
    draft.put_text("id", call.call.as_given());
    match shape {
        Shape::Plain => {
            draft.put_text("name", Some(&call.name));
            match (spelled.as_deref(), structured(&call.arguments)) {
                (Some("text"), _) => draft.put("arguments", call.arguments.as_str()),
                (_, Some(value)) => draft.put("arguments", value),
                (_, None) if matches!(call.arguments.as_str(), "" | "{}") => {}
                (_, None) => draft.put("arguments", call.arguments.as_str()),
            }
            draft.finish(PLAIN, part, "call")
        }
        Shape::Function => {
            let mut inner = Draft::default();
            inner.put_text("name", Some(&call.name));
            match (spelled.as_deref(), json::parse(&call.arguments)) {
                (Some("map"), Ok(value)) => inner.put("arguments", value.into_json()),
                _ => inner.put_text("arguments", Some(&call.arguments)),
            }
            draft.put("function", inner.finish(INNER, part, "call.function"));
            draft.finish(FUNCTION, part, "call")
        }
    }
}

/// The plain item of a call, as steps hold it, with its keys in the order of the older generations if asked for.
pub(super) fn in_step(call: &ToolCall, id_last: bool) -> Json {
    match write_as(call, None, Shape::Plain) {
        Json::Object(mut fields) if id_last => {
            let id = fields.remove("id").unwrap_or_default();
            fields.push("id", id);
            Json::Object(fields)
        }
        item => item,
    }
}

/// Whether a block stands for what only a step says, and not for a message.
pub(super) fn is_of_step(block: &Block) -> bool {
    block.extra.spelling(FORMAT, "place").is_some()
}
