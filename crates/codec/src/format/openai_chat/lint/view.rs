//! A request as the rules look at it.

use std::borrow::Cow;

use turnkeep_model::json::Node;

use super::Hit;

/// A request body.
pub(super) struct Request<'a> {
    pub(super) body: &'a Node<'a>,
    pub(super) messages: Vec<Message<'a>>,
}

/// One message.
pub(super) struct Message<'a> {
    pub(super) index: usize,
    pub(super) node: &'a Node<'a>,
    pub(super) role: Cow<'a, str>,
    /// Its list of calls, also where that is empty.
    pub(super) listed: Option<&'a [Node<'a>]>,
    pub(super) calls: Vec<Call<'a>>,
    /// The call that it answers.
    pub(super) answers: Option<Cow<'a, str>>,
    pub(super) content: Option<&'a Node<'a>>,
}

/// One call.
pub(super) struct Call<'a> {
    message: usize,
    place: usize,
    pub(super) node: &'a Node<'a>,
    pub(super) id: Option<Cow<'a, str>>,
    /// What is called.
    pub(super) function: Option<&'a Node<'a>>,
}

impl<'a> Request<'a> {
    pub(super) fn of(body: &'a Node<'a>) -> Request<'a> {
        let messages = body.get("messages").and_then(Node::as_array).unwrap_or_default();
        Request { body, messages: messages.iter().enumerate().map(|(index, node)| Message::of(index, node)).collect() }
    }

    /// The model, empty where none is named.
    pub(super) fn model(&self) -> Cow<'a, str> {
        self.body.get("model").and_then(Node::as_str).unwrap_or_default()
    }

    /// A setting as a word.
    pub(super) fn word(&self, key: &str) -> Option<Cow<'a, str>> {
        self.body.get(key)?.as_str()
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        match &self.body.get(key)?.value {
            turnkeep_model::json::Value::Number(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl<'a> Message<'a> {
    fn of(index: usize, node: &'a Node<'a>) -> Message<'a> {
        let listed = node.get("tool_calls").and_then(Node::as_array);
        let calls = listed.unwrap_or_default().iter().enumerate().map(|(place, node)| Call {
            message: index,
            place,
            node,
            id: node.get("id").and_then(Node::as_str),
            function: node.get("function").or_else(|| node.get("custom")),
        });
        Message {
            index,
            node,
            role: node.get("role").and_then(Node::as_str).unwrap_or_default(),
            calls: calls.collect(),
            listed,
            answers: node.get("tool_call_id").and_then(Node::as_str),
            content: node.get("content"),
        }
    }

    pub(super) fn is(&self, role: &str) -> bool {
        self.role == role
    }

    /// The parts of its content, if it has parts.
    pub(super) fn parts(&self) -> &'a [Node<'a>] {
        self.content.and_then(Node::as_array).unwrap_or_default()
    }

    /// A place in it.
    pub(super) fn at(&self, field: &str) -> String {
        let dot = if field.is_empty() { "" } else { "." };
        format!("messages[{}]{dot}{field}", self.index)
    }

    pub(super) fn hit(&self, field: &str, what: impl Into<String>) -> Hit {
        let node = self.node.get(field).unwrap_or(self.node);
        Hit { at: self.at(field), offset: node.at, what: what.into() }
    }
}

impl Call<'_> {
    pub(super) fn hit(&self, field: &str, what: impl Into<String>) -> Hit {
        let at = format!("messages[{}].tool_calls[{}].{field}", self.message, self.place);
        Hit { at, offset: self.node.at, what: what.into() }
    }
}
