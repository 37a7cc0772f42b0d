//! Checks a value against the JSON schema of a tool or an answer.
//!
//! The keywords that tools are described with are checked; a schema with one that is not is refused when the tool is
//! registered, and whenever a value is checked against it, so that nothing passes unchecked. Other checkers of schemas take
//! their place behind [`SchemaChecker`](crate::port::SchemaChecker).

use regex_lite::Regex;
use turnkeep_model::{Json, Object};

/// Keywords that are checked.
const CHECKED: &[&str] = &[
    "$ref",
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minProperties",
    "maxProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
];

/// Keywords that say something without demanding it.
const ANNOTATIONS: &[&str] = &[
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "example",
    "format",
    "deprecated",
    "readOnly",
    "writeOnly",
    "nullable",
    "propertyOrdering",
    "strict",
];

/// How deep schemas may refer to each other.
const DEPTH: usize = 64;

/// What in a schema cannot be checked, with its place.
///
/// # Errors
/// The first keyword that is not known, or a pattern that is no pattern.
pub fn check_schema(schema: &Json) -> Result<(), String> {
    survey(schema, "")
}

fn survey(schema: &Json, at: &str) -> Result<(), String> {
    let Json::Object(object) = schema else {
        return match schema {
            Json::Bool(_) | Json::Null => Ok(()),
            _ => Err(format!("{}: a schema is an object or a boolean", place(at))),
        };
    };
    for (key, value) in object.iter() {
        let key = key.to_str_lossy();
        let here = format!("{at}/{key}");
        match &*key {
            "properties" | "$defs" | "definitions" => each(value, &here)?,
            "additionalProperties" | "items" | "not" if !matches!(value, Json::Array(_)) => survey(value, &here)?,
            "anyOf" | "oneOf" | "allOf" | "prefixItems" | "items" => all(value, &here)?,
            "pattern" => pattern(value).map(drop).map_err(|error| format!("{here}: {error}"))?,
            other if CHECKED.contains(&other) || ANNOTATIONS.contains(&other) || other.starts_with("x-") => {}
            _ => return Err(format!("{}: the keyword `{key}` is not checked here", place(at))),
        }
    }
    Ok(())
}

fn each(schemas: &Json, at: &str) -> Result<(), String> {
    let Json::Object(object) = schemas else {
        return Err(format!("{at}: expected an object of schemas"));
    };
    object.iter().try_for_each(|(key, schema)| survey(schema, &format!("{at}/{}", key.to_str_lossy())))
}

fn all(schemas: &Json, at: &str) -> Result<(), String> {
    let items = schemas.as_array().ok_or_else(|| format!("{at}: expected an array of schemas"))?;
    items.iter().enumerate().try_for_each(|(index, schema)| survey(schema, &format!("{at}/{index}")))
}

fn place(at: &str) -> &str {
    if at.is_empty() { "the schema" } else { at }
}

fn pattern(value: &Json) -> Result<Regex, String> {
    let text = value.as_str().ok_or("a pattern is a string")?;
    Regex::new(&text).map_err(|error| error.to_string())
}

/// Whether `value` follows `schema`; if not, where and why, at most eight findings.
///
/// # Errors
/// The findings, joined; those of [`check_schema`], because a keyword that is passed over would let anything through.
pub fn check(schema: &Json, value: &Json) -> Result<(), String> {
    check_schema(schema)?;
    let mut check = Check { root: schema, findings: Vec::new() };
    check.value(schema, value, "", 0);
    if check.findings.is_empty() {
        return Ok(());
    }
    check.findings.truncate(8);
    Err(check.findings.join("; "))
}

struct Check<'a> {
    root: &'a Json,
    findings: Vec<String>,
}

impl<'a> Check<'a> {
    fn find(&mut self, at: &str, what: impl std::fmt::Display) {
        let at = if at.is_empty() { "the value" } else { at };
        self.findings.push(format!("{at} {what}"));
    }

