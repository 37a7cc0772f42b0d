//! A request as the rules look at it.

use turnkeep_model::json::{Json, Object};

use super::super::profile::Profile;

/// A request and what rules often ask of it.
pub struct Body<'a> {
    /// All of it.
    pub(super) object: &'a Object,
    /// Who is asked.
    pub(super) profile: &'a Profile,
    /// The objects among its items, with their places.
    pub(super) items: Vec<Item<'a>>,
    /// The model, without the vendor's name before it.
    pub(super) model: String,
    /// Whether the vendor holds items that are not in the request.
    pub(super) refers: bool,
    /// Whether some items are only named.
    pub(super) has_references: bool,
}

/// An item of a request.
pub(super) struct Item<'a> {
    pub(super) place: usize,
    pub(super) kind: String,
    pub(super) object: &'a Object,
}

/// A place that breaks a rule, and what there is to say of it.
pub struct Hit {
    /// The place in the body.
    pub(super) at: String,
    /// The name or the value that the vendor's error would show.
    pub(super) subject: String,
}

impl<'a> Body<'a> {
    pub(super) fn of(object: &'a Object, profile: &'a Profile) -> Body<'a> {
        let input = object.get("input").and_then(Json::as_array).unwrap_or_default();
        let items: Vec<_> = input.iter().enumerate().filter_map(|(place, item)| Item::of(place, item)).collect();
        let is_set = |key: &str| object.get(key).is_some_and(|value| *value != Json::Null);
        let model = object.get_str("model").unwrap_or_default();
        let has_references = items.iter().any(|item| item.kind == "item_reference");
        Body {
            object,
            profile,
            model: model.rsplit('/').next().unwrap_or_default().to_owned(),
            refers: has_references || ["previous_response_id", "conversation", "prompt"].iter().any(|key| is_set(key)),
            has_references,
            items,
        }
    }

    /// The items of these kinds.
    pub(super) fn of_kind(&self, kinds: &'static [&'static str]) -> impl Iterator<Item = &Item<'a>> {
        self.items.iter().filter(|item| kinds.contains(&item.kind.as_str()))
    }

    /// Whether the vendor is told not to keep anything.
    pub(super) fn is_stateless(&self) -> bool {
        self.object.get("store").and_then(Json::as_bool) == Some(false)
    }

    /// The tools, with their places.
    pub(super) fn tools(&self) -> impl Iterator<Item = (usize, &'a Object)> {
        let tools = self.object.get("tools").and_then(Json::as_array).unwrap_or_default();
        tools.iter().enumerate().filter_map(|(place, tool)| Some((place, tool.as_object()?)))
    }
}

impl<'a> Item<'a> {
    fn of(place: usize, item: &'a Json) -> Option<Item<'a>> {
        let object = item.as_object()?;
        let kind = object.get_str("type").map_or_else(|| "message".to_owned(), std::borrow::Cow::into_owned);
        Some(Item { place, kind, object })
    }

    /// A text of the item, empty where there is none.
    pub(super) fn text(&self, key: &str) -> String {
        self.object.get_str(key).unwrap_or_default().into_owned()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(|value| *value != Json::Null)
    }

    /// A hit at a field of the item.
    pub(super) fn hit(&self, field: &str, subject: impl Into<String>) -> Hit {
        let dot = if field.is_empty() { "" } else { "." };
        Hit { at: format!("input[{}]{dot}{field}", self.place), subject: subject.into() }
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(self.kind.as_str(), "function_call" | "custom_tool_call")
    }

    pub(super) fn is_output(&self) -> bool {
        matches!(self.kind.as_str(), "function_call_output" | "custom_tool_call_output")
    }

    /// Whether the model made it.
    pub(super) fn is_answer(&self) -> bool {
        match self.kind.as_str() {
            "message" => self.text("role") == "assistant",
            "item_reference" => true,
            kind => !kind.ends_with("_output") && !kind.ends_with("_response") && !self.object.contains("role"),
        }
    }

    /// The parts of a message or of an output, with their places.
    pub(super) fn parts(&self, key: &str) -> impl Iterator<Item = (usize, &'a Object)> {
        let parts = self.object.get(key).and_then(Json::as_array).unwrap_or_default();
        parts.iter().enumerate().filter_map(|(place, part)| Some((place, part.as_object()?)))
    }
}
