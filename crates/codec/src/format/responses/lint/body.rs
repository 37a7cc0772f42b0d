//! A request as the rules look at it.

use std::borrow::Cow;
use std::collections::HashMap;

use turnkeep_model::json::{Node, Text, Value};

use super::super::profile::Profile;

/// A request and what rules often ask of it: walked once, whatever the number of rules.
pub struct Body<'b, 'a> {
    /// All of it.
    pub(super) node: &'b Node<'a>,
    /// Who is asked.
    pub(super) profile: &'b Profile,
    /// The objects among its items, with their places.
    pub(super) items: Vec<Item<'b, 'a>>,
    /// The parts of messages and outputs that come in parts.
    pub(super) parts: Vec<Part<'b, 'a>>,
    /// What is known of each call.
    pub(super) calls: Vec<Call>,
    /// The model, without the vendor's name before it.
    pub(super) model: String,
    /// Whether the vendor holds items that are not in the request.
    pub(super) refers: bool,
    /// Whether some items are only named.
    pub(super) has_references: bool,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Call,
    CustomCall,
    Output,
    CustomOutput,
    Reasoning,
    Reference,
    Other,
}

/// A field that rules ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Id,
    CallId,
    Name,
    Arguments,
    Input,
    Output,
    Role,
    Content,
    Summary,
    Encrypted,
    Type,
}

/// An item of a request.
pub(super) struct Item<'b, 'a> {
    pub(super) place: usize,
    pub(super) kind: Kind,
    /// The place in `calls` of the call that it is or answers.
    pub(super) call: usize,
    /// Whether the model made it.
    pub(super) is_answer: bool,
    fields: [Option<&'b Node<'a>>; KEYS.len()],
}

/// A part of a message or of an output.
pub(super) struct Part<'b, 'a> {
    /// The place in `items` of its item.
    pub(super) item: usize,
    /// The field that it stands in.
    pub(super) list: Key,
    pub(super) place: usize,
    pub(super) node: &'b Node<'a>,
}

/// What is known of the calls and outputs that share an id.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Call {
    /// The place of the first call of any kind.
    pub(super) made: Option<usize>,
    /// How many calls of tools there are.
    pub(super) calls: usize,
    /// How many outputs there are.
    pub(super) outputs: usize,
}

/// The names of the fields, as in [`Key`].
const KEYS: [(Key, &str); 11] = [
    (Key::Id, "id"),
    (Key::CallId, "call_id"),
    (Key::Name, "name"),
    (Key::Arguments, "arguments"),
    (Key::Input, "input"),
    (Key::Output, "output"),
    (Key::Role, "role"),
    (Key::Content, "content"),
    (Key::Summary, "summary"),
    (Key::Encrypted, "encrypted_content"),
    (Key::Type, "type"),
];

impl Key {
    pub(super) fn name(self) -> &'static str {
        KEYS.get(self as usize).map_or("", |(_, name)| name)
    }

    fn of(name: &Text<'_>) -> Option<Key> {
        KEYS.iter().find(|(_, known)| name.is(known)).map(|(key, _)| *key)
    }
}

impl Kind {
    fn of(word: Option<&Node<'_>>) -> Kind {
        let Some(word) = word.and_then(Node::as_text) else { return Kind::Message };
        const KINDS: [(&str, Kind); 7] = [
            ("message", Kind::Message),
            ("function_call", Kind::Call),
            ("custom_tool_call", Kind::CustomCall),
            ("function_call_output", Kind::Output),
            ("custom_tool_call_output", Kind::CustomOutput),
            ("reasoning", Kind::Reasoning),
            ("item_reference", Kind::Reference),
        ];
        KINDS.iter().find(|(known, _)| word.is(known)).map_or(Kind::Other, |(_, kind)| *kind)
    }
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
        let mut items: Vec<_> = objects(node, "input").map(|(place, item)| Item::of(place, item)).collect();
        let is_set = |key: &str| node.get(key).is_some_and(says_something);
        let model = node.get_str("model").unwrap_or_default();
        let has_references = items.iter().any(|item| item.kind == Kind::Reference);
        Body {
            node,
            profile,
            model: model.rsplit('/').next().unwrap_or_default().to_owned(),
            refers: has_references || ["previous_response_id", "conversation", "prompt"].iter().any(|key| is_set(key)),
            has_references,
            calls: calls(&mut items),
            parts: parts(&items),
            items,
        }
    }

    /// The items of a kind.
    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Item<'b, 'a>> {
        self.items.iter().filter(move |item| item.kind == kind)
    }

    /// The outputs, each with what is known of its call.
    pub(super) fn outputs(&self) -> impl Iterator<Item = (&Item<'b, 'a>, Call)> {
        self.items.iter().filter(|item| item.is_output()).map(|item| (item, self.call(item)))
    }

    /// What is known of the call that an item is or answers.
    pub(super) fn call(&self, item: &Item<'_, '_>) -> Call {
        self.calls.get(item.call).copied().unwrap_or_default()
    }

    /// The parts with the items they stand in.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&Item<'b, 'a>, &Part<'b, 'a>)> {
        self.parts.iter().filter_map(|part| Some((self.items.get(part.item)?, part)))
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

