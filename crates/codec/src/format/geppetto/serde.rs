//! The helper functions of the serde specification.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Error, ErrorKind, Result, policy};

use super::document::{Content, File, Turn};
use super::read;
use super::write::{self, WriteOptions};
use crate::input::{Document, Input};

/// How a turn is written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether encrypted reasoning becomes a placeholder; `metadata.redacted` then says so.
    pub redact_encrypted_content: bool,
    /// Whether `data` is left out.
    pub omit_data: bool,
}

/// Reads a turn from YAML; JSON is YAML too. Defaults are applied.
///
/// # Errors
/// `Corrupt` with the line, `Unsupported` for a higher version, `NotThisFormat` for a collection or a fixture.
pub fn from_yaml(bytes: &[u8]) -> Result<Turn> {
    let Document { node, text, .. } = Input::new(bytes).into_document()?;
    let (file, _) = read::file(node).map_err(|error| error.locate(text))?;
    match file.content {
        Content::Turn(mut turn) => {
            turn.normalize();
            Ok(turn)
        }
        Content::Turns(_) | Content::Fixture { .. } => {
            Err(Error::new(ErrorKind::NotThisFormat, "the file holds a collection or a fixture, not one turn")
                .hint("decode it with the `geppetto.turn` or `geppetto.fixture` format"))
        }
    }
}

/// Reads a turn from JSON.
///
/// # Errors
/// As [`from_yaml`].
pub fn from_json(bytes: &[u8]) -> Result<Turn> {
    from_yaml(bytes)
}

/// Writes a turn as YAML.
pub fn to_yaml(turn: &Turn, options: Options) -> String {
    let (file, manner) = prepare(turn, options);
    write::to_yaml(&file, manner)
}

/// Writes a turn as JSON, with the same fields.
pub fn to_json(turn: &Turn, options: Options) -> String {
    let (file, manner) = prepare(turn, options);
    write::to_json(&write::as_json(file), manner)
}

/// Applies the defaults of the specification.
pub fn normalize(turn: &mut Turn) {
    turn.normalize();
}

/// Replaces encrypted reasoning by a placeholder that keeps its start, its end and its length.
pub fn redact_encrypted_content(content: &str) -> String {
    policy::placeholder(content)
}

/// Redacts every encrypted content of a turn and notes it in the turn's metadata.
pub fn redact(turn: &mut Turn) {
    let mut count = 0;
    let maps = [turn.metadata.as_mut(), turn.data.as_mut()].into_iter().flatten();
    let blocks = turn.blocks.iter_mut().flatten().flat_map(|block| [block.payload.as_mut(), block.metadata.as_mut()]);
    for map in maps.chain(blocks.flatten()) {
        count += redact_map(map);
    }
    if count > 0 {
        turn.metadata.get_or_insert_default().set("redacted", true);
    }
}

fn redact_map(map: &mut Object) -> usize {
    let mut count = 0;
    for (_, value) in map.iter_mut() {
        count += redact_inside(value);
    }
    // A number is content too: one that is not finite is a text as soon as it is written as JSON.
    let content = match map.get("encrypted_content") {
        Some(Json::String(text)) => Some(text.to_str_lossy().into_owned()),
        Some(Json::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let placeholder = content.map(|content| policy::placeholder(&content));
    match placeholder {
        Some(placeholder) if map.get_str("encrypted_content").as_deref() != Some(&placeholder) => {
            map.set("encrypted_content", placeholder);
            count + 1
        }
        _ => count,
    }
}

fn redact_inside(value: &mut Json) -> usize {
    match value {
        Json::Object(map) => redact_map(map),
        Json::Array(items) => items.iter_mut().map(redact_inside).sum(),
        _ => 0,
    }
}

fn prepare(turn: &Turn, options: Options) -> (File, WriteOptions) {
    let mut turn = turn.clone();
    for block in turn.blocks.iter_mut().flatten() {
        block.fill_role();
    }
    if options.redact_encrypted_content {
        redact(&mut turn);
    }
    let file = File { version: None, content: Content::Turn(turn), unknown: Object::new() };
    (file, WriteOptions { omit_data: options.omit_data, ..WriteOptions::default() })
}
