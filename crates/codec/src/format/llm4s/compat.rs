//! What the library itself makes of a file: its refusals word for word, and otherwise what it would save again.

use turnkeep_model::json::{self, Json, JsonString, Node, Number, Object, Value};

use super::options::parse_effort;
use super::{java, status, ujson, usage};

/// A verdict: what the library would save, or its message.
type Verdict<T> = Result<T, String>;

/// Parses a text as the library does.
pub(super) fn parse(text: &str) -> Verdict<Json> {
    ujson::check(text)?;
    let node = json::parse(text).map_err(|error| error.to_string())?;
    settle(node)
}

/// The value with its numbers as doubles, its strings without escapes and no key twice.
fn settle(node: Node<'_>) -> Verdict<Json> {
    Ok(match node.value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(value),
        Value::Number(text) => settle_number(&text)?,
        Value::Text(text) => Json::from(settle_text(text)),
        Value::Array(items) => Json::Array(items.into_iter().map(settle).collect::<Verdict<_>>()?),
        Value::Object(fields) => {
            let mut object = Object::new();
            let mut names = std::collections::HashSet::new();
            for (key, node) in fields {
                let (key, value) = (settle_text(key), settle(node)?);
                if names.insert(key.clone()) {
                    object.push(key, value);
                } else {
                    object.set(&key, value);
                }
            }
            Json::Object(object)
        }
    })
}

fn settle_text(text: json::Text<'_>) -> String {
    let (text, verdict) = text.into_string_lossy();
    if verdict.is_err() { text.replace('\u{fffd}', "?") } else { text }
}

/// Whole numbers must fit 64 bits, or the parser throws them back.
fn settle_number(text: &str) -> Verdict<Json> {
    let whole = !text.contains(['.', 'e', 'E']);
    if whole && text.parse::<i64>().is_err() {
        return Err(text.to_owned());
    }
    let value: f64 = text.parse().unwrap_or_default();
    if value.is_infinite() {
        return Ok(Json::from(if value > 0.0 { "Infinity" } else { "-Infinity" }));
    }
    Ok(Json::Number(spelled(&java::number(text))))
}

fn spelled(text: &str) -> Number {
    Number::parse(text).unwrap_or_else(|| Number::from(0_u64))
}

/// What the library saves of a state that it loaded.
pub(super) fn state(root: &Json) -> Verdict<Json> {
    let root = object(root)?;
    let mut state = Object::new();
    state.push("conversation", conversation(key(root, "conversation")?)?);
    state.push("initialQuery", string_or_null(key(root, "initialQuery")?));
    state.push("status", standing(key(root, "status")?)?);
    state.push("logs", logs(key(root, "logs")?)?);
    state.push("systemMessage", string_or_null(key(root, "systemMessage")?));
    state.push("completionOptions", options(key(root, "completionOptions")?)?);
    state.push("usageSummary", root.get("usageSummary").map_or(Ok(Json::Object(Object::new())), summary)?);
    Ok(Json::Object(state))
}

/// What the library saves of a session that it loaded with every tool that it names.
pub(super) fn session(root: &Json) -> Verdict<Json> {
    let root = object(root)?;
    let mut session = Object::new();
    session.push("sessionId", string(key(root, "sessionId")?)?);
    session.push("sessionDir", string(key(root, "sessionDir")?)?);
    let created = string(key(root, "created")?)?;
    let time = created.as_str().and_then(|text| java::respell_time(&text));
    session.push("created", time.ok_or("the text could not be parsed as a local time")?);
    session.push("agentState", agent(key(root, "agentState")?)?);
    Ok(Json::Object(session))
}

fn agent(value: &Json) -> Verdict<Json> {
    if *value == Json::Null {
        return Ok(Json::Null);
    }
    let from = object(value)?;
    let mut agent = Object::new();
    agent.push("conversation", conversation(key(from, "conversation")?)?);
    agent.push("initialQuery", from.get("initialQuery").map_or(Json::Null, string_or_null));
    agent.push("status", standing(key(from, "status")?)?);
    agent.push("logs", logs(key(from, "logs")?)?);
    let names = from.get("toolNames").and_then(Json::as_array).unwrap_or_default();
    let names = names.iter().filter(|name| matches!(name, Json::String(_))).cloned();
    agent.push("toolNames", names.collect::<Vec<_>>());
    Ok(Json::Object(agent))
}

fn invalid(wanted: &str, value: &Json) -> String {
    format!("Expected ujson.{wanted} (data: {value})")
}

fn object(value: &Json) -> Verdict<&Object> {
    value.as_object().ok_or_else(|| invalid("Obj", value))
}

fn key<'a>(object: &'a Object, key: &str) -> Verdict<&'a Json> {
    object.get(key).ok_or_else(|| format!("key not found: {key}"))
}

