//! Wires whose messages are lists of content blocks, with the system's text beside them: how bodies become a session and
//! come back. Anthropic's wire is one, and Bedrock's was made after it.

use std::marker::PhantomData;

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, Error, ErrorKind, Finish, FinishReason, Loss, Result, Scope, Session, Turn};

use super::kind::{Kind, Parts};
use super::messages::{answered, asked, number_blocks, put_answer, settle_order};
use super::prefix;
use super::tables::{self, Words};
use crate::fields::{Fields, Form, Kept, Writer, is_text, optional};
use crate::turns::TurnBuilder;

const MESSAGE: Form = &optional(["role", "content"]);
const ROLES: Words<Author> = &[("user", Author::User), ("assistant", Author::Assistant), ("system", Author::System)];

/// What such a wire has of its own.
pub(crate) trait BlockWire: Sized {
    /// The wire.
    const ID: &'static str;
    /// The usual order of a request's fields.
    const REQUEST: Form;
    /// Whether a content may be a text in place of blocks.
    const TEXT_CONTENT: bool;

    /// The block that a value is, in a message by an author.
    fn read_block(value: Json, author: &Author, scope: &Scope) -> Block;

    /// The value of a block.
    fn write_block(block: &Block) -> Json;

    /// Who made what a request holds, or a response without one.
    fn scope(request: &Object) -> Scope;

    /// Takes the settings of a request.
    fn read_settings(fields: &mut Fields, session: &mut Session);

    /// Says the settings of a request.
    fn write_settings(session: &Session, writer: &mut Writer<'_>);

    /// What a response says of its turn, and its blocks.
    fn read_response(body: Object, scope: Scope) -> (Turn, Vec<Block>);

    /// The response that a turn came from.
    fn write_response(turn: &Turn) -> Json;
}

/// The session that some bodies hold.
pub(crate) fn session<W: BlockWire>(parts: Parts) -> Result<(Session, Vec<Loss>)> {
    let scope = W::scope(&Object::new());
    let mut decoder = Decoder::<W> { turns: TurnBuilder::default(), ordinal: 0, scope, of: PhantomData };
    let mut session = Session::default();
    let has_history = parts.request.is_some();
    if let Some(request) = parts.request {
        decoder.request(body(request, "request")?, &mut session);
    }
    let answer = match parts.response {
        Some(response) => {
            let (turn, blocks) = W::read_response(body(response, "response")?, decoder.scope.clone());
            let count = blocks.len();
            decoder.turns.begin_answer();
            decoder.push(blocks);
            Some((turn, count))
        }
        None => None,
    };
    session.turns = decoder.turns.finish();
    if let Some((answer, count)) = answer {
        put_answer(&mut session.turns, answer, count);
    }
    settle_order(W::ID, &mut session);
    // What stood before the answer is known only where the request is.
    if has_history {
        prefix::stamp(&mut session);
    }
    Ok((session, Vec::new()))
}

fn body(value: Json, which: &str) -> Result<Object> {
    match value {
        Json::Object(object) => Ok(object),
        value => Err(Error::new(ErrorKind::Corrupt, format!("the body is {}, not an object", value.kind()))
            .path(which)
            .hint("give the body as the vendor's interface takes it")),
    }
}

struct Decoder<W> {
    turns: TurnBuilder,
    ordinal: u32,
    scope: Scope,
    of: PhantomData<W>,
}

impl<W: BlockWire> Decoder<W> {
    fn request(&mut self, body: Object, session: &mut Session) {
        self.scope = W::scope(&body);
        let mut fields = Fields::new(body, W::REQUEST);
        self.system(&mut fields);
        match fields.items("messages") {
            Some(messages) => messages.into_iter().for_each(|message| self.message(message)),
            None if fields.get("messages").is_none() => fields.note_absent("messages"),
            None => {}
        }
        W::read_settings(&mut fields, session);
        fields.keep(W::ID, &mut session.extra);
    }

    fn system(&mut self, fields: &mut Fields) {
        if W::TEXT_CONTENT
            && let Some(text) = fields.text("system")
        {
            let mut block = Block::text(Author::System, text);
            block.message.extra.part_mut(W::ID).spelling.set("content", "string");
            self.push(vec![block]);
        } else if let Some(items) = fields.items("system") {
            self.push(items.into_iter().map(|item| W::read_block(item, &Author::System, &self.scope)).collect());
        }
    }

    fn message(&mut self, message: Json) {
        let (object, author) = match readable::<W>(&message) {
            Some(author) => match message {
                Json::Object(object) => (object, author),
                message => return self.whole(message),
            },
            None => return self.whole(message),
        };
        let mut fields = Fields::new(object, MESSAGE);
        fields.take("role");
        let mut blocks = match fields.text("content") {
            Some(text) => {
                fields.note("content", "string");
                vec![Block::text(author.clone(), text)]
            }
            None => {
                let items = fields.items("content").unwrap_or_default();
                items.into_iter().map(|item| W::read_block(item, &author, &self.scope)).collect()
            }
        };
        match author {
            Author::Assistant => self.turns.begin_answer(),
            Author::System => fields.note("place", "messages"),
            _ => {}
        }
        if let Some(first) = blocks.first_mut() {
            fields.keep(W::ID, &mut first.message.extra);
        }
        self.push(blocks);
    }

