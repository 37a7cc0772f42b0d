//! Objects that are being written.

use std::borrow::Cow;

use turnkeep_model::json::{Json, JsonString, Object};
use turnkeep_model::{Extra, ExtraPart};

use super::form::{self, Form, KeyRule};
use super::legacy;
use super::order::arranged;

static NOTHING: Object = Object::new();

/// What an extra keeps of an object of its node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept<'a> {
    fields: &'a Object,
    notes: &'a Object,
    /// The notes of the whole node, where those on order stand.
    spelling: &'a Object,
    /// Where the object stands in its node.
    path: &'a str,
    /// Which fields belong to another object of the node.
    hidden: fn(&JsonString) -> bool,
}

impl<'a> Kept<'a> {
    /// What an extra keeps of a format.
    pub(crate) fn of(extra: &'a Extra, format: &str) -> Kept<'a> {
        Kept::of_part(extra.part(format))
    }

    /// What a part of an extra keeps.
    pub(crate) fn of_part(part: Option<&'a ExtraPart>) -> Kept<'a> {
        let (fields, spelling) = part.map_or((&NOTHING, &NOTHING), |part| (&part.fields, &part.spelling));
        Kept { fields, notes: spelling, spelling, path: "", hidden: |_| false }
    }

    /// What is kept of the object at a path of the node: `key`, or `key.key`.
    pub(crate) fn at(self, path: &'a str) -> Kept<'a> {
        let step = |object: &'a Object, key| object.get(key).and_then(Json::as_object).unwrap_or(&NOTHING);
        let keys = || path.split('.').filter(|key| !key.is_empty());
        let (fields, notes) = (keys().fold(self.fields, step), keys().fold(self.notes, step));
        Kept { fields, notes, path, ..self }
    }

    /// What the notes keep of an object, under the first key of `path`; `path` is that of its order.
    pub(crate) fn in_notes(self, path: &'a str) -> Kept<'a> {
        let key = path.split('.').next().unwrap_or(path);
        let fields = self.notes.get(key).and_then(Json::as_object).unwrap_or(&NOTHING);
        Kept { fields, notes: &NOTHING, path, ..self }
    }

    /// The same without fields that are not of this object.
    pub(crate) fn without(self, hidden: fn(&JsonString) -> bool) -> Kept<'a> {
        Kept { hidden, ..self }
    }

    /// What the source had under a key and was not taken, or is left of it.
    pub(crate) fn field(self, key: &str) -> Option<&'a Json> {
        self.fields.get(key)
    }

    /// A note on how the source spelled something.
    pub(crate) fn note(self, key: &str) -> Option<&'a Json> {
        self.notes.get(key)
    }

    /// A note that is a word.
    pub(crate) fn word(self, key: &str) -> Option<Cow<'a, str>> {
        self.note(key)?.as_str()
    }

    /// Whether a note is this word.
    pub(crate) fn is(self, key: &str, word: &str) -> bool {
        self.word(key).is_some_and(|own| own == word)
    }

    /// Whether the source did not have a field that always is there.
    pub(crate) fn lacks(self, key: &str) -> bool {
        let absent = self.note("absent").and_then(Json::as_array).unwrap_or_default();
        absent.iter().any(|name| name.as_str().as_deref() == Some(key))
    }

    /// Whether nothing is kept.
    pub(crate) fn is_empty(self) -> bool {
        self.fields.is_empty() && self.notes.is_empty()
    }

    /// The note on the order of the keys.
    pub(crate) fn order_note(self) -> Option<&'a Json> {
        legacy::note(self.spelling, self.path)
    }

    /// An object that says this, with what is kept, in its order.
    pub(crate) fn complete(self, object: Object, form: Form) -> Object {
        let mut writer = Writer::new(self, form);
        object.into_iter().for_each(|(key, value)| writer.push(key, value, Weight::Said));
        writer.finish()
    }
}

/// How much a value weighs against one that the source had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// The session says it.
    Said,
    /// An inner object, of which what is left in the source is part already; any other value of the source counts more.
    Inner,
    /// It follows from the rest: what the source had counts more, and so does that the source left it out.
    Derived,
}

/// An object that is being written.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    form: Form,
    kept: Kept<'a>,
    made: Vec<(JsonString, Json, Weight)>,
}

