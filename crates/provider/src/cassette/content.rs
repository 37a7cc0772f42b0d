//! Bytes as people can read them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use turnkeep_model::json::{self, Json, Node, Object};
use turnkeep_model::{Error, ErrorKind, Result, canon};

/// Some bytes, in the form that a person reads best.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Json(Json),
    Text(String),
    Bytes(Vec<u8>),
}

/// How much may change when bytes are shown as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// The value: spaces are of no matter.
    Value,
    /// Every byte.
    Bytes,
}

impl Content {
    pub(super) fn of(bytes: &[u8], keep: Keep) -> Content {
        let Ok(text) = std::str::from_utf8(bytes) else { return Content::Bytes(bytes.to_vec()) };
        let json = json::parse(text).ok().map(Node::into_json);
        let json = json.filter(|json| matches!(json, Json::Object(_) | Json::Array(_)));
        match json {
            Some(json) if keep == Keep::Value || json.to_text() == text => Content::Json(json),
            _ => Content::Text(text.to_owned()),
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Content::Json(json) => json.to_text().into_bytes(),
            Content::Text(text) => text.clone().into_bytes(),
            Content::Bytes(bytes) => bytes.clone(),
        }
    }

    /// What equal contents have in common: of JSON only the value counts.
    pub(super) fn digest(&self) -> String {
        match self {
            Content::Json(json) => canon::digest(json),
            Content::Text(text) => canon::digest(&Json::from(text.as_str())),
            Content::Bytes(bytes) => canon::digest(&Json::from(STANDARD.encode(bytes))),
        }
    }

    /// Puts it into an object under the key that says what it is.
    pub(super) fn put(&self, object: &mut Object) {
        match self {
            Content::Json(json) => object.push("json", json.clone()),
            Content::Text(text) => object.push("text", text.as_str()),
            Content::Bytes(bytes) => object.push("base64", STANDARD.encode(bytes)),
        }
    }

    /// What [`Content::put`] put there.
    pub(super) fn take(object: &Object) -> Result<Content> {
        if let Some(json) = object.get("json") {
            return Ok(Content::Json(json.clone()));
        }
        if let Some(text) = object.get_str("text") {
            return Ok(Content::Text(text.into_owned()));
        }
        let Some(text) = object.get_str("base64") else {
            return Err(corrupt("a content is `json`, `text` or `base64`"));
        };
        STANDARD.decode(text.as_bytes()).map(Content::Bytes).map_err(|_| corrupt("this is not base64"))
    }
}

pub(super) fn corrupt(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, what).hint("record the cassette again")
}
