//! Documents to be written, as trees that borrow from a session: small to make, and a decoder reads them back.

use turnkeep_model::json::{Fields, JsonString, Node, Sink, Text, Value};

fn node(value: Value<'_>) -> Node<'_> {
    Node { at: 0, value }
}

/// `null`
pub(crate) fn null<'s>() -> Node<'s> {
    node(Value::Null)
}

/// A string.
pub(crate) fn text(text: &str) -> Node<'_> {
    node(Value::Text(Text::Plain(text)))
}

/// A string that is not in the session as such.
pub(crate) fn owned<'s>(text: String) -> Node<'s> {
    node(Value::Text(Text::Owned(text.into())))
}

/// A string, spelled as it is.
pub(crate) fn string(text: Text<'_>) -> Node<'_> {
    node(Value::Text(text))
}

/// A count.
pub(crate) fn count<'s>(count: u64) -> Node<'s> {
    node(Value::Number(count.to_string().into()))
}

/// A number by its spelling.
pub(crate) fn number(text: &str) -> Node<'_> {
    node(Value::Number(text.into()))
}

/// An array.
pub(crate) fn array<'s>(items: impl IntoIterator<Item = Node<'s>>) -> Node<'s> {
    node(Value::Array(items.into_iter().collect()))
}

/// An object.
pub(crate) fn object(fields: Fields<'_>) -> Node<'_> {
    node(Value::Object(fields))
}

/// Writes a tree.
pub(crate) fn write(node: &Node<'_>, out: &mut impl Sink) {
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
