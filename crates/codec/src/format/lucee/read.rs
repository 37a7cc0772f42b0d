//! From a parsed text to a serialized session.

use turnkeep_model::json::{Fields, Node, Object, Text, Value};
use turnkeep_model::{Error, ErrorKind, Loss, LossKind, Result};

use super::document::{Document, ITEM_KEYS, Item, Layout, OURS, PART_KEYS, Part, SESSION_KEYS, Side, known, spelled};
use crate::codec::Mode;

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

/// The pairs of a map, sorted out.
struct Sorted<'a> {
    keys: Option<Vec<String>>,
    found: Vec<(&'static str, Node<'a>)>,
    unknown: Object,
}

impl<'a> Sorted<'a> {
    fn take(&mut self, key: &str) -> Option<Node<'a>> {
        let at = self.found.iter().position(|(name, _)| *name == key)?;
        Some(self.found.remove(at).1)
    }
}

impl Reader {
    fn document(&mut self, node: Node<'_>) -> Result<Document> {
        let place = node.at;
        let fields = self.pairs(node, "")?;
        self.upper = is_upper(&fields);
        let mut sorted = self.sort(fields, &SESSION_KEYS, "");
        let Some(history) = sorted.take("history") else { return Err(self.missing("history", "", place)) };
        let history = self.items(history, "history")?;
        let item = |(index, node)| self.item(node, &format!("history[{index}]"));
        let history = history.into_iter().enumerate().map(item).collect::<Result<_>>()?;
        let settings = sorted.found.into_iter().map(|(key, node)| (key, node.into_json())).collect();
        Ok(Document {
            layout: Layout::default(),
            upper: self.upper,
            keys: sorted.keys,
            settings,
            history,
            unknown: sorted.unknown,
        })
    }

    fn item(&mut self, node: Node<'_>, at: &str) -> Result<Item> {
        let place = node.at;
        let fields = self.pairs(node, at)?;
        let mut sorted = self.sort(fields, &ITEM_KEYS, at);
        let [question, answer] = ITEM_KEYS.map(|key| sorted.take(key).ok_or(key));
        let question = question.map_err(|key| self.missing(key, at, place))?;
        let question = self.side(question, &format!("{at}.question"))?;
        let answer = answer.map_err(|key| self.missing(key, at, place))?;
        let answer = self.side(answer, &format!("{at}.answer"))?;
        if question == Side::Null && self.mode == Mode::Compat {
            return Err(uncastable("null", "Array"));
        }
        Ok(Item { keys: sorted.keys, question, answer, unknown: sorted.unknown })
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
        let mut sorted = self.sort(fields, &PART_KEYS, at);
        let kind = sorted.take("type").ok_or_else(|| self.missing("type", at, place))?;
        let kind = self.word(kind, &format!("{at}.type"))?;
        let content_type = sorted.take("contenttype").ok_or_else(|| self.missing("contenttype", at, place))?;
        let content_type = self.word(content_type, &format!("{at}.contenttype"))?;
        let content = sorted.take("content").ok_or_else(|| self.missing("content", at, place))?;
        self.check_content(&kind, &content, &format!("{at}.content"))?;
        let keys = sorted.keys;
        Ok(Part { keys, content_type, kind, content: content.into_json(), unknown: sorted.unknown })
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
            Some(text) if super::part::is_base64(&text) => Ok(()),
            Some(_) => Err(Error::new(ErrorKind::Corrupt, "the content is not base64")
                .path(at.to_owned())
                .offset(content.at as usize)
                .hint("restore the content, or remove the part")),
            None => Err(self.wrong(content, at, "a base64 text", "String")),
        }
    }

    /// Sorts known keys from unknown ones, whatever their case; of repeated ones the last counts.
    fn sort<'a>(&mut self, fields: Fields<'a>, known_keys: &[&'static str], at: &str) -> Sorted<'a> {
        let mut sorted = Sorted { keys: None, found: Vec::new(), unknown: Object::new() };
        let mut keys = Vec::new();
        for (key, node) in fields {
            let name = key.to_str_lossy().into_owned();
            match known(known_keys, &name) {
                None => sorted.unknown.push(key.into_json_string(), node.into_json()),
                Some(known) => {
                    if sorted.take(known).is_some() {
                        self.repeated(known, at);
                        keys.retain(|key: &String| !key.eq_ignore_ascii_case(known));
                    }
                    sorted.found.push((known, node));
                }
            }
            keys.push(name);
        }
        if keys != usual(known_keys, &sorted, self.upper) {
            sorted.keys = Some(keys);
        }
        sorted
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

/// The keys in their usual spelling and order: known ones, then the rest.
fn usual(known_keys: &[&'static str], sorted: &Sorted<'_>, upper: bool) -> Vec<String> {
    let is_there = |key: &&&str| !OURS.contains(key) || sorted.found.iter().any(|(found, _)| found == *key);
    let known = known_keys.iter().filter(is_there).map(|key| spelled(key, upper));
    known.chain(sorted.unknown.iter().map(|(key, _)| key.to_str_lossy().into_owned())).collect()
}
