//! Reasoning items.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, ExtraPart, ItemId, Reasoning, Scope};

use super::FORMAT;
use super::apart::{Apart, Emit, Slot, Together, keep};

const SLOTS: &[Slot] = &[
    ("type", Emit::Usual),
    ("id", Emit::Value),
    ("summary", Emit::Usual),
    ("content", Emit::Value),
    ("encrypted_content", Emit::Value),
];

/// The block of a reasoning item that some model made.
pub(super) fn read(object: Object, scope: Scope) -> Block {
    let mut apart = Apart::new(object);
    let mut notes = Object::new();
    apart.text("type");
    let item_id = apart.text("id").map(ItemId::new);
    let summary = texts(&mut apart, "summary", "summary_text", &mut notes, |_| true).unwrap_or_default();
    let content = texts(&mut apart, "content", "reasoning_text", &mut notes, |count| count == 1);
    let encrypted = apart.text("encrypted_content");
    let text = content.and_then(|texts| texts.into_iter().next());
    let body = Reasoning { text, summary, signature: None, encrypted, scope: Some(scope) };
    let mut part = apart.finish(SLOTS);
    notes.into_iter().for_each(|(key, value)| part.spelling.push(key, value));
    let mut block = Block { item_id, ..Block::new(Author::Assistant, body) };
    keep(&mut block.extra, part);
    block
}

/// Takes the texts of an array of `{"type": kind, "text": …}`, if that is what it is.
fn texts(
    apart: &mut Apart,
    key: &str,
    kind: &str,
    notes: &mut Object,
    fits: impl Fn(usize) -> bool,
) -> Option<Vec<String>> {
    let (read, reversed) = match apart.peek(key)? {
        Json::Array(items) if fits(items.len()) => texts_of(items, kind)?,
        _ => return None,
    };
    apart.array(key);
    if reversed {
        notes.push(text_first(key), true);
    }
    Some(read)
}

fn text_first(key: &str) -> String {
    format!("{key}.text_first")
}

/// The texts, and whether every text stands before its type.
fn texts_of(items: &[Json], kind: &str) -> Option<(Vec<String>, bool)> {
    let mut reversed = None;
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        let object = item.as_object().filter(|object| object.len() == 2)?;
        let text_first = object.iter().next().is_some_and(|(key, _)| key.to_str_lossy() == "text");
        if object.get_str("type")? != kind || *reversed.get_or_insert(text_first) != text_first {
            return None;
        }
        texts.push(object.get_str("text")?.into_owned());
    }
    Some((texts, reversed.unwrap_or(false)))
}

/// The item of some reasoning.
pub(super) fn write(block: &Block) -> Json {
    let Body::Reasoning(reasoning) = &block.body else { return Json::Null };
    let part = block.extra.part(FORMAT);
    let is_rest = |key: &str| part.is_some_and(|part| part.fields.contains(key));
    let mut made = Together::default();
    made.put_as("type", "reasoning", Emit::Usual);
    made.put_some("id", block.item_id.as_ref().map(ItemId::as_str));
    if !is_rest("summary") {
        let emit = if reasoning.summary.is_empty() { Emit::Usual } else { Emit::Value };
        made.put_as("summary", write_texts(&reasoning.summary, "summary", "summary_text", part), emit);
    }
    if let (Some(text), false) = (&reasoning.text, is_rest("content")) {
        made.put("content", write_texts(std::slice::from_ref(text), "content", "reasoning_text", part));
    }
    made.put_some("encrypted_content", reasoning.encrypted.clone());
    Json::Object(made.with_part(part))
}

fn write_texts(texts: &[String], key: &str, kind: &str, part: Option<&ExtraPart>) -> Json {
    let reversed = part.is_some_and(|part| part.spelling.contains(&text_first(key)));
    let write = |text: &String| {
        let pairs = [("type", Json::from(kind)), ("text", Json::from(text.as_str()))];
        let [first, second] = pairs;
        let pairs = if reversed { [second, first] } else { [first, second] };
        Json::Object(pairs.into_iter().collect())
    };
    Json::Array(texts.iter().map(write).collect())
}
