//! The YAML reader.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use granit_parser::{Event, Parser, ScalarStyle, Span};
use turnkeep_model::json::{self, Fields, MAX_TEXT_DEPTH, Nan, Node, Text, Value};
use turnkeep_model::{Error, ErrorKind, Loss, LossKind, Result, Severity};

use super::scalar::resolve;

/// What a YAML text held beside its first document's value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// How many comments it has.
    pub comments: usize,
    /// How many documents follow the first.
    pub further_documents: usize,
    /// How many values carry a tag that is not of the core schema.
    pub foreign_tags: usize,
    /// Whether there was no value at all.
    pub empty: bool,
}

impl Notes {
    /// What of it a session cannot keep.
    pub fn losses(&self) -> Vec<Loss> {
        let notes = [
            (self.comments, Severity::Spelling, "comments are not kept"),
            (self.further_documents, Severity::Content, "only the first document of a stream is read"),
            (self.foreign_tags, Severity::Spelling, "tags outside the core schema are not kept"),
        ];
        let lost = notes.into_iter().filter(|(count, ..)| *count > 0);
        let loss =
            |(count, severity, what)| Loss::decode(LossKind::Dropped, "", format!("{what} ({count})")).rated(severity);
        lost.map(loss).collect()
    }
}

/// Parses the first document of a YAML text. Aliases and merge keys are resolved.
///
/// # Errors
/// `Corrupt` with the byte where it stops being YAML or a key stands twice; `TooLarge` where it nests too deep or its
/// aliases expand to too much.
pub fn parse(text: &str) -> Result<(Node<'_>, Notes)> {
    let options = granit_parser::options! {
        max_buffered_comment_events: usize::MAX,
        flow_nesting_limit: MAX_TEXT_DEPTH,
        block_nesting_limit: MAX_TEXT_DEPTH,
    };
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(text, options),
        notes: Notes::default(),
        anchors: HashMap::new(),
        depth: 0,
        // Aliases of aliases make gigabytes of a few lines; honest files repeat little of themselves.
        budget: 4 * 1024 * 1024 + 10 * text.len(),
    };
    let node = reader.document()?;
    reader.drain()?;
    Ok((node, reader.notes))
}

struct Reader<'a> {
    events: Parser<'a, granit_parser::StrInput<'a>>,
    notes: Notes,
    anchors: HashMap<usize, Anchor<'a>>,
    depth: usize,
    budget: usize,
}

