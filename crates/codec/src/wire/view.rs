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
    /// The places in `blocks` of each kind: there are few kinds, and most rules ask for one.
    kinds: Vec<(Cow<'b, str>, Vec<usize>)>,
}

/// A message.
pub(crate) struct Message<'b, 'a> {
    pub(crate) node: &'b Node<'a>,
    /// Empty where it has none.
    pub(crate) role: Cow<'b, str>,
    pub(crate) content: Option<&'b Node<'a>>,
    blocks: Range<usize>,
}

/// A block of a message.
pub(crate) struct Block<'b, 'a> {
    pub(crate) place: Place,
    pub(crate) kind: Cow<'b, str>,
    /// What is of that kind.
    pub(crate) node: &'b Node<'a>,
    /// The call that it is or answers.
    pub(crate) call: Option<Cow<'b, str>>,
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

/// The field of a kind of block that names a call.
pub(crate) type CallKey = fn(&str) -> Option<&'static str>;

impl<'b, 'a> View<'b, 'a> {
    /// A view of a request, whose blocks say what they are by `kinds`, and which call they speak of by `call_key`.
    pub(crate) fn of(body: &'b Node<'a>, kinds: Kinds, call_key: CallKey) -> View<'b, 'a> {
        let items = body.get("messages").and_then(Node::as_array).unwrap_or_default();
        let (messages, blocks) = (Vec::with_capacity(items.len()), Vec::with_capacity(items.len()));
        let mut view = View { body, messages, blocks, kinds: Vec::new() };
        for (message, node) in items.iter().enumerate() {
            let start = view.blocks.len();
            let content = node.get("content");
            let blocks = content.and_then(Node::as_array).unwrap_or_default();
            for (block, content) in blocks.iter().enumerate().filter(|(_, block)| block.is_object()) {
                let place = Place { message, block };
                kinds(content, &mut |kind, node| view.push(place, kind, node, call_key));
            }
            let role = node.get_str("role").unwrap_or_default();
            view.messages.push(Message { node, role, content, blocks: start..view.blocks.len() });
        }
        view
    }

    fn push(&mut self, place: Place, kind: Cow<'b, str>, node: &'b Node<'a>, call_key: CallKey) {
        let call = call_key(&kind).and_then(|key| node.get_str(key));
        let index = self.blocks.len();
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, places)) => places.push(index),
            None => self.kinds.push((kind.clone(), vec![index])),
        }
        self.blocks.push(Block { place, kind, node, call });
    }

    /// The blocks of a message.
    pub(crate) fn blocks_of(&self, message: &Message<'b, 'a>) -> &[Block<'b, 'a>] {
        self.blocks.get(message.blocks.clone()).unwrap_or_default()
    }

    /// The blocks of a kind.
    pub(crate) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Block<'b, 'a>> {
        let places = self.kinds.iter().find(|(known, _)| known == kind).map_or(&[][..], |(_, places)| places);
        places.iter().filter_map(|place| self.blocks.get(*place))
    }

    /// The role of the message that a block stands in.
    pub(crate) fn role_of(&self, block: &Block<'b, 'a>) -> &str {
        self.messages.get(block.place.message).map_or("", |message| &message.role)
    }
}

/// The ids that stand in a list twice, by their second places.
pub(crate) fn repeated<'i, P: Copy>(mut ids: impl Iterator<Item = (P, &'i str)>) -> Vec<P> {
    let (Some(first), Some(second)) = (ids.next(), ids.next()) else { return Vec::new() };
    let mut seen = std::collections::HashSet::new();
    let again = [first, second].into_iter().chain(ids).filter(|(_, id)| !seen.insert(*id));
    again.map(|(place, _)| place).collect()
}

/// Those of `ids` that are not among `known`.
pub(crate) fn missing<'i, P: Copy>(
    ids: impl Iterator<Item = (P, &'i str)>,
    known: impl Iterator<Item = &'i str>,
) -> Vec<P> {
    let mut ids = ids.peekable();
    if ids.peek().is_none() {
        return Vec::new();
    }
    let mut known: Vec<_> = known.collect();
    known.sort_unstable();
    ids.filter(|(_, id)| known.binary_search(id).is_err()).map(|(place, _)| place).collect()
}
