//! The order of fields in a body, where it is not the one that a writer would choose.

use turnkeep_model::json::{Json, JsonString, Object};

/// What has to be known to give `written` the order of `original`; nothing where it has that order.
///
/// A node has the keys of an object under `keys`, and its children that need something under their key or index.
pub(crate) fn of(original: &Json, written: &Json) -> Option<Json> {
    let mut node = Object::new();
    match (original, written) {
        (Json::Object(original), Json::Object(written)) => {
            let same = original.len() == written.len() && original.iter().zip(written.iter()).all(|(a, b)| a.0 == b.0);
            if !same && !original.has_duplicates() {
                let keys = original.iter().map(|(key, _)| Json::String(key.clone()));
                node.push("keys", keys.collect::<Vec<_>>());
            }
            let children = original.iter().filter_map(|(key, value)| {
                let key = key.to_str().ok()?;
                Some((key.clone().into_owned(), of(value, written.get(&key)?)?))
            });
            put(&mut node, children.collect());
        }
        (Json::Array(original), Json::Array(written)) => {
            let pairs = original.iter().zip(written).enumerate();
            let children = pairs.filter_map(|(index, (a, b))| Some((index.to_string(), of(a, b)?)));
            put(&mut node, children.collect());
        }
        _ => {}
    }
    (!node.is_empty()).then_some(Json::Object(node))
}

fn put(node: &mut Object, children: Vec<(String, Json)>) {
    if !children.is_empty() {
        node.push(
            "in",
            Json::Object(children.into_iter().map(|(key, child)| (JsonString::from(key), child)).collect()),
        );
    }
}

/// Gives a body the order that was noted of it.
pub(crate) fn apply(body: &mut Json, order: &Json) {
    let Some(order) = order.as_object() else { return };
    let children = order.get("in").and_then(Json::as_object);
    match body {
        Json::Object(object) => {
            for (key, value) in object.iter_mut() {
                let child = key.to_str().ok().and_then(|key| children?.get(&key));
                child.into_iter().for_each(|order| apply(value, order));
            }
            if let Some(keys) = order.get("keys").and_then(Json::as_array) {
                arrange(object, keys);
            }
        }
        Json::Array(items) => {
            for (key, order) in children.into_iter().flat_map(Object::iter) {
                let item = key.to_str_lossy().parse().ok().and_then(|index: usize| items.get_mut(index));
                item.into_iter().for_each(|item| apply(item, order));
            }
        }
        _ => {}
    }
}

/// Sorts fields by a list of keys; others come last, as they stand.
fn arrange(object: &mut Object, keys: &[Json]) {
    let rank = |key: &JsonString| {
        keys.iter().position(|own| matches!(own, Json::String(own) if own == key)).unwrap_or(keys.len())
    };
    let mut pairs: Vec<_> = std::mem::take(object).into_iter().collect();
    pairs.sort_by_key(|(key, _)| rank(key));
    *object = pairs.into_iter().collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnkeep_model::json::parse;

    #[test]
    fn a_noted_order_is_given_back() {
        let original = parse(r#"{"b":[1,{"y":1,"x":2}],"a":{"z":0}}"#).unwrap().into_json();
        let written = parse(r#"{"a":{"z":0},"b":[1,{"x":2,"y":1}]}"#).unwrap().into_json();

        let order = of(&original, &written).unwrap();
        let mut body = written;
        apply(&mut body, &order);

        assert_eq!(body, original);
        assert_eq!(of(&original, &original), None);
    }
}
