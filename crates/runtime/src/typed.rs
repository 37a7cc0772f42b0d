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

/// Our JSON inside a type of serde: numbers and strings stay as they are written.
#[cfg(feature = "weakincentives")]
pub(crate) mod verbatim {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::value::RawValue;
    use turnkeep_model::Json;

    pub(crate) fn serialize<S: Serializer>(json: &Option<Json>, serializer: S) -> Result<S::Ok, S::Error> {
        let text = json.as_ref().map_or_else(|| "null".to_owned(), Json::to_text);
        match RawValue::from_string(text.clone()) {
            Ok(raw) => raw.serialize(serializer),
            // A number that JSON has no text for.
            Err(_) => text.serialize(serializer),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let json = turnkeep_model::json::parse(raw.get()).map_err(D::Error::custom)?.into_json();
        Ok((json != Json::Null).then_some(json))
    }
}
