//! From a session to a serialized session.

use turnkeep_model::json::{Json, Number, Object};
use turnkeep_model::{Author, Block, Body, Session, Summary, Turn};

use super::FORMAT;
use super::decode::{is_setting, key_list};
use super::document::{Document, Item, Layout, SUMMARY_QUESTION, Side, unset};
use super::part;
use crate::codec::Mode;

/// Whether questions and answers may have parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// Where they hold more than text.
    WhereNeeded,
    /// All of them are texts; what is not is left out.
    Never,
}

/// How a session is written.
#[derive(Clone, Copy)]
struct WriteOptions {
    mode: Mode,
    parts: Parts,
}

/// The document of a session: what has a place in questions and answers, and nothing else.
pub(super) fn document(session: &Session, mode: Mode, parts: Parts) -> Document {
    let faithful = mode == Mode::Faithful;
    let noted = |key: &str| faithful && session.extra.spelling(FORMAT, key).is_some();
    let mut unknown = session.extra.fields(FORMAT).filter(|_| faithful).cloned().unwrap_or_default();
    let keys = key_list(&session.extra).filter(|_| faithful);
    let (history, system) = exchanges(session, WriteOptions { mode, parts });
    let settings = settings(session, &mut unknown, keys.as_deref(), &system, faithful);
    unknown.retain(|key, _| !is_setting(&key.to_str_lossy()));
    Document {
        layout: Layout { compact: noted("compact"), crlf: noted("crlf"), unended: noted("unended") },
        upper: noted("upper"),
        keys,
        settings,
        history,
        unknown,
    }
}

fn settings(session: &Session, kept: &mut Object, keys: Option<&[String]>, system: &str, faithful: bool) -> Object {
    let options = &session.options;
    let note = |key: &str| session.extra.spelling(FORMAT, key).filter(|_| faithful);
    let number = |key: &str, number: &Option<Number>, least: f64| {
        let number = number.as_ref().filter(|number| number.is_json() && number.as_f64() >= least)?;
        Some(if note(key).is_some() { Json::from(number.as_str()) } else { Json::Number(number.clone()) })
    };
    let values = [
        ("temperature", number("temperature", &options.temperature, 0.0)),
        ("limit", number("limit", &options.limits.exchanges, f64::MIN_POSITIVE)),
        ("connectionTimeout", number("connectionTimeout", &options.connect_timeout_ms, 0.0)),
        ("socketTimeout", number("socketTimeout", &options.socket_timeout_ms, 0.0)),
        ("systemMessage", system_message(system, note("systemMessage"))),
    ];
    let asked = |key: &str| keys.is_none_or(|keys| keys.iter().any(|asked| asked.eq_ignore_ascii_case(key)));
    let mut settings = Object::new();
    for (key, value) in values {
        let kept = kept.remove(key);
        if let Some(value) = value.or(kept).or_else(|| asked(key).then(|| unset(key))) {
            settings.push(key, value);
        }
    }
    if faithful {
        let ours = [("tags", tags(session, note("tags").is_some())), ("metadata", metadata(session))];
        for (key, value) in ours {
            if let Some(value) = value.or(kept.remove(key)) {
                settings.push(key, value);
            }
        }
    }
    settings
}

/// The system message as it was spelled. Lucee trims it, and takes a blank one for none.
fn system_message(text: &str, note: Option<&Json>) -> Option<Json> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let scalar = note.and_then(Json::as_str).and_then(|kind| part::scalar_of(text, &kind));
    let spaced = match note.and_then(Json::as_array) {
        Some([before, after]) => {
            Some(format!("{}{text}{}", before.as_str().unwrap_or_default(), after.as_str().unwrap_or_default()))
        }
        _ => None,
    };
    Some(scalar.unwrap_or_else(|| spaced.map_or_else(|| Json::from(text), Json::from)))
}

fn tags(session: &Session, as_list: bool) -> Option<Json> {
    if session.tags.is_empty() {
        return None;
    }
    if as_list && session.tags.iter().all(|(_, value)| value.is_empty()) {
        return Some(Json::Array(session.tags.iter().map(|(tag, _)| Json::from(tag.as_str())).collect()));
    }
    let pairs = session.tags.iter().map(|(tag, value)| (tag.as_str(), Json::from(value.as_str())));
    Some(Json::Object(pairs.collect()))
}

