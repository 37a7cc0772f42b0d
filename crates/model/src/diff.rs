//! How two sessions differ, place by place.
//!
//! Reports of losses are made of this: an encoder compares what it was given with what a reader would find. So two things hold:
//! a value that is equal has no difference, however it is stored, and a difference has exactly one path, which means the same in a
//! report, in an error and in `turnkeep diff`. Turns and blocks are aligned first; otherwise one that was left out would make all
//! that follow it differ.

mod digests;
mod renames;

use crate::block::{Author, Block, Body};
use crate::extra::{Extra, NATIVE};
use crate::json::{Json, JsonString, Object, TreeSink};
use crate::native::Archive;
use crate::session::{Session, Turn};
use crate::shape::Shape;

/// One place where two sessions differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The place, as in `turns[3].blocks[1].signature`. Indices count in the first session, or in the second for what
    /// only that one has.
    pub at: String,
    /// What stood there before, if anything did.
    pub before: Option<Json>,
    /// What stands there now, if anything does.
    pub after: Option<Json>,
}

/// Every place where `b` differs from `a`.
///
/// Of messages only their order counts and which blocks belong together, not the numbers that say it: a block that was
/// of one message with the block before it differs in `message.joined`. A call that has another id, and its result with
/// it, is one difference: `turns[0].blocks[1].call` with both ids.
pub fn diff(a: &Session, b: &Session) -> Vec<Change> {
    let mut changes = Vec::new();
    each_change(a, b, &mut |change| changes.push(change));
    changes
}

/// Hands out the changes of one turn after the other, so that those of a long session are not all in memory.
fn each_change(a: &Session, b: &Session, visit: &mut dyn FnMut(Change)) {
    if a == b {
        return;
    }
    let renamed = renames::renamed(a, b);
    let (a, changes) = renamed.as_ref().map_or((a, Vec::new()), |(a, changes)| (a, changes.clone()));
    let mut differ = Differ { changes, order: [message_order(a), message_order(b)] };
    differ.trees(&tree(&a.head()), &tree(&b.head()), &mut String::new());
    for pair in align(&a.turns, &b.turns, alike_turns) {
        differ.changes.drain(..).for_each(&mut *visit);
        differ.turns(pair, a, b);
    }
    differ.changes.into_iter().for_each(visit);
}

/// Every place where the archive `b` differs from `a`. Places in the main session have no prefix; that a session gains a
/// place in a journal is no difference.
pub fn diff_archives(a: &Archive, b: &Archive) -> Vec<Change> {
    let mut changes = Vec::new();
    each_archive_change(a, b, &mut |change| changes.push(change));
    changes
}

/// Hands out what [`diff_archives`] gives, change by change.
pub fn each_archive_change(a: &Archive, b: &Archive, visit: &mut dyn FnMut(Change)) {
    for (index, own) in a.sessions.iter().enumerate() {
        let found = counterpart(a, b, index);
        let Some(found) = found else {
            visit(Change { at: format!("sessions[{index}]"), before: Some(tree(own)), after: None });
            continue;
        };
        let prefix = a.prefix(index);
        each_change(own, found, &mut |change| visit(Change { at: format!("{prefix}{}", change.at), ..change }));
    }
    for (index, more) in b.sessions.iter().enumerate() {
        if counterpart(b, a, index).is_none() {
            visit(Change { at: format!("sessions[{index}]"), before: None, after: Some(tree(more)) });
        }
    }
    if let Some(seq) = a.seq.filter(|seq| b.seq != Some(*seq)) {
        visit(Change { at: "seq".to_owned(), before: Some(tree(&seq)), after: b.seq.map(|seq| tree(&seq)) });
    }
    let mut changes = Vec::new();
    diff_extras(&a.extra, &b.extra, &mut changes);
    changes.into_iter().for_each(visit);
}

