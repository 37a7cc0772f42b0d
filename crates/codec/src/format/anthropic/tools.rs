//! The tools of the next request.

use turnkeep_model::json::Json;
use turnkeep_model::{Loss, LossKind, Session, ToolSpec};

use super::WIRE;
use super::request::{NAME_LENGTH, STRICT_TOOLS, is_word};
use crate::wire::cache::{self, CONTROL};
use crate::wire::dialogue::{Dialogue, Item, legal};

/// A history with calls needs the tools it calls; names are made legal.
pub(super) fn fit_tools(head: &mut Session, dialogue: &Dialogue<'_>, losses: &mut Vec<Loss>) {
    for (index, tool) in head.tools.iter_mut().enumerate() {
        fit_tool(tool, index, losses);
    }
    let strict = head.tools.iter_mut().enumerate().filter(|(_, tool)| tool.strict == Some(true));
    for (index, tool) in strict.skip(STRICT_TOOLS) {
        tool.strict = None;
        let what = "the vendor takes no more than 20 strict tools";
        losses.push(Loss::encode(LossKind::Dropped, format!("tools[{index}].strict"), what));
    }
    let has_vendors = head.extra.fields(WIRE).is_some_and(|fields| fields.contains("tools"));
    if !head.tools.is_empty() || has_vendors || !dialogue.uses_tools() {
        return;
    }
    for item in dialogue.items() {
        let Item::Call(_, _, call, _) = item else { continue };
        let name = legal(&call.name, is_word, NAME_LENGTH);
        if head.tools.iter().all(|tool| tool.name != name) {
            head.tools.push(ToolSpec { name, parameters: any_object(), ..ToolSpec::default() });
        }
    }
    let what = "a history with calls needs the tools it calls; they are named without their parameters";
    losses.push(Loss::encode(LossKind::Synthesised, "tools", what));
}

/// Marks the tools that a cache point of Converse stands after.
pub(super) fn mark_tools(head: &mut Session) {
    let Some(part) = head.extra.part(crate::format::bedrock::WIRE) else { return };
    let config = part.fields.get("toolConfig").and_then(Json::as_object);
    let vendor = config.and_then(|config| config.get("tools")?.as_array()).unwrap_or_default();
    let places = part.spelling.get("tools").and_then(Json::as_array).unwrap_or_default();
    let place = |place: &Json| place.as_number()?.as_u64().and_then(|place| usize::try_from(place).ok());
    let marks = vendor.iter().zip(places).enumerate().filter_map(|(before, (item, at))| {
        // The place counts all that stands in the list; the vendor's own are no tools of the session.
        Some((place(at)?.checked_sub(before + 1)?, cache::control_of(item)?))
    });
    for (index, control) in marks.collect::<Vec<_>>() {
        if let Some(tool) = head.tools.get_mut(index) {
            tool.extra.part_mut(WIRE).fields.set(CONTROL, control);
        }
    }
}

pub(super) fn any_object() -> Json {
    Json::Object([("type", Json::from("object"))].into_iter().collect())
}

fn fit_tool(tool: &mut ToolSpec, index: usize, losses: &mut Vec<Loss>) {
    let name = legal(&tool.name, is_word, NAME_LENGTH);
    if name != tool.name {
        let what = format!("the vendor does not take this name; it is sent as `{name}`");
        losses.push(Loss::encode(LossKind::Renamed, format!("tools[{index}].name"), what));
        tool.name = name;
    }
    let kind = tool.parameters.as_object().map(|schema| schema.get_str("type").map(|kind| kind == "object"));
    match (&mut tool.parameters, kind) {
        (_, Some(Some(true))) => return,
        (Json::Object(schema), Some(None)) => {
            schema.remove("type");
            *schema = std::iter::once(("type".into(), "object".into())).chain(std::mem::take(schema)).collect();
        }
        (parameters, _) => *parameters = any_object(),
    }
    let what = "the parameters of a tool are an object with the vendor";
    for field in ["", ".parameters", ".parameters.type"] {
        losses.push(Loss::encode(LossKind::Coerced, format!("tools[{index}]{field}"), what));
    }
}