    fn passes(&self, schema: &'a Json, value: &Json, depth: usize) -> bool {
        let mut inner = Check { root: self.root, findings: Vec::new() };
        inner.value(schema, value, "", depth);
        inner.findings.is_empty()
    }

    fn value(&mut self, schema: &'a Json, value: &Json, at: &str, depth: usize) {
        if depth > DEPTH {
            return self.find(at, "is nested deeper than a schema may be");
        }
        match schema {
            Json::Object(object) => self.object(object, value, at, depth),
            Json::Bool(false) => self.find(at, "is not allowed"),
            _ => {}
        }
    }

    fn object(&mut self, schema: &'a Object, value: &Json, at: &str, depth: usize) {
        if let Some(target) = schema.get_str("$ref") {
            match self.resolve(&target) {
                Some(target) => self.value(target, value, at, depth + 1),
                None => self.find(at, format_args!("cannot be checked: the schema has no {target}")),
            }
        }
        if let Some(types) = schema.get("type")
            && !is_of(types, value, schema)
        {
            return self.find(at, format_args!("must be {}, and is {}", named(types), value.kind()));
        }
        if let Some(Json::Array(allowed)) = schema.get("enum")
            && !allowed.iter().any(|one| equal(one, value))
        {
            let allowed: Vec<String> = allowed.iter().map(Json::to_text).collect();
            self.find(at, format_args!("must be one of {}", allowed.join(", ")));
        }
        if let Some(only) = schema.get("const")
            && !equal(only, value)
        {
            self.find(at, format_args!("must be {}", only.to_text()));
        }
        self.combined(schema, value, at, depth);
        match value {
            Json::Object(fields) => self.fields(schema, fields, at, depth),
            Json::Array(items) => self.items(schema, items, at, depth),
            Json::String(text) => self.text(schema, &text.to_str_lossy(), at),
            Json::Number(number) => self.number(schema, number.as_f64(), at),
            _ => {}
        }
    }

