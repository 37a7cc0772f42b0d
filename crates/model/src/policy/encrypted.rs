//! Reductions of sessions: each changes what it is given and says what it took away.

use crate::block::{Block, Body, Part};
use crate::extra::{Extra, NATIVE};
use crate::journal::Journal;
use crate::json::{Json, Object, TreeSink};
use crate::loss::{Loss, LossKind};
use crate::native::Archive;
use crate::session::{Session, Slice, Turn};
use crate::shape::Shape;

/// The key that vendors put encrypted reasoning under.
const ENCRYPTED: &str = "encrypted_content";

/// Contents shorter than this keep next to nothing: prefix and suffix would be most of them.
const SHORT: usize = 24;

/// Replaces encrypted reasoning by placeholders, wherever it stands: in reasoning blocks, and under the key
/// `encrypted_content` in metadata, data and what was kept raw. A turn that held some gets `metadata.redacted`.
///
/// Doing it twice changes nothing more.
///
/// ```
/// use turnkeep_model::{Archive, Author, Block, Reasoning, Session, Turn, policy};
///
/// let secret = Reasoning { encrypted: Some("gAAAAABo".repeat(8)), ..Reasoning::default() };
/// let turn = Turn { blocks: vec![Block::new(Author::Assistant, secret)], ..Turn::default() };
/// let mut archive = Archive::from(Session { turns: vec![turn], ..Session::default() });
///
/// let losses = policy::redact_encrypted(&mut archive);
///
/// assert_eq!(losses[0].at, "turns[0].blocks[0].encrypted");
/// assert!(policy::redact_encrypted(&mut archive).is_empty());
/// ```
pub fn redact_encrypted(archive: &mut Archive) -> Vec<Loss> {
    let prefixes: Vec<_> = (0..archive.sessions.len()).map(|index| archive.prefix(index)).collect();
    let mut redaction = Redaction::default();
    for (session, prefix) in archive.sessions.iter_mut().zip(prefixes) {
        redaction.at = prefix.trim_end_matches('.').to_owned();
        redaction.session(session);
    }
    redaction.at.clear();
    redaction.extra(&mut archive.extra);
    if archive.journal.as_ref().is_some_and(|journal| tells_secrets(journal)) {
        // The journal repeats what was just hidden. Without it, the shortest one that folds to the session is written.
        archive.journal = None;
        let what = "the journal held encrypted content; only what it folds to is kept";
        redaction.losses.push(Loss::policy(LossKind::Dropped, "journal", what));
    }
    redaction.losses
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

fn tells_secrets(journal: &Journal) -> bool {
    journal.batches.iter().any(|batch| {
        let mut sink = TreeSink::default();
        batch.write(&mut sink);
        holds_secret(&sink.into_json())
    }) || journal.extra.parts().any(|(_, part)| object_holds_secret(&part.fields))
}

fn holds_secret(json: &Json) -> bool {
    match json {
        Json::Array(items) => items.iter().any(holds_secret),
        Json::Object(object) => object_holds_secret(object),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

fn object_holds_secret(object: &Object) -> bool {
    let is_open = |text: &Json| matches!(text, Json::String(text) if !is_placeholder(&text.to_str_lossy()));
    let is_secret_key = |key: &str| matches!(key, ENCRYPTED | "encrypted");
    object.iter().any(|(key, value)| is_secret_key(&key.to_str_lossy()) && is_open(value) || holds_secret(value))
}

/// A walk that knows where it is.
#[derive(Default)]
struct Redaction {
    at: String,
    losses: Vec<Loss>,
}

impl Redaction {
    fn session(&mut self, session: &mut Session) {
        self.within("metadata", |walk| walk.object(&mut session.metadata));
        self.each("slices", &mut session.slices, Redaction::slice);
        self.each("turns", &mut session.turns, Redaction::turn);
        self.within("options", |walk| walk.extra(&mut session.options.extra));
        self.extra(&mut session.extra);
    }

    fn slice(&mut self, slice: &mut Slice) {
        self.each("items", &mut slice.items, Redaction::json);
        self.extra(&mut slice.extra);
    }

    fn turn(&mut self, turn: &mut Turn) {
        let before = self.losses.len();
        self.within("provider_payload", |walk| walk.json(&mut turn.provider_payload));
        self.within("metadata", |walk| walk.object(&mut turn.metadata));
        self.within("data", |walk| walk.object(&mut turn.data));
        self.each("blocks", &mut turn.blocks, Redaction::block);
        self.within("options", |walk| walk.extra(&mut turn.options.extra));
        self.extra(&mut turn.extra);
        if self.losses.len() > before {
            turn.metadata.set("redacted", true);
        }
    }

    fn block(&mut self, block: &mut Block) {
        self.within("metadata", |walk| walk.object(&mut block.metadata));
        self.within("message", |walk| walk.extra(&mut block.message.extra));
        self.extra(&mut block.extra);
        match &mut block.body {
            Body::Reasoning(reasoning) => self.within("encrypted", |walk| {
                if let Some(content) = &mut reasoning.encrypted {
                    walk.hide(content);
                }
            }),
            Body::ToolResult(result) => self.each("parts", &mut result.parts, Redaction::part),
            Body::Other { raw, .. } => self.within("raw", |walk| walk.json(raw)),
            Body::Text(_) | Body::ToolCall(_) | Body::Media(_) | Body::Summary(_) => {}
        }
    }

    fn part(&mut self, part: &mut Part) {
        match part {
            Part::Data(data) => self.within("json", |walk| walk.json(&mut data.json)),
            Part::Other { raw, .. } => self.object(raw),
            Part::Text(_) | Part::Media(_) => {}
        }
    }

    fn extra(&mut self, extra: &mut Extra) {
        for (format, part) in extra.parts_mut() {
            if format == NATIVE {
                self.object(&mut part.fields);
                continue;
            }
            let place = format!("extra.{format}");
            self.within(&format!("{place}.fields"), |walk| walk.object(&mut part.fields));
            self.within(&format!("{place}.spelling"), |walk| walk.object(&mut part.spelling));
        }
    }

    fn json(&mut self, json: &mut Json) {
        match json {
            Json::Array(items) => self.items(items, Redaction::json),
            Json::Object(object) => self.object(object),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }

    fn object(&mut self, object: &mut Object) {
        for (key, value) in object.iter_mut() {
            let key = key.to_str_lossy();
            self.within(&key, |walk| match value {
                Json::String(text) if key == ENCRYPTED => {
                    let mut content = text.to_str_lossy().into_owned();
                    walk.hide(&mut content);
                    *text = content.into();
                }
                value => walk.json(value),
            });
        }
    }

    fn hide(&mut self, content: &mut String) {
        if is_placeholder(content) {
            return;
        }
        *content = placeholder(content);
        let what = "encrypted content was replaced by a placeholder";
        self.losses.push(Loss::policy(LossKind::Redacted, self.at.clone(), what));
    }

    fn each<T>(&mut self, key: &str, items: &mut [T], visit: impl Fn(&mut Redaction, &mut T)) {
        self.within(key, |walk| walk.items(items, visit));
    }

    fn items<T>(&mut self, items: &mut [T], visit: impl Fn(&mut Redaction, &mut T)) {
        for (index, item) in items.iter_mut().enumerate() {
            let length = self.at.len();
            self.at.push_str(&format!("[{index}]"));
            visit(self, item);
            self.at.truncate(length);
        }
    }

    fn within(&mut self, key: &str, visit: impl FnOnce(&mut Redaction)) {
        let length = self.at.len();
        if length > 0 {
            self.at.push('.');
        }
        self.at.push_str(key);
        visit(self);
        self.at.truncate(length);
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

    #[test]
    fn raw_json_is_searched_at_any_depth_and_the_turn_is_marked() {
        let raw = crate::json::parse(r#"{"items":[{"encrypted_content":"0123456789abcdef"}]}"#).unwrap().into_json();
        let other = Block::new(crate::block::Author::Assistant, Body::Other { kind: "x".into(), raw });
        let turn = Turn { blocks: vec![other], ..Turn::default() };
        let mut archive = Archive::from(Session { turns: vec![turn], ..Session::default() });

        let losses = redact_encrypted(&mut archive);

        let turn = &archive.sessions[0].turns[0];
        assert_eq!(losses.len(), 1);
        assert_eq!(losses[0].at, "turns[0].blocks[0].raw.items[0].encrypted_content");
        assert_eq!(losses[0].kind, LossKind::Redacted);
        assert_eq!(turn.metadata.get("redacted"), Some(&Json::Bool(true)));
        assert!(
            matches!(&turn.blocks[0].body, Body::Other { raw, .. } if raw.to_text().contains("01-****16****-ef")),
            "the placeholder stands in the raw body"
        );
    }

    #[test]
    fn a_journal_that_repeats_the_secret_goes() {
        let secret = crate::block::Reasoning { encrypted: Some("s".repeat(40)), ..Default::default() };
        let turn = Turn { blocks: vec![Block::new(crate::block::Author::Assistant, secret)], ..Turn::default() };
        let session = Session { turns: vec![turn], ..Session::default() };
        let journal = Some(Box::new(Journal::of(&session)));
        let mut archive = Archive { journal, ..Archive::from(session) };

        let losses = redact_encrypted(&mut archive);

        assert_eq!(archive.journal, None);
        assert_eq!(
            losses.iter().map(|loss| loss.at.as_str()).collect::<Vec<_>>(),
            ["turns[0].blocks[0].encrypted", "journal"]
        );
    }
}
