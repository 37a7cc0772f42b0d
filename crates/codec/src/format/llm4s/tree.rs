//! Objects of a document: taken apart by known keys, and put together again.

use turnkeep_model::ExtraPart;
use turnkeep_model::json::{Fields, Json, JsonString, Node, Object, Sink, Text, Value};

use crate::codec::Mode;

/// The note on the order of keys, where it is not the usual one.
const ORDER: &str = "order";

/// The note on a key that the source left out although it usually stands.
const ABSENT: &str = "absent";

/// An object taken apart.
pub(super) struct Opened<'a, const N: usize> {
    /// The values of the known keys.
    pub(super) slots: [Option<Node<'a>>; N],
    /// The other pairs.
    pub(super) rest: Object,
    /// The order of the keys, where it is not the usual one.
    pub(super) order: Option<Json>,
    /// Whether a known key stands more than once; the last one counts.
    pub(super) repeats: bool,
}

/// Takes an object apart. Where a known key repeats, the last value counts.
pub(super) fn open<'a, const N: usize>(fields: Fields<'a>, known: &[&str; N]) -> Opened<'a, N> {
    let order = order(&fields, known);
    let mut opened = Opened { slots: [const { None }; N], rest: Object::new(), order, repeats: false };
    for (key, node) in fields {
        let place = known.iter().position(|name| *name == key.to_str_lossy());
        match place.and_then(|place| opened.slots.get_mut(place)) {
            Some(slot) => opened.repeats |= slot.replace(node).is_some(),
            None => opened.rest.push(key.into_json_string(), node.into_json()),
        }
    }
    opened
}

impl<const N: usize> Opened<'_, N> {
    /// Leaves what was not consumed, and how the keys stood, in an extra.
    pub(super) fn leave(&mut self, part: &mut ExtraPart) {
        for (key, value) in std::mem::take(&mut self.rest) {
            part.fields.push(key, value);
        }
        if let Some(order) = self.order.take() {
            part.spelling.set(ORDER, order);
        }
    }

    /// The same for an object inside the one that the extra is of.
    pub(super) fn leave_under(&mut self, key: &str, part: &mut ExtraPart) {
        let mut inner = ExtraPart::default();
        self.leave(&mut inner);
        if !inner.fields.is_empty() {
            part.fields.set(key, inner.fields);
        }
        if let Some(order) = inner.spelling.remove(ORDER) {
            part.spelling.set(&format!("{key}.{ORDER}"), order);
        }
    }
}

/// The keys as they stand, unless the known ones stand in their usual order with the others behind them.
fn order<const N: usize>(fields: &Fields<'_>, known: &[&str; N]) -> Option<Json> {
    let place = |key: &Text<'_>| known.iter().position(|name| *name == key.to_str_lossy()).unwrap_or(N);
    if fields.is_sorted_by_key(|(key, _)| place(key)) {
        return None;
    }
    Some(Json::Array(fields.iter().map(|(key, _)| Json::String(key.clone().into_json_string())).collect()))
}

/// Notes that the source left a key out.
pub(super) fn note_absent(part: &mut ExtraPart, key: &str) {
    part.spelling.set(key, ABSENT);
}

static NOTHING: Object = Object::new();

/// Puts an object together.
pub(super) struct Maker<'s> {
    pairs: Fields<'s>,
    rest: &'s Object,
    spelling: &'s Object,
    order: Option<&'s Json>,
}

