//! Where a value is written: a JSON text (`text_sink.rs`), a tree, or whatever else understands the events.

use super::{Json, JsonString, Number, Object};

/// Receives a value as a stream of events, in document order.
pub trait Sink {
    /// `null`
    fn null(&mut self);
    /// `true` or `false`
    fn bool(&mut self, value: bool);
    /// A number by its spelling.
    fn number(&mut self, text: &str);
    /// A string by its content.
    fn text(&mut self, text: &str);
    /// A string that may have to keep its spelling.
    fn string(&mut self, text: &JsonString);
    /// A string that YAML holds without quotes.
    fn bare(&mut self, text: &str) {
        self.text(text);
    }
    /// A whole value.
    fn json(&mut self, value: &Json)
    where
        Self: Sized,
    {
        value.write(self);
    }
    /// The start of an array.
    fn begin_array(&mut self);
    /// The end of the innermost array.
    fn end_array(&mut self);
    /// The start of an object.
    fn begin_object(&mut self);
    /// The key of the value that follows.
    fn key(&mut self, key: &str);
    /// A key that may have to keep its spelling.
    fn spelled_key(&mut self, key: &JsonString);
    /// The end of the innermost object.
    fn end_object(&mut self);
}

/// Builds a [`Json`] value.
#[derive(Debug, Default)]
pub struct TreeSink {
    open: Vec<Open>,
    done: Json,
}

#[derive(Debug)]
enum Open {
    Array(Vec<Json>),
    Object(Object, Option<JsonString>),
}

impl TreeSink {
    /// The value written.
    pub fn into_json(self) -> Json {
        self.done
    }

    fn put(&mut self, value: Json) {
        match self.open.last_mut() {
            None => self.done = value,
            Some(Open::Array(items)) => items.push(value),
            Some(Open::Object(object, key)) => {
                let key = key.take().unwrap_or_else(|| "".into());
                object.push(key, value);
            }
        }
    }

    fn close(&mut self) {
        match self.open.pop() {
            None => {}
            Some(Open::Array(items)) => self.put(Json::Array(items)),
            Some(Open::Object(object, _)) => self.put(Json::Object(object)),
        }
    }
}

impl Sink for TreeSink {
    fn null(&mut self) {
        self.put(Json::Null);
    }

    fn bool(&mut self, value: bool) {
        self.put(Json::Bool(value));
    }

    fn number(&mut self, text: &str) {
        self.put(Json::Number(Number::trusted(text)));
    }

    fn text(&mut self, text: &str) {
        self.put(text.into());
    }

    fn string(&mut self, text: &JsonString) {
        self.put(Json::String(text.clone()));
    }

    fn begin_array(&mut self) {
        self.open.push(Open::Array(Vec::new()));
    }

    fn end_array(&mut self) {
        self.close();
    }

    fn begin_object(&mut self) {
        self.open.push(Open::Object(Object::new(), None));
    }

    fn key(&mut self, key: &str) {
        self.spelled_key(&key.into());
    }

    fn spelled_key(&mut self, key: &JsonString) {
        if let Some(Open::Object(_, slot)) = self.open.last_mut() {
            *slot = Some(key.clone());
        }
    }

    fn end_object(&mut self) {
        self.close();
    }
}
