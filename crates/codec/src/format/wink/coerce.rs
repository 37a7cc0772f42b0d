//! What the original's parser makes of a value that should be of some type.
//!
//! It is lenient: numbers become text, text becomes numbers, a lone text becomes a list. With `--compat` the values that
//! are written are those it makes; by default values stay as they are and only what it refuses is refused.

use turnkeep_model::json::{Json, Number, Object};

use super::types::{Field, Known, Type, Types};
use super::{clock, python};

/// Why a value is refused: the place in the item, and the original's words.
#[derive(Debug, PartialEq)]
pub(super) struct Refusal {
    pub path: String,
    pub words: String,
}

type Coerced = Result<Json, Refusal>;

/// The item of a dataclass as the original would hold it.
pub(super) fn item(types: &Types, known: &Known, value: &Json, path: &str) -> Coerced {
    let Json::Object(object) = value else { return refuse(path, "expected mapping for dataclass") };
    let fields = match known {
        Known::Dataclass(fields) => fields,
        Known::Generic => return refuse(path, "cannot parse TypeVar field"),
        Known::BuiltIn | Known::Class | Known::Object => return Ok(value.clone()),
    };
    let mut made = Object::new();
    for field in fields {
        made.push(field.key.as_str(), field_value(types, field, object, path)?);
    }
    Ok(Json::Object(made))
}

fn field_value(types: &Types, field: &Field, object: &Object, path: &str) -> Coerced {
    let place = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
    match (object.get(&field.key), &field.default) {
        (Some(value), _) => coerce(types, &field.of, value, &place),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => refuse(path, &format!("Missing required field: {}", python::repr(&field.name))),
    }
}

fn refuse<T>(path: &str, words: &str) -> Result<T, Refusal> {
    Err(Refusal { path: path.to_owned(), words: words.to_owned() })
}

fn coerce(types: &Types, of: &Type, value: &Json, path: &str) -> Coerced {
    if let Type::Union(choices) = of {
        return union(types, choices, value, path);
    }
    match (of, value) {
        (Type::Any, value) => Ok(value.clone()),
        (Type::None, Json::Null) => Ok(Json::Null),
        (Type::None, _) => refuse(path, "expected None"),
        (_, Json::Null) => refuse(path, "value cannot be None"),
        (Type::Literal(choices), value) => literal(choices, value, path),
        (Type::Enum(members), value) => member(members, value, path),
        (Type::Nested(id), value) => match types.resolve(id) {
            Ok(known) => item(types, known, value, path),
            Err(error) => refuse(path, error.what()),
        },
        (Type::List(of), value) => items(value, path)?
            .iter()
            .enumerate()
            .map(|(index, item)| coerce(types, of, item, &format!("{path}[{index}]")))
            .collect::<Result<Vec<_>, _>>()
            .map(Json::Array),
        (Type::Tuple(of), value) => tuple(types, of, value, path),
        (Type::Dict(of), Json::Object(object)) => {
            let pair = |(key, value): (&turnkeep_model::JsonString, &Json)| {
                Ok((key.clone(), coerce(types, of, value, &format!("{path}[{}]", key.to_str_lossy()))?))
            };
            object.iter().map(pair).collect::<Result<Object, _>>().map(Json::Object)
        }
        (Type::Dict(_), _) => refuse(path, "expected mapping"),
        (scalar, value) => match primitive(scalar, value) {
            Some(made) => Ok(made),
            None => refuse(path, "unable to coerce the value"),
        },
    }
}

/// Tried from left to right; a blank text is none where none is allowed.
fn union(types: &Types, choices: &[Type], value: &Json, path: &str) -> Coerced {
    let blank = value.as_str().is_some_and(|text| text.trim().is_empty());
    if (blank || *value == Json::Null) && choices.contains(&Type::None) {
        return Ok(Json::Null);
    }
    let mut last = refuse(path, "no matching type in Union");
    for choice in choices.iter().filter(|choice| **choice != Type::None) {
        last = coerce(types, choice, value, path);
        if last.is_ok() {
            break;
        }
    }
    last
}