    /// A message that is not one is kept as it is.
    fn whole(&mut self, message: Json) {
        let author = message.as_object().and_then(role).unwrap_or(Author::User);
        if author == Author::Assistant {
            self.turns.begin_answer();
        }
        let mut block = Block::new(author, Body::Other { kind: "message".to_owned(), raw: message });
        block.message.extra.part_mut(W::ID).spelling.set("content", "whole");
        self.push(vec![block]);
    }

    fn push(&mut self, mut blocks: Vec<Block>) {
        number_blocks(W::ID, &mut blocks);
        for block in blocks {
            self.turns.push(block.in_message(self.ordinal));
        }
        self.ordinal += 1;
    }
}

fn role(message: &Object) -> Option<Author> {
    tables::meant(ROLES, &message.get_str("role")?)
}

/// The author of a message whose content blocks can hold.
fn readable<W: BlockWire>(message: &Json) -> Option<Author> {
    let message = message.as_object().filter(|message| !message.has_duplicates())?;
    let has_content = match message.get("content")? {
        Json::Array(items) => !items.is_empty(),
        content => W::TEXT_CONTENT && is_text(content),
    };
    role(message).filter(|_| has_content)
}

/// The bodies of a session, as they were.
pub(crate) fn parts<W: BlockWire>(session: &Session, kind: Kind) -> Parts {
    let answer = answered(W::ID, session);
    let response = || {
        let empty = Turn::default();
        Some(W::write_response(answer.and_then(|index| session.turns.get(index)).unwrap_or(&empty)))
    };
    match kind {
        Kind::Request => Parts { request: Some(request::<W>(session, None)), response: None },
        Kind::Response | Kind::Stream => Parts { request: None, response: response() },
        Kind::Exchange => Parts { request: Some(request::<W>(session, answer)), response: response() },
    }
}

fn request<W: BlockWire>(session: &Session, answer: Option<usize>) -> Json {
    let kept = Kept::of(&session.extra, W::ID);
    let mut writer = Writer::new(kept, W::REQUEST);
    let (mut system, mut messages) = (Vec::new(), Vec::new());
    for group in asked(W::ID, session, answer) {
        let Some(first) = group.first() else { continue };
        let placed = first.message.extra.spelling(W::ID, "place").is_some();
        match first.author == Author::System && !placed {
            true => system.push(group),
            false => messages.push(message::<W>(&group)),
        }
    }
    match system.as_slice() {
        [] => {}
        [group] => writer.set("system", content::<W>(group)),
        groups => writer.set("system", groups.iter().flatten().map(|block| W::write_block(block)).collect::<Vec<_>>()),
    }
    if !(messages.is_empty() && (kept.lacks("messages") || kept.field("messages").is_some())) {
        writer.set("messages", messages);
    }
    W::write_settings(session, &mut writer);
    Json::Object(writer.finish())
}

/// The content of some blocks: a text, where the source had it so.
fn content<W: BlockWire>(group: &[&Block]) -> Json {
    if let [only] = group
        && only.message.extra.spelling(W::ID, "content").is_some()
        && let Some(text) = only.body.as_text()
    {
        return text.into();
    }
    Json::Array(group.iter().map(|block| W::write_block(block)).collect())
}

fn message<W: BlockWire>(group: &[&Block]) -> Json {
    let Some(first) = group.first() else { return Json::Null };
    let kept = Kept::of(&first.message.extra, W::ID);
    if kept.is("content", "whole") {
        return W::write_block(first);
    }
    let mut writer = Writer::new(kept, MESSAGE);
    writer.set("role", tables::word_for(ROLES, &first.author).unwrap_or("user"));
    writer.set("content", content::<W>(group));
    Json::Object(writer.finish())
}

/// Why an answer ended, by the word under `key`; null where it did not end.
pub(crate) fn finish(fields: &mut Fields, key: &str, reasons: Words<FinishReason>) -> Option<Finish> {
    if fields.take_if(key, |word| *word == Json::Null).is_some() {
        return Some(Finish { reason: FinishReason::Interrupted, ..Finish::default() });
    }
    let word = fields.text(key)?;
    Some(Finish { reason: tables::reason(reasons, &word), word: Some(word), ..Finish::default() })
}

/// The arguments of a call, from its `input`.
pub(crate) fn take_input(fields: &mut Fields) -> String {
    match fields.take("input") {
        None => {
            fields.note_absent("input");
            String::new()
        }
        // Where a stream was cut off, the arguments are the text so far.
        Some(Json::String(text)) if text.to_str().is_ok() => {
            fields.note("input", "text");
            text.to_str_lossy().into_owned()
        }
        Some(value) => value.to_text(),
    }
}
