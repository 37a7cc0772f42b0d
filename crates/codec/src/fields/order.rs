//! The order of keys: when it has to be noted, and how a note is followed.

use std::borrow::Cow;
use std::collections::HashMap;

use turnkeep_model::json::{Json, JsonString, Object, Text};

use super::form::{self, Form, KeyRule};

/// The key of the note on the order of an object's keys; that of an object inside it is `order.<key>`.
pub(super) const ORDER: &str = "order";

/// The key of the note for the object at `path` of its node.
pub(crate) fn note_key(path: &str) -> Cow<'static, str> {
    if path.is_empty() { Cow::Borrowed(ORDER) } else { Cow::Owned(format!("{ORDER}.{path}")) }
}

/// The note on some keys.
pub(crate) fn keys_note<'a>(keys: impl Iterator<Item = &'a JsonString>) -> Json {
    Json::Array(keys.map(|key| Json::String(key.clone())).collect())
}

/// The note on the keys of an object of which nothing is taken, if one is needed.
pub(crate) fn order_of(object: &Object, form: Form) -> Option<Json> {
    let is_usual = is_usual(form, object.iter().map(|(key, _)| (key, form::knows(form, key))));
    (!is_usual).then(|| keys_note(object.iter().map(|(key, _)| key)))
}

/// Whether keys stand as a form says: the known ones in its order, then the others, and none missing that always stands.
pub(super) fn is_usual<'a>(form: Form, keys: impl Iterator<Item = (&'a JsonString, bool)>) -> bool {
    let (mut next, others) = (0, form::others(form).unwrap_or(form.len()));
    let required =
        |from: usize, to: usize| form.get(from..to).unwrap_or_default().iter().any(|(_, rule)| !rule.may_be_missing());
    for (key, is_taken) in keys {
        let (at, next_at) = match form::rule(form, key) {
            Some((_, KeyRule::Noted)) => return false,
            Some((at, rule)) if rule != KeyRule::Taken || is_taken => (at, at + 1),
            None if is_taken => return false,
            _ => (others, others),
        };
        if at < next || required(next, at) {
            return false;
        }
        next = next_at;
    }
    !required(next, form.len())
}

/// How keys stood in a source.
pub(super) enum Order<'a> {
    /// These keys, one after the other.
    Keys(Cow<'a, [Json]>),
    /// Sorted: an older note that does not name them.
    Sorted,
}

impl Order<'_> {
    /// Whether it names a key.
    pub(super) fn names(&self, key: &JsonString) -> bool {
        match self {
            Order::Keys(keys) => keys.iter().any(|own| is_key(own, key)),
            Order::Sorted => true,
        }
    }
}

fn is_key(note: &Json, key: &JsonString) -> bool {
    matches!(note, Json::String(own) if own == key)
}

/// The object with its keys in a noted order, or that of the form.
pub(crate) fn in_order(object: Object, note: Option<&Json>, form: Form) -> Object {
    let order = note.and_then(super::legacy::order_in);
    arranged(object.into_iter().map(|(key, value)| (key, value, true)).collect(), order.as_ref(), form)
}

/// The pairs in a noted order, or that of the form; each says whether it was taken. What the note does not name follows.
pub(super) fn arranged(pairs: Vec<(JsonString, Json, bool)>, order: Option<&Order<'_>>, form: Form) -> Object {
    let usual = |key: &JsonString, is_taken: bool| form::rank(form, key, is_taken);
    let mut ranked: Vec<(usize, (JsonString, Json))> = match order {
        None => pairs.into_iter().map(|(key, value, taken)| (usual(&key, taken), (key, value))).collect(),
        Some(Order::Keys(keys)) => {
            let mut places = Places::new(keys);
            let mut rank =
                |key: &JsonString, taken| places.next(&key.to_text()).unwrap_or_else(|| keys.len() + usual(key, taken));
            pairs.into_iter().map(|(key, value, taken)| (rank(&key, taken), (key, value))).collect()
        }
        Some(Order::Sorted) => {
            let mut pairs: Vec<_> = pairs.into_iter().map(|(key, value, _)| (key, value)).collect();
            pairs.sort_by(|(a, _), (b, _)| a.to_str_lossy().cmp(&b.to_str_lossy()));
            return pairs.into_iter().collect();
        }
    };
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, pair)| pair).collect()
}

/// The places of keys in a note. A key that stands there twice has two, which are given out one after the other.
pub(crate) struct Places<'a> {
    keys: &'a [Json],
    used: Vec<bool>,
    /// A hostile object has many keys: looking each of them up in a list would take quadratic time.
    many: HashMap<String, Vec<usize>>,
}

impl<'a> Places<'a> {
    const FEW: usize = 32;

    /// The places of these keys.
    pub(crate) fn new(keys: &'a [Json]) -> Places<'a> {
        let mut many: HashMap<String, Vec<usize>> = HashMap::new();
        // Few keys are found faster one by one than through a table that has to be made.
        if keys.len() > Places::FEW {
            for (at, key) in keys.iter().enumerate().rev() {
                if let Json::String(key) = key {
                    many.entry(name(&key.to_text())).or_default().push(at);
                }
            }
        }
        Places { keys, used: vec![false; keys.len()], many }
    }

    /// The next place of a key.
    pub(crate) fn next(&mut self, key: &Text<'_>) -> Option<usize> {
        if self.keys.len() > Places::FEW {
            return self.many.get_mut(&name(key))?.pop();
        }
        let is_it = |own: &Json| matches!(own, Json::String(own) if own.to_text() == *key);
        let mut places = self.keys.iter().zip(&mut self.used).enumerate();
        let (at, (_, used)) = places.find(|(_, (own, used))| !**used && is_it(own))?;
        *used = true;
        Some(at)
    }
}

/// What equal keys have in common: the content, or the spelling where no Rust string holds the content.
fn name(key: &Text<'_>) -> String {
    match key.to_str() {
        Ok(text) => text.into_owned(),
        Err(_) => key.clone().into_json_string().escaped().unwrap_or_default().to_owned(),
    }
}
