//! A session as two sides taking turns, made valid: for wires where results answer the calls of the message before.
//!
//! Every call gets its result in the message after it, results without a call are left out, messages of one side in a
//! row become one, and calls stand last in theirs. The session itself is not changed.

use std::collections::HashMap;

use turnkeep_model::json::Json;
use turnkeep_model::{Author, Block, Body, CallId, Loss, LossKind, Session, ToolCall, ToolResult, Turn, canon};

use super::repair::IdRule;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The user, and the tools.
    User,
    /// The model.
    Assistant,
    /// The system, in the middle of the conversation.
    System,
}

/// Where a block stands in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    turn: usize,
    block: usize,
}

impl At {
    /// The indices of the turn and of the block in it.
    pub(crate) fn indices(self) -> (usize, usize) {
        (self.turn, self.block)
    }

    /// The path of something in the block.
    pub(crate) fn path(self, field: &str) -> String {
        let At { turn, block } = self;
        let dot = if field.is_empty() { "" } else { "." };
        format!("turns[{turn}].blocks[{block}]{dot}{field}")
    }
}

/// One piece of a message.
#[derive(Debug, Clone)]
pub(crate) enum Item<'a> {
    /// A block that is neither a call nor a result.
    Block(At, &'a Block),
    /// A call, with the id it is sent with.
    Call(At, &'a Block, &'a ToolCall, String),
    /// A result, with the id it is sent with.
    Result(At, &'a Block, &'a ToolResult, String),
    /// The result of a call that has none: nobody knows what became of it.
    Unknown(String),
}

/// What is said of a call whose outcome nobody knows.
pub(crate) const UNKNOWN_OUTCOME: &str = "interrupted, outcome unknown";

/// A message to be sent.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// Who speaks.
    pub(crate) side: Side,
    /// What is said.
    pub(crate) items: Vec<Item<'a>>,
}

/// Whether a block can be sent, or what becomes of it and why.
pub(crate) type Verdict = Result<(), (LossKind, &'static str)>;

/// What a wire wants.
pub(crate) struct Wants<'s> {
    /// The wire.
    pub(crate) wire: &'static str,
    /// Which ids of calls it takes.
    pub(crate) ids: IdRule,
    /// Whether a block that is neither call nor result can be sent, or why not.
    pub(crate) sends: &'s dyn Fn(At, &Block) -> Verdict,
}

/// A session as two sides taking turns.
#[derive(Debug, Default)]
pub(crate) struct Dialogue<'a> {
    /// System text, in order.
    pub(crate) system: Vec<(At, &'a Block)>,
    /// The messages.
    pub(crate) messages: Vec<Message<'a>>,
    /// What was put right, where that says more than the difference does.
    pub(crate) losses: Vec<Loss>,
    ids: Ids,
}

impl<'a> Dialogue<'a> {
    /// The dialogue of a session, as a wire wants it.
    pub(crate) fn of(session: &'a Session, wants: &Wants<'_>) -> Dialogue<'a> {
        let mut dialogue = Dialogue::default();
        let mut results = Results::of(session);
        for (index, turn) in session.turns.iter().enumerate() {
            dialogue.turn(index, turn, &mut results, wants);
        }
        for at in results.unclaimed() {
            let what = "it answers no call of this history, which the vendor refuses";
            dialogue.losses.push(Loss::encode(LossKind::Dropped, at.path(""), what));
        }
        dialogue
    }

    fn turn(&mut self, index: usize, turn: &'a Turn, results: &mut Results<'a>, wants: &Wants<'_>) {
        let blocks = || turn.blocks.iter().enumerate().map(|(block, content)| (At { turn: index, block }, content));
        let is_result = |block: &Block| matches!(block.body, Body::ToolResult(_));
        let first = turn.blocks.iter().position(Block::is_answer).unwrap_or(turn.blocks.len());
        let inputs = |late: bool| {
            blocks().filter(move |(at, block)| !block.is_answer() && !is_result(block) && (at.block > first) == late)
        };
        inputs(false).for_each(|(at, block)| self.input(at, block, wants));
        let answer = blocks().filter(|(_, block)| block.is_answer());
        let (calls, said): (Vec<_>, Vec<_>) = answer.partition(|(_, block)| matches!(block.body, Body::ToolCall(_)));
        for (at, block) in said {
            self.say(Side::Assistant, at, block, wants);
        }
        let mut answers = Vec::new();
        self.ids.begin_message();
        for (at, block) in calls {
            let Body::ToolCall(call) = &block.body else { continue };
            let id = self.ids.of(&call.call, wants);
            if Some(id.as_str()) != call.call.as_given() {
                let what = format!("the vendor does not take this id; it is sent as `{id}`");
                self.losses.push(Loss::encode(LossKind::Renamed, at.path("call"), what));
            }
            answers.push(match results.claim(&call.call, index) {
                Some((at, block, result)) => Item::Result(at, block, result, id.clone()),
                None => {
                    let what = "it has no recorded result; one that says so is sent with it";
                    self.losses.push(Loss::encode(LossKind::Repaired, at.path(""), what));
                    Item::Unknown(id.clone())
                }
            });
            self.push(Side::Assistant, Item::Call(at, block, call, id));
        }
        answers.into_iter().for_each(|item| self.push(Side::User, item));
        inputs(true).for_each(|(at, block)| self.input(at, block, wants));
    }

    fn input(&mut self, at: At, block: &'a Block, wants: &Wants<'_>) {
        match block.author {
            Author::System | Author::Developer => {
                if block.message.extra.spelling(wants.wire, "place").is_some() {
                    return self.say(Side::System, at, block, wants);
                }
                if let Err((kind, why)) = (wants.sends)(at, block) {
                    return self.losses.push(Loss::encode(kind, at.path(""), why));
                }
                self.system.push((at, block));
            }
            _ => self.say(Side::User, at, block, wants),
        }
    }

    fn say(&mut self, side: Side, at: At, block: &'a Block, wants: &Wants<'_>) {
        match (wants.sends)(at, block) {
            Ok(()) => self.push(side, Item::Block(at, block)),
            Err((kind, why)) => self.losses.push(Loss::encode(kind, at.path(""), why)),
        }
    }

    fn push(&mut self, side: Side, item: Item<'a>) {
        match self.messages.last_mut() {
            Some(last) if last.side == side => last.items.push(item),
            _ => self.messages.push(Message { side, items: vec![item] }),
        }
    }

    /// Whether some message holds a call or a result.
    pub(crate) fn uses_tools(&self) -> bool {
        self.items().any(|item| !matches!(item, Item::Block(..)))
    }

    /// Whether thinking may be turned on: every answer of the tool loop that is going on begins with thinking. A message
    /// of the user that holds no result ends a loop.
    pub(crate) fn may_think(&self) -> bool {
        let calls = |message: &&Message<'_>| message.items.iter().any(|item| matches!(item, Item::Call(..)));
        let speaks = |message: &Message<'_>| {
            message.side == Side::User && message.items.iter().all(|item| matches!(item, Item::Block(..)))
        };
        let is_answer = |message: &&Message<'_>| message.side == Side::Assistant;
        if !self.messages.iter().rev().find(is_answer).is_some_and(|last| calls(&last)) {
            return true;
        }
        let since = self.messages.iter().rposition(speaks).map_or(0, |last| last + 1);
        let thinks = |message: &Message<'_>| matches!(message.items.first(), Some(Item::Block(_, block)) if matches!(block.body, Body::Reasoning(_)));
        self.messages.iter().skip(since).filter(calls).all(thinks)
    }

    /// Every item in order.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item<'a>> {
        self.messages.iter().flat_map(|message| &message.items)
    }
}

