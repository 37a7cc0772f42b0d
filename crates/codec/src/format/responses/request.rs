//! Requests: the history, the settings, and what is asked for.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, Loss, LossKind, Scope, Session, Turn};

use super::FORMAT;
use super::item::{self, Side};
use super::profile::{OPENAI, Profile};
use super::{answer, options, tools};
use crate::fields::{Fields, Form, Kept, KeyRule, Writer};
use crate::turns::TurnBuilder;

const REQUEST: Form = &[
    ("model", KeyRule::Taken),
    ("instructions", KeyRule::Taken),
    ("input", KeyRule::Derived),
    ("tools", KeyRule::Taken),
    ("tool_choice", KeyRule::Taken),
    ("parallel_tool_calls", KeyRule::Taken),
    ("reasoning", KeyRule::Taken),
    ("text", KeyRule::Taken),
    ("temperature", KeyRule::Taken),
    ("top_p", KeyRule::Taken),
    ("max_output_tokens", KeyRule::Taken),
];

/// The note on items that stood in `instructions`, which may be a list of them.
const INSTRUCTIONS: &str = "instructions";

/// What is being read.
#[derive(Default)]
pub(super) struct Reader {
    session: Session,
    turns: TurnBuilder,
    ordinal: u32,
    /// The model that was asked for.
    model: Option<String>,
    losses: Vec<Loss>,
}

impl Reader {
    /// Reads a request.
    pub(super) fn request(&mut self, object: Object) {
        let object = self.without_duplicates(object);
        let mut body = Fields::new(object, REQUEST);
        self.model = body.text("model");
        let instructions = body.text("instructions");
        let listed = body.array("instructions");
        let has_instructions = instructions.is_some() || listed.is_some();
        if let Some(text) = instructions {
            self.push(vec![Block::text(Author::System, text)]);
        }
        for raw in listed.into_iter().flatten() {
            let mut blocks = item::read(raw, Side::Input, &self.scope());
            for block in &mut blocks {
                block.message.extra.part_mut(FORMAT).spelling.push("place", INSTRUCTIONS);
            }
            self.push(blocks);
        }
        if let Some(text) = body.text("input") {
            body.note("input", "string");
            self.push(vec![Block::text(Author::User, text)]);
        } else if let Some(items) = body.array("input") {
            self.items(items, has_instructions);
        }
        options::read(&mut body, &mut self.session);
        tools::read(&mut body, &mut self.session);
        body.keep(FORMAT, &mut self.session.extra);
    }

    /// Where a key stands twice, the last one counts.
    fn without_duplicates(&mut self, mut object: Object) -> Object {
        if !object.has_duplicates() {
            return object;
        }
        let keys: Vec<String> = object.iter().map(|(key, _)| key.to_str_lossy().into_owned()).collect();
        for (index, key) in keys.iter().enumerate() {
            if keys.get(..index).is_some_and(|before| before.contains(key)) {
                let last = object.get(key).cloned().unwrap_or_default();
                object.set(key, last);
                let what = format!("`{key}` stood twice; the last one counts");
                self.losses.push(Loss::decode(LossKind::Dropped, format!("extra.{FORMAT}"), what));
            }
        }
        object
    }

    /// Who made what is opaque.
    fn scope(&self) -> Scope {
        let model = self.model.as_deref().unwrap_or_default();
        let provider = Profile::of_model(model).unwrap_or(&OPENAI).name.to_owned();
        Scope { provider: Some(provider), model: self.model.clone(), ..Scope::default() }
    }

    fn items(&mut self, items: Vec<Json>, has_instructions: bool) {
        let scope = self.scope();
        for (index, raw) in items.into_iter().enumerate() {
            let mut blocks = item::read(raw, Side::Input, &scope);
            if index == 0
                && !has_instructions
                && let [first] = blocks.as_mut_slice()
                && could_be_instructions(first)
            {
                first.message.extra.part_mut(FORMAT).spelling.push("place", "item");
            }
            self.push(blocks);
        }
    }

    /// Adds the blocks of one message.
    fn push(&mut self, blocks: Vec<Block>) {
        for mut block in blocks {
            block.message.ordinal = self.ordinal;
            self.turns.push(block);
        }
        self.ordinal = self.ordinal.saturating_add(1);
    }

