//! What the page of a session says before its turns, and has to know of the others while it shows one.

use std::collections::HashMap;

use turnkeep_model::{Body, CallId, ToolResult, Turn};

/// Gathered turn by turn. It grows with what is unusual about a session, not with its length.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) turns: usize,
    pub(crate) blocks: usize,
    /// The models that answered, each time another one did.
    models: Vec<String>,
    provider: Option<String>,
    /// Calls without a result so far, and their tools.
    open: HashMap<CallId, String>,
    /// Calls whose result stands in a later turn, and their tools.
    apart: HashMap<CallId, String>,
}

/// Whether a call has a result in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Open,
    Given,
}

/// The calls of a turn: the tool of each, and whether it has a result there.
pub(crate) type Calls = HashMap<CallId, (String, Answer)>;

impl Facts {
    pub(crate) fn of<'a>(turns: impl IntoIterator<Item = &'a Turn>) -> Facts {
        let mut facts = Facts::default();
        turns.into_iter().for_each(|turn| facts.take(turn));
        facts
    }

    /// Takes in the next turn.
    pub(crate) fn take(&mut self, turn: &Turn) {
        self.turns += 1;
        self.blocks += turn.blocks.len();
        if let Some(model) = turn.model.as_ref().filter(|model| self.models.last() != Some(*model)) {
            self.models.push(model.clone());
        }
        self.provider = self.provider.take().or_else(|| turn.provider.clone());
        let calls = calls(turn);
        for result in results(turn).filter(|result| !calls.contains_key(&result.call)) {
            self.apart.extend(self.open.remove_entry(&result.call));
        }
        let open = calls.into_iter().filter(|(_, (_, answer))| *answer == Answer::Open);
        self.open.extend(open.map(|(call, (tool, _))| (call, tool)));
    }

    /// The models and the provider, in a line.
    pub(crate) fn models(&self) -> String {
        let models = self.models.join(", ");
        match &self.provider {
            Some(provider) if !models.is_empty() => format!("{models} ({provider})"),
            Some(provider) => provider.clone(),
            None => models,
        }
    }

    /// The tool of a call whose result stands in a later turn.
    pub(crate) fn tool_apart(&self, call: &CallId) -> Option<&String> {
        self.apart.get(call)
    }
}

pub(crate) fn calls(turn: &Turn) -> Calls {
    let mut calls = Calls::new();
    for block in &turn.blocks {
        match &block.body {
            Body::ToolCall(call) => _ = calls.insert(call.call.clone(), (call.name.clone(), Answer::Open)),
            Body::ToolResult(result) => {
                calls.entry(result.call.clone()).and_modify(|(_, answer)| *answer = Answer::Given);
            }
            _ => {}
        }
    }
    calls
}

fn results(turn: &Turn) -> impl Iterator<Item = &ToolResult> {
    turn.blocks.iter().filter_map(|block| match &block.body {
        Body::ToolResult(result) => Some(result),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use turnkeep_model::{Author, Block, ToolCall};

    use super::*;

    fn turn(model: &str, bodies: Vec<Body>) -> Turn {
        let blocks = bodies.into_iter().map(|body| Block::new(Author::Assistant, body)).collect();
        Turn { model: Some(model.to_owned()), provider: Some("p".to_owned()), blocks, ..Turn::default() }
    }

    fn call(id: &str) -> Body {
        ToolCall { call: CallId::given(id), name: format!("tool of {id}"), arguments: "{}".to_owned() }.into()
    }

    fn result(id: &str) -> Body {
        let call = CallId::given(id);
        ToolResult { call, name: None, parts: Vec::new(), error: None, is_error: None, outcome: None }.into()
    }

    #[test]
    fn models_are_named_each_time_another_one_answers() {
        let facts = Facts::of(&[turn("a", vec![]), turn("a", vec![]), turn("b", vec![]), turn("a", vec![])]);

        assert_eq!(facts.models(), "a, b, a (p)");
    }

    #[test]
    fn only_results_that_stand_apart_from_their_call_are_remembered() {
        let turns = [
            turn("a", vec![call("at once"), result("at once"), call("later"), call("never")]),
            turn("a", vec![result("later"), result("of nothing")]),
        ];

        let facts = Facts::of(&turns);

        let apart = ["at once", "later", "never", "of nothing"].map(|id| facts.tool_apart(&CallId::given(id)));
        assert_eq!(apart, [None, Some(&"tool of later".to_owned()), None, None]);
        assert_eq!((facts.turns, facts.blocks), (2, 6));
    }
}
