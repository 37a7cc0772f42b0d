//! Calls and the results they need.

use std::collections::HashMap;

use turnkeep_model::{Author, Block, Body, CallId, Loss, LossKind, Outcome, Text, ToolResult};

use super::{History, INTERRUPTED, Piece};

/// What is told of a call that a result was made up for.
const UNANSWERED: &str = "it has no recorded result; one that says so is sent with it";

/// Which call of the history a result answers: the index among its calls.
type CallIndex = usize;

pub(super) fn pair(history: &mut History) {
    let mut pairing = Pairing::default();
    let mut results = Vec::new();
    let mut others = Vec::with_capacity(history.pieces.len());
    for piece in std::mem::take(&mut history.pieces) {
        match &piece.block.body {
            Body::ToolResult(result) => {
                let answered = pairing.answer(&result.call);
                results.push((answered, piece));
            }
            Body::ToolCall(call) => {
                pairing.ask(&call.call, piece.block.message.ordinal);
                others.push(piece);
            }
            _ => others.push(piece),
        }
    }
    let mut answers: Vec<Option<(usize, Piece)>> = Vec::new();
    answers.resize_with(pairing.calls, || None);
    for (order, (answered, piece)) in results.into_iter().enumerate() {
        let Body::ToolResult(result) = &piece.block.body else { continue };
        // A result may stand before its call.
        let call = answered.or_else(|| pairing.answer(&result.call));
        match call.and_then(|call| answers.get_mut(call)) {
            Some(slot) => *slot = Some((order, piece)),
            None => {
                let what = "no call is open that it answers";
                history.losses.push(Loss::encode(LossKind::Dropped, piece.at(""), what));
            }
        }
    }
    history.pieces = weave(others, answers, &mut history.losses);
}

#[derive(Default)]
struct Pairing {
    calls: CallIndex,
    /// The open calls under each id: the message, and which call.
    open: HashMap<CallId, Vec<(u32, CallIndex)>>,
}

impl Pairing {
    fn ask(&mut self, id: &CallId, message: u32) {
        self.open.entry(id.clone()).or_default().push((message, self.calls));
        self.calls += 1;
    }

    /// The call that a result answers: of those open under its id the first of the latest message.
    fn answer(&mut self, id: &CallId) -> Option<CallIndex> {
        let open = self.open.get_mut(id)?;
        let (latest, _) = *open.last()?;
        let at = open.iter().position(|(message, _)| *message == latest)?;
        Some(open.remove(at).1)
    }
}

/// Puts the results after the answers that hold their calls.
fn weave(others: Vec<Piece>, mut answers: Vec<Option<(usize, Piece)>>, losses: &mut Vec<Loss>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(others.len() + answers.len());
    let mut due: Vec<(usize, Piece)> = Vec::new();
    let mut next_call = 0;
    let mut running: Option<u32> = None;
    for piece in others {
        let of = piece.block.is_answer().then_some(piece.block.message.ordinal);
        if of.is_none() || of != running {
            settle(&mut pieces, &mut due);
        }
        running = of;
        if let Body::ToolCall(call) = &piece.block.body {
            let answer = answers.get_mut(next_call).and_then(Option::take);
            due.push(answer.unwrap_or_else(|| {
                losses.push(Loss::encode(LossKind::Repaired, piece.at(""), UNANSWERED));
                (usize::MAX, interrupted(&call.call, &piece))
            }));
            next_call += 1;
        }
        pieces.push(piece);
    }
    settle(&mut pieces, &mut due);
    pieces
}

/// Results keep the order they came in; those made up come last.
fn settle(pieces: &mut Vec<Piece>, due: &mut Vec<(usize, Piece)>) {
    due.sort_by_key(|(order, _)| *order);
    pieces.extend(due.drain(..).map(|(_, piece)| piece));
}

fn interrupted(call: &CallId, asked: &Piece) -> Piece {
    let result = ToolResult {
        call: call.clone(),
        name: None,
        parts: vec![Text { text: INTERRUPTED.to_owned() }.into()],
        error: None,
        is_error: None,
        outcome: Some(Outcome::Interrupted),
    };
    Piece { from: None, block: Block::new(Author::Tool, result).in_message(asked.block.message.ordinal) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnkeep_model::{Session, ToolCall, Turn};

    fn call(id: &str, message: u32) -> Block {
        let call = ToolCall { call: CallId::given(id), name: "f".into(), arguments: "{}".into() };
        Block::new(Author::Assistant, call).in_message(message)
    }

    fn result(id: &str, text: &str, message: u32) -> Block {
        let parts = vec![Text { text: text.into() }.into()];
        let result =
            ToolResult { call: CallId::given(id), name: None, parts, error: None, is_error: None, outcome: None };
        Block::new(Author::Tool, result).in_message(message)
    }

    fn shown(history: &History) -> Vec<String> {
        let show = |piece: &Piece| match &piece.block.body {
            Body::ToolCall(call) => format!("call {}", call.call),
            Body::ToolResult(result) => {
                let text = result.parts.iter().find_map(|part| match part {
                    turnkeep_model::Part::Text(text) => Some(text.text.as_str()),
                    _ => None,
                });
                format!("result {} {}", result.call, text.unwrap_or_default())
            }
            body => body.as_text().unwrap_or_default().to_owned(),
        };
        history.pieces.iter().map(show).collect()
    }

    fn paired(blocks: Vec<Block>) -> History {
        let mut session = Session { turns: vec![Turn { blocks, ..Turn::default() }], ..Session::default() };
        let mut history = History::take(&mut session);
        history.pair_calls();
        history
    }

    #[test]
    fn every_call_gets_one_result_right_after_its_message() {
        let user = Block::text(Author::User, "stop").in_message(2);
        let history = paired(vec![
            call("a", 1),
            call("b", 1),
            user,
            result("b", "B", 3),
            result("b", "again", 4),
            result("x", "?", 5),
        ]);

        assert_eq!(shown(&history), ["call a", "call b", "result b B", &format!("result a {INTERRUPTED}"), "stop"]);
        let lost: Vec<_> = history.losses.iter().map(|loss| loss.at.as_str()).collect();
        assert_eq!(lost, ["turns[0].blocks[4]", "turns[0].blocks[5]", "turns[0].blocks[0]"]);
    }

    #[test]
    fn an_id_that_is_used_again_belongs_to_the_latest_call() {
        let history = paired(vec![call("a", 0), call("a", 1), result("a", "two", 2)]);

        assert_eq!(shown(&history), ["call a", &format!("result a {INTERRUPTED}"), "call a", "result a two"]);
    }
}
