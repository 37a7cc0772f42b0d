//! What a block is: kind and payload in one enum.

use crate::error::Result;
use crate::extra::Extra;
use crate::id::CallId;
use crate::json::{Fields, Json, Object, Sink};
use crate::shape::{FlatShape, Shape, ShapeReader, flat_shape, shape, string_enum, tagged};

/// What a block is.
///
/// ```
/// use turnkeep_model::{Author, Block, Body};
///
/// let block = Block::text(Author::Assistant, "Hello!");
///
/// assert!(matches!(&block.body, Body::Text(text) if text.text == "Hello!"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Body {
    /// Text.
    Text(Text),
    /// Thinking.
    Reasoning(Reasoning),
    /// A call of a tool.
    ToolCall(ToolCall),
    /// A tool's answer.
    ToolResult(ToolResult),
    /// An image, a sound, a file.
    Media(Media),
    /// What stands for older turns.
    Summary(Summary),
    /// Something only its source knows.
    Other {
        /// The source's word for it.
        kind: String,
        /// All of it.
        raw: Json,
    },
}

/// A body kind of a newer native version is kept under this prefix, and written back as it was.
const NEWER: &str = "turnkeep/";

impl Body {
    /// The word that names the kind.
    pub fn kind(&self) -> &str {
        match self {
            Body::Text(_) => "text",
            Body::Reasoning(_) => "reasoning",
            Body::ToolCall(_) => "tool_call",
            Body::ToolResult(_) => "tool_result",
            Body::Media(_) => "media",
            Body::Summary(_) => "summary",
            Body::Other { kind, .. } => kind,
        }
    }

    /// The text, if this is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Body::Text(text) => Some(&text.text),
            _ => None,
        }
    }
}

macro_rules! body_from {
    ($($type:ident)*) => {$(
        impl From<$type> for Body {
            fn from(value: $type) -> Body {
                Body::$type(value)
            }
        }
    )*};
}

body_from! { Text Reasoning ToolCall ToolResult Media Summary }

impl FlatShape for Body {
    fn write_fields<S: Sink>(&self, out: &mut S) {
        out.key("type");
        if let Some((kind, fields)) = self.newer() {
            out.text(kind);
            return write_all(fields, out);
        }
        match self {
            Body::Other { kind, raw } => {
                out.text("other");
                out.key("kind");
                out.text(kind);
                out.key("raw");
                out.json(raw);
            }
            known => {
                out.text(known.kind());
                known.write_known(out);
            }
        }
    }

    fn read_fields<'a>(mut fields: Fields<'a>, reading: &mut ShapeReader) -> Result<(Body, Fields<'a>)> {
        let kind: String = take(&mut fields, "type", reading)?.ok_or_else(|| reading.missing("type"))?;
        Ok(match kind.as_str() {
            "text" => known::<Text>(fields, reading)?,
            "reasoning" => known::<Reasoning>(fields, reading)?,
            "tool_call" => known::<ToolCall>(fields, reading)?,
            "tool_result" => known::<ToolResult>(fields, reading)?,
            "media" => known::<Media>(fields, reading)?,
            "summary" => known::<Summary>(fields, reading)?,
            "other" => {
                let kind = take(&mut fields, "kind", reading)?.ok_or_else(|| reading.missing("kind"))?;
                let raw = take(&mut fields, "raw", reading)?.unwrap_or_default();
                (Body::Other { kind, raw }, fields)
            }
            _ => {
                let (extra, fields) = crate::extra::split(fields);
                let raw = Json::Object(crate::json::read_object(fields));
                (Body::Other { kind: format!("{NEWER}{kind}"), raw }, extra)
            }
        })
    }
}

impl Body {
    /// The kind and the fields of a body of a newer version, if that is what this is: one that could not be mistaken
    /// for something else when its fields stand among those of its block.
    fn newer(&self) -> Option<(&str, &Object)> {
        const TAKEN: [&str; 7] = ["id", "author", "message", "item_id", "metadata", "type", "extra"];
        const KNOWN: [&str; 7] = ["text", "reasoning", "tool_call", "tool_result", "media", "summary", "other"];
        match self {
            Body::Other { kind, raw: Json::Object(fields) } => {
                let kind = kind.strip_prefix(NEWER).filter(|kind| !KNOWN.contains(kind))?;
                let free = fields.iter().all(|(key, _)| !TAKEN.contains(&&*key.to_str_lossy()));
                free.then_some((kind, fields))
            }
            _ => None,
        }
    }

    fn write_known<S: Sink>(&self, out: &mut S) {
        match self {
            Body::Text(body) => body.write_fields(out),
            Body::Reasoning(body) => body.write_fields(out),
            Body::ToolCall(body) => body.write_fields(out),
            Body::ToolResult(body) => body.write_fields(out),
            Body::Media(body) => body.write_fields(out),
            Body::Summary(body) => body.write_fields(out),
            Body::Other { .. } => {}
        }
    }
}

fn known<'a, T: FlatShape + Into<Body>>(fields: Fields<'a>, reading: &mut ShapeReader) -> Result<(Body, Fields<'a>)> {
    let (body, rest) = T::read_fields(fields, reading)?;
    Ok((body.into(), rest))
}

fn take<T: Shape>(fields: &mut Fields<'_>, key: &'static str, reading: &mut ShapeReader) -> Result<Option<T>> {
    let Some(node) = reading.take(fields, key) else {
        return Ok(None);
    };
    reading.within(key, |reading| T::read(node, reading)).map(Some)
}

