//! The notes on key order that earlier versions stored. Documents hold them for as long as documents live.
//!
//! | where | what | written for |
//! |---|---|---|
//! | `order` | `"sorted"`, or an array of keys | anthropic.messages, bedrock.converse |
//! | `<key>` | the same, of the object under that key | anthropic.messages, bedrock.converse |
//! | `order`, `<key>: {"order": …}` | the keys joined by spaces | openai.chat, ollama.chat |
//! | `order`, `order.<key>` | the keys joined by spaces, or an array | openai.responses |
//! | `<key>.order` | an array | llm4s |
//! | `keys: {"<path>": …}` | an array | cognesy |
//! | `order: {"request": …}` | a tree of `keys` and `in` for a whole body | gemini.contents |
//! | `order.request`, `order.request.contents.0` | an array, for any object of a body | gemini.contents |

use std::borrow::Cow;

use turnkeep_model::json::{Json, JsonString, Object};

use super::order::{ORDER, Order, in_order, note_key};

/// The note on the order of the object at `path`, in any spelling.
pub(crate) fn note<'a>(spelling: &'a Object, path: &str) -> Option<&'a Json> {
    if spelling.is_empty() {
        return None;
    }
    if let Some(note) = spelling.get(&note_key(path)) {
        return Some(note);
    }
    let by_path = || spelling.get("keys")?.as_object()?.get(path);
    if path.is_empty() {
        return by_path();
    }
    // Notes of an object two levels down stood under its key alone.
    let own = spelling.get(path.rsplit('.').next().unwrap_or(path));
    let inner = || own.and_then(Json::as_object)?.get(ORDER);
    let after = || spelling.get(&format!("{path}.{ORDER}"));
    own.filter(|note| is_order(note)).or_else(inner).or_else(after).or_else(by_path)
}

/// The order that a note says.
pub(super) fn order_in(note: &Json) -> Option<Order<'_>> {
    match note {
        Json::Array(keys) => Some(Order::Keys(Cow::Borrowed(keys))),
        Json::String(word) if word.is("sorted") => Some(Order::Sorted),
        Json::String(words) => {
            let words = words.to_str_lossy();
            let keys = words.split(' ').filter(|key| !key.is_empty()).map(Json::from);
            Some(Order::Keys(Cow::Owned(keys.collect())))
        }
        _ => None,
    }
}

/// Whether a note under the key of an object is on its order, and no other note on that object.
fn is_order(note: &Json) -> bool {
    match note {
        Json::Array(keys) => keys.iter().all(|key| matches!(key, Json::String(_))),
        Json::String(word) => word.is("sorted"),
        _ => false,
    }
}

/// Gives a body the orders that are noted of it as a whole: as a tree, or by paths.
pub(crate) fn follow_orders(body: &mut Json, path: &str, notes: &Object) {
    if let Some(tree) = notes.get("order").and_then(Json::as_object).and_then(|trees| trees.get(path)) {
        apply_tree(body, tree);
    }
    let own = note_key(path);
    for (key, note) in notes.iter() {
        let key = key.to_str_lossy();
        let Some(rest) = key.strip_prefix(&*own) else { continue };
        if rest.is_empty() || rest.starts_with('.') {
            let steps = rest.split('.').filter(|step| !step.is_empty());
            follow(body, steps, note);
        }
    }
}

fn follow<'a>(mut value: &mut Json, steps: impl Iterator<Item = &'a str>, note: &Json) {
    for step in steps {
        let inner = match value {
            Json::Object(object) => object.iter_mut().find(|(key, _)| key.is(step)).map(|(_, value)| value),
            Json::Array(items) => step.parse().ok().and_then(|index: usize| items.get_mut(index)),
            _ => None,
        };
        let Some(inner) = inner else { return };
        value = inner;
    }
    if let Json::Object(object) = value {
        *object = in_order(std::mem::take(object), Some(note), &[]);
    }
}

/// Gives a body the order that a tree says: `keys` of an object, and trees of what stands in it under `in`.
pub(super) fn apply_tree(body: &mut Json, tree: &Json) {
    let Some(tree) = tree.as_object() else { return };
    let inner = tree.get("in").and_then(Json::as_object);
    match body {
        Json::Object(object) => {
            for (key, value) in object.iter_mut() {
                let tree = inner.and_then(|inner| at_key(inner, key));
                tree.into_iter().for_each(|tree| apply_tree(value, tree));
            }
            if tree.contains("keys") {
                *object = in_order(std::mem::take(object), tree.get("keys"), &[]);
            }
        }
        Json::Array(items) => {
            for (index, tree) in inner.into_iter().flat_map(Object::iter) {
                let item = index.to_str_lossy().parse().ok().and_then(|index: usize| items.get_mut(index));
                item.into_iter().for_each(|item| apply_tree(item, tree));
            }
        }
        _ => {}
    }
}

fn at_key<'a>(inner: &'a Object, key: &JsonString) -> Option<&'a Json> {
    inner.iter().find(|(own, _)| *own == key).map(|(_, tree)| tree)
}