fn literal(choices: &[Json], value: &Json, path: &str) -> Coerced {
    let alike = |choice: &&Json| match choice {
        Json::String(_) => primitive(&Type::Str, value).as_ref() == Some(*choice),
        Json::Bool(_) => primitive(&Type::Bool, value).as_ref() == Some(*choice),
        Json::Number(_) => primitive(&Type::Int, value).as_ref() == Some(*choice),
        other => *other == value,
    };
    match choices.iter().find(alike) {
        Some(choice) => Ok(choice.clone()),
        None => refuse(path, "expected one of its literals"),
    }
}

/// The original looks for a name first, and only then for a value.
fn member(members: &[(String, Json)], value: &Json, path: &str) -> Coerced {
    let by_name = members.iter().find(|(name, _)| value.as_str().as_deref() == Some(name.as_str()));
    let found = by_name.or_else(|| members.iter().find(|(_, own)| own == value));
    match found {
        Some((_, own)) => Ok(own.clone()),
        None => refuse(path, "invalid enum value"),
    }
}

/// The items of a list; a lone text is a list of itself.
fn items(value: &Json, path: &str) -> Result<Vec<Json>, Refusal> {
    match value {
        Json::Array(items) => Ok(items.clone()),
        Json::String(_) => Ok(vec![value.clone()]),
        _ => refuse(path, "expected sequence"),
    }
}

fn tuple(types: &Types, of: &[Type], value: &Json, path: &str) -> Coerced {
    let items = items(value, path)?;
    if items.len() != of.len() {
        return refuse(path, &format!("expected {} items", of.len()));
    }
    let made = items.iter().zip(of).enumerate();
    let made = made.map(|(index, (item, of))| coerce(types, of, item, &format!("{path}[{index}]")));
    made.collect::<Result<Vec<_>, _>>().map(Json::Array)
}

fn primitive(of: &Type, value: &Json) -> Option<Json> {
    match of {
        Type::Str if matches!(value, Json::String(_)) => Some(value.clone()),
        Type::Str => Some(Json::from(text(value))),
        Type::Int => int(value),
        Type::Float => float(value),
        Type::Bool => boolean(value),
        Type::Uuid => python::uuid(&text(value)).map(Json::from),
        Type::Datetime => clock::isoformat(&text(value)).map(|_| Json::from(text(value))),
        Type::Text => Some(Json::from(text(value))),
        _ => None,
    }
}

/// What `str` makes of a value.
fn text(value: &Json) -> String {
    match value.as_str() {
        Some(text) => text.into_owned(),
        None => python::repr_of(value),
    }
}

fn int(value: &Json) -> Option<Json> {
    match value {
        // Truth values are numbers for Python, and stay what they are.
        Json::Bool(_) => Some(value.clone()),
        Json::Number(number) if number.as_str().bytes().all(|b| b.is_ascii_digit() || b == b'-') => Some(value.clone()),
        Json::Number(number) => {
            let whole = number.as_f64().trunc();
            whole.is_finite().then(|| Number::parse(&format!("{whole:.0}")).map(Json::from))?
        }
        Json::String(_) => {
            let text = text(value).trim().replace('_', "");
            let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
            let whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            let trimmed = digits.trim_start_matches('0');
            let digits = if trimmed.is_empty() { "0" } else { trimmed };
            let sign = if text.starts_with('-') && digits != "0" { "-" } else { "" };
            whole.then(|| Number::parse(&format!("{sign}{digits}")).map(Json::from))?
        }
        _ => None,
    }
}

fn float(value: &Json) -> Option<Json> {
    match value {
        Json::Number(number) if number.as_str().bytes().all(|b| b.is_ascii_digit() || b == b'-') => {
            Some(Number::from_f64(number.as_f64()).into())
        }
        Json::Number(_) => Some(value.clone()),
        Json::Bool(value) => Some(Number::from_f64(f64::from(u8::from(*value))).into()),
        Json::String(_) => text(value).trim().parse().ok().map(|number: f64| Number::from_f64(number).into()),
        _ => None,
    }
}

fn boolean(value: &Json) -> Option<Json> {
    match value {
        Json::Bool(_) => Some(value.clone()),
        Json::Number(number) => Some((number.as_f64() != 0.0).into()),
        Json::String(_) => match text(value).trim().to_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(true.into()),
            "false" | "0" | "no" | "off" => Some(false.into()),
            _ => None,
        },
        _ => None,
    }
}