fn metadata(session: &Session) -> Option<Json> {
    (!session.metadata.is_empty()).then(|| Json::Object(session.metadata.clone()))
}

/// An exchange that is being gathered.
#[derive(Default)]
struct Draft<'a> {
    first: Option<&'a Turn>,
    question: Vec<&'a Block>,
    answer: Vec<&'a Block>,
}

/// The exchanges of a session and its system text.
fn exchanges(session: &Session, options: WriteOptions) -> (Vec<Item>, String) {
    let mut items = Vec::new();
    let mut system: Vec<&str> = Vec::new();
    let mut draft: Option<Draft<'_>> = None;
    for turn in &session.turns {
        let summaries = turn.blocks.iter().filter_map(|block| match &block.body {
            Body::Summary(summary) => Some(summary),
            _ => None,
        });
        for summary in summaries {
            items.extend(draft.take().map(|draft| item(draft, options)));
            items.extend(summary_items(summary));
        }
        if begins(turn) {
            items.extend(draft.replace(Draft::default()).map(|draft| item(draft, options)));
        }
        for block in &turn.blocks {
            match (place(block), &block.body) {
                (Destination::System, Body::Text(text)) => system.push(&text.text),
                (Destination::Question, _) => draft.get_or_insert_default().question.push(block),
                (Destination::Answer, _) => draft.get_or_insert_default().answer.push(block),
                (Destination::System | Destination::Nowhere, _) => {}
            }
        }
        if let Some(draft) = &mut draft {
            draft.first.get_or_insert(turn);
        }
    }
    items.extend(draft.map(|draft| item(draft, options)));
    (items, system.join("\n\n"))
}

/// Where a block stands in a session of theirs.
enum Destination {
    System,
    Question,
    Answer,
    Nowhere,
}

fn place(block: &Block) -> Destination {
    match &block.author {
        Author::System | Author::Developer => Destination::System,
        Author::Tool => Destination::Nowhere,
        _ if !part::fits(block) => Destination::Nowhere,
        Author::Assistant => Destination::Answer,
        _ => Destination::Question,
    }
}

/// Whether a turn begins an exchange: it asks, or it was one.
fn begins(turn: &Turn) -> bool {
    turn.extra.spelling(FORMAT, "question").is_some()
        || turn.blocks.iter().any(|block| matches!(place(block), Destination::Question))
}

/// A summary as exchanges: those it was made as, or one.
fn summary_items(summary: &Summary) -> Vec<Item> {
    let item = |question: &str, answer: &str| Item {
        question: Side::Text(question.to_owned()),
        answer: Side::Text(answer.to_owned()),
        ..Item::default()
    };
    match summary.exchanges.as_slice() {
        [] => vec![item(SUMMARY_QUESTION, &summary.text)],
        exchanges => exchanges.iter().map(|short| item(&short.question, &short.answer)).collect(),
    }
}

fn item(draft: Draft<'_>, options: WriteOptions) -> Item {
    let extra = draft.first.map(|turn| &turn.extra);
    let note = |key: &str| extra.and_then(|extra| extra.spelling(FORMAT, key)?.as_str());
    let question = match (side(&draft.question, note("question").as_deref(), options), note("question").as_deref()) {
        (Side::Null, Some("null")) => Side::Null,
        // Lucee takes no exchange without a question.
        (Side::Null, _) => Side::Text(String::new()),
        (side, _) => side,
    };
    let answer = side(&draft.answer, note("answer").as_deref(), options);
    let extra = extra.filter(|_| options.mode == Mode::Faithful);
    Item {
        keys: extra.and_then(key_list),
        question,
        answer,
        unknown: extra.and_then(|extra| extra.fields(FORMAT)).cloned().unwrap_or_default(),
    }
}

fn side(blocks: &[&Block], note: Option<&str>, options: WriteOptions) -> Side {
    let in_parts = note == Some("parts") || blocks.iter().any(|block| part::needs_part(block));
    if in_parts && options.parts == Parts::WhereNeeded {
        return Side::Parts(blocks.iter().map(|block| part::part(block, options.mode)).collect());
    }
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.body.as_text()).collect();
    match (texts.as_slice(), note) {
        ([], _) => Side::Null,
        ([text], Some(kind)) => {
            part::scalar_of(text, kind).map_or_else(|| Side::Text((*text).to_owned()), Side::Scalar)
        }
        (texts, _) => Side::Text(texts.join("\n\n")),
    }
}
