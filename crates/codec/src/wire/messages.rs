//! Messages made of blocks: which blocks were one message, in which order.

use turnkeep_model::json::Json;
use turnkeep_model::{Block, Body, Number, Session, Turn};

/// Notes the place of each block in a message whose results will join other turns; [`settle_order`] takes the note away
/// where the order of turns tells it.
pub(crate) fn number_blocks(wire: &str, blocks: &mut [Block]) {
    let has_result = blocks.iter().any(is_result);
    if blocks.len() < 2 || !has_result {
        return;
    }
    for (index, block) in blocks.iter_mut().enumerate() {
        block.extra.part_mut(wire).spelling.set("index", index as u64);
    }
}

/// Takes away notes on the place of blocks where the order of turns tells it.
pub(crate) fn settle_order(wire: &str, session: &mut Session) {
    let mut wrong: Vec<u32> = Vec::new();
    let mut before: Option<(u32, u64)> = None;
    for (_, _, block) in session.in_message_order() {
        let Some(index) = index(wire, block) else { continue };
        let ordinal = block.message.ordinal;
        if before.is_some_and(|(last, place)| last == ordinal && place > index) && wrong.last() != Some(&ordinal) {
            wrong.push(ordinal);
        }
        before = Some((ordinal, index));
    }
    for block in session.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        if index(wire, block).is_some() && wrong.binary_search(&block.message.ordinal).is_err() {
            block.extra.part_mut(wire).spelling.remove("index");
            block.extra.tidy();
        }
    }
}

fn index(wire: &str, block: &Block) -> Option<u64> {
    block.extra.spelling(wire, "index").and_then(Json::as_number).and_then(Number::as_u64)
}

/// The turn that a response of `wire` answered.
pub(crate) fn answered(wire: &str, session: &Session) -> Option<usize> {
    session.turns.iter().rposition(|turn| turn.extra.spelling(wire, "from").is_some())
}

/// The messages that were sent, each as its blocks: those before the answer, if there is one.
pub(crate) fn asked<'a>(wire: &str, session: &'a Session, answer: Option<usize>) -> Vec<Vec<&'a Block>> {
    let mut groups: Vec<Vec<&Block>> = Vec::new();
    let mut last = None;
    for (turn, _, block) in session.in_message_order() {
        let is_sent = answer.is_none_or(|answer| turn < answer || turn == answer && is_input(block));
        if !is_sent {
            continue;
        }
        match groups.last_mut() {
            Some(group) if last == Some(block.message.ordinal) => group.push(block),
            _ => groups.push(vec![block]),
        }
        last = Some(block.message.ordinal);
    }
    for group in &mut groups {
        if group.iter().any(|block| index(wire, block).is_some()) {
            group.sort_by_key(|block| index(wire, block).unwrap_or(u64::MAX));
        }
    }
    groups
}

fn is_input(block: &Block) -> bool {
    !block.is_answer() && !is_result(block)
}

/// Gives the turn that was answered what the response says of it. An answer without content is a turn all the same.
pub(crate) fn put_answer(turns: &mut Vec<Turn>, answer: Turn, blocks: usize) {
    let is_open = |turn: &Turn| turn.blocks.iter().all(is_input);
    if blocks == 0 && !turns.last().is_some_and(is_open) {
        turns.push(Turn::default());
    }
    if let Some(last) = turns.last_mut() {
        let blocks = std::mem::take(&mut last.blocks);
        *last = Turn { blocks, ..answer };
    }
}

fn is_result(block: &Block) -> bool {
    matches!(block.body, Body::ToolResult(_))
}
