//! Reasoning items.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Author, Block, Body, ItemId, Reasoning, Scope};

use super::FORMAT;
use crate::fields::{Fields, Form, Kept, KeyRule, Writer};

const REASONING: Form = &[
    ("type", KeyRule::Derived),
    ("id", KeyRule::Taken),
    ("summary", KeyRule::Derived),
    ("content", KeyRule::Taken),
    ("encrypted_content", KeyRule::Taken),
];

/// The block of a reasoning item that some model made.
pub(super) fn read(object: Object, scope: Scope) -> Block {
    let mut fields = Fields::new(object, REASONING);
    fields.text("type");
    let item_id = fields.text("id").map(ItemId::new);
    let summary = texts(&mut fields, "summary", "summary_text", |_| true).unwrap_or_default();
    let content = texts(&mut fields, "content", "reasoning_text", |count| count == 1);
    let encrypted = fields.text("encrypted_content");
    let text = content.and_then(|texts| texts.into_iter().next());
    let body = Reasoning { text, summary, signature: None, encrypted, scope: Some(scope) };
    let mut block = Block { item_id, ..Block::new(Author::Assistant, body) };
    fields.keep(FORMAT, &mut block.extra);
    block
}

/// Takes the texts of an array of `{"type": kind, "text": …}`, if that is what it is.
fn texts(fields: &mut Fields, key: &str, kind: &str, fits: impl Fn(usize) -> bool) -> Option<Vec<String>> {
    let (read, reversed) = match fields.get(key)? {
        Json::Array(items) if fits(items.len()) => texts_of(items, kind)?,
        _ => return None,
    };
    fields.array(key);
    if reversed {
        fields.note(&text_first(key), true);
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
    let kept = Kept::of(&block.extra, FORMAT);
    let mut made = Writer::new(kept, REASONING);
    made.derive("type", "reasoning");
    made.set_some("id", block.item_id.as_ref().map(ItemId::as_str));
    match reasoning.summary.as_slice() {
        [] => made.derive("summary", Vec::new()),
        texts => made.set("summary", write_texts(texts, "summary", "summary_text", kept)),
    }
    if let (Some(text), None) = (&reasoning.text, kept.field("content")) {
        made.set("content", write_texts(std::slice::from_ref(text), "content", "reasoning_text", kept));
    }
    made.set_some("encrypted_content", reasoning.encrypted.clone());
    Json::Object(made.finish())
}

fn write_texts(texts: &[String], key: &str, kind: &str, kept: Kept<'_>) -> Json {
    let reversed = kept.note(&text_first(key)).is_some();
    let write = |text: &String| {
        let pairs = [("type", Json::from(kind)), ("text", Json::from(text.as_str()))];
        let [first, second] = pairs;
        let pairs = if reversed { [second, first] } else { [first, second] };
        Json::Object(pairs.into_iter().collect())
    };
    Json::Array(texts.iter().map(write).collect())
}
