//! Fields out of the events of a stream: what has the wanted type goes, everything else stays for the assembler to merge.
//! Documents are read by [`crate::fields`], which keeps what is left and its order too.

use turnkeep_model::json::{Json, Object};

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
