//! Between [`Json`] and `serde_json::Value`.

use std::fmt;

use serde_json::Value;

use crate::json::{Json, Number, Object};

/// A value that `serde_json::Value` cannot hold: a key twice, half a surrogate pair, or a number with too many digits.
#[derive(Debug)]
pub struct NotAValue(serde_json::Error);

impl fmt::Display for NotAValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for NotAValue {}

/// Everything that `serde_json` holds has a place here, in the same order.
impl From<Value> for Json {
    fn from(value: Value) -> Json {
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => value.into(),
            Value::Number(number) => {
                let text = number.to_string();
                Number::parse(&text).map_or_else(|| Json::from(text), Json::Number)
            }
            Value::String(text) => text.into(),
            Value::Array(items) => Json::Array(items.into_iter().map(Json::from).collect()),
            Value::Object(map) => {
                let mut object = Object::new();
                map.into_iter().for_each(|(key, value)| object.push(key, value));
                Json::Object(object)
            }
        }
    }
}

impl TryFrom<&Json> for Value {
    type Error = NotAValue;

    fn try_from(json: &Json) -> Result<Value, NotAValue> {
        serde_json::to_value(json).map_err(NotAValue)
    }
}

impl TryFrom<Json> for Value {
    type Error = NotAValue;

    fn try_from(json: Json) -> Result<Value, NotAValue> {
        Value::try_from(&json)
    }
}