/// The results of a session by the call they answer.
struct Results<'a> {
    by_call: HashMap<&'a CallId, Vec<Found<'a>>>,
    /// In which turns each call stands.
    homes: HashMap<&'a CallId, Vec<usize>>,
}

struct Found<'a> {
    at: At,
    block: &'a Block,
    result: &'a ToolResult,
    claimed: bool,
}

impl<'a> Results<'a> {
    fn of(session: &'a Session) -> Results<'a> {
        let mut results = Results { by_call: HashMap::new(), homes: HashMap::new() };
        for (turn, content) in session.turns.iter().enumerate() {
            for (index, block) in content.blocks.iter().enumerate() {
                let at = At { turn, block: index };
                match &block.body {
                    Body::ToolResult(result) => {
                        let found = Found { at, block, result, claimed: false };
                        results.by_call.entry(&result.call).or_default().push(found);
                    }
                    Body::ToolCall(call) => results.homes.entry(&call.call).or_default().push(turn),
                    _ => {}
                }
            }
        }
        results
    }

    /// The result of a call in `turn`: one of its own turn, or one of a turn that has no such call.
    fn claim(&mut self, call: &CallId, turn: usize) -> Option<(At, &'a Block, &'a ToolResult)> {
        let homes = self.homes.get(call).map(Vec::as_slice).unwrap_or_default();
        let found = self.by_call.get_mut(call)?;
        let is_free = |found: &Found<'_>| !found.claimed && (found.at.turn == turn || !homes.contains(&found.at.turn));
        let own = found.iter().position(|found| !found.claimed && found.at.turn == turn);
        let index = own.or_else(|| found.iter().position(is_free))?;
        let found = found.get_mut(index)?;
        found.claimed = true;
        Some((found.at, found.block, found.result))
    }

    fn unclaimed(self) -> Vec<At> {
        let all = self.by_call.into_values().flatten().filter(|found| !found.claimed).map(|found| found.at);
        let mut all: Vec<At> = all.collect();
        all.sort_by_key(|at| (at.turn, at.block));
        all
    }
}

/// The ids that calls are sent with: their own where the wire takes them, else made of them, and never twice in one
/// message.
#[derive(Debug, Default)]
struct Ids {
    owners: HashMap<String, CallId>,
    in_message: Vec<String>,
}

impl Ids {
    fn begin_message(&mut self) {
        self.in_message.clear();
    }

    fn of(&mut self, call: &CallId, wants: &Wants<'_>) -> String {
        let given = match call {
            CallId::Given(id) => id.to_string(),
            CallId::Minted(position) => format!("minted_{position}"),
        };
        let mut id = legal(&given, wants.ids.legal, wants.ids.longest);
        let mut again = 2;
        while self.in_message.contains(&id) || self.owners.get(&id).is_some_and(|owner| owner != call) {
            id = marked(&given, &format!("{given}#{again}"), wants.ids.legal, wants.ids.longest);
            again += 1;
        }
        self.owners.insert(id.clone(), call.clone());
        self.in_message.push(id.clone());
        id
    }
}

/// The text itself if it is legal, else what is legal of it and a mark that tells it from others.
pub(crate) fn legal(text: &str, is_legal: fn(char) -> bool, length: usize) -> String {
    if !text.is_empty() && text.len() <= length && text.chars().all(is_legal) {
        return text.to_owned();
    }
    marked(text, text, is_legal, length)
}

fn marked(text: &str, seed: &str, is_legal: fn(char) -> bool, length: usize) -> String {
    const MARK: usize = 8;
    let clean = text.chars().map(|c| if is_legal(c) { c } else { '_' }).take(length.saturating_sub(MARK + 1));
    let digest = canon::digest(&Json::from(seed));
    format!("{}_{}", clean.collect::<String>(), digest.get(..MARK).unwrap_or_default())
}
