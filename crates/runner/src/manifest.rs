//! Tools that a file lists.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use turnkeep_codec::Input;
use turnkeep_model::event::Effect;
use turnkeep_model::json::{Node, Text};
use turnkeep_model::{Error, ErrorKind, Json, Result, ToolSpec};
use turnkeep_provider::endpoint::Endpoints;
use turnkeep_runtime::Tools;
use turnkeep_runtime::port::{Consent, Settings, Tool};

use crate::duration;
use crate::environment::{Keys, Variable};
use crate::shell::ShellTool;

/// What a tool may say of itself.
const KEYS: &[&str] =
    &["name", "description", "parameters", "command", "env", "effect", "timeout", "attempts", "approve", "max_result"];

/// The tools that a YAML or JSON text lists, run in `directory`. No tool is given the key of a known vendor.
///
/// # Errors
/// As [`tools_without`].
pub fn tools(bytes: &[u8], directory: &Path) -> Result<Tools> {
    tools_without(bytes, directory, Keys::of(&Endpoints::default()))
}

/// The same where no tool is given any of these keys.
///
/// # Errors
/// `Corrupt` with the line and the path of what cannot be read; `Unsupported` where two tools have one name, or where one
/// would be given a key.
pub fn tools_without(bytes: &[u8], directory: &Path, keys: Keys) -> Result<Tools> {
    let keys = Arc::new(keys);
    let input = Input::new(bytes);
    let document = input.document().map_err(Clone::clone)?;
    let locate = |error: Error| error.locate(document.text);
    let listed = document.node.get("tools").and_then(Node::as_array).ok_or_else(|| {
        Error::new(ErrorKind::Corrupt, "a manifest has a list `tools`").hint("begin the file with `tools:`")
    })?;
    let mut tools = Tools::default();
    for (index, node) in listed.iter().enumerate() {
        let tool = tool(node, directory, &keys).map_err(|error| locate(error.path(format!("tools[{index}]"))))?;
        tools = tools
            .with(Arc::new(tool) as Arc<dyn Tool>)
            .map_err(|error| locate(at(node, &error.to_string()).hint(error.remedy().unwrap_or("correct it"))))?;
    }
    Ok(tools)
}

fn tool(node: &Node<'_>, directory: &Path, keys: &Arc<Keys>) -> Result<ShellTool> {
    let fields = node.as_object().ok_or_else(|| at(node, "a tool is a mapping"))?;
    if let Some((key, value)) = fields.iter().find(|(key, _)| !KEYS.iter().any(|known| key.is(known))) {
        let what = format!("a tool has no `{}`", key.to_str_lossy());
        return Err(at(value, &what).hint(format!("a tool has: {}", KEYS.join(", "))));
    }
    let name = text(node, "name")?.ok_or_else(|| at(node, "the tool has no `name`"))?;
    let spec = ToolSpec {
        name,
        description: text(node, "description")?,
        parameters: node.get("parameters").map_or_else(any_object, |schema| schema.clone().into_json()),
        ..ToolSpec::default()
    };
    let (effect, settings, consent) = (effect(node)?, settings(node)?, consent(node)?);
    let (command, environment) = (command(node)?, environment(node, keys)?);
    let (directory, keys) = (directory.to_owned(), keys.clone());
    Ok(ShellTool { spec, effect, settings, consent, command, directory, environment, keys })
}