impl<'a> Writer<'a> {
    /// Begins to write an object of which something is kept.
    pub(crate) fn new(kept: Kept<'a>, form: Form) -> Writer<'a> {
        Writer { form, kept, made: Vec::new() }
    }

    /// What is kept of it.
    pub(crate) fn kept(&self) -> Kept<'a> {
        self.kept
    }

    fn push(&mut self, key: impl Into<JsonString>, value: impl Into<Json>, weight: Weight) {
        self.made.push((key.into(), value.into(), weight));
    }

    /// Says a field.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Json>) {
        self.push(key, value, Weight::Said);
    }

    /// Says a field if there is something to say.
    pub(crate) fn set_some(&mut self, key: &str, value: Option<impl Into<Json>>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Says what follows from the rest; it gives way to what the source had.
    pub(crate) fn derive(&mut self, key: &str, value: impl Into<Json>) {
        self.push(key, value, Weight::Derived);
    }

    /// Says an inner value that gives way where the source had something else than a map.
    pub(crate) fn hold(&mut self, key: &str, value: impl Into<Json>) {
        self.push(key, value, Weight::Inner);
    }

    /// Says a field that always holds the same word, unless the source had another or none.
    pub(crate) fn constant(&mut self, key: &str, word: &str) {
        if !self.kept.lacks(key) && self.kept.field(key).is_none() {
            self.set(key, word);
        }
    }

    /// Says an object made of these fields and of what is left of the one in the source; nothing where there are none.
    pub(crate) fn nest(&mut self, key: &'static str, inner: Object, form: Form) {
        if !inner.is_empty() {
            self.set(key, self.kept.at(key).complete(inner, form));
        }
    }

    /// The object: what is said, what is kept, and what always stands, in the source's order or that of the form.
    pub(crate) fn finish(self) -> Object {
        let Writer { form, kept, made } = self;
        let order = kept.order_note().and_then(legacy::order_in);
        // Without a note everything stands that the form has, but for what stands only where a note names it.
        let is_usual = |key: &JsonString| form::rule(form, key).is_some_and(|(_, rule)| rule != KeyRule::Noted);
        let is_named = |key: &JsonString| order.as_ref().map_or_else(|| is_usual(key), |order| order.names(key));
        let mut pairs: Vec<(JsonString, Json, bool)> = Vec::with_capacity(made.len() + kept.fields.len());
        // What the session says comes first, so that what only follows can see it and give way.
        let (said, other): (Vec<_>, Vec<_>) = made.into_iter().partition(|(.., weight)| *weight == Weight::Said);
        for (key, value, weight) in said.into_iter().chain(other) {
            let stands = match weight {
                // A key that stood twice was not taken.
                Weight::Said => kept.fields.iter().filter(|(own, _)| **own == key).count() < 2,
                _ if pairs.iter().any(|(own, ..)| *own == key) => false,
                Weight::Inner => {
                    let own = kept.fields.iter().rfind(|(own, _)| **own == key);
                    is_named(&key) && own.is_none_or(|(_, own)| is_rest(own))
                }
                Weight::Derived => is_named(&key) && !kept.fields.iter().any(|(own, _)| *own == key),
            };
            if stands {
                pairs.push((key, value, true));
            }
        }
        let own = pairs.len();
        for (key, value) in kept.fields.iter() {
            if !(kept.hidden)(key) && !pairs.iter().take(own).any(|(made, ..)| made == key) {
                pairs.push((key.clone(), value.clone(), false));
            }
        }
        for (name, rule) in form {
            let Some(value) = rule.value() else { continue };
            let key = JsonString::from(*name);
            if is_named(&key) && !pairs.iter().any(|(made, ..)| *made == key) {
                pairs.push((key, value, true));
            }
        }
        if form::others(form).is_some() {
            // What was taken only in part stands where the rest of it stood.
            let place = |key: &JsonString| kept.fields.iter().position(|(own, _)| own == key && !(kept.hidden)(own));
            pairs.iter_mut().for_each(|(key, _, is_taken)| *is_taken = *is_taken && place(key).is_none());
            pairs.sort_by_key(|(key, ..)| place(key).unwrap_or(usize::MAX));
        }
        arranged(pairs, order.as_ref(), form)
    }
}

/// Whether a kept value is what is left of an object.
fn is_rest(value: &Json) -> bool {
    matches!(value, Json::Object(rest) if !rest.is_empty())
}
