//! Encrypted reasoning becomes a placeholder.

use super::edit::{self, Edit, Opaque};
use super::finder::Keys;
use crate::error::Result;
use crate::json::{Json, JsonString, Object};
use crate::loss::Loss;
use crate::session::Session;
use crate::shape::Shape;

/// The key that vendors put encrypted reasoning under, and ours.
const KEYS: [&str; 2] = ["encrypted_content", "encrypted"];

/// Contents shorter than this keep next to nothing: prefix and suffix would be most of them.
const SHORT: usize = 24;

/// Replaces encrypted reasoning by placeholders wherever it stands. A turn that held some gets `metadata.redacted`.
pub(super) fn hide(session: &mut Session) -> Result<Vec<Loss>> {
    let losses = edit::session(&mut Encrypted, session, Opaque::Keep)?;
    for (index, turn) in session.turns.iter_mut().enumerate() {
        let place = format!("turns[{index}].");
        if losses.iter().any(|loss| loss.at.starts_with(&place)) {
            // Says what the losses say, to readers who have no report: no loss of its own.
            turn.metadata.set("redacted", true);
        }
    }
    Ok(losses)
}

/// The edit that hides encrypted reasoning.
pub(super) struct Encrypted;

impl Edit for Encrypted {
    fn concerns<T: Shape>(&self, part: &T) -> bool {
        Keys::any(part, &KEYS)
    }

    fn tree(&mut self, tree: &mut Json) {
        if let Json::Object(block) = tree
            && block.get("type").is_some_and(|kind| kind == &Json::from("reasoning"))
        {
            hide_under(block, "encrypted");
        }
        walk(tree);
    }

    fn why(&self) -> &'static str {
        "encrypted content was replaced by a placeholder"
    }
}

fn walk(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(walk),
        Json::Object(object) => {
            hide_under(object, "encrypted_content");
            object.iter_mut().for_each(|(_, value)| walk(value));
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

fn hide_under(object: &mut Object, wanted: &str) {
    for (key, value) in object.iter_mut() {
        if let Json::String(text) = value
            && key.is(wanted)
        {
            *text = JsonString::from(placeholder(&text.to_str_lossy()));
        }
    }
}

/// What stands for an encrypted content: its first and last characters and how many there were, as in
/// `gAAAAA-****1832****-c4sDQQ`. A placeholder stands for itself.
pub fn placeholder(content: &str) -> String {
    if is_placeholder(content) {
        return content.to_owned();
    }
    let length = content.chars().count();
    let kept = if length < SHORT { 2.min(length / 4) } else { 6 };
    let prefix: String = content.chars().take(kept).collect();
    let suffix: String = content.chars().skip(length - kept).collect();
    format!("{prefix}-****{length}****-{suffix}")
}

/// Whether nothing is left to hide.
fn is_placeholder(content: &str) -> bool {
    let middle = content.split_once("-****").and_then(|(prefix, rest)| {
        let (length, suffix) = rest.split_once("****-")?;
        (prefix.chars().count() <= 6 && suffix.chars().count() <= 6).then_some(length)
    });
    content.is_empty() || middle.is_some_and(|length| !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit()))
}

/// Hides it in a tree of many blocks.
pub(super) fn hide_everywhere(tree: &mut Json) {
    match tree {
        Json::Array(items) => items.iter_mut().for_each(hide_everywhere),
        Json::Object(object) => {
            KEYS.iter().for_each(|key| hide_under(object, key));
            object.iter_mut().for_each(|(_, value)| hide_everywhere(value));
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Whether a tree holds encrypted content that is not hidden yet.
pub(super) fn is_told(tree: &Json) -> bool {
    let is_open = |text: &Json| matches!(text, Json::String(text) if !is_placeholder(&text.to_str_lossy()));
    match tree {
        Json::Array(items) => items.iter().any(is_told),
        Json::Object(object) => {
            object.iter().any(|(key, value)| KEYS.iter().any(|known| key.is(known)) && is_open(value) || is_told(value))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_keeps_ends_and_length() {
        let long = format!("gAAAAA{}c4sDQQ", "x".repeat(1820));

        assert_eq!(placeholder(&long), "gAAAAA-****1832****-c4sDQQ");
        assert_eq!(placeholder("0123456789abcdef"), "01-****16****-ef");
        assert_eq!(placeholder("abc"), "-****3****-");
        assert_eq!(placeholder(&placeholder(&long)), placeholder(&long));
    }
}
