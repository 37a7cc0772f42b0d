//! From a parsed text to a serialized session.

use turnkeep_model::json::{Fields, Node, Object, Text, Value};
use turnkeep_model::{Error, ErrorKind, Loss, LossKind, Result};

use super::document::{Document, ITEM_KEYS, Item, Layout, OURS, PART_KEYS, Part, SESSION_KEYS, Side, known, spelled};
use crate::base64_text;
use crate::codec::Mode;
use crate::fields::{kept_pairs, open_by};

/// Reads a session, and says what it had to change.
pub(super) fn document(node: Node<'_>, text: &str, mode: Mode) -> Result<(Document, Vec<Loss>)> {
    let mut reader = Reader { losses: Vec::new(), mode, upper: false };
    let mut document = reader.document(node)?;
    if mode == Mode::Faithful {
        document.layout = layout(text);
    }
    Ok((document, reader.losses))
}

/// The layout of a text: on one line, or as Lucee prints it.
fn layout(text: &str) -> Layout {
    let body = text.trim_end();
    let compact = !body.contains('\n') && !body.starts_with("{ ");
    let crlf = text.contains("\r\n");
    Layout { compact, crlf, unended: body.len() == text.len() }
}

struct Reader {
    losses: Vec<Loss>,
    mode: Mode,
    upper: bool,
}

/// A map taken apart.
struct Sorted<'a, const N: usize> {
    /// The keys as spelled and in their order, where that is not the usual way.
    keys: Option<Vec<String>>,
    slots: [Option<Node<'a>>; N],
    unknown: Object,
}

impl Reader {
    fn document(&mut self, node: Node<'_>) -> Result<Document> {
        let place = node.at;
        let fields = self.pairs(node, "")?;
        self.upper = is_upper(&fields);
        let Sorted { keys, slots, unknown } = self.sort(fields, &SESSION_KEYS, "");
        let mut found: Vec<_> = SESSION_KEYS.into_iter().zip(slots).collect();
        let history = found.iter_mut().find(|(key, _)| *key == "history").and_then(|(_, node)| node.take());
        let Some(history) = history else { return Err(self.missing("history", "", place)) };
        let history = self.items(history, "history")?;
        let item = |(index, node)| self.item(node, &format!("history[{index}]"));
        let history = history.into_iter().enumerate().map(item).collect::<Result<_>>()?;
        let settings = found.into_iter().filter_map(|(key, node)| Some((key, node?.into_json()))).collect();
        Ok(Document { layout: Layout::default(), upper: self.upper, keys, settings, history, unknown })
    }

    fn item(&mut self, node: Node<'_>, at: &str) -> Result<Item> {
        let place = node.at;
        let fields = self.pairs(node, at)?;
        let Sorted { keys, slots: [question, answer], unknown } = self.sort(fields, &ITEM_KEYS, at);
        let question = question.ok_or_else(|| self.missing("question", at, place))?;
        let question = self.side(question, &format!("{at}.question"))?;
        let answer = answer.ok_or_else(|| self.missing("answer", at, place))?;
        let answer = self.side(answer, &format!("{at}.answer"))?;
        if question == Side::Null && self.mode == Mode::Compat {
            return Err(uncastable("null", "Array"));
        }
        Ok(Item { keys, question, answer, unknown })
    }

    fn side(&mut self, node: Node<'_>, at: &str) -> Result<Side> {
        match node.value {
            Value::Null => Ok(Side::Null),
            Value::Text(text) => Ok(Side::Text(self.string(text, at))),
            Value::Bool(_) | Value::Number(_) if self.mode == Mode::Faithful => Ok(Side::Scalar(node.into_json())),
            Value::Array(items) => {
                let part = |(index, node)| self.part(node, &format!("{at}[{index}]"));
                items.into_iter().enumerate().map(part).collect::<Result<_>>().map(Side::Parts)
            }
            _ => Err(self.wrong(&node, at, "a text or a list of parts", "Array")),
        }
    }

    fn part(&mut self, node: Node<'_>, at: &str) -> Result<Part> {
        let place = node.at;
        let fields = self.pairs(node, at)?;
        let Sorted { keys, slots: [content_type, kind, content], unknown } = self.sort(fields, &PART_KEYS, at);
        let kind = kind.ok_or_else(|| self.missing("type", at, place))?;
        let kind = self.word(kind, &format!("{at}.type"))?;
        let content_type = content_type.ok_or_else(|| self.missing("contenttype", at, place))?;
        let content_type = self.word(content_type, &format!("{at}.contenttype"))?;
        let content = content.ok_or_else(|| self.missing("content", at, place))?;
        self.check_content(&kind, &content, &format!("{at}.content"))?;
        Ok(Part { keys, content_type, kind, content: content.into_json(), unknown })
    }

    fn check_content(&self, kind: &str, content: &Node<'_>, at: &str) -> Result<()> {
        match (kind, &content.value) {
            ("struct", Value::Object(_)) | ("text", Value::Text(_)) => Ok(()),
            // What Lucee makes of a text that claims to be structured: it can still be read, and the loss is told.
            ("struct", Value::Text(_) | Value::Null | Value::Array(_)) if self.mode == Mode::Faithful => Ok(()),
            ("struct", _) => Err(self.wrong(content, at, "an object", "Struct")),
            ("text", Value::Number(_) | Value::Bool(_)) => Ok(()),
            ("text", _) => Err(self.wrong(content, at, "a text", "String")),
            ("binary", _) => self.check_base64(content, at),
            (_, _) if self.mode == Mode::Compat => self.check_base64(content, at),
            (_, _) => Ok(()),
        }
    }

