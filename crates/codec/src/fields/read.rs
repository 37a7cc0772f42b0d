//! Objects that are being read.

use turnkeep_model::json::{Json, JsonString, Number, Object};
use turnkeep_model::{Extra, ExtraPart};

use super::form::{self, Form};
use super::order::{self, note_key};

/// An object that is being read: what is taken is understood, what is left is kept as it is.
#[derive(Debug)]
pub(crate) struct Fields {
    form: Form,
    /// The pairs of the source. A value that was taken is gone, its key stays for the order.
    pairs: Vec<(JsonString, Option<Json>)>,
    /// What is left of values that were taken.
    rests: Object,
    /// Notes on how the source spelled what was taken.
    notes: Object,
    /// Notes on the order of objects inside, by path.
    orders: Vec<(String, Json)>,
}

impl Fields {
    /// Begins to read an object.
    pub(crate) fn new(object: Object, form: Form) -> Fields {
        let pairs = object.into_iter().map(|(key, value)| (key, Some(value))).collect();
        Fields { form, pairs, rests: Object::new(), notes: Object::new(), orders: Vec::new() }
    }

    /// What stands under a key and is not taken yet; the last, where it stands twice.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.pairs.iter().rev().find(|(own, _)| own.is(key)).and_then(|(_, value)| value.as_ref())
    }

    /// The text under a key that is not taken yet.
    pub(crate) fn get_str(&self, key: &str) -> Option<std::borrow::Cow<'_, str>> {
        self.get(key)?.as_str()
    }

    /// The object under a key that is not taken yet.
    pub(crate) fn get_object(&self, key: &str) -> Option<&Object> {
        self.get(key)?.as_object()
    }

    /// Takes a field if it is as wanted. One that stands twice is left.
    pub(crate) fn take_if(&mut self, key: &str, wanted: impl FnOnce(&Json) -> bool) -> Option<Json> {
        let mut own = self.pairs.iter_mut().filter(|(own, _)| own.is(key));
        let (_, value) = own.next()?;
        // Whichever were taken, the other would come back alone: nobody could tell that there were two.
        if own.next().is_some() {
            return None;
        }
        value.take_if(|value| wanted(value))
    }

    /// Takes a field whatever it holds.
    pub(crate) fn take(&mut self, key: &str) -> Option<Json> {
        self.take_if(key, |_| true)
    }

    /// Takes a field if `read` makes something of it.
    pub(crate) fn read<T>(&mut self, key: &str, read: impl FnOnce(&Json) -> Option<T>) -> Option<T> {
        let mut found = None;
        self.take_if(key, |value| {
            found = read(value);
            found.is_some()
        })?;
        found
    }

    /// Takes a text that a Rust string can hold.
    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        match self.take_if(key, is_text)? {
            Json::String(text) => text.into_string().ok(),
            _ => None,
        }
    }

    /// Takes a number.
    pub(crate) fn number(&mut self, key: &str) -> Option<Number> {
        match self.take_if(key, |value| matches!(value, Json::Number(_)))? {
            Json::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Takes a count that comes back with the same spelling.
    pub(crate) fn count(&mut self, key: &str) -> Option<u64> {
        self.read(key, |value| value.as_number().and_then(plain_count))
    }

    /// Takes a truth value.
    pub(crate) fn flag(&mut self, key: &str) -> Option<bool> {
        self.read(key, Json::as_bool)
    }

    /// Takes the elements of an array.
    pub(crate) fn array(&mut self, key: &str) -> Option<Vec<Json>> {
        match self.take_if(key, |value| matches!(value, Json::Array(_)))? {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Takes the elements of an array that has some.
    pub(crate) fn items(&mut self, key: &str) -> Option<Vec<Json>> {
        self.get(key)?.as_array().filter(|items| !items.is_empty())?;
        self.array(key)
    }

    /// Takes a list of texts that has some and holds nothing else.
    pub(crate) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        self.get(key)?.as_array().filter(|items| !items.is_empty() && items.iter().all(is_text))?;
        let text = |item| match item {
            Json::String(text) => text.into_string().ok(),
            _ => None,
        };
        Some(self.array(key)?.into_iter().filter_map(text).collect())
    }

    /// Takes an object whose keys are all different.
    pub(crate) fn object(&mut self, key: &str) -> Option<Object> {
        match self.take_if(key, |value| value.as_object().is_some_and(|object| !object.has_duplicates()))? {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Takes a field that always holds the same word; notes it where it is absent.
    pub(crate) fn constant(&mut self, key: &str, word: &str) {
        match self.get(key) {
            None => self.note_absent(key),
            Some(_) => drop(self.take_if(key, |value| matches!(value, Json::String(own) if own.is(word)))),
        }
    }

    /// Drops what stands under a key if it follows from the rest.
    pub(crate) fn derived(&mut self, key: &str, value: &Json) {
        self.take_if(key, |own| own == value);
    }

    /// Puts back what was taken and could not be kept.
    pub(crate) fn put_back(&mut self, key: &str, value: impl Into<Json>) {
        match self.pairs.iter_mut().find(|(own, _)| own.is(key)) {
            Some((_, slot)) => *slot = Some(value.into()),
            None => self.pairs.push((key.into(), Some(value.into()))),
        }
    }

    /// Keeps what is left of something that was taken.
    pub(crate) fn leave(&mut self, key: &str, rest: impl Into<Json>) {
        self.rests.push(key, rest);
    }

    /// Notes how the source spelled something.
    pub(crate) fn note(&mut self, key: &str, value: impl Into<Json>) {
        self.notes.set(key, value);
    }

    /// Notes that a field is not there, though it always is.
    pub(crate) fn note_absent(&mut self, key: &str) {
        let mut absent = match self.notes.remove("absent") {
            Some(Json::Array(items)) => items,
            _ => Vec::new(),
        };
        absent.push(key.into());
        self.notes.set("absent", absent);
    }

    /// Reads an object inside this one. It stays as it is where nothing of it is taken.
    pub(crate) fn within<T>(&mut self, key: &str, form: Form, read: impl FnOnce(&mut Fields) -> T) -> Option<T> {
        let mut inner = Fields::new(self.object(key)?, form);
        let result = read(&mut inner);
        // An object of which nothing is understood is one unknown value, without notes on its inside.
        if inner.is_whole() {
            self.put_back(key, inner.into_rest());
        } else {
            self.nest(key, inner);
        }
        Some(result)
    }

    /// Keeps what is left of an object inside this one, and the notes on it.
    pub(crate) fn nest(&mut self, key: &str, inner: Fields) {
        let (rest, notes, orders) = inner.close();
        if !rest.is_empty() {
            self.rests.push(key, rest);
        }
        if !notes.is_empty() {
            self.notes.set(key, notes);
        }
        for (path, order) in orders {
            let path = if path.is_empty() { key.to_owned() } else { format!("{key}.{path}") };
            self.orders.push((path, order));
        }
    }

    /// The same where the rest stands among the notes, under the first key of `path`; `path` is that of its order.
    pub(crate) fn nest_in_notes(&mut self, path: &str, inner: Fields) {
        let (rest, _, orders) = inner.close();
        if !rest.is_empty() {
            self.notes.set(path.split('.').next().unwrap_or(path), rest);
        }
        self.orders.extend(orders.into_iter().map(|(_, order)| (path.to_owned(), order)));
    }

    /// Whether nothing was taken and nothing noted.
    pub(crate) fn is_whole(&self) -> bool {
        self.notes.is_empty() && self.pairs.iter().all(|(_, value)| value.is_some())
    }

    /// Whether its keys stand as its form says.
    pub(crate) fn is_usual(&self) -> bool {
        let by_place = form::others(self.form).is_some();
        let is_left = |key: &JsonString| by_place && self.rests.iter().any(|(own, _)| own == key);
        order::is_usual(self.form, self.pairs.iter().map(|(key, value)| (key, value.is_none() && !is_left(key))))
    }

    /// The object as far as it was not taken, in its own order.
    pub(crate) fn into_rest(self) -> Object {
        self.pairs.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    /// What is left, the notes, and the orders that have to be noted, by path.
    pub(crate) fn close(self) -> (Object, Object, Vec<(String, Json)>) {
        let order = (!self.is_usual()).then(|| order::keys_note(self.pairs.iter().map(|(key, _)| key)));
        let Fields { form, mut pairs, mut rests, notes, mut orders } = self;
        if form::others(form).is_some() {
            // What is left of a value stands among the unknown keys, so its place there matters.
            let taken = pairs.iter_mut().filter(|(_, value)| value.is_none());
            taken.for_each(|(key, value)| *value = rests.remove(&key.to_str_lossy()));
        }
        orders.extend(order.map(|order| (String::new(), order)));
        let says = |(key, value): (JsonString, Option<Json>)| {
            let value = value?;
            let usual = form::rule(form, &key).and_then(|(_, rule)| rule.value());
            (usual.as_ref() != Some(&value)).then_some((key, value))
        };
        (pairs.into_iter().filter_map(says).chain(rests).collect(), notes, orders)
    }

    /// What is left and what is noted, as the part of an extra.
    pub(crate) fn into_part(self) -> ExtraPart {
        let mut part = ExtraPart::default();
        self.keep_in(&mut part);
        part
    }

    /// Gives what is left, and the notes, to a part of an extra.
    pub(crate) fn keep_in(self, part: &mut ExtraPart) {
        let (rest, notes, orders) = self.close();
        rest.into_iter().for_each(|(key, value)| part.fields.push(key, value));
        orders.into_iter().for_each(|(path, order)| part.spelling.push(&*note_key(&path), order));
        notes.into_iter().for_each(|(key, value)| part.spelling.push(key, value));
    }

    /// Gives what is left, and the notes, to the part of a format in an extra.
    pub(crate) fn keep(self, format: &str, extra: &mut Extra) {
        let part = self.into_part();
        if part == ExtraPart::default() {
            return;
        }
        let own = extra.part_mut(format);
        part.fields.into_iter().for_each(|(key, value)| own.fields.push(key, value));
        part.spelling.into_iter().for_each(|(key, value)| own.spelling.push(key, value));
    }
}

/// Whether a value is a text that a Rust string can hold.
pub(crate) fn is_text(value: &Json) -> bool {
    matches!(value, Json::String(text) if text.is_sound())
}

/// A count that is spelled as we would.
pub(crate) fn plain_count(number: &Number) -> Option<u64> {
    number.as_u64().filter(|count| count.to_string() == number.as_str())
}
