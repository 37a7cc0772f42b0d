//! A question that another process answers: where it stands in the session, and what was answered.

use turnkeep_model::{Author, Session, Turn};

use crate::agent::Stopped;

/// How a session stands after another process answered what was said.
pub(super) fn stopped(session: &Session, said: &str) -> Stopped {
    let first_turn = turn_of(session, said);
    Stopped { text: answer_from(session, first_turn), first_turn, elsewhere: true, ..Stopped::standing(session) }
}

/// The last turn in which this was said; the last of all where nobody says it.
fn turn_of(session: &Session, said: &str) -> usize {
    let says = |turn: &Turn| {
        turn.blocks.iter().any(|block| block.author == Author::User && block.body.as_text() == Some(said))
    };
    session.turns.iter().rposition(says).unwrap_or(session.turns.len().saturating_sub(1))
}

/// The text of the last answer before someone says something else.
fn answer_from(session: &Session, first_turn: usize) -> Option<String> {
    let is_said = |turn: &Turn| turn.blocks.iter().any(|block| block.author == Author::User);
    let mut turns = session.turns.iter().skip(first_turn);
    let exchange = turns.next().into_iter().chain(turns.take_while(|turn| !is_said(turn)));
    exchange.filter_map(answer).last()
}

fn answer(turn: &Turn) -> Option<String> {
    let said = turn.blocks.iter().filter(|block| block.author == Author::Assistant);
    let text: String = said.filter_map(|block| block.body.as_text()).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnkeep_model::Block;

    #[test]
    fn an_answer_is_that_of_its_question_and_not_of_a_later_one() {
        let turn = |blocks: &[(Author, &str)]| Turn {
            blocks: blocks.iter().map(|(author, text)| Block::text(author.clone(), *text)).collect(),
            ..Turn::default()
        };
        let (user, model) = (Author::User, Author::Assistant);
        let turns = vec![
            turn(&[(user.clone(), "one?"), (model.clone(), "first")]),
            turn(&[(user.clone(), "two?"), (user.clone(), "three?"), (model.clone(), "let me see")]),
            turn(&[(model.clone(), "both")]),
            turn(&[(user, "four?"), (model, "fourth")]),
        ];
        let session = Session { turns, ..Session::default() };

        let answers = ["one?", "two?", "three?", "four?"].map(|said| {
            let turn = turn_of(&session, said);
            (turn, answer_from(&session, turn).unwrap())
        });
        let expected = [(0, "first"), (1, "both"), (1, "both"), (3, "fourth")];
        assert_eq!(answers, expected.map(|(turn, text)| (turn, text.to_owned())));
        assert_eq!(answer_from(&Session::default(), 0), None);
    }
}
