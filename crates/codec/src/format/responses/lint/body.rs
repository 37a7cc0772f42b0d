//! A request as the rules look at it.

use std::borrow::Cow;

use turnkeep_model::json::{Node, Value};

use super::super::profile::Profile;

/// A request and what rules often ask of it.
pub struct Body<'b, 'a> {
    /// All of it.
    pub(super) node: &'b Node<'a>,
    /// Who is asked.
    pub(super) profile: &'b Profile,
    /// The objects among its items, with their places.
    pub(super) items: Vec<Item<'b, 'a>>,
    /// The model, without the vendor's name before it.
    pub(super) model: String,
    /// Whether the vendor holds items that are not in the request.
    pub(super) refers: bool,
    /// Whether some items are only named.
    pub(super) has_references: bool,
}

/// An item of a request.
pub(super) struct Item<'b, 'a> {
    pub(super) place: usize,
    pub(super) kind: Cow<'b, str>,
    /// The call that it is or answers, empty where there is none.
    pub(super) call: Cow<'b, str>,
    /// Whether the model made it.
    pub(super) is_answer: bool,
    pub(super) node: &'b Node<'a>,
}

/// A place that breaks a rule, and what there is to say of it.
pub struct Hit {
    /// The place in the body.
    pub(super) at: String,
    /// The name or the value that the vendor's error would show.
    pub(super) subject: String,
}

impl<'b, 'a> Body<'b, 'a> {
    pub(super) fn of(node: &'b Node<'a>, profile: &'b Profile) -> Body<'b, 'a> {
        let items: Vec<_> = objects(node, "input").map(|(place, item)| Item::of(place, item)).collect();
        let is_set = |key: &str| has(node, key);
        let model = node.get_str("model").unwrap_or_default();
        let has_references = items.iter().any(|item| item.kind == "item_reference");
        Body {
            node,
            profile,
            model: model.rsplit('/').next().unwrap_or_default().to_owned(),
            refers: has_references || ["previous_response_id", "conversation", "prompt"].iter().any(|key| is_set(key)),
            has_references,
            items,
        }
    }

    /// The items of these kinds.
    pub(super) fn of_kind(&self, kinds: &'static [&'static str]) -> impl Iterator<Item = &Item<'b, 'a>> {
        self.items.iter().filter(|item| kinds.contains(&&*item.kind))
    }

    /// Whether the vendor is told not to keep anything.
    pub(super) fn is_stateless(&self) -> bool {
        self.node.get("store").and_then(Node::as_bool) == Some(false)
    }

    /// The tools, with their places.
    pub(super) fn tools(&self) -> impl Iterator<Item = (usize, &'b Node<'a>)> {
        objects(self.node, "tools")
    }
}

fn is_answer(kind: &str, node: &Node<'_>) -> bool {
    match kind {
        "message" => node.get("role").and_then(Node::as_text).is_some_and(|role| role.is("assistant")),
        "item_reference" => true,
        kind => !kind.ends_with("_output") && !kind.ends_with("_response") && node.get("role").is_none(),
    }
}

/// Whether an object says something under a key.
fn has(node: &Node<'_>, key: &str) -> bool {
    node.get(key).is_some_and(|value| !matches!(value.value, Value::Null))
}

/// The objects of a list, with their places.
fn objects<'b, 'a>(node: &'b Node<'a>, key: &str) -> impl Iterator<Item = (usize, &'b Node<'a>)> {
    let items = node.get(key).and_then(Node::as_array).unwrap_or_default();
    items.iter().enumerate().filter(|(_, item)| item.is_object())
}

impl<'b, 'a> Item<'b, 'a> {
    fn of(place: usize, node: &'b Node<'a>) -> Item<'b, 'a> {
        let kind = node.get_str("type").unwrap_or(Cow::Borrowed("message"));
        let call = node.get_str("call_id").unwrap_or_default();
        Item { place, is_answer: is_answer(&kind, node), kind, call, node }
    }

    /// A text of the item, empty where there is none.
    pub(super) fn text(&self, key: &str) -> Cow<'b, str> {
        self.node.get_str(key).unwrap_or_default()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        has(self.node, key)
    }

    /// A hit at a field of the item.
    pub(super) fn hit(&self, field: &str, subject: impl Into<String>) -> Hit {
        let dot = if field.is_empty() { "" } else { "." };
        Hit { at: format!("input[{}]{dot}{field}", self.place), subject: subject.into() }
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(&*self.kind, "function_call" | "custom_tool_call")
    }

    pub(super) fn is_output(&self) -> bool {
        matches!(&*self.kind, "function_call_output" | "custom_tool_call_output")
    }

    /// The parts of a message or of an output, with their places.
    pub(super) fn parts(&self, key: &str) -> impl Iterator<Item = (usize, &'b Node<'a>)> {
        objects(self.node, key)
    }
}