fn string(value: &Json) -> Verdict<Json> {
    match value {
        Json::String(_) => Ok(value.clone()),
        _ => Err(invalid("Str", value)),
    }
}

fn string_or_null(value: &Json) -> Json {
    string(value).unwrap_or_default()
}

/// How the library's typed readers name what they did not expect.
fn got(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "float64",
        Json::String(_) => "string",
        Json::Array(_) => "sequence",
        Json::Object(_) => "dictionary",
    }
}

fn unexpected(wanted: &str, value: &Json) -> String {
    format!("expected {wanted} got {}", got(value))
}

/// A sequence; null is taken as it is.
fn sequence(value: &Json, item: impl Fn(&Json) -> Verdict<Json>) -> Verdict<Json> {
    match value {
        Json::Null => Ok(Json::Null),
        Json::Array(items) => Ok(Json::Array(items.iter().map(item).collect::<Verdict<_>>()?)),
        _ => Err(unexpected("sequence", value)),
    }
}

fn conversation(value: &Json) -> Verdict<Json> {
    let from = match value {
        Json::Null => return Ok(Json::Null),
        Json::Object(object) => object,
        _ => return Err(unexpected("dictionary", value)),
    };
    let Some(messages) = from.get("messages") else {
        return Err("missing keys in dictionary: messages".to_owned());
    };
    Ok(pairs([("messages", sequence(messages, message)?)]))
}

fn pairs<const N: usize>(pairs: [(&str, Json); N]) -> Json {
    Json::Object(pairs.into_iter().collect())
}

fn message(value: &Json) -> Verdict<Json> {
    let from = object(value)?;
    let kind = string(key(from, "type")?)?;
    let text = |name: &str| string(key(from, name)?);
    match kind.as_str().as_deref().unwrap_or_default() {
        "user" | "system" => Ok(pairs([("content", text("content")?)])).map(|message| typed(kind, message)),
        "assistant" => Ok(typed(kind, pairs([("data", assistant(key(from, "data")?)?)]))),
        "tool" => {
            let content = text("content")?;
            Ok(typed(kind, pairs([("toolCallId", text("toolCallId")?), ("content", content)])))
        }
        other => Err(format!("{other} (of class java.lang.String)")),
    }
}

fn typed(kind: Json, message: Json) -> Json {
    let rest = match message {
        Json::Object(object) => object,
        _ => Object::new(),
    };
    Json::Object(std::iter::once((JsonString::from("type"), kind)).chain(rest).collect())
}

fn assistant(value: &Json) -> Verdict<Json> {
    let from = object(value)?;
    let content = from.get("contentOpt").map_or(Json::Null, string_or_null);
    let calls = from.get("toolCalls").map_or(Ok(Json::Array(Vec::new())), |calls| sequence(calls, tool_call))?;
    Ok(pairs([("contentOpt", content), ("toolCalls", calls)]))
}

fn tool_call(value: &Json) -> Verdict<Json> {
    let Json::Object(from) = value else { return Err(unexpected("dictionary", value)) };
    let mut call = Object::new();
    // The reader meets keys in the order of the file, so the first bad one is what it speaks of.
    for (name, value) in from.iter() {
        if matches!(&*name.to_str_lossy(), "id" | "name") {
            word(value)?;
        }
    }
    let lacking: Vec<_> = ["id", "name", "arguments"].into_iter().filter(|name| !from.contains(name)).collect();
    if !lacking.is_empty() {
        return Err(format!("missing keys in dictionary: {}", lacking.join(", ")));
    }
    call.push("id", word(key(from, "id")?)?);
    call.push("name", word(key(from, "name")?)?);
    call.push("arguments", key(from, "arguments")?.clone());
    Ok(Json::Object(call))
}

/// A string; scalars become one, and null is taken as it is.
fn word(value: &Json) -> Verdict<Json> {
    match value {
        Json::Null | Json::String(_) => Ok(value.clone()),
        Json::Bool(_) | Json::Number(_) => Ok(Json::from(value.to_text())),
        Json::Array(_) | Json::Object(_) => Err(unexpected("string", value)),
    }
}

fn standing(value: &Json) -> Verdict<Json> {
    let failed = |error: Json| pairs([("type", Json::from("Failed")), ("error", error)]);
    let word = value.as_str();
    if matches!(word.as_deref(), Some("InProgress" | "WaitingForTools" | "Complete")) {
        return Ok(value.clone());
    }
    let Json::Object(object) = value else { return Ok(failed(status::INVALID.into())) };
    Ok(match object.get_str("type").as_deref() {
        Some("HandoffRequested") => failed(status::HANDOFF.into()),
        Some("Failed") => failed(object.get("error").map_or(Ok(status::NO_ERROR.into()), string)?),
        _ => failed(status::UNKNOWN.into()),
    })
}

