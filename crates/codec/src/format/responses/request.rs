//! Requests: the history, the settings, and what is asked for.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, ExtraPart, Loss, LossKind, Scope, Session, Turn};

use super::FORMAT;
use super::apart::{Apart, Emit, Slot, Together};
use super::item::{self, Side};
use super::profile::{OPENAI, Profile};
use super::{answer, options, tools};
use crate::turns::TurnBuilder;

/// The fields of a request in our own order; what is left over follows.
fn slots() -> Vec<Slot> {
    let first = [("model", Emit::Value), ("instructions", Emit::Value), ("input", Emit::Usual), ("tools", Emit::Value)];
    first.into_iter().chain(options::SLOTS.iter().copied()).collect()
}

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
        let mut body = Apart::new(object);
        let mut notes = Object::new();
        self.model = body.text("model");
        let instructions = body.text("instructions");
        let has_instructions = instructions.is_some();
        if let Some(text) = instructions {
            self.push(vec![Block::text(Author::System, text)]);
        }
        if let Some(text) = body.text("input") {
            notes.push("input", "string");
            self.push(vec![Block::text(Author::User, text)]);
        } else if let Some(items) = body.array("input") {
            self.items(items, has_instructions);
        }
        options::read(&mut body, &mut self.session, &mut notes);
        tools::read(&mut body, &mut self.session, &mut notes);
        let part = self.session.extra.part_mut(FORMAT);
        *part = body.finish(&slots());
        notes.into_iter().for_each(|(key, value)| part.spelling.push(key, value));
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

    fn items(&mut self, items: Vec<Json>, has_instructions: bool) {
        let model = self.model.as_deref().unwrap_or_default();
        let provider = Profile::of_model(model).unwrap_or(&OPENAI).name.to_owned();
        let scope = Scope { provider: Some(provider), model: self.model.clone(), ..Scope::default() };
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
    let part = session.extra.part(FORMAT);
    let (instructions, blocks) = match blocks {
        [first, rest @ ..] if is_instructions(first, rest) => (first.body.as_text(), rest),
        blocks => (None, blocks),
    };
    let mut body = Together::default();
    body.put_some("model", model);
    body.put_some("instructions", instructions);
    put_input(blocks, part, &mut body);
    body.put_some("tools", tools::write(&session.tools, part));
    options::write(session, part, &mut body);
    Json::Object(body.with_part(part))
}

fn is_instructions(first: &Block, rest: &[&Block]) -> bool {
    let alone = rest.first().is_none_or(|next| next.message.ordinal != first.message.ordinal);
    could_be_instructions(first) && alone && !is_item(first)
}

fn put_input(blocks: &[&Block], part: Option<&ExtraPart>, body: &mut Together) {
    let as_string = part.is_some_and(|part| part.spelling.contains("input"));
    match blocks {
        [Block { author: Author::User, body: Body::Text(text), .. }] if as_string => {
            body.put("input", text.text.as_str());
        }
        [] if part.is_some_and(|part| part.fields.contains("input")) => {}
        [] => body.put_as("input", Vec::new(), Emit::Usual),
        blocks => body.put("input", item::write_all(blocks)),
    }
}
