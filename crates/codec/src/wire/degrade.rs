//! What stands for what a wire cannot hold.

use turnkeep_model::json::{self, Json, Nan, Node, Object};

/// The value of arguments that are JSON.
pub(crate) fn value_of(arguments: &str) -> Option<Json> {
    json::parse_with(arguments, Nan::Accept).ok().map(Node::into_json)
}

/// The object that arguments are, if they are one that strict JSON can spell.
pub(crate) fn object_of(arguments: &str) -> Option<Object> {
    match json::parse(arguments).ok().map(Node::into_json) {
        Some(Json::Object(object)) => Some(object),
        _ => None,
    }
}

/// An object that holds arguments which are no object.
pub(crate) fn wrapped(arguments: &str) -> Json {
    Json::Object([("_raw", Json::from(arguments))].into_iter().collect())
}
