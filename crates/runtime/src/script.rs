//! A model that answers from a script.

use turnkeep_model::{Block, Finish, FinishReason, Session, Turn};
use turnkeep_store::BoxFuture;

use crate::port::{Answer, Delta, Deltas, Identity, Model, ModelError, Request};

/// Answers from a script: the n-th answer of a session is the script's n-th, in whatever process it is asked for.
#[derive(Debug, Clone, Default)]
pub struct Script {
    identity: Identity,
    answers: Vec<Answer>,
}

impl Script {
    /// These answers, in order.
    pub fn new(name: &str, answers: Vec<Answer>) -> Script {
        let identity =
            Identity { provider: Some("script".into()), model: Some(name.to_owned()), ..Identity::default() };
        Script { identity, answers }
    }

    /// The same answers by a model of another name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Script {
        self.identity.model = Some(name.to_owned());
        self
    }

    /// The answers that a session has: any recorded session is a script.
    pub fn of(session: &Session) -> Script {
        let answered = session.turns.iter().filter(|turn| turn.blocks.iter().any(Block::is_answer));
        let model = session.turns.iter().find_map(|turn| turn.model.clone()).unwrap_or_else(|| "script".into());
        Script::new(&model, answered.map(answer_of).collect())
    }
}

fn answer_of(turn: &Turn) -> Answer {
    Answer {
        blocks: turn.blocks.iter().filter(|block| block.is_answer()).cloned().collect(),
        finish: turn.finish.clone(),
        usage: turn.usage.clone(),
        ..Answer::default()
    }
}

impl Model for Script {
    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn answer<'a>(&'a self, request: Request<'a>, deltas: &'a dyn Deltas) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let given = request.session.turns.iter().filter(|turn| turn.blocks.iter().any(Block::is_answer)).count();
        let answer = self.answers.get(given).cloned().map(with_finish);
        if let Some(answer) = &answer {
            answer
                .blocks
                .iter()
                .filter_map(|block| block.body.as_text())
                .for_each(|text| deltas.delta(Delta::Text(text.to_owned())));
        }
        let missing = move || ModelError::fatal(format!("the script has no answer {}", given + 1));
        Box::pin(async move { answer.ok_or_else(missing) })
    }
}

fn with_finish(mut answer: Answer) -> Answer {
    let calls = answer.blocks.iter().any(|block| matches!(block.body, turnkeep_model::Body::ToolCall(_)));
    let reason = if calls { FinishReason::ToolCalls } else { FinishReason::Stop };
    answer.finish.get_or_insert(Finish { reason, ..Finish::default() });
    answer
}