    fn resolve(&self, target: &str) -> Option<&'a Json> {
        let path = target.strip_prefix('#')?;
        path.split('/').skip(1).try_fold(self.root, |json, step| {
            let step = step.replace("~1", "/").replace("~0", "~");
            match json {
                Json::Object(object) => object.get(&step),
                Json::Array(items) => items.get(step.parse::<usize>().ok()?),
                _ => None,
            }
        })
    }

    fn combined(&mut self, schema: &'a Object, value: &Json, at: &str, depth: usize) {
        let list = |key| schema.get(key).and_then(Json::as_array).unwrap_or_default();
        for one in list("allOf") {
            self.value(one, value, at, depth + 1);
        }
        if schema.contains("anyOf") && !list("anyOf").iter().any(|one| self.passes(one, value, depth + 1)) {
            self.find(at, "follows none of the allowed schemas");
        }
        if schema.contains("oneOf")
            && list("oneOf").iter().filter(|one| self.passes(one, value, depth + 1)).count() != 1
        {
            self.find(at, "must follow exactly one of the allowed schemas");
        }
        if let Some(not) = schema.get("not")
            && self.passes(not, value, depth + 1)
        {
            self.find(at, "follows a schema that it must not");
        }
    }

    fn fields(&mut self, schema: &'a Object, fields: &Object, at: &str, depth: usize) {
        for name in schema.get("required").and_then(Json::as_array).unwrap_or_default() {
            if let Some(name) = name.as_str()
                && !fields.contains(&name)
            {
                self.find(at, format_args!("lacks `{name}`"));
            }
        }
        let known = schema.get("properties").and_then(Json::as_object);
        for (key, value) in fields.iter() {
            let key = key.to_str_lossy();
            let here = format!("{at}/{key}");
            match (known.and_then(|known| known.get(&key)), schema.get("additionalProperties")) {
                (Some(one), _) => self.value(one, value, &here, depth + 1),
                (None, Some(Json::Bool(false))) => self.find(at, format_args!("has `{key}`, which is not allowed")),
                (None, Some(one)) => self.value(one, value, &here, depth + 1),
                (None, None) => {}
            }
        }
        self.bounds(schema, ("minProperties", "maxProperties"), fields.len(), "fields", at);
    }

    fn items(&mut self, schema: &'a Object, items: &[Json], at: &str, depth: usize) {
        let prefix = schema.get("prefixItems").and_then(Json::as_array).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            if let Some(one) = prefix.get(index).or_else(|| schema.get("items")) {
                self.value(one, item, &format!("{at}/{index}"), depth + 1);
            }
        }
        self.bounds(schema, ("minItems", "maxItems"), items.len(), "items", at);
        let repeated = |(index, item): (usize, &Json)| items.iter().take(index).any(|other| equal(other, item));
        if schema.get("uniqueItems").and_then(Json::as_bool) == Some(true) && items.iter().enumerate().any(repeated) {
            self.find(at, "has an item twice");
        }
    }

    fn text(&mut self, schema: &'a Object, text: &str, at: &str) {
        self.bounds(schema, ("minLength", "maxLength"), text.chars().count(), "characters", at);
        if let Some(Ok(regex)) = schema.get("pattern").map(pattern)
            && !regex.is_match(text)
        {
            self.find(at, format_args!("does not match {}", regex.as_str()));
        }
    }

    fn bounds(&mut self, schema: &'a Object, (least, most): (&str, &str), count: usize, what: &str, at: &str) {
        let bound = |key| schema.get(key).and_then(Json::as_number).map(turnkeep_model::Number::as_f64);
        if bound(least).is_some_and(|least| (count as f64) < least) {
            self.find(at, format_args!("has too few {what}"));
        }
        if bound(most).is_some_and(|most| count as f64 > most) {
            self.find(at, format_args!("has too many {what}"));
        }
    }

    fn number(&mut self, schema: &'a Object, number: f64, at: &str) {
        let bound = |key| schema.get(key).and_then(Json::as_number).map(turnkeep_model::Number::as_f64);
        let wrong = [
            bound("minimum").filter(|least| number < *least).map(|least| format!("must be at least {least}")),
            bound("maximum").filter(|most| number > *most).map(|most| format!("must be at most {most}")),
            bound("exclusiveMinimum")
                .filter(|least| number <= *least)
                .map(|least| format!("must be more than {least}")),
            bound("exclusiveMaximum").filter(|most| number >= *most).map(|most| format!("must be less than {most}")),
            bound("multipleOf")
                .filter(|step| ((number / step) - (number / step).round()).abs() > 1e-9)
                .map(|step| format!("must be a multiple of {step}")),
        ];
        wrong.into_iter().flatten().for_each(|what| self.find(at, what));
    }
}

fn is_of(types: &Json, value: &Json, schema: &Object) -> bool {
    let nullable = schema.get("nullable").and_then(Json::as_bool) == Some(true) && *value == Json::Null;
    let fits = |word: &Json| word.as_str().is_some_and(|word| is_type(&word, value));
    nullable || types.as_array().map_or_else(|| fits(types), |types| types.iter().any(fits))
}

fn is_type(word: &str, value: &Json) -> bool {
    match (word.to_ascii_lowercase().as_str(), value) {
        ("null", Json::Null) | ("boolean", Json::Bool(_)) | ("string", Json::String(_)) => true,
        ("array", Json::Array(_)) | ("object", Json::Object(_)) | ("number", Json::Number(_)) => true,
        ("integer", Json::Number(number)) => number.as_f64().fract() == 0.0,
        _ => false,
    }
}

fn named(types: &Json) -> String {
    let word = |json: &Json| json.as_str().map(std::borrow::Cow::into_owned).unwrap_or_default();
    types.as_array().map_or_else(|| word(types), |types| types.iter().map(word).collect::<Vec<_>>().join(" or "))
}

/// Equal as values: `1` and `1.0` are.
fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => turnkeep_model::canon::canonical(a) == turnkeep_model::canon::canonical(b),
    }
}
