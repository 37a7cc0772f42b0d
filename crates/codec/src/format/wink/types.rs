//! Types that a caller knows: what fields the items of a slice have.
//!
//! The original imports the module that a snapshot names. Here nothing is ever imported: a types file says what is to be
//! known, in the words of the original's annotations.

use std::collections::HashMap;

use turnkeep_model::json::{Json, Object, parse};
use turnkeep_model::{Error, ErrorKind, Result};

use super::python;

/// What is known of each type id.
#[derive(Debug, Default)]
pub(super) struct Types(HashMap<String, Known>);

/// What is known under a type id.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Known {
    /// A dataclass with these fields.
    Dataclass(Vec<Field>),
    /// A dataclass of the original whose fields are not checked.
    BuiltIn,
    /// A generic dataclass, which the original cannot read back.
    Generic,
    /// A class that is no dataclass.
    Class,
    /// Something that is no class.
    Object,
}

/// A field of a dataclass.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub name: String,
    /// The key it is stored under.
    pub key: String,
    pub of: Type,
    /// What it is where it is missing; `None` where it must be there.
    pub default: Option<Json>,
}

/// An annotation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Any,
    None,
    Str,
    Int,
    Float,
    Bool,
    Uuid,
    Datetime,
    /// Kept as text: dates, times of day, decimals, paths.
    Text,
    Literal(Vec<Json>),
    Enum(Vec<(String, Json)>),
    List(Box<Type>),
    Tuple(Vec<Type>),
    Dict(Box<Type>),
    Union(Vec<Type>),
    /// A dataclass by its type id.
    Nested(String),
}

/// Types that the original itself stores.
const BUILT_IN: [(&str, Known); 8] = [
    ("weakincentives.runtime.session.visibility_overrides:VisibilityOverrides", Known::BuiltIn),
    ("weakincentives.runtime.session.rendered_tools:RenderedTools", Known::BuiltIn),
    ("weakincentives.runtime.events.types:ToolInvoked", Known::BuiltIn),
    ("weakincentives.runtime.events:PromptExecuted", Known::BuiltIn),
    ("weakincentives.runtime.events:PromptRendered", Known::BuiltIn),
    ("weakincentives.runtime.agent_loop_types:LoopRequestState", Known::Generic),
    ("weakincentives.runtime.agent_loop_types:LoopRawResponse", Known::Generic),
    ("weakincentives.runtime.agent_loop_types:LoopFinalResponse", Known::Generic),
];

/// Where types of older releases are now.
const MOVED: [(&str, &str); 1] = [(
    "weakincentives.prompt.visibility_overrides:VisibilityOverrides",
    "weakincentives.runtime.session.visibility_overrides:VisibilityOverrides",
)];

/// The type id under which a type of an older release is known now.
pub(super) fn moved(id: &str) -> &str {
    MOVED.iter().find(|(old, _)| *old == id).map_or(id, |(_, new)| new)
}

impl Types {
    /// Reads a types file: an object of type ids, each with its `fields`, or with the `kind` of thing it is.
    ///
    /// # Errors
    /// `Corrupt` with the type and field that cannot be understood.
    pub(super) fn read(text: &str) -> Result<Types> {
        Types::read_json(text).map_err(|error| error.file("the types file").hint("put the types file right"))
    }

    fn read_json(text: &str) -> Result<Types> {
        let file = parse(text).map_err(|error| error.locate(text))?.into_json();
        let file = file.as_object().ok_or_else(|| wrong("", "an object of type ids"))?;
        let mut known: HashMap<String, Known> =
            BUILT_IN.iter().map(|(id, known)| ((*id).to_owned(), known.clone())).collect();
        for (id, entry) in file.iter() {
            let id = id.to_str_lossy().into_owned();
            let entry = entry.as_object().ok_or_else(|| wrong(&id, "an object with `fields` or `kind`"))?;
            known.insert(id.clone(), read_known(&id, entry)?);
        }
        Ok(Types(known))
    }

    /// What is known of a type id.
    ///
    /// # Errors
    /// `Corrupt` in the original's words where nothing is.
    pub(super) fn resolve(&self, id: &str) -> Result<&Known> {
        let refuse = |words: String| Err(Error::new(ErrorKind::Corrupt, words));
        let parts = id.split_once(':').filter(|(module, name)| !module.is_empty() && !name.is_empty());
        let Some((module, _)) = parts else {
            return refuse(format!("Invalid type identifier: {}", python::repr(id)));
        };
        match self.0.get(id) {
            Some(Known::Object) => refuse(format!("Resolved object for {} is not a type", python::repr(id))),
            Some(known) => Ok(known),
            None => match self.missing_module(module) {
                Some(missing) => refuse(format!("No module named {}", python::repr(&missing))),
                None => refuse(format!("Type {} could not be resolved", python::repr(id))),
            },
        }
    }