    fn check_base64(&self, content: &Node<'_>, at: &str) -> Result<()> {
        match content.as_str() {
            Some(text) if base64_text::is_standard(&text) => Ok(()),
            Some(_) => Err(Error::new(ErrorKind::Corrupt, "the content is not base64")
                .path(at.to_owned())
                .offset(content.at as usize)
                .hint("restore the content, or remove the part")),
            None => Err(self.wrong(content, at, "a base64 text", "String")),
        }
    }

    /// Takes a map apart by its known keys, whatever their case; of repeated ones the last counts.
    fn sort<'a, const N: usize>(&mut self, fields: Fields<'a>, known: &[&'static str; N], at: &str) -> Sorted<'a, N> {
        let mut keys: Vec<String> = fields.iter().map(|(key, _)| key.to_str_lossy().into_owned()).collect();
        let opened = open_by(fields, known, str::eq_ignore_ascii_case);
        for key in opened.repeated {
            self.repeated(key, at);
            let first = keys.iter().position(|own| own.eq_ignore_ascii_case(key));
            first.into_iter().for_each(|first| drop(keys.remove(first)));
        }
        let unknown = kept_pairs(opened.rest);
        let is_there = |(key, slot): &(&&str, &Option<Node<'_>>)| !OURS.contains(*key) || slot.is_some();
        let usual = known.iter().zip(&opened.slots).filter(is_there).map(|(key, _)| spelled(key, self.upper));
        let is_usual =
            usual.chain(unknown.iter().map(|(key, _)| key.to_str_lossy().into_owned())).eq(keys.iter().cloned());
        Sorted { keys: (!is_usual).then_some(keys), slots: opened.slots, unknown }
    }

    fn repeated(&mut self, key: &str, at: &str) {
        let place = if at.is_empty() { String::new() } else { format!(" of {at}") };
        let what = format!("`{key}`{place} stands more than once; the last one counts");
        self.losses.push(Loss::decode(LossKind::Dropped, "", what));
    }

    fn string(&mut self, text: Text<'_>, at: &str) -> String {
        let (text, verdict) = text.into_string_lossy();
        if let Err(lone) = verdict {
            let what = format!("`{at}`: {lone}; U+FFFD stands in its place");
            self.losses.push(Loss::decode(LossKind::Coerced, "", what));
        }
        text
    }

    fn word(&mut self, node: Node<'_>, at: &str) -> Result<String> {
        match node.value {
            Value::Text(text) => Ok(self.string(text, at)),
            _ => Err(self.wrong(&node, at, "a text", "String")),
        }
    }

    fn pairs<'a>(&self, node: Node<'a>, at: &str) -> Result<Fields<'a>> {
        match node.value {
            Value::Object(fields) => Ok(fields),
            _ => Err(self.wrong(&node, at, "an object", "Struct")),
        }
    }

    fn items<'a>(&self, node: Node<'a>, at: &str) -> Result<Vec<Node<'a>>> {
        match node.value {
            Value::Array(items) => Ok(items),
            _ => Err(self.wrong(&node, at, "a list", "Array")),
        }
    }

    fn missing(&self, key: &str, at: &str, place: u32) -> Error {
        if self.mode == Mode::Compat {
            return Error::new(ErrorKind::Corrupt, format!("key [{key}] doesn't exist"));
        }
        let hint = match key {
            "history" => "a session without exchanges has an empty `history`; another format is named with --from",
            _ => "restore the missing key, or remove what it is missing from",
        };
        Error::new(ErrorKind::Corrupt, format!("`{key}` is missing"))
            .path(at.to_owned())
            .offset(place as usize)
            .hint(hint)
    }

    fn wrong(&self, node: &Node<'_>, at: &str, wanted: &str, their_word: &str) -> Error {
        if self.mode == Mode::Compat {
            return uncastable(their_type(node), their_word);
        }
        Error::new(ErrorKind::Corrupt, format!("expected {wanted}, found {}", node.kind()))
            .path(at.to_owned())
            .offset(node.at as usize)
            .hint("correct the file, or name another format with --from")
    }
}

fn uncastable(from: &str, to: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("Can't cast Object type [{from}] to a value of type [{to}]"))
}

fn their_type(node: &Node<'_>) -> &'static str {
    match node.value {
        Value::Null => "null",
        Value::Bool(_) => "Boolean",
        Value::Number(_) => "Number",
        Value::Text(_) => "String",
        Value::Array(_) => "Array",
        Value::Object(_) => "Struct",
    }
}

fn is_upper(fields: &Fields<'_>) -> bool {
    let mut keys = fields.iter().map(|(key, _)| key.to_str_lossy()).filter(|key| known(&SESSION_KEYS, key).is_some());
    let first = keys.next().is_some_and(|key| !key.contains(char::is_lowercase));
    first && keys.all(|key| !key.contains(char::is_lowercase))
}
