//! Long conversations with facts in them.

use turnkeep_model::{Author, Block, CallId, Part, Session, Text, ToolCall, ToolResult, Turn};

/// How many exchanges a conversation has.
const EXCHANGES: usize = 200;

/// Numbers that look like chance and are the same every time.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    pub(super) fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    pub(super) fn between(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from)
    }
}

/// A text that states a fact, and the words of it that must survive.
pub(super) struct Stated {
    pub text: String,
    pub fact: String,
}

impl Stated {
    pub(super) fn new(text: impl Into<String>, fact: impl Into<String>) -> Stated {
        Stated { text: text.into(), fact: fact.into() }
    }
}

/// A statement, what corrects it later, and what must not be told as if it still held.
pub(super) struct Corrected {
    pub first: String,
    pub stale: String,
    pub later: Stated,
}

/// How conversations of one kind are worded.
pub(super) struct Domain {
    pub name: &'static str,
    pub filler: fn(&mut Dice) -> String,
    pub prose: fn(&mut Dice) -> Stated,
    pub code: fn(&mut Dice) -> Stated,
    pub tool: fn(&mut Dice) -> Stated,
    pub corrected: fn(&mut Dice, usize) -> Corrected,
}

/// A fact of a conversation.
pub(super) struct Planted {
    pub kind: &'static str,
    /// The third of the conversation it stands in.
    pub third: usize,
    pub fact: String,
    pub stale: Option<String>,
}

/// A conversation of a domain, and its facts: four exchanges of five state one.
pub(super) fn planted(domain: &Domain, seed: u64) -> (Session, Vec<Planted>) {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9).wrapping_add(7));
    let mut turns = Vec::new();
    let mut facts = Vec::new();
    let mut due: Vec<(usize, Corrected)> = Vec::new();
    for n in 0..EXCHANGES {
        let mut told = Told::default();
        let mut plant = |kind, fact: String, stale| {
            facts.push(Planted { kind, third: n * 3 / EXCHANGES, fact, stale });
        };
        if let Some(place) = due.iter().position(|(at, _)| *at <= n) {
            let (_, corrected) = due.swap_remove(place);
            told.said = Some(corrected.later.text);
            plant("corrected", corrected.later.fact, Some(corrected.stale));
        } else {
            match n % 5 {
                0 => {
                    let stated = (domain.prose)(&mut dice);
                    told.said = Some(stated.text);
                    plant("prose", stated.fact, None);
                }
                1 => {
                    let stated = (domain.code)(&mut dice);
                    told.code = Some(stated.text);
                    plant("code", stated.fact, None);
                }
                2 => {
                    let stated = (domain.tool)(&mut dice);
                    told.tool = Some(stated.text);
                    plant("tool result", stated.fact, None);
                }
                3 if n + 60 < EXCHANGES => {
                    let corrected = (domain.corrected)(&mut dice, n);
                    told.said = Some(corrected.first.clone());
                    due.push((n + dice.between(5, 60), corrected));
                }
                _ => {}
            }
        }
        turns.push(turn(domain, &mut dice, n, told));
    }
    (Session { turns, ..Session::default() }, facts)
}

/// What an exchange says besides filler.
#[derive(Default)]
struct Told {
    said: Option<String>,
    code: Option<String>,
    tool: Option<String>,
}

fn turn(domain: &Domain, dice: &mut Dice, n: usize, told: Told) -> Turn {
    let mut filler = |count: usize| (0..count).map(|_| (domain.filler)(dice)).collect::<Vec<_>>().join(" ");
    let by_user = n.is_multiple_of(2);
    let said =
        |mine: bool| told.said.as_ref().filter(|_| mine).map(|said| format!(" {said} ")).unwrap_or_else(|| " ".into());
    let asked = format!("{}{}{}", filler(1), said(by_user), filler(1));
    let code = told.code.as_ref().map(|code| format!("\n```\n{code}\n```\n")).unwrap_or_default();
    let answered = format!("{}{}{}{code}{}", filler(2), said(!by_user), filler(1), filler(1));
    let at = u32::try_from(n * 4).unwrap();
    let mut blocks = vec![Block::text(Author::User, asked).in_message(at)];
    if let Some(text) = told.tool {
        let call = CallId::given(format!("call_{n}"));
        let name = "look".to_owned();
        blocks.push(
            Block::new(Author::Assistant, ToolCall { call: call.clone(), name: name.clone(), arguments: "{}".into() })
                .in_message(at + 1),
        );
        let parts = vec![Part::Text(Text { text })];
        let result = ToolResult { call, name: Some(name), parts, error: None, is_error: None, outcome: None };
        blocks.push(Block::new(Author::Tool, result).in_message(at + 2));
    }
    blocks.push(Block::text(Author::Assistant, answered).in_message(at + 3));
    Turn { blocks, ..Turn::default() }
}