    /// The part of a module's name that no known type is in.
    fn missing_module(&self, module: &str) -> Option<String> {
        let is_known = |wanted: &str| {
            let holds = |id: &String| {
                let own = id.split(':').next().unwrap_or_default();
                own.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            self.0.keys().any(holds)
        };
        let ends = module.match_indices('.').map(|(at, _)| at).chain([module.len()]);
        ends.filter_map(|end| module.get(..end)).find(|prefix| !is_known(prefix)).map(str::to_owned)
    }
}

fn read_known(id: &str, entry: &Object) -> Result<Known> {
    if let Some(kind) = entry.get_str("kind") {
        return match &*kind {
            "class" => Ok(Known::Class),
            "object" => Ok(Known::Object),
            "generic" => Ok(Known::Generic),
            "any" => Ok(Known::BuiltIn),
            _ => Err(wrong(id, "a `kind` of class, object, generic or any")),
        };
    }
    let fields = entry.get("fields").and_then(Json::as_object).ok_or_else(|| wrong(id, "`fields`"))?;
    let field = |(name, spec): (&turnkeep_model::JsonString, &Json)| {
        let name = name.to_str_lossy().into_owned();
        read_field(name.clone(), spec).ok_or_else(|| wrong(&format!("{id}.{name}"), "an annotation"))
    };
    fields.iter().map(field).collect::<Result<_>>().map(Known::Dataclass)
}

fn read_field(name: String, spec: &Json) -> Option<Field> {
    match spec {
        Json::Object(spec) => {
            let of = Type::parse(&spec.get_str("type")?)?;
            let key = spec.get_str("alias").map_or_else(|| name.clone(), std::borrow::Cow::into_owned);
            Some(Field { name, key, of, default: spec.get("default").cloned() })
        }
        other => Some(Field { key: name.clone(), name, of: Type::parse(&other.as_str()?)?, default: None }),
    }
}

fn wrong(place: &str, expected: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("expected {expected}")).path(place)
}

impl Type {
    /// An annotation such as `str`, `tuple[int, ...]`, `Literal['a', 'b'] | None` or the type id of a dataclass.
    fn parse(text: &str) -> Option<Type> {
        let choices = split(text, '|');
        if choices.len() > 1 {
            return choices.into_iter().map(Type::parse).collect::<Option<_>>().map(Type::Union);
        }
        let text = text.trim();
        if let Some((name, inner)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            return Type::parse_generic(name.trim(), inner);
        }
        Some(match text {
            "Any" | "object" => Type::Any,
            "None" => Type::None,
            "str" => Type::Str,
            "int" => Type::Int,
            "float" => Type::Float,
            "bool" => Type::Bool,
            "UUID" => Type::Uuid,
            "datetime" => Type::Datetime,
            "date" | "time" | "Decimal" | "Path" => Type::Text,
            id if id.contains(':') => Type::Nested(id.to_owned()),
            _ => return None,
        })
    }

    fn parse_generic(name: &str, inner: &str) -> Option<Type> {
        let parts = split(inner, ',');
        let first = || parts.first().and_then(|part| Type::parse(part)).map(Box::new);
        match name {
            "list" | "set" | "frozenset" | "Sequence" => first().map(Type::List),
            "tuple" if parts.last().is_some_and(|last| last.trim() == "...") => first().map(Type::List),
            "tuple" => parts.iter().map(|part| Type::parse(part)).collect::<Option<_>>().map(Type::Tuple),
            "dict" | "Mapping" => Type::parse(parts.get(1)?).map(Box::new).map(Type::Dict),
            "Literal" => parts.iter().map(|part| literal(part)).collect::<Option<_>>().map(Type::Literal),
            "Enum" => parts.iter().map(|part| member(part)).collect::<Option<_>>().map(Type::Enum),
            _ => None,
        }
    }
}

/// `NAME='value'`.
fn member(text: &str) -> Option<(String, Json)> {
    let (name, value) = text.split_once('=')?;
    Some((name.trim().to_owned(), literal(value)?))
}

fn literal(text: &str) -> Option<Json> {
    let text = text.trim();
    let quoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    match quoted('\'').or_else(|| quoted('"')) {
        Some(inner) => Some(inner.into()),
        None => match text {
            "True" => Some(true.into()),
            "False" => Some(false.into()),
            number => parse(number).ok().map(turnkeep_model::json::Node::into_json),
        },
    }
}

/// Splits at a sign that stands outside of brackets and quotes.
fn split(text: &str, sign: char) -> Vec<&str> {
    let (mut depth, mut quote, mut start, mut parts) = (0, None, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => depth -= 1,
            (None, c) if c == sign && depth == 0 => {
                parts.extend(text.get(start..at));
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.extend(text.get(start..));
    parts
}