/// Every place where a part of a session differs, told from `at` on.
pub(crate) fn diff_parts<T: Shape>(before: &T, after: &T, at: &str) -> Vec<Change> {
    let mut differ = Differ { changes: Vec::new(), order: [Vec::new(), Vec::new()] };
    differ.trees(&tree(before), &tree(after), &mut at.to_owned());
    differ.changes
}

/// Every place where a block differs, its place among the messages included.
pub(crate) fn diff_blocks(before: (&Block, Order), after: (&Block, Order), at: &str) -> Vec<Change> {
    let mut differ = Differ { changes: Vec::new(), order: [Vec::new(), Vec::new()] };
    differ.trees(&block_tree(before.0, before.1), &block_tree(after.0, after.1), &mut at.to_owned());
    differ.changes
}

/// The session of `b` that stands for session `index` of `a`: the main one for the main one, the others in order.
fn counterpart<'b>(a: &Archive, b: &'b Archive, index: usize) -> Option<&'b Session> {
    if index == a.main as usize {
        return b.main_session();
    }
    let rank = if index > a.main as usize { index - 1 } else { index };
    let others = b.sessions.iter().enumerate().filter(|(index, _)| *index != b.main as usize);
    others.map(|(_, session)| session).nth(rank)
}

/// What stood around the sessions, by format; fields of a newer native version by their name.
pub(crate) fn diff_extras(a: &Extra, b: &Extra, changes: &mut Vec<Change>) {
    let names = |extra: &Extra| extra.parts().map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    let only_b = names(b).into_iter().filter(|name| a.part(name).is_none());
    for name in names(a).into_iter().chain(only_b).filter(|name| a.part(name) != b.part(name)) {
        let fields = |extra: &Extra| extra.fields(&name).cloned().unwrap_or_default();
        if name == NATIVE {
            let mut differ = Differ { changes: Vec::new(), order: [Vec::new(), Vec::new()] };
            differ.objects(&fields(a), &fields(b), &mut String::new());
            changes.append(&mut differ.changes);
        } else {
            let before = a.part(&name).map(tree);
            changes.push(Change { at: format!("extra.{name}"), before, after: b.part(&name).map(tree) });
        }
    }
}

/// Renumbers the messages of a session without gaps, keeping their order.
pub fn number_densely(session: &mut Session) {
    let mut ordinals: Vec<u32> = session.blocks().map(|(_, block)| block.message.ordinal).collect();
    ordinals.sort_unstable();
    ordinals.dedup();
    for block in session.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        let rank = ordinals.partition_point(|ordinal| *ordinal < block.message.ordinal);
        block.message.ordinal = u32::try_from(rank).unwrap_or(u32::MAX);
    }
}

/// How far a block's place among the messages is from its place among the turns, and whether it is of one message with
/// the block before it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Order {
    shift: i64,
    joined: bool,
}

pub(crate) fn message_order(session: &Session) -> Vec<Vec<Order>> {
    let mut starts = Vec::with_capacity(session.turns.len());
    let mut total = 0;
    for turn in &session.turns {
        starts.push(total);
        total += turn.blocks.len();
    }
    let mut orders: Vec<Vec<Order>> =
        session.turns.iter().map(|turn| vec![Order::default(); turn.blocks.len()]).collect();
    let mut before = None;
    for (place, (turn, block, content)) in session.in_message_order().into_iter().enumerate() {
        let ordinal = content.message.ordinal;
        let at = starts.get(turn).copied().unwrap_or_default() + block;
        if let Some(order) = orders.get_mut(turn).and_then(|turn| turn.get_mut(block)) {
            *order = Order { shift: place as i64 - at as i64, joined: before == Some(ordinal) };
        }
        before = Some(ordinal);
    }
    orders
}

struct Differ {
    changes: Vec<Change>,
    order: [Vec<Vec<Order>>; 2],
}

type Pair = (Option<usize>, Option<usize>);

