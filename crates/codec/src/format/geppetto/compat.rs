//! What geppetto's own program makes of a turn document: its verdict, its values and its words.

use turnkeep_model::json::{Fields, Json, Node, Number, Object, Text, Value};
use turnkeep_model::{Error, ErrorKind, Result};

use super::document::{Block, Content, File, Kind, Turn};
use super::read::pointer_step;
use crate::yaml;

/// Reads a text as geppetto does.
///
/// # Errors
/// `Corrupt`, in geppetto's words.
pub(super) fn file(text: &str) -> Result<File> {
    let (node, _) = yaml::parse(text).map_err(|error| in_their_words(&error))?;
    let turn = Reader { text }.turn(node)?;
    Ok(File { version: None, content: Content::Turn(turn), unknown: Object::new() })
}

fn in_their_words(error: &Error) -> Error {
    let source = std::error::Error::source(error);
    let what = match source.and_then(|source| source.downcast_ref::<yaml::DuplicateKey>()) {
        Some(twice) => {
            unmarshal(twice.second, &format!("mapping key {:?} already defined at line {}", twice.key, twice.first))
        }
        None => format!("yaml: line {}: did not find expected node content", error.at_line().unwrap_or(1)),
    };
    Error::new(ErrorKind::Corrupt, what)
}

fn unmarshal(line: usize, what: &str) -> String {
    format!("yaml: unmarshal errors:\n  line {line}: {what}")
}

struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    fn turn(&self, node: Node<'_>) -> Result<Turn> {
        let mut fields = self.pairs(node, "turns.Turn")?;
        let blocks = match take(&mut fields, "blocks") {
            None => Vec::new(),
            Some(Node { value: Value::Null, .. }) => Vec::new(),
            Some(Node { value: Value::Array(items), .. }) => {
                items.into_iter().map(|item| self.block(item)).collect::<Result<_>>()?
            }
            Some(node) => return Err(self.wrong(&node, "[]turns.Block")),
        };
        let mut bare = Vec::new();
        Ok(Turn {
            id: self.string(&mut fields, "id")?.filter(|id| !id.is_empty()),
            blocks: Some(blocks),
            metadata: self.map(&mut fields, "metadata", &mut bare)?,
            data: self.map(&mut fields, "data", &mut bare)?,
            bare,
            ..Turn::default()
        })
    }

    fn block(&self, node: Node<'_>) -> Result<Block> {
        let mut fields = self.pairs(node, "turns.Block")?;
        // Their zero value: a block without a kind is the user's.
        let kind = match take(&mut fields, "kind") {
            None => Kind::User,
            Some(node) => Kind::from_word(&self.scalar(node)?.unwrap_or_default()).unwrap_or(Kind::Other),
        };
        let mut bare = Vec::new();
        let mut block = Block {
            id: self.string(&mut fields, "id")?.filter(|id| !id.is_empty()),
            kind: Some(kind),
            role: self.string(&mut fields, "role")?.filter(|role| !role.is_empty()),
            payload: self.map(&mut fields, "payload", &mut bare)?,
            metadata: self.map(&mut fields, "metadata", &mut bare)?,
            bare,
            ..Block::default()
        };
        block.fill_role();
        Ok(block)
    }

    fn pairs<'a>(&self, node: Node<'a>, into: &str) -> Result<Fields<'a>> {
        match node.value {
            Value::Null => Ok(Vec::new()),
            Value::Object(fields) => Ok(fields),
            _ => Err(self.wrong(&node, into)),
        }
    }

    fn map(&self, fields: &mut Fields<'_>, key: &str, bare: &mut Vec<String>) -> Result<Option<Object>> {
        let Some(node) = take(fields, key) else { return Ok(None) };
        find_times(&node, &format!("/{key}"), bare);
        match node.value {
            Value::Null => Ok(None),
            Value::Object(fields) => {
                let pairs = fields.into_iter().map(|(key, node)| (key.into_json_string(), value(node)));
                Ok(Some(pairs.collect::<Object>()).filter(|map| !map.is_empty()))
            }
            _ => Err(self.wrong(&node, "map[string]interface {}")),
        }
    }

    fn string(&self, fields: &mut Fields<'_>, key: &str) -> Result<Option<String>> {
        take(fields, key).map_or(Ok(None), |node| self.scalar(node))
    }

    fn scalar(&self, node: Node<'_>) -> Result<Option<String>> {
        match node.value {
            Value::Null => Ok(None),
            Value::Bool(value) => Ok(Some(value.to_string())),
            Value::Number(text) => Ok(Some(text.into_owned())),
            Value::Text(text) => Ok(Some(text.into_string_lossy().0)),
            Value::Array(_) | Value::Object(_) => Err(self.wrong(&node, "string")),
        }
    }

    fn wrong(&self, node: &Node<'_>, into: &str) -> Error {
        let (line, _) = turnkeep_model::line_and_column(self.text, node.at as usize);
        let what = match &node.value {
            Value::Array(_) => "!!seq".to_owned(),
            Value::Object(_) => "!!map".to_owned(),
            Value::Null => "!!null".to_owned(),
            Value::Bool(value) => format!("!!bool `{value}`"),
            Value::Number(text) if text.contains(['.', 'e', 'E']) => format!("!!float `{}`", clip(text)),
            Value::Number(text) => format!("!!int `{}`", clip(text)),
            Value::Text(text) => format!("!!str `{}`", clip(&text.to_str_lossy())),
        };
        Error::new(ErrorKind::Corrupt, unmarshal(line, &format!("cannot unmarshal {what} into {into}")))
    }
}

/// Their messages show ten characters at the most.
fn clip(text: &str) -> String {
    match text.chars().count() {
        0..=10 => text.to_owned(),
        _ => text.chars().take(7).chain("...".chars()).collect(),
    }
}

fn take<'a>(fields: &mut Fields<'a>, key: &str) -> Option<Node<'a>> {
    let at = fields.iter().position(|(name, _)| name.to_str_lossy() == key)?;
    Some(fields.remove(at).1)
}

/// The places of timestamps, which their library holds as times and writes without quotes.
fn find_times(node: &Node<'_>, at: &str, bare: &mut Vec<String>) {
    match &node.value {
        Value::Text(Text::Bare(text)) if matches!(yaml::resolve_as_go(text), Json::String(_)) => {
            bare.push(at.to_owned());
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| find_times(item, &format!("{at}/{index}"), bare));
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                find_times(value, &format!("{at}/{}", pointer_step(&key.to_str_lossy())), bare);
            }
        }
        _ => {}
    }
}

/// A value as their library holds it: numbers in its spelling, timestamps as RFC 3339.
fn value(node: Node<'_>) -> Json {
    match node.value {
        Value::Number(text) => number(&text),
        Value::Text(Text::Bare(text)) => yaml::resolve_as_go(&text),
        Value::Array(items) => Json::Array(items.into_iter().map(value).collect()),
        Value::Object(fields) => {
            Json::Object(fields.into_iter().map(|(key, node)| (key.into_json_string(), value(node))).collect())
        }
        _ => node.into_json(),
    }
}

fn number(text: &str) -> Json {
    match yaml::resolve_as_go(text) {
        Json::Number(number) => Json::Number(number),
        _ => Number::parse(text).map_or(Json::Null, Json::Number),
    }
}
