//! A model of one's own: it answers from the question alone, and calls a tool where there is one for it.
//!
//! A real one would ask a program or a library. It gives what it says piece by piece, and once more as the answer.

use turnkeep::model::{Author, Block, Body, CallId, Session, ToolCall};
use turnkeep::runtime::port::{Answer, BoxFuture, Delta, Deltas, Identity, Model, ModelError, Request};

/// Repeats the question, or asks a tool about it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parrot;

impl Model for Parrot {
    fn identity(&self) -> Identity {
        Identity { provider: Some("parrot".into()), model: Some("parrot-1".into()), ..Identity::default() }
    }

    fn answer<'a>(&'a self, request: Request<'a>, deltas: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let Some(last) = request.session.turns.last().and_then(|turn| turn.blocks.last()) else {
                return Err(ModelError::fatal("there is nothing to repeat"));
            };
            match (&last.body, request.tools.first()) {
                (Body::Text(text), Some(tool)) if last.author == Author::User && text.text.contains("tool") => {
                    Ok(calling(request.session, &tool.name))
                }
                (Body::Text(text), _) => Ok(repeating(&text.text, deltas)),
                _ => Ok(repeating("I have heard.", deltas)),
            }
        })
    }
}

fn repeating(text: &str, deltas: &dyn Deltas) -> Answer {
    text.split_inclusive(' ').for_each(|word| deltas.delta(Delta::Text(word.to_owned())));
    Answer::text(text)
}

/// A call with an id that no call of the session has.
fn calling(session: &Session, tool: &str) -> Answer {
    let calls = session.blocks().filter(|(_, block)| matches!(block.body, Body::ToolCall(_))).count();
    let call = CallId::given(format!("parrot-{calls}"));
    let call = ToolCall { call, name: tool.to_owned(), arguments: r#"{"city":"Oslo"}"#.to_owned() };
    Answer { blocks: vec![Block::new(Author::Assistant, call)], ..Answer::default() }
}
