//! Hides what tools were given and what they answered, in our own shape and in the shapes that vendors have.

use crate::json::{Json, Object};
use crate::policy::edit::Edit;
use crate::policy::finder::Keys;
use crate::shape::Shape;

/// What stands for a result that was left out; the shorter one where the result was shorter than the first.
const OMITTED: [&str; 2] = ["[tool result omitted]", "[omitted]"];

/// Reduces tool calls to their id and name.
pub(super) struct Arguments;

impl Edit for Arguments {
    fn concerns<T: Shape>(&self, part: &T) -> bool {
        Keys::any(part, &["arguments", "input", "args"])
    }

    fn tree(&mut self, tree: &mut Json) {
        objects(tree, &mut |object, _| {
            let is_named = object.contains("name") || object.contains("toolName") || object.contains("tool_name");
            let is_use = kind_of(object).is_some_and(|kind| {
                kind.ends_with("tool_use") || kind.contains("tool_call") || kind.contains("tool-call")
            });
            let is_call = is_use || object.contains("toolUseId");
            for (key, value) in object.iter_mut() {
                let given = (key.is("arguments") || key.is("args")) && is_named || key.is("input") && is_call;
                if given {
                    empty(value);
                }
            }
        });
    }

    fn why(&self) -> &'static str {
        "the arguments of tool calls are not told"
    }
}

/// Leaves nothing of arguments, in the type they had.
fn empty(arguments: &mut Json) {
    match arguments {
        Json::Null => {}
        // Never more than there was.
        Json::String(text) if text.to_str_lossy().len() < 2 => *arguments = "".into(),
        Json::String(_) => *arguments = "{}".into(),
        Json::Number(_) => *arguments = 0_u64.into(),
        Json::Bool(_) | Json::Array(_) | Json::Object(_) => *arguments = Object::new().into(),
    }
}

/// Leaves out what tools answered.
pub(super) struct Results;

impl Edit for Results {
    fn concerns<T: Shape>(&self, part: &T) -> bool {
        Keys::any(part, &["parts", "error", "content", "output", "response", "result", "tool_result"])
    }

    fn tree(&mut self, tree: &mut Json) {
        objects(tree, &mut |object, parent| {
            if !is_result(object, parent) {
                return;
            }
            for (key, value) in object.iter_mut() {
                if key.is("parts") {
                    omit_parts(value);
                } else if ["content", "output", "response", "result", "error"].iter().any(|known| key.is(known)) {
                    omit(value);
                }
            }
        });
    }

    fn why(&self) -> &'static str {
        "the results of tools are not told"
    }
}

fn is_result(object: &Object, parent: &str) -> bool {
    let by_kind = kind_of(object).is_some_and(|kind| {
        kind.ends_with("tool_result")
            || kind.ends_with("_call_output")
            || kind == "tool-result"
            || kind == "tool_use_result"
    });
    let by_role = object.get_str("role").is_some_and(|role| role == "tool" || role == "function");
    by_kind || by_role || matches!(parent, "functionResponse" | "toolResult" | "tool_result")
}

fn kind_of(object: &Object) -> Option<std::borrow::Cow<'_, str>> {
    object.get_str("type")
}

fn is_omitted(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::String(text) => text.is_empty() || OMITTED.iter().any(|omitted| text.is(omitted)),
        Json::Array(items) => items.is_empty(),
        Json::Object(object) => object.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

/// What stands for so many bytes: never more than they were.
fn omission(length: usize) -> &'static str {
    OMITTED.into_iter().find(|omitted| omitted.len() <= length).unwrap_or_default()
}

fn omit(value: &mut Json) {
    if is_omitted(value) {
        return;
    }
    *value = match &*value {
        Json::String(text) => omission(text.to_str_lossy().len()).into(),
        other @ Json::Object(_) => {
            let mut object = Object::new();
            if let Some(told) = Some(omission(other.to_text().len().saturating_sub(14))).filter(|told| !told.is_empty())
            {
                object.push("omitted", told);
            }
            object.into()
        }
        other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_)) => {
            omission(other.to_text().len().saturating_sub(2)).into()
        }
    };
}

/// The parts of our own results: one text is left.
fn omit_parts(parts: &mut Json) {
    let told = parts.to_text().len().checked_sub(r#"[{"type":"text","text":""}]"#.len());
    let is_done = |part: &Json| {
        let text = part.as_object().filter(|part| part.len() == 2 && kind_of(part).is_some_and(|kind| kind == "text"));
        text.and_then(|part| part.get("text")).is_some_and(is_omitted)
    };
    if parts.as_array().is_some_and(|parts| parts.iter().all(is_done) && parts.len() <= 1) {
        return;
    }
    let text = |told: usize| -> Object {
        [("type", Json::from("text")), ("text", omission(told).into())].into_iter().collect()
    };
    *parts = told.map(|told| Json::from(text(told))).into_iter().collect::<Vec<_>>().into();
}

/// Visits every object with the key it stands under, outermost first.
fn objects(tree: &mut Json, visit: &mut impl FnMut(&mut Object, &str)) {
    within(tree, "", visit);
}

fn within(tree: &mut Json, key: &str, visit: &mut impl FnMut(&mut Object, &str)) {
    match tree {
        Json::Array(items) => items.iter_mut().for_each(|item| within(item, key, visit)),
        Json::Object(object) => {
            visit(object, key);
            object.iter_mut().for_each(|(key, value)| within(value, &key.to_str_lossy(), visit));
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}
