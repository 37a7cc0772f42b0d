//! Windows as llm4s defines them, with the numbers that its code gives.

use turnkeep_model::policy::tokens::TokenCounter;
use turnkeep_model::policy::{Adaptive, ContextWindow, Policy, Strategy, System, Unit, Window};
use turnkeep_model::{Author, Block, CallId, Session, Text, ToolCall, ToolResult, Turn};

/// A message by its author's initial: `s`, `u`, `a`, `c` for an assistant that calls, `t` for a tool.
fn session(messages: &str) -> Session {
    let (mut turns, mut calls): (Vec<Turn>, u32) = (vec![Turn::default()], 0);
    for (ordinal, letter) in messages.chars().enumerate() {
        let text = format!("{letter}{ordinal}");
        let call = CallId::given(format!("call_{}", calls.saturating_sub(u32::from(letter == 't'))));
        let block = match letter {
            's' => Block::text(Author::System, text),
            'u' => Block::text(Author::User, text),
            'a' => Block::text(Author::Assistant, text),
            'c' => Block::new(Author::Assistant, ToolCall { call, name: text, arguments: "{}".into() }),
            _ => {
                let parts = vec![Text { text }.into()];
                Block::new(
                    Author::Tool,
                    ToolResult { call, name: None, parts, error: None, is_error: None, outcome: None },
                )
            }
        };
        calls += u32::from(letter == 'c');
        let answered =
            turns.last().is_some_and(|turn| turn.blocks.iter().any(|block| block.author == Author::Assistant));
        if letter == 'u' && answered {
            turns.push(Turn::default());
        }
        turns.last_mut().unwrap().blocks.push(block.in_message(ordinal as u32));
    }
    Session { turns, ..Session::default() }
}

/// The ordinals of the messages that are left.
fn left(window: Window, messages: &str) -> Vec<u32> {
    let mut session = session(messages);
    window.apply(&mut session).unwrap();
    session.in_message_order().iter().map(|(.., block)| block.message.ordinal).collect()
}

fn config(strategy: Strategy) -> ContextWindow {
    ContextWindow { strategy, ..ContextWindow::default() }
}

#[test]
fn oldest_first_keeps_system_and_the_last_messages() {
    let of =
        |max: usize| Window::context(ContextWindow { max_messages: Some(max), ..ContextWindow::default() }).plain();

    assert_eq!(left(of(3), "suauaua"), [0, 5, 6]);
    assert_eq!(left(of(1), "suaua"), [0, 4], "one other message always stays");
    assert_eq!(left(of(7), "suauaua"), [0, 1, 2, 3, 4, 5, 6], "not exceeded");
    let counted = ContextWindow { max_messages: Some(2), system: System::Counted, ..ContextWindow::default() };
    assert_eq!(left(Window::context(counted).plain(), "suaua"), [4]);
}

#[test]
fn tokens_decide_first_and_messages_how_many_stay() {
    let tokens = |max_tokens: u64, max_messages: Option<usize>| {
        Window::context(ContextWindow { max_tokens: Some(max_tokens), max_messages, ..ContextWindow::default() })
            .plain()
    };

    assert_eq!(left(tokens(3, None), "suaua"), [0, 3, 4], "a word is one token, and the system's counts");
    assert_eq!(left(tokens(5, Some(1)), "suaua"), [0, 1, 2, 3, 4], "five tokens are not exceeded");
    assert_eq!(left(tokens(4, Some(50)), "suaua"), [0, 1, 2, 3, 4], "with both limits the messages win");
    assert_eq!(left(Window::context(ContextWindow::default()).plain(), "suaua"), [0, 1, 2, 3, 4], "no limit, no cut");
}

#[test]
fn middle_out_keeps_both_ends() {
    let of = |max_messages: Option<usize>, max_tokens: Option<u64>| {
        Window::context(ContextWindow { max_messages, max_tokens, ..config(Strategy::MiddleOut) }).plain()
    };

    assert_eq!(left(of(Some(4), None), "suauaua"), [0, 1, 2, 5, 6], "the system's message comes on top");
    assert_eq!(left(of(Some(3), None), "uauaua"), [0, 4, 5]);
    assert_eq!(left(of(None, Some(1)), "uauaua"), [0, 4, 5], "half of them where no number is given");
}

