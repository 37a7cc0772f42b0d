//! Taking fields out of an object: what has the wanted type goes, everything else stays where it is.

use turnkeep_model::json::{Json, Number, Object};

/// A string that a Rust string can hold.
pub(crate) fn text(map: &mut Object, key: &str) -> Option<String> {
    match map.get(key)? {
        Json::String(text) if text.is_sound() => {}
        _ => return None,
    }
    match map.remove(key)? {
        Json::String(text) => text.into_string().ok(),
        _ => None,
    }
}

/// A number.
pub(crate) fn number(map: &mut Object, key: &str) -> Option<Number> {
    let number = map.get(key)?.as_number()?.clone();
    map.remove(key);
    Some(number)
}

/// A whole number that is not negative.
pub(crate) fn count(map: &mut Object, key: &str) -> Option<u64> {
    let count = map.get(key)?.as_number()?.as_u64()?;
    map.remove(key);
    Some(count)
}

/// An object.
pub(crate) fn object(map: &mut Object, key: &str) -> Option<Object> {
    map.get(key)?.as_object()?;
    match map.remove(key) {
        Some(Json::Object(object)) => Some(object),
        _ => None,
    }
}

/// An array.
pub(crate) fn array(map: &mut Object, key: &str) -> Option<Vec<Json>> {
    map.get(key)?.as_array()?;
    match map.remove(key) {
        Some(Json::Array(items)) => Some(items),
        _ => None,
    }
}

/// A list of strings, if it is not empty and holds nothing else.
pub(crate) fn texts(map: &mut Object, key: &str) -> Option<Vec<String>> {
    let items = map.get(key)?.as_array().filter(|items| !items.is_empty())?;
    let texts = items.iter().map(|item| item.as_str().map(std::borrow::Cow::into_owned)).collect::<Option<_>>()?;
    map.remove(key);
    Some(texts)
}