/// A list names variables that are passed on, a mapping gives them values.
fn environment(node: &Node<'_>, keys: &Keys) -> Result<Vec<Variable>> {
    let Some(given) = node.get("env") else {
        return Ok(Vec::new());
    };
    let wrong = || at(given, "`env` is a list of names of variables, or a mapping of names and texts");
    let passed = |name: &Node<'_>| name.as_str().map(|name| Variable::Passed(name.into_owned()));
    let set = |(name, value): &(Text<'_>, Node<'_>)| {
        Some(Variable::Set(name.to_str_lossy().into_owned(), value.as_str()?.into_owned()))
    };
    let variables: Option<Vec<Variable>> = match (given.as_array(), given.as_object()) {
        (Some(names), _) => names.iter().map(passed).collect(),
        (_, Some(pairs)) => pairs.iter().map(set).collect(),
        (None, None) => None,
    };
    let variables = variables.ok_or_else(wrong)?;
    for Variable::Passed(name) | Variable::Set(name, _) in &variables {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(wrong());
        }
        if keys.holds(name) {
            let what = format!("`{name}` holds the key of an endpoint, and no tool is given it");
            return Err(Error::new(ErrorKind::Unsupported, what)
                .offset(given.at as usize)
                .hint("give the tool a key of its own, in a variable of another name"));
        }
    }
    Ok(variables)
}

fn any_object() -> Json {
    Json::Object([("type", Json::from("object"))].into_iter().collect())
}

/// A list is a program and its arguments, a text a line for the shell.
fn command(node: &Node<'_>) -> Result<Vec<String>> {
    let given = node.get("command").ok_or_else(|| at(node, "the tool has no `command`"))?;
    let listed = given.as_array().map(|words| words.iter().map(Node::as_str).collect::<Option<Vec<_>>>());
    match (given.as_str(), listed) {
        (Some(line), _) if !line.trim().is_empty() => Ok(vec!["sh".into(), "-c".into(), line.into_owned()]),
        (None, Some(Some(words))) if !words.is_empty() => Ok(words.into_iter().map(Into::into).collect()),
        _ => Err(at(given, "`command` is a line for the shell, or a list of a program and its arguments")),
    }
}

/// What nothing is said of must not be done twice.
fn effect(node: &Node<'_>) -> Result<Effect> {
    match text(node, "effect")?.as_deref() {
        None | Some("once") => Ok(Effect::Once),
        Some("pure") => Ok(Effect::Pure),
        Some("keyed") => Ok(Effect::Keyed),
        Some(_) => Err(at(node, "`effect` is one of pure, keyed, once")),
    }
}

fn settings(node: &Node<'_>) -> Result<Settings> {
    let usual = Settings::default();
    Ok(Settings {
        timeout: timeout(node)?.or(usual.timeout),
        attempts: count(node, "attempts")?.and_then(|n| u32::try_from(n).ok()).unwrap_or(usual.attempts),
        max_result: count(node, "max_result")?.and_then(|n| usize::try_from(n).ok()).unwrap_or(usual.max_result),
    })
}

fn consent(node: &Node<'_>) -> Result<Consent> {
    match node.get("approve").map(|flag| (flag, flag.as_bool())) {
        None | Some((_, Some(false))) => Ok(Consent::NotNeeded),
        Some((_, Some(true))) => Ok(Consent::Needed { within: None }),
        Some((flag, None)) => Err(at(flag, "`approve` is true or false")),
    }
}

fn timeout(node: &Node<'_>) -> Result<Option<Duration>> {
    let Some(given) = node.get("timeout") else {
        return Ok(None);
    };
    let seconds = given.as_number().and_then(|number| Duration::try_from_secs_f64(number.as_f64()).ok());
    let parsed = seconds.or_else(|| duration::parse(&given.as_str()?)).filter(|time| !time.is_zero());
    parsed.map(Some).ok_or_else(|| at(given, "`timeout` is a time such as `10s`, `500ms` or `2m`"))
}

fn text(node: &Node<'_>, key: &str) -> Result<Option<String>> {
    let Some(given) = node.get(key) else {
        return Ok(None);
    };
    given.as_str().map(|text| Some(text.into_owned())).ok_or_else(|| at(given, &format!("`{key}` is a text")))
}

fn count(node: &Node<'_>, key: &str) -> Result<Option<u64>> {
    let Some(given) = node.get(key) else {
        return Ok(None);
    };
    let number = given.as_number().and_then(|number| number.as_u64()).filter(|count| *count > 0);
    number.map(Some).ok_or_else(|| at(given, &format!("`{key}` is a whole number above 0")))
}

fn at(node: &Node<'_>, what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, what).offset(node.at as usize)
}
