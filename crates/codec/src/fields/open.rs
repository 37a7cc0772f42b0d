//! Objects of a parsed text, taken apart by known keys.
//!
//! A decoder that says where an error stands reads nodes, which borrow from the text and know their place in it. It asks
//! for all keys of an object at once; of a key that stands more than once the last value counts, as in the programs
//! that write these formats. What is left and how the keys stood is kept as [`Fields`](super::Fields) keeps it.

use turnkeep_model::json::{Fields, Json, Node, Object, Text};

/// An object taken apart.
pub(crate) struct Opened<'a, const N: usize> {
    /// The values of the known keys.
    pub(crate) slots: [Option<Node<'a>>; N],
    /// The other pairs.
    pub(crate) rest: Fields<'a>,
    /// The note on the order of the keys, where the known ones do not stand first and in their order.
    pub(crate) order: Option<Json>,
    /// Known keys that stand more than once, one entry for each value that does not count.
    pub(crate) repeated: Vec<&'static str>,
}

/// Takes an object apart.
pub(crate) fn open<'a, const N: usize>(fields: Fields<'a>, keys: &[&'static str; N]) -> Opened<'a, N> {
    open_by(fields, keys, |own, key| own == key)
}

/// The same, where `same` says which keys are equal.
pub(crate) fn open_by<'a, const N: usize>(
    fields: Fields<'a>,
    keys: &[&'static str; N],
    same: fn(&str, &str) -> bool,
) -> Opened<'a, N> {
    let place = |key: &Text<'_>| {
        let key = key.to_str_lossy();
        keys.iter().position(|own| same(own, &key))
    };
    let is_usual = fields.is_sorted_by_key(|(key, _)| place(key).unwrap_or(N));
    let order = (!is_usual).then(|| keys_of(&fields));
    let mut opened = Opened { slots: [const { None }; N], rest: Vec::new(), order, repeated: Vec::new() };
    for (key, node) in fields {
        let place = place(&key);
        match place.and_then(|place| opened.slots.get_mut(place)) {
            Some(slot) if slot.is_none() => *slot = Some(node),
            Some(slot) => {
                *slot = Some(node);
                opened.repeated.extend(place.and_then(|place| keys.get(place)));
            }
            None => opened.rest.push((key, node)),
        }
    }
    opened
}

fn keys_of(fields: &Fields<'_>) -> Json {
    Json::Array(fields.iter().map(|(key, _)| Json::String(key.clone().into_json_string())).collect())
}

/// Pairs that are kept as they are.
pub(crate) fn kept_pairs(fields: Fields<'_>) -> Object {
    fields.into_iter().map(|(key, node)| (key.into_json_string(), node.into_json())).collect()
}