    /// Reads a response: the answer of the turn that the request left open.
    pub(super) fn response(&mut self, object: Object) {
        let object = self.without_duplicates(object);
        let (head, items) = answer::read(object);
        let mut turns = std::mem::take(&mut self.turns).finish();
        let open = turns.pop_if(|turn| is_open(turn));
        let mut turn = Turn { blocks: open.map(|turn| turn.blocks).unwrap_or_default(), ..head };
        for mut blocks in items {
            blocks.iter_mut().for_each(|block| block.message.ordinal = self.ordinal);
            turn.blocks.append(&mut blocks);
            self.ordinal = self.ordinal.saturating_add(1);
        }
        turns.push(turn);
        self.session.turns = turns;
    }

    /// What was read.
    pub(super) fn finish(mut self) -> (Session, Vec<Loss>) {
        if self.session.turns.is_empty() {
            self.session.turns = self.turns.finish();
        }
        match (self.model, self.session.turns.last_mut()) {
            (Some(model), Some(turn)) if is_open(turn) => turn.model = Some(model),
            (Some(model), _) => self.session.extra.part_mut(FORMAT).fields.push("model", model),
            (None, _) => {}
        }
        self.session.extra.tidy();
        (self.session, self.losses)
    }
}

/// Whether a turn waits for its answer.
fn is_open(turn: &Turn) -> bool {
    !turn.blocks.is_empty() && !turn.blocks.iter().any(Block::is_answer) && !answer::is_from_response(turn)
}

/// Whether a block at the start is what `instructions` hold.
pub(super) fn could_be_instructions(block: &Block) -> bool {
    block.author == Author::System && matches!(block.body, Body::Text(_))
}

fn is_item(block: &Block) -> bool {
    block.message.extra.spelling(FORMAT, "place").is_some()
}

fn is_listed(block: &Block) -> bool {
    block.message.extra.spelling(FORMAT, "place").and_then(Json::as_str).is_some_and(|place| place == INSTRUCTIONS)
}

/// The blocks of a session that a request sends, in the order of its messages.
pub(super) fn blocks(session: &Session) -> Vec<&Block> {
    let asked = |turn: usize, block: &Block| {
        let answered = session.turns.get(turn).is_some_and(answer::is_from_response);
        !(answered && block.is_answer())
    };
    let all = session.in_message_order().into_iter();
    all.filter(|(turn, _, block)| asked(*turn, block)).map(|(_, _, block)| block).collect()
}

/// The model that a request of this session asks for, if it says.
pub(super) fn model(session: &Session) -> Option<String> {
    let open = session.turns.last().filter(|turn| is_open(turn)).and_then(|turn| turn.model.clone());
    let asked = || session.extra.fields(FORMAT).and_then(|fields| fields.get_str("model"));
    open.or_else(|| asked().map(std::borrow::Cow::into_owned))
}

/// The body of a request that sends these blocks with the settings of `session`.
pub(super) fn write(session: &Session, blocks: &[&Block], model: Option<String>) -> Json {
    let kept = Kept::of(&session.extra, FORMAT);
    let listed = blocks.iter().take_while(|block| is_listed(block)).count();
    let (listed, blocks) = blocks.split_at_checked(listed).unwrap_or((&[], blocks));
    let (instructions, blocks) = match blocks {
        [first, rest @ ..] if listed.is_empty() && is_instructions(first, rest) => (first.body.as_text(), rest),
        blocks => (None, blocks),
    };
    let mut body = Writer::new(kept, REQUEST);
    body.set_some("model", model);
    match listed {
        [] => body.set_some(INSTRUCTIONS, instructions),
        listed => body.set(INSTRUCTIONS, item::write_all(listed)),
    }
    put_input(blocks, &mut body);
    body.set_some("tools", tools::write(&session.tools, kept));
    options::write(session, &mut body);
    Json::Object(body.finish())
}

fn is_instructions(first: &Block, rest: &[&Block]) -> bool {
    let alone = rest.first().is_none_or(|next| next.message.ordinal != first.message.ordinal);
    could_be_instructions(first) && alone && !is_item(first)
}

fn put_input(blocks: &[&Block], body: &mut Writer<'_>) {
    let as_string = body.kept().note("input").is_some();
    match blocks {
        [Block { author: Author::User, body: Body::Text(text), .. }] if as_string => {
            body.set("input", text.text.as_str());
        }
        [] => body.derive("input", Vec::new()),
        blocks => body.set("input", item::write_all(blocks)),
    }
}
