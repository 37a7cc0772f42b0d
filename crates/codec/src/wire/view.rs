//! A request as rules look at it: walked once, whatever the number of rules.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use turnkeep_model::json::Node;

/// A request, its messages, and the blocks of them all.
pub(crate) struct View<'b, 'a> {
    pub(crate) body: &'b Node<'a>,
    pub(crate) messages: Vec<Message<'b, 'a>>,
    pub(crate) blocks: Vec<Block<'b, 'a>>,
}

/// A message.
pub(crate) struct Message<'b, 'a> {
    pub(crate) node: &'b Node<'a>,
    /// Empty where it has none.
    pub(crate) role: Cow<'b, str>,
    blocks: Range<usize>,
}

/// A block of a message.
pub(crate) struct Block<'b, 'a> {
    pub(crate) place: Place,
    pub(crate) kind: Cow<'b, str>,
    /// What is of that kind.
    pub(crate) node: &'b Node<'a>,
}

/// Where a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) message: usize,
    pub(crate) block: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "messages[{}].content[{}]", self.message, self.block)
    }
}

/// The kinds of a block, with what is of that kind.
pub(crate) type Kinds = for<'b, 'a> fn(&'b Node<'a>, &mut dyn FnMut(Cow<'b, str>, &'b Node<'a>));

impl<'b, 'a> View<'b, 'a> {
    /// A view of a request, whose blocks say what they are by `kinds`.
    pub(crate) fn of(body: &'b Node<'a>, kinds: Kinds) -> View<'b, 'a> {
        let items = body.get("messages").and_then(Node::as_array).unwrap_or_default();
        let mut view = View { body, messages: Vec::with_capacity(items.len()), blocks: Vec::new() };
        for (message, node) in items.iter().enumerate() {
            let start = view.blocks.len();
            let content = node.get("content").and_then(Node::as_array).unwrap_or_default();
            for (block, content) in content.iter().enumerate().filter(|(_, block)| block.is_object()) {
                let place = Place { message, block };
                kinds(content, &mut |kind, node| view.blocks.push(Block { place, kind, node }));
            }
            let role = node.get_str("role").unwrap_or_default();
            view.messages.push(Message { node, role, blocks: start..view.blocks.len() });
        }
        view
    }

    /// The blocks of a message.
    pub(crate) fn blocks_of(&self, message: &Message<'b, 'a>) -> &[Block<'b, 'a>] {
        self.blocks.get(message.blocks.clone()).unwrap_or_default()
    }

    /// The blocks of a kind.
    pub(crate) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Block<'b, 'a>> {
        self.blocks.iter().filter(move |block| block.kind == kind)
    }

    /// The role of the message that a block stands in.
    pub(crate) fn role_of(&self, block: &Block<'b, 'a>) -> &str {
        self.messages.get(block.place.message).map_or("", |message| &message.role)
    }
}

impl Block<'_, '_> {
    /// A text of it.
    pub(crate) fn text(&self, key: &str) -> Option<Cow<'_, str>> {
        self.node.get_str(key)
    }
}

/// The ids that stand in a list twice, by their second places.
pub(crate) fn repeated<'i, P: Copy>(ids: impl Iterator<Item = (P, Cow<'i, str>)>) -> Vec<P> {
    let ids: Vec<_> = ids.collect();
    if ids.len() < 2 {
        return Vec::new();
    }
    let mut seen = std::collections::HashSet::with_capacity(ids.len());
    ids.iter().filter(|(_, id)| !seen.insert(&**id)).map(|(place, _)| *place).collect()
}

/// Those of `ids` that are not among `known`.
pub(crate) fn missing<'i, P: Copy>(
    ids: impl Iterator<Item = (P, Cow<'i, str>)>,
    known: impl Iterator<Item = Cow<'i, str>>,
) -> Vec<P> {
    let mut ids = ids.peekable();
    if ids.peek().is_none() {
        return Vec::new();
    }
    let mut known: Vec<_> = known.collect();
    known.sort_unstable();
    ids.filter(|(_, id)| known.binary_search(id).is_err()).map(|(place, _)| place).collect()
}