fn write_all<S: Sink>(fields: &Object, out: &mut S) {
    for (key, value) in fields.iter() {
        out.spelled_key(key);
        out.json(value);
    }
}

/// Text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// The text.
    pub text: String,
}

flat_shape! { Text { text: req } }

/// Thinking, kept whole and byte-exact where it is signed or encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reasoning {
    /// The thinking itself.
    pub text: Option<String>,
    /// Summaries of it, part by part.
    pub summary: Vec<String>,
    /// The vendor's signature of the text.
    pub signature: Option<String>,
    /// Thinking that only the vendor can read.
    pub encrypted: Option<String>,
    /// Where the opaque parts can be verified.
    pub scope: Option<Scope>,
}

flat_shape! { Reasoning { text: opt, summary: opt, signature: opt, encrypted: opt, scope: opt } }

/// Who made some opaque reasoning, and with which history before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    /// The vendor.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The account, where known.
    pub account: Option<String>,
    /// The fingerprint of the prefix it was made with.
    pub prefix: Option<String>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { Scope { provider: opt, model: opt, account: opt, prefix: opt } }

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Ties it to its result.
    pub call: CallId,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them: usually JSON, but models do err.
    pub arguments: String,
}

flat_shape! { ToolCall { call: req, name: req, arguments: req } }

impl ToolCall {
    /// The arguments as JSON, if they are JSON.
    pub fn arguments_json(&self) -> Option<Json> {
        crate::json::parse(&self.arguments).ok().map(crate::json::Node::into_json)
    }
}

/// A tool's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call it answers.
    pub call: CallId,
    /// The tool, where the source names it here too.
    pub name: Option<String>,
    /// What it answered.
    pub parts: Vec<Part>,
    /// What went wrong, in words.
    pub error: Option<String>,
    /// Whether the answer is an error, where the source says so.
    pub is_error: Option<bool>,
    /// How the call ended, where known.
    pub outcome: Option<Outcome>,
}

flat_shape! { ToolResult { call: req, name: opt, parts: opt, error: opt, is_error: opt, outcome: opt } }

string_enum! {
    /// How a tool call ended.
    pub enum Outcome {
        /// Well.
        Success = "success",
        /// With an error.
        Failed = "failed",
        /// A person or a policy said no.
        Denied = "denied",
        /// It was cut off, and nobody knows whether it acted.
        Interrupted = "interrupted",
        ; /// A word that only its source knows.
        other
    }
}

tagged! {
    /// One part of a tool's answer.
    pub enum Part : "type" {
        /// Text.
        Text = "text",
        /// A JSON value.
        Data = "json",
        /// An image, a sound, a file.
        Media = "media",
    }
}

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Data {
    /// The value.
    pub json: Json,
}

flat_shape! { Data { json: req } }

impl Shape for Part {
    fn write<S: Sink>(&self, out: &mut S) {
        out.begin_object();
        self.write_fields(out);
        out.end_object();
    }

    fn read(node: crate::json::Node<'_>, reading: &mut ShapeReader) -> Result<Part> {
        let fields = reading.object(node)?;
        // Two fields are the kind and one more: if that one is left over, it is all there is to keep.
        let kept = (fields.len() > 2).then(|| fields.clone());
        let (part, rest) = Part::read_fields(fields, reading)?;
        if rest.is_empty() {
            return Ok(part);
        }
        // A known part with fields of a newer version is kept whole.
        let mut kept = kept.unwrap_or(rest);
        kept.retain(|(key, _)| key.to_str_lossy() != "type");
        Ok(Part::Other { kind: part.kind().to_owned(), raw: crate::json::read_object(kept) })
    }
}

/// An image, a sound, a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Media {
    /// Its media type, as in `image/png`.
    pub media_type: Option<String>,
    /// The bytes themselves, in base64 as the source wrote it.
    pub inline: Option<String>,
    /// What it says, of a document that the source has as text and not as bytes.
    pub text: Option<String>,
    /// Where it can be fetched.
    pub url: Option<String>,
    /// Its id at the provider that holds it.
    pub file_id: Option<String>,
    /// The digest of bytes that are kept elsewhere.
    pub digest: Option<String>,
    /// Its file name.
    pub name: Option<String>,
    /// How closely the model looks at it.
    pub detail: Option<String>,
}

flat_shape! {
    Media { media_type: opt, inline: opt, text: opt, url: opt, file_id: opt, digest: opt, name: opt, detail: opt }
}

/// What stands for older turns; they stay in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// The summary.
    pub text: String,
    /// The first turn it stands for.
    pub from: Option<u32>,
    /// The last turn it stands for.
    pub to: Option<u32>,
    /// The same as questions and answers, where it was made as such.
    pub exchanges: Vec<ShortExchange>,
}

flat_shape! { Summary { text: req, from: opt, to: opt, exchanges: opt } }

impl From<&str> for Summary {
    fn from(text: &str) -> Summary {
        Summary::from(text.to_owned())
    }
}

impl From<String> for Summary {
    fn from(text: String) -> Summary {
        Summary { text, ..Summary::default() }
    }
}

/// A question and its answer in a summary, shorter than they were.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShortExchange {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! { ShortExchange { question: req, answer: req } }
