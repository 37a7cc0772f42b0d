//! Calls whose arguments are streamed: values at paths, of which texts go on.

use turnkeep_model::json::{Json, Object};

use super::spelled;

/// The call of a part that says that it goes on.
pub(super) fn open_call(part: &mut Json) -> Option<&mut Object> {
    let Json::Object(part) = part else { return None };
    let key = spelled(part, "functionCall")?;
    let call = part.iter_mut().find_map(|(own, value)| match value {
        Json::Object(call) if own.to_str_lossy() == key => Some(call),
        _ => None,
    })?;
    (goes_on(call)).then_some(call)
}

fn goes_on(call: &Object) -> bool {
    spelled(call, "willContinue").and_then(|key| call.get(key)).and_then(Json::as_bool) == Some(true)
}

/// The call of a part that goes on with another one: it has no name of its own.
pub(super) fn piece(part: &Json) -> Option<&Object> {
    let part = part.as_object()?;
    let call = part.get(spelled(part, "functionCall")?)?.as_object()?;
    (!call.contains("name")).then_some(call)
}

/// Adds a piece to a call, and says what a screen can show of it.
pub(super) fn join(call: &mut Object, piece: &Object) -> String {
    let mut shown = String::new();
    let key = spelled(piece, "partialArgs").unwrap_or("partialArgs");
    for argument in piece.get(key).and_then(Json::as_array).unwrap_or_default() {
        let Some(argument) = argument.as_object() else { continue };
        shown.push_str(&set(call, argument));
    }
    if !goes_on(piece) {
        ["willContinue", "will_continue"].iter().for_each(|key| drop(call.remove(key)));
        if !call.contains("args") {
            call.push("args", Object::new());
        }
    }
    shown
}

/// Sets the value of one argument, or lets its text go on.
fn set(call: &mut Object, argument: &Object) -> String {
    let path = spelled(argument, "jsonPath").and_then(|key| argument.get_str(key)).unwrap_or_default().into_owned();
    let values = ["stringValue", "numberValue", "boolValue", "nullValue"];
    let found = values.iter().find_map(|key| Some((*key, argument.get(spelled(argument, key)?)?.clone())));
    let Some((kind, value)) = found else { return String::new() };
    let value = if kind == "nullValue" { Json::Null } else { value };
    let mut args =
        call.remove("args").filter(|args| args.as_object().is_some()).unwrap_or_else(|| Object::new().into());
    let shown = value.as_str().map_or_else(|| value.to_text(), std::borrow::Cow::into_owned);
    put(&mut args, &steps(&path), value);
    call.push("args", args);
    shown
}

/// A step of a path, as in `$.places[0].name`.
#[derive(Debug, PartialEq, Eq)]
enum PathSegment {
    Key(String),
    Index(usize),
}

/// The most elements that a path may call for: a wrong one must not take all memory.
const MOST: usize = 10_000;

fn steps(path: &str) -> Vec<PathSegment> {
    let words = path.trim_start_matches('$').split(['.', '[']).filter(|word| !word.is_empty());
    let step = |word: &str| match word.strip_suffix(']') {
        Some(inner) => match inner.parse() {
            Ok(index) => PathSegment::Index(index),
            Err(_) => PathSegment::Key(inner.trim_matches(['\'', '"']).to_owned()),
        },
        None => PathSegment::Key(word.to_owned()),
    };
    words.map(step).collect()
}

/// Puts a value where some steps lead; a text goes on where one stands.
fn put(place: &mut Json, steps: &[PathSegment], value: Json) {
    match (steps, &mut *place) {
        ([], Json::String(before)) if value.as_str().is_some() => {
            let text = before.to_str_lossy().into_owned() + &value.as_str().unwrap_or_default();
            *place = Json::from(text);
        }
        ([], _) => *place = value,
        ([PathSegment::Key(key), rest @ ..], Json::Object(object)) => {
            let mut inner = object.get(key).cloned().unwrap_or_else(|| empty(rest));
            put(&mut inner, rest, value);
            object.set(key, inner);
        }
        ([PathSegment::Index(index), rest @ ..], Json::Array(items)) if *index < MOST => {
            while items.len() <= *index {
                items.push(empty(rest));
            }
            if let Some(item) = items.get_mut(*index) {
                put(item, rest, value);
            }
        }
        _ => {}
    }
}

/// What stands where more steps lead, before anything is put there.
fn empty(rest: &[PathSegment]) -> Json {
    match rest.first() {
        Some(PathSegment::Key(_)) => Object::new().into(),
        Some(PathSegment::Index(_)) => Json::Array(Vec::new()),
        None => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnkeep_model::json::parse;

    #[test]
    fn values_are_put_where_their_paths_lead_and_texts_go_on() {
        let mut args = Json::Object(Object::new());
        let table = [
            ("$.city", "\"Be\""),
            ("$.city", "\"rn\""),
            ("$.days[1].max", "3.50"),
            ("$['a b']", "true"),
            ("$.x[99999999]", "1"),
        ];
        for (path, value) in table {
            put(&mut args, &steps(path), parse(value).unwrap().into_json());
        }

        assert_eq!(args.to_text(), r#"{"city":"Bern","days":[{},{"max":3.50}],"a b":true,"x":[]}"#);
    }
}