fn logs(value: &Json) -> Verdict<Json> {
    let Json::Array(lines) = value else { return Err(invalid("Arr", value)) };
    Ok(Json::Array(lines.iter().map(string).collect::<Verdict<_>>()?))
}

fn options(value: &Json) -> Verdict<Json> {
    let from = object(value)?;
    let number = |name: &str| match key(from, name)? {
        number @ Json::Number(_) => Ok(number.clone()),
        other => Err(invalid("Num", other)),
    };
    let int = |value: Option<&Json>| match value {
        Some(Json::Number(number)) => Json::Number(spelled(&java::int(number.as_str()))),
        _ => Json::Null,
    };
    let (temperature, top_p) = (number("temperature")?, number("topP")?);
    let max_tokens = int(Some(key(from, "maxTokens")?));
    let (presence, frequency) = (number("presencePenalty")?, number("frequencyPenalty")?);
    Ok(pairs([
        ("temperature", temperature),
        ("topP", top_p),
        ("maxTokens", max_tokens),
        ("presencePenalty", presence),
        ("frequencyPenalty", frequency),
        ("reasoning", from.get("reasoning").map_or(Ok(Json::Null), effort)?),
        ("budgetTokens", int(from.get("budgetTokens"))),
    ]))
}

fn effort(value: &Json) -> Verdict<Json> {
    match value {
        Json::Null => Ok(Json::Null),
        Json::String(word) => {
            let word = word.to_str_lossy();
            let effort = parse_effort(&word).ok_or_else(|| format!("Invalid ReasoningEffort: {word}"))?;
            Ok(Json::from(effort.as_str()))
        }
        other => Err(format!("Expected string for ReasoningEffort, got: {other}")),
    }
}

/// The usage summary of all models.
fn summary(value: &Json) -> Verdict<Json> {
    used(value, |value| match value {
        Json::Number(number) => Ok(java::big_decimal(&as_double(number)).map(Json::from)),
        Json::String(text) => decimal(&text.to_str_lossy()),
        _ => Ok(None),
    })
}

/// The usage summary of one model, which takes its cost only as a string.
fn model(value: &Json) -> Verdict<Json> {
    used(value, |value| match value {
        Json::Null => Ok(Some(Json::Null)),
        Json::String(text) => decimal(&text.to_str_lossy()),
        other => Err(unexpected("string", other)),
    })
}

/// A number as Java prints the double that it is, fraction included.
fn as_double(number: &Number) -> String {
    let text = number.as_str();
    if text.contains(['.', 'E']) { text.to_owned() } else { format!("{text}.0") }
}

fn decimal(text: &str) -> Verdict<Option<Json>> {
    match turnkeep_model::Decimal::parse(text) {
        Some(_) => Ok(java::big_decimal(text).map(Json::from)),
        None => Err(format!("{text} is not a decimal number")),
    }
}

/// What differs from the default is kept, in the library's order.
fn used(value: &Json, cost: impl Fn(&Json) -> Verdict<Option<Json>>) -> Verdict<Json> {
    let from = match value {
        Json::Null => return Ok(Json::Null),
        Json::Object(object) => object,
        _ => return Err(unexpected("dictionary", value)),
    };
    let mut read = Object::new();
    for (name, value) in from.iter() {
        let name = name.to_str_lossy();
        let kept = match &*name {
            "totalCost" => cost(value)?,
            "byModel" => models(value)?,
            known if usage::KEYS.contains(&known) => count(value)?,
            _ => None,
        };
        if let Some(kept) = kept {
            read.push(name.into_owned(), kept);
        }
    }
    let ordered = usage::KEYS.into_iter().filter_map(|key| Some((key, read.remove(key)?)));
    Ok(Json::Object(ordered.collect::<Vec<_>>().into_iter().collect()))
}

fn count(value: &Json) -> Verdict<Option<Json>> {
    let count = match value {
        Json::Null => 0,
        Json::Number(number) => number.as_i64().unwrap_or_else(|| number.as_f64() as i64),
        Json::String(text) => text.to_str_lossy().parse::<i64>().map_err(|_| text.to_str_lossy().into_owned())?,
        other => return Err(unexpected("number", other)),
    };
    let large = count.unsigned_abs() > 1 << 53;
    Ok((count != 0).then(|| if large { Json::from(count.to_string()) } else { Json::from(count) }))
}

fn models(value: &Json) -> Verdict<Option<Json>> {
    match value {
        Json::Null => Ok(Some(Json::Null)),
        Json::Object(object) if object.is_empty() => Ok(None),
        Json::Object(object) => {
            let read = |(name, value): (&JsonString, &Json)| Ok((name.clone(), model(value)?));
            Ok(Some(Json::Object(object.iter().map(read).collect::<Verdict<_>>()?)))
        }
        other => Err(unexpected("map or sequence", other)),
    }
}
