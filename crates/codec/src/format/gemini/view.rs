//! A request as its rules look at it.

use turnkeep_model::json::Node;

use super::SPELLINGS;

/// A request, consecutive contents of one role taken as one: the vendor merges them.
pub(super) struct Request<'b, 'a> {
    pub(super) body: &'b Node<'a>,
    pub(super) contents: Vec<Content<'b, 'a>>,
}

/// A content, or several of one role that follow each other.
pub(super) struct Content<'b, 'a> {
    index: usize,
    at: u32,
    pub(super) role: String,
    pub(super) parts: Vec<PartAt<'b, 'a>>,
}

/// A part, and where it stands.
pub(super) struct PartAt<'b, 'a> {
    content: usize,
    index: usize,
    part: &'b Node<'a>,
}

impl<'b, 'a> Request<'b, 'a> {
    pub(super) fn of(body: &'b Node<'a>) -> Request<'b, 'a> {
        let mut contents: Vec<Content<'b, 'a>> = Vec::new();
        for (index, node) in body.get("contents").and_then(Node::as_array).unwrap_or_default().iter().enumerate() {
            if node.as_object().is_none() {
                continue;
            }
            let role = node.get("role").map(|role| role.as_str().map_or_else(|| "?".to_owned(), Into::into));
            let role = role.unwrap_or_default();
            let parts = node.get("parts").and_then(Node::as_array).unwrap_or_default().iter().enumerate();
            let parts = parts.filter(|(_, part)| part.as_object().is_some());
            let parts = parts.map(|(place, part)| PartAt { content: index, index: place, part });
            match contents.last_mut() {
                Some(last) if last.role == role && !last.parts.is_empty() => last.parts.extend(parts),
                _ => contents.push(Content { index, at: node.at, role, parts: parts.collect() }),
            }
        }
        Request { body, contents }
    }

    pub(super) fn model(&self) -> String {
        self.body.get("model").and_then(Node::as_str).map(Into::into).unwrap_or_default()
    }
}

impl<'b, 'a> Content<'b, 'a> {
    pub(super) fn hit(&self) -> (String, u32) {
        (format!("contents[{}]", self.index), self.at)
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &'b Node<'a>> {
        self.parts.iter().filter_map(PartAt::call)
    }

    pub(super) fn responses(&self) -> impl Iterator<Item = &'b Node<'a>> {
        self.parts.iter().filter_map(PartAt::response)
    }
}

impl<'b, 'a> PartAt<'b, 'a> {
    pub(super) fn hit(&self) -> (String, u32) {
        (format!("contents[{}].parts[{}]", self.content, self.index), self.part.at)
    }

    /// What stands under a key, in either spelling; `null` is nothing.
    pub(super) fn named(&self, key: &str) -> Option<&'b Node<'a>> {
        let snake = || SPELLINGS.iter().find(|(camel, _)| *camel == key).and_then(|(_, snake)| self.part.get(snake));
        self.part.get(key).or_else(snake).filter(|node| node.value != turnkeep_model::json::Value::Null)
    }

    pub(super) fn call(&self) -> Option<&'b Node<'a>> {
        self.named("functionCall").filter(|call| call.as_object().is_some())
    }

    pub(super) fn response(&self) -> Option<&'b Node<'a>> {
        self.named("functionResponse").filter(|response| response.as_object().is_some())
    }
}
