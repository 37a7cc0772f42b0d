//! The bytes to read, and what they parse to.

mod top;

pub(crate) use top::{Form, Top};

use std::cell::OnceCell;

use turnkeep_model::json::{self, MAX_DEPTH, Nan, Node, Text, Value};
use turnkeep_model::{Error, ErrorKind, Result};

use crate::yaml;

/// The bytes to read. What they parse to is kept, so that sniffing and decoding parse once.
#[derive(Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
    name: Option<&'a str>,
    files: &'a [(String, Vec<u8>)],
    family: Option<&'a str>,
    /// The field that names the model of a request, and what it is taken to say.
    model: Option<(&'static str, &'a str)>,
    text: OnceCell<Result<&'a str>>,
    document: OnceCell<Result<Document<'a>>>,
    first: OnceCell<Option<First<'a>>>,
    top: OnceCell<Top>,
}

/// The first line that holds something.
#[derive(Debug)]
struct First<'a> {
    line: &'a str,
    /// Whether more such lines follow.
    leads: bool,
    node: OnceCell<Option<Node<'a>>>,
}

/// A parsed JSON or YAML text.
#[derive(Debug)]
pub struct Document<'a> {
    /// The value.
    pub node: Node<'a>,
    /// The text it was parsed from.
    pub text: &'a str,
    /// Which syntax it has.
    pub syntax: Syntax,
    /// What a YAML text held beside the value.
    pub notes: yaml::Notes,
}

/// The syntax of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

impl<'a> Input<'a> {
    /// An input of these bytes.
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input {
            bytes,
            name: None,
            files: &[],
            family: None,
            model: None,
            text: OnceCell::new(),
            document: OnceCell::new(),
            first: OnceCell::new(),
            top: OnceCell::new(),
        }
    }

    /// The same with a file name, which breaks ties when sniffing.
    #[must_use]
    pub fn named(mut self, name: &'a str) -> Input<'a> {
        self.name = Some(name);
        self
    }

    /// The same with files that stand beside it: those of its bundle by their path in it, or the log of a database.
    #[must_use]
    pub fn with_files(mut self, files: &'a [(String, Vec<u8>)]) -> Input<'a> {
        self.files = files;
        self
    }

    /// The same, known to ask a model of this family, however its owner calls the model.
    #[must_use]
    pub fn of_family(mut self, family: Option<&'a str>) -> Input<'a> {
        self.family = family;
        self
    }

    /// The family of the model that it asks, where that is known beside its bytes.
    pub(crate) fn family(&self) -> Option<&'a str> {
        self.family
    }

    /// The same, parsed as if the field `key` of the request named `model`.
    pub(crate) fn asking(&self, key: &'static str, model: &'a str) -> Input<'a> {
        Input { model: Some((key, model)), ..self.again() }
    }

    /// The bytes of the file at `path` beside it.
    pub fn file(&self, path: &str) -> Option<&'a [u8]> {
        self.files.iter().find(|(name, _)| name == path).map(|(_, bytes)| bytes.as_slice())
    }

    /// Every file beside it.
    pub fn files(&self) -> &'a [(String, Vec<u8>)] {
        self.files
    }

    /// The same once more, for those who take an input.
    pub(crate) fn again(&self) -> Input<'a> {
        let Input { name, files, family, model, .. } = *self;
        Input { name, files, family, model, ..Input::new(self.bytes) }
    }

    /// The bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The file name, if there is one.
    pub fn name(&self) -> Option<&'a str> {
        self.name
    }

    /// Whether there is nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.text().is_ok_and(|text| text.trim().is_empty())
    }

    /// The text, without a byte order mark.
    ///
    /// # Errors
    /// `Corrupt` where the bytes are not UTF-8.
    pub fn text(&self) -> Result<&'a str> {
        self.text.get_or_init(|| text_of(self.bytes)).clone()
    }

    /// The text as it is, with its byte order mark if it has one: some programs refuse that.
    ///
    /// # Errors
    /// As [`Input::text`].
    pub fn whole_text(&self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes).map_err(|error| not_utf8(self.bytes, error.valid_up_to()))
    }

    /// Whether more than one line holds something.
    pub fn has_lines(&self) -> bool {
        self.first().is_some_and(|first| first.leads)
    }

    /// The object on the first line that holds something, if that line alone is JSON.
    pub fn first_line(&self) -> Option<&Node<'a>> {
        let first = self.first()?;
        if first.leads {
            return first.node.get_or_init(|| json::parse_with(first.line, Nan::Accept).ok()).as_ref();
        }
        let document = self.object().filter(|document| document.syntax == Syntax::Json);
        document.map(|document| &document.node)
    }

    fn first(&self) -> Option<&First<'a>> {
        let find = || {
            let mut lines = lines(self.text().ok()?).filter(|line| !line.trim().is_empty());
            Some(First { line: lines.next()?, leads: lines.next().is_some(), node: OnceCell::new() })
        };
        self.first.get_or_init(find).as_ref()
    }

    /// How it begins.
    pub(crate) fn top(&self) -> &Top {
        self.top.get_or_init(|| Top::of(self))
    }

    /// The one object that it is, in JSON or YAML. A list, lines and a stream are none, and are not parsed for it.
    pub(crate) fn object(&self) -> Option<&Document<'a>> {
        match self.top().form {
            Form::Object | Form::Yaml => self.document().ok(),
            Form::Items | Form::Lines | Form::Events | Form::Other => None,
        }
    }

    /// The text parsed as JSON, or as YAML where it is not JSON.
    ///
    /// # Errors
    /// `Corrupt` with the line, where it is neither.
    pub fn document(&self) -> std::result::Result<&Document<'a>, &Error> {
        self.document.get_or_init(|| Ok(asking(parse(self.text()?)?, self.model))).as_ref()
    }

    /// Takes the parsed text of a foreign format.
    ///
    /// # Errors
    /// As [`Input::document`], and `TooLarge` where it nests deeper than [`MAX_DEPTH`].
    pub fn into_document(self) -> Result<Document<'a>> {
        let document = self.into_native_document()?;
        match document.node.deeper_than(MAX_DEPTH) {
            None => Ok(document),
            Some(at) => Err(too_deep(at).locate(document.text)),
        }
    }

    /// Takes the parsed text of a native document, which may hold a foreign one and so nest deeper.
    ///
    /// # Errors
    /// As [`Input::document`].
    pub fn into_native_document(self) -> Result<Document<'a>> {
        match self.document.into_inner() {
            Some(document) => document,
            None => Ok(asking(parse(text_of(self.bytes)?)?, self.model)),
        }
    }
}

