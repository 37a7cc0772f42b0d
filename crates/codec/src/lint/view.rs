//! A request as rules look at it: walked once, whatever the wire and the number of rules.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use turnkeep_model::Number;
use turnkeep_model::json::Node;

use super::rule::Hit;
use crate::models::snake;

/// How the requests of a wire are walked.
pub(crate) struct RequestShape {
    /// Whether an object is judged as a request of the wire, broken as it may be.
    pub(crate) is_request: fn(&Node<'_>) -> bool,
    /// The fields of a message that hold lists of blocks.
    pub(crate) lists: &'static [&'static str],
    /// What the blocks of a list are.
    pub(crate) kinds: Kinds,
    /// The field of a kind of block that names a call.
    pub(crate) call_key: fn(&str) -> Option<&'static str>,
    /// The field of a message that names the call which it is or answers.
    pub(crate) message_call: Option<&'static str>,
    /// By what the rules of the wire tell messages apart, in a number of their own.
    pub(crate) class: fn(&Node<'_>) -> u8,
}

/// The kinds of an element of a list of blocks, each with what is of that kind.
pub(crate) type Kinds = for<'b, 'a> fn(&'static str, &'b Node<'a>, &mut dyn FnMut(Cow<'b, str>, &'b Node<'a>));

/// A request, its messages, and the blocks of them all.
pub(crate) struct RequestView<'b, 'a> {
    pub(crate) body: &'b Node<'a>,
    /// The vendor that it is for, where the wire has several.
    pub(crate) dialect: Option<&'b str>,
    pub(crate) messages: Vec<Message<'b, 'a>>,
    pub(crate) blocks: Vec<Block<'b, 'a>>,
    /// The places in `blocks` of each kind: there are few kinds, and most rules ask for one.
    kinds: Vec<(Cow<'b, str>, Vec<usize>)>,
    /// The calls and outputs among the messages by their ids: several rules look for them.
    pub(crate) pairs: OnceCell<HashMap<Box<str>, Paired>>,
}

/// What is known of the calls and outputs that share an id.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Paired {
    /// The place of the first call of any kind.
    pub(crate) made: Option<usize>,
    /// How many calls of tools there are.
    pub(crate) calls: usize,
    /// How many outputs there are.
    pub(crate) outputs: usize,
}

/// An element of a request's history.
pub(crate) struct Message<'b, 'a> {
    history: &'static str,
    pub(crate) index: usize,
    pub(crate) node: &'b Node<'a>,
    /// Empty where it has none.
    pub(crate) role: Cow<'b, str>,
    /// The call that it is or answers.
    pub(crate) call: Option<Cow<'b, str>>,
    pub(crate) content: Option<&'b Node<'a>>,
    /// What [`RequestShape::class`] says of it.
    pub(crate) class: u8,
    blocks: Range<usize>,
}

/// A block of a message.
pub(crate) struct Block<'b, 'a> {
    pub(crate) place: BlockPlace,
    pub(crate) kind: Cow<'b, str>,
    /// What is of that kind.
    pub(crate) node: &'b Node<'a>,
    /// The call that it is or answers.
    pub(crate) call: Option<Cow<'b, str>>,
}

/// Where a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockPlace {
    history: &'static str,
    pub(crate) message: usize,
    pub(crate) list: &'static str,
    pub(crate) block: usize,
}

impl fmt::Display for BlockPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BlockPlace { history, message, list, block } = self;
        write!(f, "{history}[{message}].{list}[{block}]")
    }
}

impl BlockPlace {
    pub(crate) fn hit(&self, what: impl Into<String>) -> Hit {
        Hit { at: self.to_string(), what: what.into() }
    }
}

impl<'b, 'a> RequestView<'b, 'a> {
    /// A view of a request whose history stands under the key `history`.
    pub(crate) fn of(
        body: &'b Node<'a>,
        shape: &RequestShape,
        history: &'static str,
        dialect: Option<&'b str>,
    ) -> RequestView<'b, 'a> {
        let elements = items(body, history);
        let (messages, blocks) = (Vec::with_capacity(elements.len()), Vec::with_capacity(elements.len()));
        let mut view = RequestView { body, dialect, messages, blocks, kinds: Vec::new(), pairs: OnceCell::new() };
        for (index, node) in elements.iter().enumerate() {
            let start = view.blocks.len();
            for list in shape.lists {
                for (block, element) in items(node, list).iter().enumerate() {
                    let place = BlockPlace { history, message: index, list, block };
                    (shape.kinds)(list, element, &mut |kind, node| view.push(place, kind, node, shape.call_key));
                }
            }
            view.messages.push(Message {
                history,
                index,
                node,
                role: node.get_str("role").unwrap_or_default(),
                call: shape.message_call.and_then(|key| node.get_str(key)),
                content: node.get("content"),
                class: (shape.class)(node),
                blocks: start..view.blocks.len(),
            });
        }
        view
    }

