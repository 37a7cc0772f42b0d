//! Places up to which a prompt is cached. Anthropic marks the last block of the cached part with `cache_control`, Converse
//! puts a `cachePoint` after it; both mean the same.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Block, Extra};

use crate::format::{anthropic, openai_chat};

/// Wires whose blocks carry the mark.
const MARKED: &[&str] = &[anthropic::WIRE, openai_chat::ID];
/// Converse's kind of block.
pub(crate) const POINT: &str = "cachePoint";
/// The field that marks a block.
pub(crate) const CONTROL: &str = "cache_control";

/// The mark that a source put on a block or a tool.
pub(crate) fn control(extra: &Extra) -> Option<&Object> {
    MARKED.iter().find_map(|wire| extra.fields(wire)?.get(CONTROL)?.as_object())
}

/// The block of Converse that stands after what is marked.
pub(crate) fn point(control: &Object) -> Json {
    let mut inner: Object = [("type", Json::from("default"))].into_iter().collect();
    if let Some(ttl) = control.get("ttl") {
        inner.push("ttl", ttl.clone());
    }
    Json::Object([(POINT, Json::Object(inner))].into_iter().collect())
}

/// The mark that a block of Converse stands for, if it is a cache point.
pub(crate) fn control_of(point: &Json) -> Option<Object> {
    let inner = point.as_object()?.get(POINT)?.as_object()?;
    let mut control: Object = [("type", Json::from("ephemeral"))].into_iter().collect();
    if let Some(ttl) = inner.get("ttl") {
        control.push("ttl", ttl.clone());
    }
    Some(control)
}

/// Whether a block is a cache point of Converse.
pub(crate) fn is_point(block: &Block) -> bool {
    matches!(&block.body, turnkeep_model::Body::Other { kind, raw } if kind == POINT && control_of(raw).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnkeep_model::json::parse;

    #[test]
    fn a_point_and_a_mark_say_the_same() {
        let mark = parse(r#"{"type":"ephemeral","ttl":"1h"}"#).unwrap().into_json();
        let point = point(mark.as_object().unwrap());

        assert_eq!(point.to_text(), r#"{"cachePoint":{"type":"default","ttl":"1h"}}"#);
        assert_eq!(control_of(&point).map(Json::Object), Some(mark));
        assert_eq!(control_of(&Json::from("cachePoint")), None);
    }
}
