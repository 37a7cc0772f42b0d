//! [`Json`] as serde sees it.

use std::fmt;
use std::str::FromStr;

use bigdecimal::BigDecimal;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::json::{Json, JsonString, Number, Object};

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => number.serialize(serializer),
            Json::String(text) => text.serialize(serializer),
            Json::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Json::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Most targets of serde keep one of two equal keys without a word.
        if self.has_duplicates() {
            return Err(S::Error::custom("an object has a key twice; write it with `Json::to_text`"));
        }
        let mut map = serializer.serialize_map(Some(self.len()))?;
        self.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

impl Serialize for JsonString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.to_str() {
            Ok(text) => serializer.serialize_str(&text),
            Err(_) => Err(S::Error::custom("a string holds half a surrogate pair; write it with `Json::to_text`")),
        }
    }
}

impl Serialize for Number {
    /// Integers beyond 64 bits are refused like other numbers that would not come back: serde's readers of JSON round them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.as_str();
        // `-0` is an integer by its spelling, and no integer of serde's.
        let is_whole = text != "-0" && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if is_whole {
            if let Ok(value) = text.parse() {
                return serializer.serialize_u64(value);
            }
            if let Ok(value) = text.parse() {
                return serializer.serialize_i64(value);
            }
        }
        match as_exact_float(self) {
            Some(value) => serializer.serialize_f64(value),
            None => Err(S::Error::custom("a number has more digits than serde holds; write it with `Json::to_text`")),
        }
    }
}

/// The float whose shortest spelling has the value of this number.
fn as_exact_float(number: &Number) -> Option<f64> {
    let value = number.as_f64();
    let written = BigDecimal::from_str(number.as_str()).ok()?;
    let read_back = BigDecimal::from_str(&value.to_string()).ok()?;
    (value.is_finite() && written == read_back).then_some(value)
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

/// Builds a tree of whatever a format has.
struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i128<E>(self, value: i128) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u128<E>(self, value: u128) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut object = Object::new();
        while let Some((key, value)) = map.next_entry::<String, Json>()? {
            object.push(key, value);
        }
        Ok(Json::Object(object))
    }
}
