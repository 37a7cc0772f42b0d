//! Pure reductions of a session, each with its losses.

use crate::block::Body;
use crate::extra::Extra;
use crate::json::{Json, Object};
use crate::loss::{Loss, LossKind};
use crate::native::Archive;
use crate::session::Session;

/// The key under which vendors keep reasoning that only they can read.
const ENCRYPTED: &str = "encrypted_content";

/// What stands in the middle of a placeholder.
const MASK: &str = "-****";

/// A placeholder for encrypted content that keeps its start, its end and its length: `gAAAAA-****1832****-c4sDQQ`.
///
/// A placeholder stays as it is.
pub fn encrypted_placeholder(content: &str) -> String {
    if content.contains(MASK) && content.contains("****-") {
        return content.to_owned();
    }
    let length = content.chars().count();
    let shown = if length < 24 { length.min(8) / 4 } else { 6 };
    let start: String = content.chars().take(shown).collect();
    let end: String = content.chars().skip(length - shown).collect();
    format!("{start}{MASK}{length}****-{end}")
}

/// Replaces encrypted reasoning everywhere by placeholders, and notes it in the metadata of the turn that held it.
pub fn redact_encrypted(archive: &mut Archive) -> Vec<Loss> {
    let mut losses = Vec::new();
    for index in 0..archive.sessions.len() {
        let prefix = archive.prefix(index);
        if let Some(session) = archive.sessions.get_mut(index) {
            redact_session(session, &prefix, &mut losses);
        }
    }
    if !losses.is_empty() {
        // The journal still holds what was redacted.
        archive.journal = None;
    }
    losses
}

fn redact_session(session: &mut Session, prefix: &str, losses: &mut Vec<Loss>) {
    let mut redactor = Redactor { losses };
    redactor.object(&mut session.metadata, &format!("{prefix}metadata"));
    redactor.extra(&mut session.extra, &format!("{prefix}extra"));
    for (index, slice) in session.slices.iter_mut().enumerate() {
        for (item, value) in slice.items.iter_mut().enumerate() {
            redactor.json(value, &format!("{prefix}slices[{index}].items[{item}]"));
        }
    }
    for (index, turn) in session.turns.iter_mut().enumerate() {
        let at = format!("{prefix}turns[{index}]");
        let before = redactor.losses.len();
        redactor.object(&mut turn.metadata, &format!("{at}.metadata"));
        redactor.object(&mut turn.data, &format!("{at}.data"));
        redactor.json(&mut turn.provider_payload, &format!("{at}.provider_payload"));
        redactor.extra(&mut turn.extra, &format!("{at}.extra"));
        for (index, block) in turn.blocks.iter_mut().enumerate() {
            let at = format!("{at}.blocks[{index}]");
            redactor.body(&mut block.body, &at);
            redactor.object(&mut block.metadata, &format!("{at}.metadata"));
            redactor.extra(&mut block.extra, &format!("{at}.extra"));
        }
        if redactor.losses.len() > before {
            turn.metadata.set("redacted", true);
        }
    }
}

struct Redactor<'a> {
    losses: &'a mut Vec<Loss>,
}

impl Redactor<'_> {
    fn body(&mut self, body: &mut Body, at: &str) {
        match body {
            Body::Reasoning(reasoning) => {
                if let Some(content) = &mut reasoning.encrypted {
                    self.text(content, &format!("{at}.encrypted"));
                }
            }
            Body::Other { raw, .. } => self.json(raw, &format!("{at}.raw")),
            Body::ToolResult(result) => {
                for (index, part) in result.parts.iter_mut().enumerate() {
                    if let crate::block::Part::Data(data) = part {
                        self.json(&mut data.json, &format!("{at}.parts[{index}]"));
                    }
                }
            }
            Body::Text(_) | Body::ToolCall(_) | Body::Media(_) | Body::Summary(_) => {}
        }
    }

    fn extra(&mut self, extra: &mut Extra, at: &str) {
        for (format, part) in extra.parts_mut() {
            let at = format!("{at}.{format}");
            self.object(&mut part.fields, &at);
            self.object(&mut part.spelling, &at);
        }
    }

    fn json(&mut self, value: &mut Json, at: &str) {
        match value {
            Json::Object(object) => self.object(object, at),
            Json::Array(items) => {
                items.iter_mut().enumerate().for_each(|(index, item)| self.json(item, &format!("{at}[{index}]")))
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }

    fn object(&mut self, object: &mut Object, at: &str) {
        for (key, value) in object.iter_mut() {
            let at = format!("{at}.{}", key.to_str_lossy());
            match value {
                Json::String(content) if key.to_str_lossy() == ENCRYPTED => {
                    let mut text = content.to_str_lossy().into_owned();
                    self.text(&mut text, &at);
                    *value = Json::from(text);
                }
                nested => self.json(nested, &at),
            }
        }
    }

    fn text(&mut self, content: &mut String, at: &str) {
        let placeholder = encrypted_placeholder(content);
        if placeholder != *content {
            *content = placeholder;
            self.losses.push(Loss::policy(LossKind::Redacted, at, "encrypted content is a placeholder"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_keeps_the_ends_and_the_length_and_is_stable() {
        let content = format!("gAAAAABo{}c4sDQQ", "x".repeat(100));

        let placeholder = encrypted_placeholder(&content);

        assert_eq!(placeholder, "gAAAAA-****114****-c4sDQQ");
        assert_eq!(encrypted_placeholder(&placeholder), placeholder);
        assert_eq!(encrypted_placeholder("short"), "s-****5****-t");
    }
}
