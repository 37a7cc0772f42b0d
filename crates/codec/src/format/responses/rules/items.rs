//! The items of a request, as the rules of this wire look at them.

use std::borrow::Cow;
use std::collections::HashMap;

use turnkeep_model::json::{Node, Value};

use super::super::profile::{OPENAI, Profile};
use crate::lint::rule::Hit;
use crate::lint::view::{Message as Item, Paired, RequestView, items};

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Message,
    Call,
    CustomCall,
    Output,
    CustomOutput,
    Reasoning,
    Reference,
    Other,
}

const KINDS: [(&str, ItemKind); 7] = [
    ("message", ItemKind::Message),
    ("function_call", ItemKind::Call),
    ("custom_tool_call", ItemKind::CustomCall),
    ("function_call_output", ItemKind::Output),
    ("custom_tool_call_output", ItemKind::CustomOutput),
    ("reasoning", ItemKind::Reasoning),
    ("item_reference", ItemKind::Reference),
];

impl ItemKind {
    pub(super) fn of(item: &Item<'_, '_>) -> ItemKind {
        KINDS.get(usize::from(item.class)).map_or(ItemKind::Other, |(_, kind)| *kind)
    }

    /// The place of an item's kind among [`KINDS`], behind them for any other. Found once an item, not once a rule.
    pub(super) fn class(item: &Node<'_>) -> u8 {
        let Some(word) = item.get("type").and_then(Node::as_text) else { return 0 };
        KINDS.iter().zip(0..).find(|((known, _), _)| word.is(known)).map_or(u8::MAX, |(_, place)| place)
    }

    pub(super) fn is_call(self) -> bool {
        matches!(self, ItemKind::Call | ItemKind::CustomCall)
    }

    pub(super) fn is_output(self) -> bool {
        matches!(self, ItemKind::Output | ItemKind::CustomOutput)
    }
}

/// The objects among the items, each with what it is.
pub(super) fn all<'v, 'b, 'a>(view: &'v RequestView<'b, 'a>) -> impl Iterator<Item = (ItemKind, &'v Item<'b, 'a>)> {
    view.messages.iter().filter(|item| item.node.is_object()).map(|item| (ItemKind::of(item), item))
}

pub(super) fn of_kind<'v, 'b, 'a>(
    view: &'v RequestView<'b, 'a>,
    kind: ItemKind,
) -> impl Iterator<Item = &'v Item<'b, 'a>> {
    all(view).filter(move |(own, _)| *own == kind).map(|(_, item)| item)
}

/// Whether the model made an item.
pub(super) fn is_answer(kind: ItemKind, item: &Item<'_, '_>) -> bool {
    let has_role = || item.node.get("role").is_some();
    match kind {
        ItemKind::Message => item.is("assistant"),
        ItemKind::Reference => true,
        ItemKind::Call | ItemKind::CustomCall | ItemKind::Reasoning => !has_role(),
        ItemKind::Output | ItemKind::CustomOutput => false,
        ItemKind::Other => {
            let kind = text(item, "type");
            !kind.ends_with("_output") && !kind.ends_with("_response") && !has_role()
        }
    }
}

/// A text of an item, empty where there is none.
pub(super) fn text<'b>(item: &Item<'b, '_>, key: &str) -> Cow<'b, str> {
    item.node.get_str(key).unwrap_or_default()
}

pub(super) fn has(node: &Node<'_>, key: &str) -> bool {
    node.get(key).is_some_and(|value| value.value != Value::Null)
}

/// The id of the call that an item is or answers, empty where there is none.
pub(super) fn call_id<'v>(item: &'v Item<'_, '_>) -> &'v str {
    item.call.as_deref().unwrap_or_default()
}

/// A hit at a field that the vendor's error names by its place.
pub(super) fn hit_at(item: &Item<'_, '_>, field: &str) -> Hit {
    item.hit(field, item.at(field))
}

/// A hit at the id of an item's call, which the vendor's error shows.
pub(super) fn hit_call(item: &Item<'_, '_>) -> Hit {
    item.hit("call_id", call_id(item))
}

/// The model, without the vendor's name before it.
pub(super) fn model<'b>(view: &RequestView<'b, '_>) -> Cow<'b, str> {
    match view.body.get_str("model").unwrap_or_default() {
        Cow::Borrowed(name) => name.rsplit('/').next().unwrap_or(name).into(),
        Cow::Owned(name) => name.rsplit('/').next().unwrap_or(&name).to_owned().into(),
    }
}

pub(super) fn profile(view: &RequestView<'_, '_>) -> &'static Profile {
    view.dialect.and_then(Profile::by_name).unwrap_or(&OPENAI)
}

/// Whether some items are only named.
pub(super) fn has_references(view: &RequestView<'_, '_>) -> bool {
    of_kind(view, ItemKind::Reference).next().is_some()
}

/// Whether the vendor holds items that are not in the request.
pub(super) fn refers(view: &RequestView<'_, '_>) -> bool {
    ["previous_response_id", "conversation", "prompt"].iter().any(|key| has(view.body, key)) || has_references(view)
}

/// Whether the vendor is told not to keep anything.
pub(super) fn is_stateless(view: &RequestView<'_, '_>) -> bool {
    view.body.get("store").and_then(Node::as_bool) == Some(false)
}

/// The tools, with their places.
pub(super) fn tools<'b, 'a>(view: &RequestView<'b, 'a>) -> impl Iterator<Item = (usize, &'b Node<'a>)> {
    items(view.body, "tools").iter().enumerate().filter(|(_, tool)| tool.is_object())
}

/// The calls and outputs by their ids.
pub(super) fn pairs<'v>(view: &'v RequestView<'_, '_>) -> &'v HashMap<Box<str>, Paired> {
    view.pairs.get_or_init(|| paired(view))
}

fn paired(view: &RequestView<'_, '_>) -> HashMap<Box<str>, Paired> {
    let mut pairs: HashMap<Box<str>, Paired> = HashMap::new();
    for (kind, item) in all(view) {
        let names_call = has(item.node, "call_id") && is_answer(kind, item);
        if kind.is_call() || kind.is_output() || names_call {
            let pair = pairs.entry(call_id(item).into()).or_default();
            pair.calls += usize::from(kind.is_call());
            pair.outputs += usize::from(kind.is_output());
            if names_call {
                pair.made.get_or_insert(item.index);
            }
        }
    }
    pairs
}
