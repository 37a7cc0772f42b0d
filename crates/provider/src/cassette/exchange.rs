//! One recorded exchange.

use turnkeep_model::Result;
use turnkeep_model::json::{Json, Number, Object};

use super::content::{Content, Keep, corrupt};
use crate::transport::{Method, TransportError, TransportErrorKind};

/// An exchange as it stands in a cassette: nothing secret is left in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exchange {
    /// The place of its request among the requests of the run.
    pub number: u64,
    pub asked: Asked,
    pub answer: Answer,
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub method: Method,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Content,
    /// The digest of the body; where there is none, any body will do.
    pub digest: Option<String>,
}

impl Asked {
    /// Whether an answer to this one answers `other` too.
    pub(super) fn is_same(&self, other: &Asked) -> bool {
        let bodies = self.digest.is_none() || self.digest == other.digest;
        self.method == other.method && self.url == other.url && bodies
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// No answer began.
    Failed(TransportError),
    RecordedAnswer(RecordedAnswer),
}

/// An answer: times are milliseconds since the request was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordedAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub after: u64,
    pub chunks: Vec<Chunk>,
    pub end: End,
}

/// A chunk of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk {
    pub at: u64,
    pub bytes: Vec<u8>,
}

/// How a body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Complete,
    /// Whoever read it read no further.
    Left,
    Failed(TransportError),
}

const KINDS: &[(TransportErrorKind, &str)] = &[
    (TransportErrorKind::Connect, "connect"),
    (TransportErrorKind::Dns, "dns"),
    (TransportErrorKind::Tls, "tls"),
    (TransportErrorKind::Timeout, "timeout"),
    (TransportErrorKind::Cut, "cut"),
    (TransportErrorKind::TooLarge, "too_large"),
    (TransportErrorKind::Malformed, "malformed"),
    (TransportErrorKind::Mismatch, "mismatch"),
    (TransportErrorKind::Request, "request"),
];

impl Exchange {
    pub(super) fn to_json(&self) -> Json {
        let mut object = Object::new();
        object.push("number", self.number);
        object.push("request", self.asked.to_object());
        match &self.answer {
            Answer::Failed(error) => object.push("error", error_object(error)),
            Answer::RecordedAnswer(came) => object.push("response", came.to_object()),
        }
        object.into()
    }

    pub(super) fn read(object: &Object) -> Result<Exchange> {
        let asked =
            object.get("request").and_then(Json::as_object).ok_or_else(|| corrupt("an exchange has a request"))?;
        let answer = match (object.get("error"), object.get("response")) {
            (Some(Json::Object(error)), _) => Answer::Failed(read_error(error)?),
            (_, Some(Json::Object(came))) => Answer::RecordedAnswer(RecordedAnswer::read(came)?),
            _ => return Err(corrupt("an exchange has a response or an error")),
        };
        Ok(Exchange { number: count(object, "number"), asked: Asked::read(asked)?, answer })
    }
}

impl Asked {
    fn to_object(&self) -> Object {
        let mut object = Object::new();
        object.push("method", method_word(self.method));
        object.push("url", self.url.as_str());
        object.push("headers", header_lines(&self.headers));
        if let Some(digest) = &self.digest {
            object.push("digest", digest.as_str());
        }
        self.body.put(&mut object);
        object
    }

    fn read(object: &Object) -> Result<Asked> {
        let body = Content::take(object)?;
        let digest = object.get_str("digest").map_or_else(|| body.digest(), std::borrow::Cow::into_owned);
        Ok(Asked {
            method: method_of(&object.get_str("method").unwrap_or_default())?,
            url: object.get_str("url").ok_or_else(|| corrupt("a request has a `url`"))?.into_owned(),
            headers: read_headers(object),
            body,
            digest: Some(digest),
        })
    }
}

impl RecordedAnswer {
    fn to_object(&self) -> Object {
        let mut object = Object::new();
        object.push("status", u64::from(self.status));
        object.push("headers", header_lines(&self.headers));
        object.push("after", self.after);
        object.push("chunks", self.chunks.iter().map(Chunk::to_json).collect::<Vec<_>>());
        match &self.end {
            End::Complete => object.push("end", "complete"),
            End::Left => object.push("end", "left"),
            End::Failed(error) => object.push("end", error_object(error)),
        }
        object
    }

    fn read(object: &Object) -> Result<RecordedAnswer> {
        let status = u16::try_from(count(object, "status")).map_err(|_| corrupt("a status has three digits"))?;
        let chunks = object.get("chunks").and_then(Json::as_array).unwrap_or_default();
        let end = match object.get("end") {
            Some(Json::Object(error)) => End::Failed(read_error(error)?),
            Some(word) if word.as_str().is_some_and(|word| word == "left") => End::Left,
            _ => End::Complete,
        };
        Ok(RecordedAnswer {
            status,
            headers: read_headers(object),
            after: count(object, "after"),
            chunks: chunks.iter().map(Chunk::read).collect::<Result<_>>()?,
            end,
        })
    }
}

impl Chunk {
    fn to_json(&self) -> Json {
        let mut object = Object::new();
        object.push("at", self.at);
        Content::of(&self.bytes, Keep::Bytes).put(&mut object);
        object.into()
    }

    fn read(json: &Json) -> Result<Chunk> {
        let object = json.as_object().ok_or_else(|| corrupt("a chunk is an object"))?;
        Ok(Chunk { at: count(object, "at"), bytes: Content::take(object)?.to_bytes() })
    }
}

fn header_lines(headers: &[(String, String)]) -> Vec<Json> {
    headers.iter().map(|(name, value)| Json::from(format!("{name}: {value}"))).collect()
}

fn read_headers(object: &Object) -> Vec<(String, String)> {
    let lines = object.get("headers").and_then(Json::as_array).unwrap_or_default();
    let lines = lines.iter().filter_map(Json::as_str);
    lines
        .map(|line| {
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            (name.trim().to_lowercase(), value.strip_prefix(' ').unwrap_or(value).to_owned())
        })
        .collect()
}

fn error_object(error: &TransportError) -> Object {
    let word = KINDS.iter().find(|(kind, _)| *kind == error.kind).map_or("cut", |(_, word)| word);
    [("error", Json::from(word)), ("message", Json::from(error.message.as_str()))].into_iter().collect()
}

fn read_error(object: &Object) -> Result<TransportError> {
    let word = object.get_str("error").unwrap_or_default();
    let kind = KINDS.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind);
    let kind = kind.ok_or_else(|| corrupt(format!("there is no error `{word}`")))?;
    Ok(TransportError { kind, message: object.get_str("message").unwrap_or_default().into_owned() })
}

fn method_word(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Post => "POST",
    }
}

pub(super) fn method_of(word: &str) -> Result<Method> {
    match word {
        "GET" => Ok(Method::Get),
        "POST" => Ok(Method::Post),
        _ => Err(corrupt("a request's method is GET or POST")),
    }
}

pub(super) fn count(object: &Object, key: &str) -> u64 {
    object.get(key).and_then(Json::as_number).and_then(Number::as_u64).unwrap_or_default()
}