impl Differ {
    fn turns(&mut self, pair: Pair, a: &Session, b: &Session) {
        let (before, after) = (pair.0.and_then(|i| a.turns.get(i)), pair.1.and_then(|i| b.turns.get(i)));
        let index = pair.0.or(pair.1).unwrap_or_default();
        let mut at = format!("turns[{index}]");
        let (Some(before), Some(after)) = (before, after) else {
            return self.changes.push(Change { at, before: before.map(tree), after: after.map(tree) });
        };
        self.trees(&tree(&before.head()), &tree(&after.head()), &mut at);
        for blocks in align(&before.blocks, &after.blocks, alike_blocks) {
            self.blocks((before, after), pair, blocks);
        }
    }

    fn blocks(&mut self, (a, b): (&Turn, &Turn), turns: Pair, blocks: Pair) {
        let (before, after) = (blocks.0.and_then(|i| a.blocks.get(i)), blocks.1.and_then(|i| b.blocks.get(i)));
        let orders = [self.order_of(0, turns.0, blocks.0), self.order_of(1, turns.1, blocks.1)];
        let [first, second] = orders;
        if let (Some(before), Some(after)) = (before, after)
            && first == second
            && equal_but_for_ordinal(before, after)
        {
            return;
        }
        let turn = if blocks.0.is_some() { turns.0 } else { turns.1 };
        let index = blocks.0.or(blocks.1).unwrap_or_default();
        let mut at = format!("turns[{}].blocks[{index}]", turn.unwrap_or_default());
        let before = before.map(|block| block_tree(block, first));
        let after = after.map(|block| block_tree(block, second));
        match (before, after) {
            (Some(before), Some(after)) => self.trees(&before, &after, &mut at),
            (before, after) => self.changes.push(Change { at, before, after }),
        }
    }

    fn order_of(&self, side: usize, turn: Option<usize>, block: Option<usize>) -> Order {
        let orders = self.order.get(side).and_then(|orders| orders.get(turn?)?.get(block?));
        orders.copied().unwrap_or_default()
    }

    fn trees(&mut self, a: &Json, b: &Json, at: &mut String) {
        match (a, b) {
            (Json::Object(a), Json::Object(b)) if !a.has_duplicates() && !b.has_duplicates() => self.objects(a, b, at),
            (Json::Array(a), Json::Array(b)) => self.arrays(a, b, at),
            (a, b) if a == b => {}
            (a, b) => self.push(at, Some(a), Some(b)),
        }
    }

    fn objects(&mut self, a: &Object, b: &Object, at: &mut String) {
        for (key, value) in a.iter() {
            within_key(at, &key.to_str_lossy(), |at| match value_of(b, key) {
                Some(other) => self.trees(value, other, at),
                None => self.push(at, Some(value), None),
            });
        }
        for (key, value) in b.iter() {
            if value_of(a, key).is_none() {
                within_key(at, &key.to_str_lossy(), |at| self.push(at, None, Some(value)));
            }
        }
    }

    fn arrays(&mut self, a: &[Json], b: &[Json], at: &mut String) {
        for index in 0..a.len().max(b.len()) {
            let length = at.len();
            at.push_str(&format!("[{index}]"));
            match (a.get(index), b.get(index)) {
                (Some(a), Some(b)) => self.trees(a, b, at),
                (a, b) => self.push(at, a, b),
            }
            at.truncate(length);
        }
    }

    fn push(&mut self, at: &str, before: Option<&Json>, after: Option<&Json>) {
        self.changes.push(Change { at: at.to_owned(), before: before.cloned(), after: after.cloned() });
    }
}

/// The value under a key, also where no Rust string can hold that key.
fn value_of<'a>(object: &'a Object, wanted: &JsonString) -> Option<&'a Json> {
    object.iter().find(|(key, _)| *key == wanted).map(|(_, value)| value)
}

fn tree<T: Shape>(value: &T) -> Json {
    let mut sink = TreeSink::default();
    value.write(&mut sink);
    sink.into_json()
}