/// A value that aliases stand for, with what an alias costs.
struct Anchor<'a> {
    node: Node<'a>,
    weight: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span)> {
        loop {
            match self.events.next_event() {
                None => return Ok((Event::StreamEnd, Span::default())),
                Some(Err(error)) => return Err(syntax(&error)),
                Some(Ok((Event::Comment(..), _))) => self.notes.comments += 1,
                Some(Ok(event)) => return Ok(event),
            }
        }
    }

    fn document(&mut self) -> Result<Node<'a>> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd | Event::DocumentEnd, span) => {
                    self.notes.empty = true;
                    return Ok(Node { at: offset(&span), value: Value::Null });
                }
                (event, span) => return self.node(event, &span),
            }
        }
    }

    /// Reads on to the end, so that what follows the first document is checked and counted.
    fn drain(&mut self) -> Result<()> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentStart(..), _) => self.notes.further_documents += 1,
                _ => {}
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: &Span) -> Result<Node<'a>> {
        let at = offset(span);
        let anchor = event.anchor_id();
        let value = match event {
            Event::Alias(id) => return self.alias(id, at),
            Event::Scalar(ref text, ..) if is_tagged_json(&event) => return tagged_json(text, at),
            Event::Scalar(text, style, _, tag) => {
                let tag = self.core_tag(tag.as_deref());
                scalar(text, style, tag.as_deref())
            }
            Event::SequenceStart(..) => Value::Array(self.nested(at, Reader::sequence)?),
            Event::MappingStart(..) => Value::Object(self.nested(at, Reader::mapping)?),
            _ => {
                return Err(Error::new(ErrorKind::Corrupt, "not YAML: expected a value").offset(at as usize));
            }
        };
        let node = Node { at, value };
        if let Some(id) = anchor {
            let anchored = Anchor { weight: weigh(&node), depth: depth(&node), node: node.clone() };
            self.anchors.insert(id, anchored);
        }
        Ok(node)
    }

    fn core_tag(&mut self, tag: Option<&granit_parser::Tag>) -> Option<String> {
        let tag = tag?;
        let core = tag.core_suffix().map(str::to_owned);
        if core.is_none() {
            self.notes.foreign_tags += 1;
        }
        core
    }

    fn alias(&mut self, id: usize, at: u32) -> Result<Node<'a>> {
        let Some(Anchor { node, weight, depth }) = self.anchors.get(&id) else {
            return Err(Error::new(ErrorKind::Corrupt, "an alias stands inside its own anchor").offset(at as usize));
        };
        if self.depth + depth > MAX_TEXT_DEPTH {
            return Err(too_deep(at));
        }
        self.budget = self.budget.checked_sub(*weight).ok_or_else(|| {
            Error::new(ErrorKind::TooLarge, "the aliases expand to far more than the file holds")
                .offset(at as usize)
                .hint("write the repeated values out")
        })?;
        Ok(node.clone())
    }

    fn nested<T>(&mut self, at: u32, read: fn(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_TEXT_DEPTH {
            return Err(too_deep(at));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn sequence(&mut self) -> Result<Vec<Node<'a>>> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => items.push(self.node(event, &span)?),
            }
        }
    }

    fn mapping(&mut self) -> Result<Fields<'a>> {
        let mut fields: Vec<(Text<'a>, Node<'a>)> = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut merges = Vec::new();
        loop {
            let (event, span) = match self.next()? {
                (Event::MappingEnd, _) => break,
                event => event,
            };
            let merge = matches!(event.scalar(), Some(("<<", ScalarStyle::Plain)));
            // A writer that meant to repeat a key says so with a tag.
            let repeats = is_tagged_json(&event);
            let key = self.key(event, &span)?;
            let (event, value_span) = self.next()?;
            let value = self.node(event, &value_span)?;
            if merge {
                merges.push(value);
                continue;
            }
            let name = key.to_str_lossy().into_owned();
            let line = span.start.line();
            if let (false, Some(first)) = (repeats, seen.insert(name, line)) {
                return Err(twice(&key, first, line));
            }
            fields.push((key, value));
        }
        merge_into(&mut fields, merges)?;
        Ok(fields)
    }

    fn key(&mut self, event: Event<'a>, span: &Span) -> Result<Text<'a>> {
        let at = offset(span);
        let node = match event {
            Event::Scalar(ref text, ..) if is_tagged_json(&event) => tagged_json(text, at)?,
            Event::Scalar(text, ..) => return Ok(owned_or_plain(text)),
            Event::Alias(id) => self.alias(id, at)?,
            _ => return Err(complex_key(at)),
        };
        match node.value {
            Value::Text(text) => Ok(text),
            Value::Number(text) => Ok(Text::Owned(text.into())),
            Value::Bool(value) => Ok(Text::Owned(value.to_string().into())),
            Value::Null => Ok(Text::Plain("null")),
            Value::Array(_) | Value::Object(_) => Err(complex_key(at)),
        }
    }
}

fn is_tagged_json(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(_, _, _, Some(tag)) if tag.original() == "!json")
}

/// A scalar that holds a JSON text: what YAML cannot hold otherwise.
fn tagged_json<'a>(text: &str, at: u32) -> Result<Node<'a>> {
    let node = json::parse_with(text, Nan::Accept)
        .map_err(|error| Error::new(error.kind(), error.what()).offset(at as usize))?;
    Ok(Node { at, ..node.into_owned() })
}

