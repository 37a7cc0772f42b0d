//! Tools that the model is told of.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{Session, ToolSpec};

use super::FORMAT;
use crate::fields::{Fields, Form, Kept, KeyRule, Writer};

const TOOL: Form = &[
    ("type", KeyRule::Derived),
    ("name", KeyRule::Taken),
    ("description", KeyRule::Taken),
    ("parameters", KeyRule::Taken),
    ("strict", KeyRule::Taken),
];

/// Reads the functions among the tools. The vendor's own tools stay in the body, with a note on their places.
pub(super) fn read(body: &mut Fields, session: &mut Session) {
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
        body.note("tools", places);
    }
}

fn is_function(object: &Object) -> bool {
    let is_function = object.get_str("type").is_some_and(|kind| kind == "function");
    is_function && object.get_str("name").is_some() && !object.has_duplicates()
}

fn function(object: Object) -> ToolSpec {
    let mut fields = Fields::new(object, TOOL);
    fields.text("type");
    let mut tool = ToolSpec {
        name: fields.text("name").unwrap_or_default(),
        description: fields.text("description"),
        parameters: fields.take_if("parameters", |value| value.as_object().is_some()).unwrap_or_default(),
        strict: fields.flag("strict"),
        ..ToolSpec::default()
    };
    fields.keep(FORMAT, &mut tool.extra);
    tool
}

/// The tools of a session, the vendor's own in their places.
pub(super) fn write(tools: &[ToolSpec], kept: Kept<'_>) -> Option<Json> {
    if tools.is_empty() {
        return None;
    }
    let mut written: Vec<Json> = tools.iter().map(write_function).collect();
    let rest = kept.field("tools").and_then(Json::as_array).unwrap_or_default();
    let places = kept.note("tools").and_then(Json::as_array).unwrap_or_default();
    for (index, tool) in rest.iter().enumerate() {
        let place = places.get(index).and_then(Json::as_number).and_then(Number::as_u64);
        let place = place.and_then(|place| usize::try_from(place).ok()).unwrap_or(usize::MAX);
        written.insert(place.min(written.len()), tool.clone());
    }
    Some(Json::Array(written))
}

fn write_function(tool: &ToolSpec) -> Json {
    let mut made = Writer::new(Kept::of(&tool.extra, FORMAT), TOOL);
    made.derive("type", "function");
    made.set("name", tool.name.as_str());
    made.set_some("description", tool.description.as_deref());
    if tool.parameters != Json::Null {
        made.set("parameters", tool.parameters.clone());
    }
    made.set_some("strict", tool.strict);
    Json::Object(made.finish())
}