/// A block with its place among the messages told relative to its place among the turns.
fn block_tree(block: &Block, order: Order) -> Json {
    let mut block = block.clone();
    block.message.ordinal = 0;
    let Json::Object(mut object) = tree(&block) else { return Json::Null };
    let mut message = match object.remove("message") {
        Some(Json::Object(message)) => message,
        _ => Object::new(),
    };
    if order.shift != 0 {
        message.set("ordinal", order.shift);
    }
    if order.joined {
        message.set("joined", true);
    }
    if !message.is_empty() {
        object.set("message", message);
    }
    Json::Object(object)
}

fn equal_but_for_ordinal(a: &Block, b: &Block) -> bool {
    a.body == b.body
        && (&a.id, &a.author, &a.item_id, &a.metadata, &a.extra)
            == (&b.id, &b.author, &b.item_id, &b.metadata, &b.extra)
        && (&a.message.id, &a.message.name, &a.message.time, &a.message.extra)
            == (&b.message.id, &b.message.name, &b.message.time, &b.message.extra)
}

fn alike_turns(a: &Turn, b: &Turn) -> bool {
    match (opening(a), opening(b)) {
        (Some(a), Some(b)) => alike_blocks(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// What a turn is known by: its first block that is no instruction, for these are the ones that move to another turn.
fn opening(turn: &Turn) -> Option<&Block> {
    let is_told = |block: &&Block| !matches!(block.author, Author::System | Author::Developer);
    turn.blocks.iter().find(is_told).or(turn.blocks.first())
}

fn alike_blocks(a: &Block, b: &Block) -> bool {
    match (&a.body, &b.body) {
        (Body::ToolCall(a), Body::ToolCall(b)) => a.call == b.call && a.name == b.name,
        (Body::ToolResult(a), Body::ToolResult(b)) => a.call == b.call,
        (first, second) => a.author == b.author && first == second,
    }
}

/// Pairs the items of two lists: by place where they are equally long, else by likeness.
fn align<T>(a: &[T], b: &[T], alike: fn(&T, &T) -> bool) -> Vec<Pair> {
    if a.len() == b.len() {
        return (0..a.len()).map(|index| (Some(index), Some(index))).collect();
    }
    let start = a.iter().zip(b).take_while(|(a, b)| alike(a, b)).count();
    let rest = a.len().min(b.len()) - start;
    let end = a.iter().rev().zip(b.iter().rev()).take(rest).take_while(|(a, b)| alike(a, b)).count();
    let mut pairs: Vec<Pair> = (0..start).map(|index| (Some(index), Some(index))).collect();
    pairs.extend(align_middle(start..a.len() - end, start..b.len() - end, |i, j| {
        a.get(i).zip(b.get(j)).is_some_and(|(a, b)| alike(a, b))
    }));
    pairs.extend((0..end).rev().map(|back| (Some(a.len() - 1 - back), Some(b.len() - 1 - back))));
    pairs
}

/// Pairs what is alike in order, taking the nearest partner; what finds none stands alone.
fn align_middle(
    a: std::ops::Range<usize>,
    b: std::ops::Range<usize>,
    alike: impl Fn(usize, usize) -> bool,
) -> Vec<Pair> {
    /// How far ahead a partner is looked for: keeps long lists linear.
    const REACH: usize = 64;
    let mut pairs = Vec::new();
    let mut next = b.start;
    for i in a {
        match (next..b.end).take(REACH).find(|j| alike(i, *j)) {
            None => pairs.push((Some(i), None)),
            Some(found) => {
                pairs.extend((next..found).map(|j| (None, Some(j))));
                pairs.push((Some(i), Some(found)));
                next = found + 1;
            }
        }
    }
    pairs.extend((next..b.end).map(|j| (None, Some(j))));
    pairs
}

fn within_key(at: &mut String, key: &str, visit: impl FnOnce(&mut String)) {
    let length = at.len();
    if length > 0 {
        at.push('.');
    }
    at.push_str(key);
    visit(at);
    at.truncate(length);
}
