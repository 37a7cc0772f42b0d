//! Tools that the model is told of.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{ExtraPart, Session, ToolSpec};

use super::apart::{Apart, Emit, Slot, Together, keep};

const SLOTS: &[Slot] = &[
    ("type", Emit::Usual),
    ("name", Emit::Value),
    ("description", Emit::Value),
    ("parameters", Emit::Value),
    ("strict", Emit::Value),
];

/// Reads the functions among the tools. The vendor's own tools stay in the body, with a note on their places.
pub(super) fn read(body: &mut Apart, session: &mut Session, notes: &mut Object) {
    let Some(tools) = body.array("tools") else { return };
    let (mut rest, mut places) = (Vec::new(), Vec::new());
    for (place, raw) in tools.into_iter().enumerate() {
        match raw {
            Json::Object(object) if is_function(&object) => session.tools.push(function(object)),
            raw => {
                rest.push(raw);
                places.push(Json::from(place as u64));
            }
        }
    }
    if session.tools.is_empty() {
        body.put_back("tools", rest);
    } else if !rest.is_empty() {
        body.leave("tools", rest);
        notes.push("tools", places);
    }
}

fn is_function(object: &Object) -> bool {
    let is_function = object.get_str("type").is_some_and(|kind| kind == "function");
    is_function && object.get_str("name").is_some() && !object.has_duplicates()
}

fn function(object: Object) -> ToolSpec {
    let mut apart = Apart::new(object);
    apart.text("type");
    let mut tool = ToolSpec {
        name: apart.text("name").unwrap_or_default(),
        description: apart.text("description"),
        parameters: apart.take_if("parameters", |value| value.as_object().is_some()).unwrap_or_default(),
        strict: apart.bool("strict"),
        ..ToolSpec::default()
    };
    keep(&mut tool.extra, apart.finish(SLOTS));
    tool
}

/// The tools of a session, the vendor's own in their places.
pub(super) fn write(tools: &[ToolSpec], part: Option<&ExtraPart>) -> Option<Json> {
    if tools.is_empty() {
        return None;
    }
    let mut written: Vec<Json> = tools.iter().map(write_function).collect();
    let rest = part.and_then(|part| part.fields.get("tools")).and_then(Json::as_array).unwrap_or_default();
    let places = part.and_then(|part| part.spelling.get("tools")).and_then(Json::as_array).unwrap_or_default();
    for (index, tool) in rest.iter().enumerate() {
        let place = places.get(index).and_then(Json::as_number).and_then(Number::as_u64);
        let place = place.and_then(|place| usize::try_from(place).ok()).unwrap_or(usize::MAX);
        written.insert(place.min(written.len()), tool.clone());
    }
    Some(Json::Array(written))
}

fn write_function(tool: &ToolSpec) -> Json {
    let mut made = Together::default();
    made.put_as("type", "function", Emit::Usual);
    made.put("name", tool.name.as_str());
    made.put_some("description", tool.description.as_deref());
    if tool.parameters != Json::Null {
        made.put("parameters", tool.parameters.clone());
    }
    made.put_some("strict", tool.strict);
    Json::Object(made.with(&tool.extra))
}