fn scalar<'a>(text: Cow<'a, str>, style: ScalarStyle, tag: Option<&str>) -> Value<'a> {
    match tag {
        Some("str") => Value::Text(owned_or_plain(text)),
        None if style != ScalarStyle::Plain => Value::Text(owned_or_plain(text)),
        _ => resolve(text),
    }
}

pub(super) fn owned_or_plain(text: Cow<'_, str>) -> Text<'_> {
    match text {
        Cow::Borrowed(text) => Text::Plain(text),
        Cow::Owned(text) => Text::Owned(text.into()),
    }
}

/// Adds the pairs of merged mappings that are not there yet.
fn merge_into<'a>(fields: &mut Fields<'a>, merges: Vec<Node<'a>>) -> Result<()> {
    for merge in merges {
        let at = merge.at;
        match merge.value {
            Value::Object(pairs) => add_missing(fields, pairs),
            Value::Array(items) => merge_into(fields, items)?,
            _ => {
                return Err(Error::new(ErrorKind::Corrupt, "`<<` merges a mapping or a list of mappings")
                    .offset(at as usize)
                    .hint("quote the key if it is meant as text"));
            }
        }
    }
    Ok(())
}

fn add_missing<'a>(fields: &mut Fields<'a>, pairs: Fields<'a>) {
    for (key, value) in pairs {
        if fields.iter().all(|(known, _)| *known != key) {
            fields.push((key, value));
        }
    }
}

fn weigh(node: &Node<'_>) -> usize {
    let inner: usize = match &node.value {
        Value::Null | Value::Bool(_) => 0,
        Value::Number(text) => text.len(),
        Value::Text(text) => text.to_str_lossy().len(),
        Value::Array(items) => items.iter().map(weigh).sum(),
        Value::Object(fields) => fields.iter().map(|(key, value)| 32 + key.to_str_lossy().len() + weigh(value)).sum(),
    };
    // About what a node takes in memory beside its text.
    32 + inner
}

fn depth(node: &Node<'_>) -> usize {
    match &node.value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.iter().map(|(_, value)| depth(value)).max().unwrap_or(0),
        _ => 0,
    }
}

fn offset(span: &Span) -> u32 {
    span.start.byte_offset().and_then(|at| u32::try_from(at).ok()).unwrap_or(u32::MAX)
}

fn too_deep(at: u32) -> Error {
    let why = format!("nested deeper than {MAX_TEXT_DEPTH} levels");
    Error::new(ErrorKind::TooLarge, why).offset(at as usize).hint("flatten the document")
}

/// A key that stands twice in one mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key.
    pub key: String,
    /// The line of the first one.
    pub first: usize,
    /// The line of the second one.
    pub second: usize,
}

impl fmt::Display for DuplicateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A key names a place; it is not content.
        write!(f, "`{}` stands on line {} already", self.key, self.first)
    }
}

impl std::error::Error for DuplicateKey {}

fn twice(key: &Text<'_>, first: usize, second: usize) -> Error {
    let duplicate = DuplicateKey { key: key.to_str_lossy().into_owned(), first, second };
    Error::new(ErrorKind::Corrupt, "a key stands twice in one mapping")
        .line(second)
        .hint("remove one of the two")
        .because(duplicate)
}

fn complex_key(at: u32) -> Error {
    Error::new(ErrorKind::Corrupt, "a list or mapping stands where a key should").offset(at as usize)
}

fn syntax(error: &granit_parser::ScanError) -> Error {
    let line = error.marker().line();
    let info = error.info();
    if info.contains("nest") || info.contains("recursion") {
        return too_deep(error.marker().byte_offset().and_then(|at| u32::try_from(at).ok()).unwrap_or(0)).line(line);
    }
    Error::new(ErrorKind::Corrupt, format!("not YAML: {info}")).line(line)
}
