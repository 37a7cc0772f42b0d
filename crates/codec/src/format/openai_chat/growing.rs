//! Pieces of a streamed message that grow: calls, parts of the content, and objects with texts that come bit by bit.

use turnkeep_model::json::{Json, Object};

use crate::wire::StreamExtras;

/// A part of a content.
pub(super) enum Part {
    Object(Grown),
    /// What is no object.
    Other(Json),
}

/// An object of which some texts grow.
#[derive(Default)]
pub(super) struct Grown {
    pub(super) object: Object,
    pub(super) texts: Vec<(&'static str, String)>,
}

#[derive(Default)]
pub(super) struct Call {
    pub(super) index: Option<u64>,
    pub(super) fields: Object,
    pub(super) function: Object,
    pub(super) arguments: Option<String>,
}

impl Call {
    pub(super) fn push(&mut self, call: Object, extras: &mut StreamExtras) {
        for (key, value) in call {
            match (&*key.to_str_lossy(), value) {
                ("index", _) => {}
                ("function", Json::Object(function)) => self.function(function, extras),
                (name, value) => set_first(&mut self.fields, name, value),
            }
        }
    }

    pub(super) fn function(&mut self, function: Object, extras: &mut StreamExtras) {
        for (key, value) in function {
            match (&*key.to_str_lossy(), value) {
                ("arguments", Json::String(text)) => {
                    self.arguments.get_or_insert_default().push_str(&text.to_str_lossy());
                }
                ("name", value) => set_first(&mut self.function, "name", value),
                (name, value) => set_last(&mut self.function, name, value, extras),
            }
        }
    }

    pub(super) fn finish(self) -> Json {
        let Call { fields, mut function, arguments, .. } = self;
        if let Some(arguments) = arguments {
            function.set("arguments", arguments);
        }
        let mut call = fields;
        if !function.is_empty() {
            call.push("function", function);
        }
        Json::Object(call)
    }
}

impl Part {
    pub(super) fn finish(self) -> Json {
        match self {
            Part::Object(own) => Json::Object(own.finish()),
            Part::Other(value) => value,
        }
    }
}

impl Grown {
    /// Adds an object: texts named in `texts` go on, other fields are replaced.
    pub(super) fn push(&mut self, more: Object, texts: &[&'static str], extras: &mut StreamExtras) {
        for (key, value) in more {
            let key = key.to_str_lossy();
            let name = texts.iter().find(|name| **name == key && self.object.get_str(name).is_some());
            match (name, &value) {
                (Some(name), Json::String(text)) => self.append(name, &text.to_str_lossy(), text_in),
                _ => set_last(&mut self.object, &key, value, extras),
            }
        }
    }

    /// Adds a piece of thinking, whose text stands in a list.
    pub(super) fn think_on(&mut self, more: Object, extras: &mut StreamExtras) {
        self.append(THINKING, &thinking_text(&more), |object, _| thinking_text(object));
        let rest = more.into_iter().filter(|(key, _)| !matches!(&*key.to_str_lossy(), "type" | THINKING));
        rest.for_each(|(key, value)| set_last(&mut self.object, &key.to_str_lossy(), value, extras));
    }

    pub(super) fn append(&mut self, name: &'static str, more: &str, start: fn(&Object, &str) -> String) {
        match self.texts.iter_mut().find(|(own, _)| *own == name) {
            Some((_, text)) => text.push_str(more),
            None => self.texts.push((name, start(&self.object, name) + more)),
        }
    }

    pub(super) fn finish(mut self) -> Object {
        for (name, text) in self.texts {
            match name {
                THINKING => self.object.set(name, vec![text_part(text)]),
                _ => self.object.set(name, text),
            }
        }
        self.object
    }
}

/// The field of a part that holds thinking.
pub(super) const THINKING: &str = "thinking";

pub(super) fn text_in(object: &Object, key: &str) -> String {
    object.get_str(key).map(std::borrow::Cow::into_owned).unwrap_or_default()
}

pub(super) fn text_part(text: String) -> Json {
    Json::Object([("type", Json::from("text")), ("text", Json::from(text))].into_iter().collect())
}

pub(super) fn function_text(call: &Object, key: &str) -> Option<String> {
    call.get("function")?.as_object()?.get_str(key).map(std::borrow::Cow::into_owned)
}

/// Whether a piece of reasoning comes in one, as ciphers do.
pub(super) fn is_whole(detail: &Object) -> bool {
    detail.get_str("type").is_some_and(|kind| kind == "reasoning.encrypted") && detail.contains("id")
}

pub(super) fn thinking_text(part: &Object) -> String {
    let items = part.get("thinking").and_then(Json::as_array).unwrap_or_default();
    let texts = items.iter().filter_map(|item| item.as_object()?.get_str("text").map(std::borrow::Cow::into_owned));
    texts.collect()
}

/// Keeps the first value that says something.
pub(super) fn set_first(object: &mut Object, key: &str, value: Json) {
    if object.get(key).is_none_or(says_nothing) {
        object.set(key, value);
    }
}

/// Keeps the last value that says something, and another one before it beside.
pub(super) fn set_last(object: &mut Object, key: &str, value: Json, extras: &mut StreamExtras) {
    if !says_nothing(&value) || object.get(key).is_none() {
        extras.replace(object, key, value);
    }
}

pub(super) fn says_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.to_str_lossy().is_empty(),
        Json::Number(number) => number.as_str() == "0",
        _ => false,
    }
}

pub(super) fn append(object: &mut Object, key: &str, more: Vec<Json>) {
    let mut items = match object.remove(key) {
        Some(Json::Array(items)) => items,
        _ => Vec::new(),
    };
    items.extend(more);
    object.push(key, items);
}

pub(super) fn append_lists(own: &mut Object, more: Object, extras: &mut StreamExtras) {
    for (key, value) in more {
        let key = key.to_str_lossy();
        match value {
            Json::Array(items) => append(own, &key, items),
            value => set_last(own, &key, value, extras),
        }
    }
}
