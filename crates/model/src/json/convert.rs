//! Making [`Json`] of other values, and looking into it.

use std::ops::Index;
use std::str::FromStr;

use super::{Json, Number, Object, parse};
use crate::error::{Error, Result};

/// What indexing gives where nothing stands.
static NULL: Json = Json::Null;

/// Reads a JSON text.
///
/// ```
/// use turnkeep_model::Json;
///
/// let order: Json = r#"{"items": [{"sku": "A-1", "count": 2}]}"#.parse()?;
/// assert_eq!(order["items"][0]["sku"], "A-1");
/// assert_eq!(order["items"][7]["sku"], Json::Null);
/// # Ok::<_, turnkeep_model::Error>(())
/// ```
impl FromStr for Json {
    type Err = Error;

    fn from_str(text: &str) -> Result<Json> {
        parse(text).map(super::Node::into_json).map_err(|error| error.locate(text))
    }
}

/// The value under a key; `null` where there is none, or no object. Of a repeated key the last value counts, as for
/// [`Object::get`].
impl Index<&str> for Json {
    type Output = Json;

    fn index(&self, key: &str) -> &Json {
        self.as_object().and_then(|object| object.get(key)).unwrap_or(&NULL)
    }
}

/// The element at a place of an array; `null` where there is none, or no array.
impl Index<usize> for Json {
    type Output = Json;

    fn index(&self, place: usize) -> &Json {
        self.as_array().and_then(|items| items.get(place)).unwrap_or(&NULL)
    }
}

impl PartialEq<str> for Json {
    fn eq(&self, text: &str) -> bool {
        matches!(self, Json::String(own) if own.is(text))
    }
}

impl PartialEq<&str> for Json {
    fn eq(&self, text: &&str) -> bool {
        *self == **text
    }
}

macro_rules! from_integers {
    ($($type:ty)*) => {$(
        impl From<$type> for Number {
            fn from(value: $type) -> Number {
                Number::trusted(&value.to_string())
            }
        }

        impl From<$type> for Json {
            fn from(value: $type) -> Json {
                Json::Number(value.into())
            }
        }
    )*};
}

from_integers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

/// The shortest spelling that reads back as the value.
impl From<f64> for Json {
    fn from(value: f64) -> Json {
        Json::Number(Number::from_f64(value))
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::String(text.into())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<Number> for Json {
    fn from(number: Number) -> Json {
        Json::Number(number)
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Json {
        Json::Object(object)
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Json {
        Json::Array(items)
    }
}

/// `null` where there is nothing.
impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_size_keep_their_digits() {
        let numbers = [Json::from(i128::MIN), Json::from(u128::MAX), Json::from(-1_i8), Json::from(7_usize)];

        let spelled = numbers.map(|number| number.to_text());

        assert_eq!(spelled, [i128::MIN.to_string(), u128::MAX.to_string(), "-1".to_owned(), "7".to_owned()]);
    }

    #[test]
    fn a_text_that_is_no_json_names_the_place() {
        let error = "{\n  \"a\": nope}".parse::<Json>().unwrap_err();

        assert!(error.to_string().contains("2:"), "{error}");
    }
}