    fn push(
        &mut self,
        place: BlockPlace,
        kind: Cow<'b, str>,
        node: &'b Node<'a>,
        call_key: fn(&str) -> Option<&'static str>,
    ) {
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

    /// The message that a block stands in.
    pub(crate) fn message_of(&self, block: &Block<'b, 'a>) -> Option<&Message<'b, 'a>> {
        self.messages.get(block.place.message)
    }

    /// The role of the message that a block stands in.
    pub(crate) fn role_of(&self, block: &Block<'b, 'a>) -> &str {
        self.message_of(block).map_or("", |message| &message.role)
    }

    /// The messages of one side in a row, which some vendors take as one: those that `speaks` says are of a side. A
    /// message joins the run before it unless that `is_closed`.
    pub(crate) fn runs<'v>(
        &'v self,
        speaks: fn(&Message<'_, '_>) -> bool,
        is_closed: fn(&Run<'_, '_, '_>) -> bool,
    ) -> Vec<Run<'v, 'b, 'a>> {
        let mut runs: Vec<Run<'v, 'b, 'a>> = Vec::with_capacity(self.messages.len());
        for (index, message) in self.messages.iter().enumerate().filter(|(_, message)| speaks(message)) {
            match runs.last_mut() {
                Some(run) if run.role == message.role && !is_closed(run) => run.range.end = index + 1,
                _ => runs.push(Run { role: &message.role, view: self, speaks, range: index..index + 1 }),
            }
        }
        runs
    }

    /// A hit at a place that is named from the body.
    pub(crate) fn hit_if(wrong: bool, at: &str, what: impl Into<String>) -> Vec<Hit> {
        if wrong { vec![Hit { at: at.to_owned(), what: what.into() }] } else { Vec::new() }
    }
}

/// One side's messages in a row.
pub(crate) struct Run<'v, 'b, 'a> {
    pub(crate) role: &'v str,
    view: &'v RequestView<'b, 'a>,
    speaks: fn(&Message<'_, '_>) -> bool,
    range: Range<usize>,
}

impl<'v, 'b, 'a> Run<'v, 'b, 'a> {
    pub(crate) fn messages(&self) -> impl Iterator<Item = &'v Message<'b, 'a>> + use<'v, 'b, 'a> {
        let speaks = self.speaks;
        let messages = self.view.messages.get(self.range.clone()).unwrap_or_default();
        messages.iter().filter(move |message| speaks(message))
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = &'v Block<'b, 'a>> + use<'v, 'b, 'a> {
        let view = self.view;
        self.messages().flat_map(|message| view.blocks_of(message))
    }

    pub(crate) fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &'v Block<'b, 'a>> + use<'v, 'b, 'a> {
        self.blocks().filter(move |block| block.kind == kind)
    }

    /// The calls that its blocks of a kind are or answer, by their places.
    pub(crate) fn ids(&self, kind: &'static str) -> impl Iterator<Item = (BlockPlace, &'v str)> + use<'v, 'b, 'a> {
        self.of_kind(kind).filter_map(|block| Some((block.place, block.call.as_deref()?)))
    }

    /// A hit at its first message.
    pub(crate) fn hit(&self) -> Hit {
        let first = self.view.messages.get(self.range.start);
        first.map(|message| message.hit("", "")).unwrap_or_default()
    }
}

impl<'b, 'a> Message<'b, 'a> {
    pub(crate) fn is(&self, role: &str) -> bool {
        self.role == role
    }

    /// The elements of its content, where that is a list.
    pub(crate) fn parts(&self) -> &'b [Node<'a>] {
        self.content.and_then(Node::as_array).unwrap_or_default()
    }

    /// The place of a field; of the message itself where `field` is empty.
    pub(crate) fn at(&self, field: &str) -> String {
        let dot = if field.is_empty() { "" } else { "." };
        format!("{}[{}]{dot}{field}", self.history, self.index)
    }

    pub(crate) fn hit(&self, field: &str, what: impl Into<String>) -> Hit {
        Hit { at: self.at(field), what: what.into() }
    }
}

impl Block<'_, '_> {
    /// A hit at a field of the block; at the block itself where `field` is empty.
    pub(crate) fn hit(&self, field: &str, what: impl Into<String>) -> Hit {
        let dot = if field.is_empty() { "" } else { "." };
        Hit { at: format!("{}{dot}{field}", self.place), what: what.into() }
    }
}

/// Hits at the places of blocks.
pub(crate) fn hits(places: Vec<BlockPlace>, what: &str) -> impl Iterator<Item = Hit> {
    places.into_iter().map(move |place| place.hit(what))
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

/// The elements of an array in a body.
pub(crate) fn items<'b, 'a>(node: &'b Node<'a>, key: &str) -> &'b [Node<'a>] {
    node.get(key).and_then(Node::as_array).unwrap_or_default()
}

/// The value at some keys of a body.
pub(crate) fn at<'b, 'a>(node: &'b Node<'a>, keys: &[&str]) -> Option<&'b Node<'a>> {
    keys.iter().try_fold(node, |node, key| node.get(key))
}

/// A number at some keys of a body.
pub(crate) fn number_at(node: &Node<'_>, keys: &[&str]) -> Option<f64> {
    at(node, keys).and_then(Node::as_number).as_ref().map(Number::as_f64)
}

/// A piece of a place in a body.
pub(super) enum PathSegment<'p> {
    Key(&'p str),
    Index(usize),
}

/// The keys and indices of a place, as in `messages[3].content`.
pub(super) fn segments(at: &str) -> impl Iterator<Item = PathSegment<'_>> {
    at.split(['.', '[']).filter(|word| !word.is_empty()).map(|word| match word.strip_suffix(']') {
        Some(index) => index.parse().map_or(PathSegment::Key(word), PathSegment::Index),
        None => PathSegment::Key(word),
    })
}

/// The byte where the value at a place of a body stands; of one that is missing, where what should hold it stands.
pub(super) fn offset_of(body: &Node<'_>, at: &str) -> usize {
    let mut here = body;
    for segment in segments(at) {
        let next = match segment {
            PathSegment::Key(key) => here.get(key).or_else(|| here.get(&snake(key)?)),
            PathSegment::Index(index) => here.as_array().and_then(|items| items.get(index)),
        };
        let Some(next) = next else { break };
        here = next;
    }
    here.at as usize
}
