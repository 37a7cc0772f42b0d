//! Between our JSON and types of the application.

use serde::Serialize;
use serde::de::DeserializeOwned;
use turnkeep_model::Json;

/// A value of the application as our JSON.
pub(crate) fn to_json(value: &impl Serialize) -> Result<Json, serde_json::Error> {
    let text = serde_json::to_string(value)?;
    match turnkeep_model::json::parse(&text) {
        Ok(node) => Ok(node.into_json()),
        Err(error) => Err(serde::ser::Error::custom(error)),
    }
}

/// Our JSON as a value of the application.
pub(crate) fn from_json<T: DeserializeOwned>(json: &Json) -> Result<T, serde_json::Error> {
    serde_json::from_str(&json.to_text())
}

/// Bytes in base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
