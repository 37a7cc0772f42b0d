//! From blocks to turns.

use std::time::{Duration, Instant};

use turnkeep_codec::TurnBuilder;
use turnkeep_model::{Author, Block, CallId, ToolCall, ToolResult};

fn call(id: &str) -> Block {
    let call = ToolCall { call: CallId::given(id), name: "search".to_owned(), arguments: "{}".to_owned() };
    Block::new(Author::Assistant, call)
}

fn result(id: &str) -> Block {
    let result = ToolResult {
        call: CallId::given(id),
        name: None,
        parts: Vec::new(),
        error: None,
        is_error: None,
        outcome: None,
    };
    Block::new(Author::Tool, result)
}

fn built(blocks: impl IntoIterator<Item = Block>) -> Vec<Vec<Block>> {
    let mut builder = TurnBuilder::default();
    blocks.into_iter().for_each(|block| builder.push(block));
    builder.finish().into_iter().map(|turn| turn.blocks).collect()
}

#[test]
fn a_result_joins_the_last_turn_that_made_its_call() {
    let question = Block::text(Author::User, "again");
    let blocks = [call("a"), result("a"), question.clone(), call("a"), call("b"), result("a"), result("b")];

    let turns = built(blocks);

    assert_eq!(turns, [vec![call("a"), result("a")], vec![question, call("a"), call("b"), result("a"), result("b")]]);
}

#[test]
fn a_late_result_goes_home_and_one_without_a_call_stays() {
    let question = Block::text(Author::User, "next");

    let turns = built([call("a"), question.clone(), result("nobody"), result("a")]);

    assert_eq!(turns, [vec![call("a"), result("a")], vec![question, result("nobody")]]);
}

fn time(results: usize) -> Duration {
    let blocks: Vec<Block> = (0..results).map(|index| result(&format!("call-{index}"))).collect();
    let start = Instant::now();
    assert_eq!(built(blocks).len(), 1);
    start.elapsed()
}

/// A hundred times the results may take a hundred times as long, with much room for a busy machine. A search through
/// the turn for each of them would take ten thousand times as long.
#[test]
fn results_without_a_call_take_time_in_proportion() {
    let best = |results: usize| (0..3).map(|_| time(results)).min().unwrap_or_default();

    let (few, many) = (best(2_000), best(200_000));

    assert!(many < few * 2_000, "{few:?} for 2000, {many:?} for 200000");
}
