//! Documents with their keys disturbed: the same values under the same keys, in another order, or with keys that nobody
//! knows.
//!
//! A codec that keeps foreign bytes has to give each of them back as it is, so both the laws and the frozen documents are
//! made of these.

use turnkeep_model::json::{self, Json, JsonString, Nan, Node, Object};

/// The pairs of an object.
type Pairs = Vec<(JsonString, Json)>;

/// A way to disturb the keys of every object in a document.
pub struct Disturbance {
    /// What is done.
    pub name: &'static str,
    change: fn(&mut Pairs),
}

/// Every disturbance, none at all first.
pub const DISTURBANCES: &[Disturbance] = &[
    Disturbance { name: "as it is", change: |_| {} },
    Disturbance { name: "reversed", change: |pairs| pairs.reverse() },
    Disturbance { name: "sorted", change: sort },
    Disturbance { name: "rotated", change: rotate },
    Disturbance { name: "unknown key first", change: |pairs| insert(pairs, 0, "x_unknown") },
    Disturbance { name: "unknown key last", change: |pairs| insert(pairs, pairs.len(), "x_unknown") },
    Disturbance { name: "key with a space", change: |pairs| insert(pairs, pairs.len() / 2, "a key") },
    Disturbance { name: "key with a dot", change: |pairs| insert(pairs, pairs.len() / 2, "a.b") },
    Disturbance { name: "empty key", change: |pairs| insert(pairs, 0, "") },
    Disturbance { name: "key with quotes", change: |pairs| insert(pairs, pairs.len() / 2, "\"quoted\" \\ 'key'") },
    Disturbance { name: "key with controls", change: |pairs| insert(pairs, pairs.len() / 2, "\u{0}\u{1f}\n\t\u{7f}") },
    Disturbance {
        name: "key with half a pair",
        change: |pairs| pairs.insert(pairs.len() / 2, (half_a_pair(), UNKNOWN.into())),
    },
    Disturbance {
        name: "all kinds of keys, reversed",
        change: |pairs| {
            insert(pairs, 0, "order");
            insert(pairs, 1, "keys in.order #");
            insert(pairs, pairs.len() / 2, "a key");
            insert(pairs, pairs.len(), "");
            insert(pairs, pairs.len(), "a.b");
            pairs.reverse();
        },
    },
];

/// What stands under a key that nobody knows.
const UNKNOWN: &str = "kept";

fn sort(pairs: &mut Pairs) {
    pairs.sort_by(|(a, _), (b, _)| a.to_str_lossy().cmp(&b.to_str_lossy()));
}

fn rotate(pairs: &mut Pairs) {
    if !pairs.is_empty() {
        pairs.rotate_left(1);
    }
}

fn insert(pairs: &mut Pairs, at: usize, key: &str) {
    pairs.insert(at, (JsonString::from(key), UNKNOWN.into()));
}

/// A key that no Rust string holds.
fn half_a_pair() -> JsonString {
    let key = json::parse(r#"{"half \ud800 key":0}"#).ok().map(Node::into_json);
    let key =
        key.as_ref().and_then(Json::as_object).and_then(|object| object.iter().next()).map(|(key, _)| key.clone());
    key.unwrap_or_else(|| JsonString::from("half"))
}

impl Disturbance {
    /// The document with the keys of every object disturbed. An object with a key twice keeps its pairs as they are.
    pub fn everywhere(&self, json: &Json) -> Json {
        self.at(json, &mut |_| true)
    }

    /// The document with the keys of its `index`th object disturbed, counted from the outside to the inside.
    pub fn only(&self, json: &Json, index: usize) -> Json {
        self.at(json, &mut |at| at == index)
    }

    fn at(&self, json: &Json, wanted: &mut dyn FnMut(usize) -> bool) -> Json {
        let mut seen = 0;
        self.walk(json, &mut seen, wanted)
    }

    fn walk(&self, json: &Json, seen: &mut usize, wanted: &mut dyn FnMut(usize) -> bool) -> Json {
        match json {
            Json::Array(items) => Json::Array(items.iter().map(|item| self.walk(item, seen, wanted)).collect()),
            Json::Object(object) => {
                let own = *seen;
                *seen += 1;
                let mut pairs: Pairs =
                    object.iter().map(|(key, value)| (key.clone(), self.walk(value, seen, wanted))).collect();
                if wanted(own) && !object.has_duplicates() {
                    (self.change)(&mut pairs);
                }
                Json::Object(pairs.into_iter().collect::<Object>())
            }
            other => other.clone(),
        }
    }
}

/// The document with the keys of every object sorted.
pub fn sorted(json: &Json) -> Json {
    Disturbance { name: "sorted", change: sort }.everywhere(json)
}

/// The document with the keys of every object in the opposite order.
pub fn reversed(json: &Json) -> Json {
    Disturbance { name: "reversed", change: |pairs| pairs.reverse() }.everywhere(json)
}

/// The documents of a text: one JSON document, or one on each line; none where it is no JSON.
pub fn documents(input: &[u8]) -> Option<Vec<Json>> {
    let text = std::str::from_utf8(input).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match parsed(text) {
        Some(document) => Some(vec![document]),
        None => text.lines().filter(|line| !line.trim().is_empty()).map(parsed).collect(),
    }
}

fn parsed(text: &str) -> Option<Json> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    is_json.then(|| json::parse_with(text, Nan::Accept).ok().map(Node::into_json)).flatten()
}
