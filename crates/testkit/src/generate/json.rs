//! JSON values with everything that other JSON readers change.

use proptest::prelude::*;
use proptest::{collection, sample};
use turnkeep_model::json::{self, Json, JsonString, Number, Object};

use super::text;

/// Numbers as some source spelled them.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "1.0",
    "2.0",
    "0.1",
    "-0.0",
    "1e3",
    "1E+3",
    "1e-7",
    "1e400",
    "-1e400",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551616",
    "0.1000",
    "100",
    "NaN",
    "Infinity",
    "-Infinity",
];

/// Spellings of strings that no Rust string can hold, or that are written with needless escapes.
const SPELLINGS: &[&str] =
    &[r"\ud800", r"\udc00", r"a\ud83d", r"\ude00\ud83d", r"\u00e9", r"\/", r"\u0061", r"\ud83d\ude00", r"\uD800x"];

/// Keys; few of them, so that some repeat.
const KEYS: &[&str] = &["a", "b", "id", "type", "text", "b", "extra", "a.b", "a[0]", "sum", "turnkeep"];

/// Any number.
pub fn number() -> BoxedStrategy<Number> {
    let odd = sample::select(NUMBERS).prop_filter_map("a number", Number::parse);
    prop_oneof![
        3 => odd,
        2 => any::<i32>().prop_map(|value| Number::from(i64::from(value))),
        1 => any::<i64>().prop_map(Number::from),
        1 => any::<f64>().prop_map(Number::from_f64),
    ]
    .boxed()
}

/// Any string, half surrogate pairs and needless escapes included.
pub fn json_string() -> BoxedStrategy<JsonString> {
    let spelled = sample::select(SPELLINGS).prop_filter_map("a spelling", spelled);
    prop_oneof![8 => text().prop_map(JsonString::from), 1 => spelled].boxed()
}

fn spelled(spelling: &str) -> Option<JsonString> {
    match json::parse(&format!("\"{spelling}\"")).ok()?.into_json() {
        Json::String(text) => Some(text),
        _ => None,
    }
}

fn key() -> BoxedStrategy<JsonString> {
    prop_oneof![4 => sample::select(KEYS).prop_map(JsonString::from), 3 => json_string()].boxed()
}

/// Any value: repeated keys, odd numbers, strings that no Rust string can hold, nesting, empty containers.
pub fn json() -> BoxedStrategy<Json> {
    tree(leaf(json_string()), key(), |pairs| pairs)
}

/// Any value that every syntax can hold.
pub fn plain_json() -> BoxedStrategy<Json> {
    tree(leaf(text().prop_map(JsonString::from).boxed()), plain_key(), without_repetition)
}

fn plain_key() -> BoxedStrategy<JsonString> {
    prop_oneof![4 => sample::select(KEYS).prop_map(str::to_owned), 3 => text()].prop_map(JsonString::from).boxed()
}

fn leaf(strings: BoxedStrategy<JsonString>) -> BoxedStrategy<Json> {
    prop_oneof![
        1 => Just(Json::Null),
        1 => any::<bool>().prop_map(Json::Bool),
        2 => number().prop_map(Json::Number),
        4 => strings.prop_map(Json::String),
        1 => Just(Json::Array(Vec::new())),
        1 => Just(Json::Object(Object::new())),
    ]
    .boxed()
}

type Pairs = Vec<(JsonString, Json)>;

fn tree(leaf: BoxedStrategy<Json>, key: BoxedStrategy<JsonString>, tidy: fn(Pairs) -> Pairs) -> BoxedStrategy<Json> {
    let grow = move |inner: BoxedStrategy<Json>| {
        let pairs = collection::vec((key.clone(), inner.clone()), 0..5);
        prop_oneof![
            collection::vec(inner, 0..4).prop_map(Json::Array),
            pairs.prop_map(move |pairs| Json::Object(tidy(pairs).into_iter().collect())),
        ]
    };
    leaf.prop_recursive(4, 16, 4, grow).boxed()
}

fn without_repetition(pairs: Pairs) -> Pairs {
    let mut kept: Pairs = Vec::new();
    for (key, value) in pairs {
        if kept.iter().all(|(known, _)| *known != key) {
            kept.push((key, value));
        }
    }
    kept
}

/// Any object; empty half of the time.
pub fn object() -> BoxedStrategy<Object> {
    let pairs = collection::vec((key(), json()), 1..4).prop_map(|pairs| pairs.into_iter().collect());
    prop_oneof![3 => Just(Object::new()), 1 => pairs].boxed()
}