#[test]
fn recent_turns_begin_at_a_user_message() {
    let of = |turns: usize| {
        Window::context(ContextWindow { max_messages: Some(1), ..config(Strategy::RecentTurns(turns)) }).plain()
    };

    assert_eq!(left(of(2), "suauaua"), [0, 3, 4, 5, 6]);
    assert_eq!(left(of(9), "suaua"), [0, 1, 2, 3, 4]);
    assert_eq!(left(of(0), "suaua"), [0]);
}

#[test]
fn plain_pruning_leaves_orphans_and_ours_never_does() {
    let two = ContextWindow { max_messages: Some(2), min_recent_turns: 0, ..ContextWindow::default() };

    assert_eq!(
        left(Window::context(two.clone()).plain(), "uacta"),
        [3, 4],
        "a result without its call, as llm4s leaves it"
    );
    assert_eq!(left(Window::context(two), "uacta"), [4]);
}

#[test]
fn the_last_turns_always_stay() {
    let of = |turns: usize| {
        Window::context(ContextWindow { max_messages: Some(2), min_recent_turns: turns, ..ContextWindow::default() })
    };

    assert_eq!(left(of(2), "suauaua"), [0, 3, 4, 5, 6]);
    assert_eq!(left(of(3), "suauaua"), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(left(of(2).plain(), "suauaua"), [0, 6], "llm4s declares that number and ignores it");
}

#[test]
fn an_adaptive_window_keeps_what_fits_its_budget() {
    let adaptive = Adaptive::new(1).unwrap().with_min_turns(1);
    assert_eq!(adaptive.budget(), 1000, "never less");
    let long = Session {
        turns: (0..30)
            .map(|at| Turn {
                blocks: vec![Block::text(Author::User, "word ".repeat(100).trim()).in_message(at)],
                ..Turn::default()
            })
            .collect(),
        ..Session::default()
    };
    let mut reduced = long.clone();

    let losses = Window::context(config(Strategy::Adaptive(adaptive))).apply(&mut reduced).unwrap();

    assert_eq!(TokenCounter::WORDS.block(&long.turns[0].blocks[0]), 130);
    assert_eq!((reduced.turns.len(), losses.len()), (7, 23), "seven times 130 tokens fit into 1000");
}

#[test]
fn a_cut_through_a_pair_drops_the_rest_of_it() {
    assert_eq!(left(Window::last(2, Unit::Blocks), "uacta"), [4], "the result stands at the cut");
    assert_eq!(left(Window::last(3, Unit::Blocks), "uacta"), [2, 3, 4]);
    assert_eq!(left(Window::last(2, Unit::Blocks).plain(), "uacta"), [3, 4]);
    assert_eq!(left(Window::last(2, Unit::Blocks).plain(), "sua"), [1, 2], "plainly, instructions count");
    assert_eq!(left(Window::last(2, Unit::Blocks), "sua"), [0, 1, 2]);
}

#[test]
fn exchanges_are_the_last_questions_with_all_that_answers_them() {
    let of = |count: usize| Window::last(count, Unit::Exchanges);

    assert_eq!(left(of(1), "suactauacta"), [0, 6, 7, 8, 9, 10]);
    assert_eq!(left(of(2), "suaua"), [0, 1, 2, 3, 4]);
    assert_eq!(left(of(0), "suaua"), [0], "what is said to the model always stays");
    assert_eq!(left(of(usize::MAX), "ua"), [0, 1]);
}

#[test]
fn instructions_of_a_turn_that_goes_stand_in_front_of_the_first_that_is_left() {
    let mut reduced = session("suaua");

    let losses = Window::last(1, Unit::Turns).apply(&mut reduced).unwrap();

    let texts: Vec<_> = reduced.turns[0].blocks.iter().map(|block| block.body.as_text().unwrap()).collect();
    assert_eq!((reduced.turns.len(), texts), (1, vec!["s0", "u3", "a4"]));
    let told: Vec<_> = losses.iter().map(|loss| (loss.kind.as_str(), loss.at.as_str())).collect();
    assert_eq!(told, [("dropped", "turns[0]"), ("reordered", "turns[0].blocks[0]")]);
}