impl<'s> Maker<'s> {
    /// An object whose unconsumed pairs and spelling are in `part`. The library itself keeps neither.
    pub(super) fn new(part: Option<&'s ExtraPart>, mode: Mode) -> Maker<'s> {
        let part = part.filter(|_| mode == Mode::Faithful);
        let spelling = part.map_or(&NOTHING, |part| &part.spelling);
        Maker {
            pairs: Vec::new(),
            rest: part.map_or(&NOTHING, |part| &part.fields),
            spelling,
            order: spelling.get(ORDER),
        }
    }

    /// An object inside the one that `part` is of.
    pub(super) fn under(key: &str, part: Option<&'s ExtraPart>, mode: Mode) -> Maker<'s> {
        let outer = Maker::new(part, mode);
        Maker {
            rest: outer.rest.get(key).and_then(Json::as_object).unwrap_or(&NOTHING),
            order: outer.spelling.get(&format!("{key}.{ORDER}")),
            ..outer
        }
    }

    /// Adds a pair.
    pub(super) fn set(&mut self, key: &'s str, value: Node<'s>) {
        self.pairs.push((Text::Plain(key), value));
    }

    /// Adds a pair whose value may be missing: then what the source had there stands, or else `usual`, unless the
    /// source left the key out.
    pub(super) fn choose(&mut self, key: &'s str, value: Option<Node<'s>>, usual: Option<Node<'s>>) {
        let absent = || self.spelling.get_str(key).as_deref() == Some(ABSENT);
        let kept = || self.rest.get(key).map(from_json);
        let value = value.or_else(kept).or_else(|| usual.filter(|_| !absent()));
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// A note on how the source spelled something.
    pub(super) fn spelled(&self, key: &str) -> Option<&'s Json> {
        self.spelling.get(key)
    }

    /// The object.
    pub(super) fn finish(mut self) -> Node<'s> {
        let known = self.pairs.len();
        for (key, value) in self.rest.iter() {
            let name = key.to_str_lossy();
            if !self.pairs.iter().take(known).any(|(own, _)| own.to_str_lossy() == name) {
                self.pairs.push((from_string(key), from_json(value)));
            }
        }
        if let Some(Json::Array(order)) = self.order {
            let place = |key: &Text<'_>| {
                let name = key.to_str_lossy();
                order.iter().position(|own| own.as_str().as_deref() == Some(&*name)).unwrap_or(order.len())
            };
            self.pairs.sort_by_cached_key(|(key, _)| place(key));
        }
        node(Value::Object(self.pairs))
    }
}

fn node(value: Value<'_>) -> Node<'_> {
    Node { at: 0, value }
}

/// `null`
pub(super) fn null() -> Node<'static> {
    node(Value::Null)
}

/// A string.
pub(super) fn text(text: &str) -> Node<'_> {
    node(Value::Text(Text::Plain(text)))
}

/// A string that is not in the session as such.
pub(super) fn owned(text: String) -> Node<'static> {
    node(Value::Text(Text::Owned(text.into())))
}

/// A number by its spelling.
pub(super) fn number(text: &str) -> Node<'_> {
    node(Value::Number(text.into()))
}

/// An array.
pub(super) fn array<'s>(items: impl IntoIterator<Item = Node<'s>>) -> Node<'s> {
    node(Value::Array(items.into_iter().collect()))
}

/// A value that some extra keeps.
pub(super) fn from_json(value: &Json) -> Node<'_> {
    node(match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => Value::Number(number.as_str().into()),
        Json::String(text) => Value::Text(from_string(text)),
        Json::Array(items) => Value::Array(items.iter().map(from_json).collect()),
        Json::Object(object) => {
            Value::Object(object.iter().map(|(key, value)| (from_string(key), from_json(value))).collect())
        }
    })
}

fn from_string(text: &JsonString) -> Text<'_> {
    match (text.escaped(), text.to_str_lossy()) {
        (Some(spelling), _) => Text::Escaped(spelling),
        (None, std::borrow::Cow::Borrowed(plain)) => Text::Plain(plain),
        (None, std::borrow::Cow::Owned(plain)) => Text::Owned(plain.into()),
    }
}

/// Writes a tree.
pub(super) fn write(node: &Node<'_>, out: &mut impl Sink) {
    match &node.value {
        Value::Null => out.null(),
        Value::Bool(value) => out.bool(*value),
        Value::Number(text) => out.number(text),
        Value::Text(text) => match spelled(text) {
            Some(string) => out.string(&string),
            None => out.text(&text.to_str_lossy()),
        },
        Value::Array(items) => {
            out.begin_array();
            items.iter().for_each(|item| write(item, out));
            out.end_array();
        }
        Value::Object(fields) => {
            out.begin_object();
            for (key, value) in fields {
                match spelled(key) {
                    Some(string) => out.spelled_key(&string),
                    None => out.key(&key.to_str_lossy()),
                }
                write(value, out);
            }
            out.end_object();
        }
    }
}

/// The string, where its spelling must be kept.
fn spelled(text: &Text<'_>) -> Option<JsonString> {
    match text {
        Text::Escaped(_) | Text::OwnedEscaped(_) => Some(text.clone().into_json_string()),
        Text::Plain(_) | Text::Owned(_) | Text::Bare(_) => None,
    }
}