/// The lines of a text. A document may be one line of many megabytes, which is looked through many bytes at a time.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some((line, after)) = memchr::memchr(b'\n', text.as_bytes()).and_then(|at| text.split_at_checked(at))
        else {
            return Some(text);
        };
        rest = after.strip_prefix('\n');
        Some(line)
    })
}

fn text_of(bytes: &[u8]) -> Result<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => Err(not_utf8(bytes, error.valid_up_to())),
    }
}

fn parse(text: &str) -> Result<Document<'_>> {
    if !text.trim_start().starts_with(['{', '[', '"']) {
        return parse_yaml(text);
    }
    // Python writes the three numbers that JSON has not, and so do we where a session holds them.
    let error = match json::parse_with(text, Nan::Accept) {
        Ok(node) => {
            return Ok(Document { node, text, syntax: Syntax::Json, notes: yaml::Notes::default() });
        }
        Err(error) => error.locate(text),
    };
    match error.kind() {
        ErrorKind::TooLarge => Err(error),
        _ if is_lines(text) => Err(error),
        _ => parse_yaml(text).map_err(|_| error),
    }
}

/// A document whose request, or the request of whose exchange, names another model.
fn asking<'a>(mut document: Document<'a>, model: Option<(&'static str, &'a str)>) -> Document<'a> {
    let Some((key, model)) = model else { return document };
    let Value::Object(fields) = &mut document.node.value else { return document };
    let held = fields.iter_mut().find(|(key, node)| key.is("request") && node.is_object()).map(|(_, node)| node);
    let body = match held {
        Some(request) => request,
        None => &mut document.node,
    };
    let at = body.at;
    let Value::Object(fields) = &mut body.value else { return document };
    let named = Value::Text(Text::Plain(model));
    match fields.iter_mut().find(|(own, _)| own.is(key)) {
        Some((_, node)) => node.value = named,
        None => fields.push((Text::Plain(key), Node { at, value: named })),
    }
    document
}

/// Whether a text is JSON lines, which is no document of either syntax: no value follows another one.
fn is_lines(text: &str) -> bool {
    let mut lines = lines(text).map(str::trim).filter(|line| !line.is_empty());
    let whole = lines.next().is_some_and(|line| line.starts_with('{') && line.ends_with('}'));
    whole && lines.next().is_some_and(|line| line.starts_with('{'))
}

fn parse_yaml(text: &str) -> Result<Document<'_>> {
    let (node, notes) = yaml::parse(text).map_err(|error| error.locate(text))?;
    Ok(Document { node, text, syntax: Syntax::Yaml, notes })
}

fn too_deep(at: u32) -> Error {
    Error::new(ErrorKind::TooLarge, format!("nested deeper than {MAX_DEPTH} levels"))
        .offset(at as usize)
        .hint("flatten the document")
}

fn not_utf8(bytes: &[u8], at: usize) -> Error {
    let before = bytes.get(..at).unwrap_or_default();
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let hint = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it looks like UTF-16; convert it to UTF-8",
        _ => "convert it to UTF-8, or check that it is a text file",
    };
    Error::new(ErrorKind::Corrupt, format!("byte {at} is not UTF-8")).line(line).hint(hint)
}