/// Ties items to what is known of their calls.
fn calls(items: &mut [Item<'_, '_>]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut places: HashMap<Cow<'_, str>, usize> = HashMap::new();
    for item in items {
        let names_call = item.is_answer && item.has(Key::CallId);
        if !item.is_call() && !item.is_output() && !names_call {
            continue;
        }
        item.call = *places.entry(item.text(Key::CallId)).or_insert(calls.len());
        if item.call == calls.len() {
            calls.push(Call::default());
        }
        let Some(call) = calls.get_mut(item.call) else { continue };
        call.calls += usize::from(item.is_call());
        call.outputs += usize::from(item.is_output());
        if names_call {
            call.made.get_or_insert(item.place);
        }
    }
    calls
}

fn parts<'b, 'a>(items: &[Item<'b, 'a>]) -> Vec<Part<'b, 'a>> {
    let mut parts = Vec::new();
    for (index, item) in items.iter().enumerate() {
        for list in [Key::Content, Key::Output] {
            let nodes = item.get(list).and_then(Node::as_array).unwrap_or_default();
            let objects = nodes.iter().enumerate().filter(|(_, node)| node.is_object());
            parts.extend(objects.map(|(place, node)| Part { item: index, list, place, node }));
        }
    }
    parts
}

fn says_something(node: &Node<'_>) -> bool {
    !matches!(node.value, Value::Null)
}

/// The objects of a list, with their places.
fn objects<'b, 'a>(node: &'b Node<'a>, key: &str) -> impl Iterator<Item = (usize, &'b Node<'a>)> {
    let items = node.get(key).and_then(Node::as_array).unwrap_or_default();
    items.iter().enumerate().filter(|(_, item)| item.is_object())
}

impl<'b, 'a> Item<'b, 'a> {
    fn of(place: usize, node: &'b Node<'a>) -> Item<'b, 'a> {
        let mut fields = [None; KEYS.len()];
        for (name, value) in node.as_object().unwrap_or_default() {
            if let Some(slot) = Key::of(name).and_then(|key| fields.get_mut(key as usize)) {
                *slot = Some(value);
            }
        }
        let mut item = Item { place, kind: Kind::Other, call: usize::MAX, is_answer: false, fields };
        item.kind = Kind::of(item.get(Key::Type));
        item.is_answer = item.is_of_model();
        item
    }

    fn is_of_model(&self) -> bool {
        match self.kind {
            Kind::Message => self.is(Key::Role, "assistant"),
            Kind::Reference => true,
            Kind::Call | Kind::CustomCall | Kind::Reasoning => self.get(Key::Role).is_none(),
            Kind::Output | Kind::CustomOutput => false,
            Kind::Other => {
                let kind = self.text(Key::Type);
                !kind.ends_with("_output") && !kind.ends_with("_response") && self.get(Key::Role).is_none()
            }
        }
    }

    pub(super) fn get(&self, key: Key) -> Option<&'b Node<'a>> {
        self.fields.get(key as usize).copied().flatten()
    }

    /// A text of the item, empty where there is none.
    pub(super) fn text(&self, key: Key) -> Cow<'b, str> {
        self.get(key).and_then(Node::as_str).unwrap_or_default()
    }

    fn is(&self, key: Key, word: &str) -> bool {
        self.get(key).and_then(Node::as_text).is_some_and(|text| text.is(word))
    }

    pub(super) fn has(&self, key: Key) -> bool {
        self.get(key).is_some_and(says_something)
    }

    /// A hit at a field of the item.
    pub(super) fn hit(&self, field: &str, subject: impl Into<String>) -> Hit {
        let dot = if field.is_empty() { "" } else { "." };
        Hit { at: format!("input[{}]{dot}{field}", self.place), subject: subject.into() }
    }

    /// A hit at a field that is named by its place.
    pub(super) fn hit_at(&self, field: &str) -> Hit {
        self.hit(field, format!("input[{}].{field}", self.place))
    }

    /// A hit at the id of its call.
    pub(super) fn hit_call(&self) -> Hit {
        self.hit("call_id", self.text(Key::CallId))
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(self.kind, Kind::Call | Kind::CustomCall)
    }

    pub(super) fn is_output(&self) -> bool {
        matches!(self.kind, Kind::Output | Kind::CustomOutput)
    }
}
