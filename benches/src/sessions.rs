//! Sessions of a given size, as a coding agent makes them: about 7 kB a turn.

use turnkeep_model::json::{JsonSink, Layout};
use turnkeep_model::shape::Shape;
use turnkeep_model::{
    Archive, Author, Block, Body, CallId, Data, Finish, FinishReason, Json, Number, Object, Options, Part, Reasoning,
    Session, SessionId, Text, Time, Timing, ToolCall, ToolResult, Turn, TurnId, Usage,
};

use crate::prose;
use crate::random::Random;

const TOOLS: &[&str] = &["read_file", "bash", "grep", "edit_file", "search_orders", "lookup_ticket"];

/// A document of one session whose native JSON is about `size` bytes.
pub(crate) fn archive(size: usize) -> Archive {
    let mut maker = Maker { random: Random::new(7), message: 0 };
    let mut session = Session { id: Some(SessionId::new("bench-session")), ..Session::default() };
    session.title = Some("A long day of a coding agent".to_owned());
    session.options = Options::default();
    let mut written = 0;
    while written < size {
        let index = session.turns.len();
        let turn = maker.turn(index);
        written += weigh(&turn);
        session.turns.push(turn);
    }
    session.turns.shrink_to_fit();
    Archive::from(session)
}

/// The first `count` turns of an endless session.
pub(crate) fn turns(count: usize) -> impl Iterator<Item = Turn> {
    let mut maker = Maker { random: Random::new(7), message: 0 };
    (0..count).map(move |index| maker.turn(index))
}

/// How many bytes a turn takes in a native document.
pub(crate) fn weigh(turn: &Turn) -> usize {
    let mut sink = JsonSink::native(Layout::Compact);
    turn.write(&mut sink);
    sink.into_bytes().len() + 1
}

struct Maker {
    random: Random,
    message: u32,
}

impl Maker {
    fn turn(&mut self, index: usize) -> Turn {
        Turn {
            id: Some(TurnId::new(format!("turn-{index:06}"))),
            provider: Some("anthropic".to_owned()),
            api: Some("messages".to_owned()),
            model: Some("claude-sonnet-4-5".to_owned()),
            usage: self.usage(),
            timing: self.timing(index),
            finish: Some(Finish {
                reason: FinishReason::ToolCalls,
                word: Some("tool_use".to_owned()),
                ..Finish::default()
            }),
            metadata: self.metadata(),
            blocks: self.blocks(index),
            ..Turn::default()
        }
    }

    fn usage(&mut self) -> Usage {
        let (input, output) = (self.random.between(1_000, 90_000), self.random.between(100, 900));
        Usage {
            input: Some(input),
            output: Some(output),
            cached_read: Some(input * 9 / 10),
            total: Some(input + output),
            ..Usage::default()
        }
    }

    fn timing(&mut self, index: usize) -> Timing {
        let (minute, second) = (index / 60 % 60, index % 60);
        Timing {
            started: Some(Time::new(format!("2026-01-16T10:{minute:02}:{second:02}.250Z"))),
            completed: Some(Time::new(format!("2026-01-16T10:{minute:02}:{second:02}.875Z"))),
            seconds: Some(Number::from_f64(self.random.between(1, 4000) as f64 / 8.0)),
            ..Timing::default()
        }
    }

    fn metadata(&mut self) -> Object {
        let pairs = [
            ("request_id", Json::from(format!("req_{:016x}", self.random.next()))),
            ("attempt", Json::from(self.random.between(1, 4))),
            ("cached", Json::from(self.random.one_in(2))),
        ];
        pairs.into_iter().collect()
    }

    fn blocks(&mut self, index: usize) -> Vec<Block> {
        let mut blocks = Vec::with_capacity(8);
        if index == 0 || self.random.one_in(5) {
            let length = self.random.between(60, 400);
            let question = prose::sentence(&mut self.random, length);
            blocks.push(self.block(Author::User, Text { text: question }));
        }
        self.message += 1;
        let thinking = self.thinking();
        blocks.push(self.block(Author::Assistant, thinking));
        let length = self.random.between(200, 600);
        let said = prose::paragraphs(&mut self.random, length);
        blocks.push(self.block(Author::Assistant, Text { text: said }));
        let calls: Vec<ToolCall> = (0..self.random.between(1, 4)).map(|_| self.call()).collect();
        let results: Vec<ToolResult> = calls.iter().map(|call| self.result(call)).collect();
        blocks.extend(calls.into_iter().map(|call| self.block(Author::Assistant, call)));
        for result in results {
            self.message += 1;
            blocks.push(self.block(Author::Tool, result));
        }
        self.message += 1;
        blocks.shrink_to_fit();
        blocks
    }

    fn block(&self, author: Author, body: impl Into<Body>) -> Block {
        Block::new(author, body).in_message(self.message)
    }

    fn thinking(&mut self) -> Reasoning {
        let length = self.random.between(200, 700);
        Reasoning {
            text: Some(prose::paragraphs(&mut self.random, length)),
            signature: Some(prose::opaque(&mut self.random, 344)),
            ..Reasoning::default()
        }
    }

    fn call(&mut self) -> ToolCall {
        let arguments: Object = [
            ("path", Json::from(prose::path(&mut self.random))),
            ("query", Json::from(prose::sentence(&mut self.random, 100))),
            ("limit", Json::from(self.random.between(1, 500))),
            ("flags", Json::from(vec![Json::from("-n"), Json::from("-i")])),
        ]
        .into_iter()
        .collect();
        ToolCall {
            call: CallId::given(format!("toolu_{:016x}{:08x}", self.random.next(), self.random.between(0, 1 << 32))),
            name: self.random.pick(TOOLS).to_owned(),
            arguments: Json::Object(arguments).to_text(),
        }
    }

    fn result(&mut self, call: &ToolCall) -> ToolResult {
        ToolResult {
            call: call.call.clone(),
            name: None,
            parts: vec![self.part()],
            error: None,
            is_error: Some(false),
            outcome: None,
        }
    }

    fn part(&mut self) -> Part {
        if self.random.one_in(6) {
            return Part::Data(Data { json: self.rows() });
        }
        let length = if self.random.one_in(50) { 30_000 } else { self.random.between(300, 4_000) };
        Part::Text(Text { text: prose::listing(&mut self.random, length) })
    }

    fn rows(&mut self) -> Json {
        let row = |random: &mut Random| {
            let pairs = [
                ("id", Json::from(random.between(0, 1 << 40))),
                ("name", Json::from(prose::sentence(random, 20))),
                ("score", Json::from(Number::from_f64(random.between(0, 1000) as f64 / 16.0))),
                ("open", Json::from(random.one_in(2))),
            ];
            Json::Object(pairs.into_iter().collect())
        };
        let count = self.random.between(2, 20);
        Json::from((0..count).map(|_| row(&mut self.random)).collect::<Vec<Json>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_have_the_size_asked_for_and_are_the_same_each_time() {
        let text = archive(300_000).to_json(Layout::Compact);

        assert!((300_000..340_000).contains(&text.len()), "{}", text.len());
        assert_eq!(text, archive(300_000).to_json(Layout::Compact));
    }

    #[test]
    fn a_turn_takes_about_seven_kilobytes() {
        let archive = archive(2_000_000);
        let turns = archive.sessions[0].turns.len();

        assert!((6_000..9_000).contains(&(2_000_000 / turns)), "{turns} turns");
    }
}
