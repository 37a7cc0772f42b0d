//! Whether a document is what its reader needs: what cannot be read at all is refused with its place.

use turnkeep_model::json::Node;
use turnkeep_model::{Error, ErrorKind, Result};

use super::codec::generation;
use super::snapshot;
use super::verdict::{Rejection, Validator};
use super::words::Generation;
use crate::codec::Mode;

/// Refuses a value that is no map.
pub(super) fn expect_map(node: &Node<'_>, path: &str) -> Result<()> {
    let is_empty = node.as_array().is_some_and(<[_]>::is_empty);
    if node.as_object().is_some() || is_empty {
        return Ok(());
    }
    Err(wrong(node, path, "a map"))
}

pub(super) fn wrong(node: &Node<'_>, path: &str, wanted: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("expected {wanted}, found {}", node.kind()))
        .offset(node.at as usize)
        .path(path)
        .hint("compare it with a file that instructor-php wrote, or name another format with --from")
}

/// Refuses messages that are no list of maps.
pub(super) fn expect_messages(node: Option<&Node<'_>>, path: &str) -> Result<()> {
    let Some(node) = node.filter(|node| node.kind() != "null") else { return Ok(()) };
    let items = node.as_array().ok_or_else(|| wrong(node, path, "a list of messages"))?;
    for (index, item) in items.iter().enumerate() {
        expect_map(item, &format!("{path}[{index}]"))?;
    }
    Ok(())
}

/// Refuses a store that is neither sections nor a list of messages.
pub(super) fn expect_store(node: Option<&Node<'_>>, path: &str) -> Result<()> {
    let Some(node) = node.filter(|node| node.kind() != "null") else { return Ok(()) };
    if node.as_array().is_some() {
        return expect_messages(Some(node), path);
    }
    expect_map(node, path)?;
    let Some(sections) = node.get("sections") else { return Ok(()) };
    let path = format!("{path}.sections");
    let items = sections.as_array().ok_or_else(|| wrong(sections, &path, "a list of sections"))?;
    for (index, section) in items.iter().enumerate() {
        let path = format!("{path}[{index}]");
        expect_map(section, &path)?;
        expect_messages(section.get("messages"), &format!("{path}.messages"))?;
    }
    Ok(())
}

pub(super) fn check_state(node: &Node<'_>, path: &str) -> Result<Vec<Rejection>> {
    let generation = generation(node);
    let mut validator = Validator::new(generation);
    if path.is_empty() && is_message_list(node) {
        validator.messages(node);
        return Ok(validator.rejections);
    }
    expect_map(node, path)?;
    let at = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    expect_store(node.get("messageStore"), &at("messageStore"))?;
    let store = node.get("context").and_then(|context| context.get("messageStore"));
    expect_store(store, &at("context.messageStore"))?;
    validator.state(node, path);
    Ok(validator.rejections)
}

pub(super) fn is_message_list(node: &Node<'_>) -> bool {
    node.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(|item| item.get("role").is_some()))
}

pub(super) fn check_snapshot(node: &Node<'_>) -> Result<Vec<Rejection>> {
    expect_map(node, "")?;
    let newer = node.get("version").filter(|version| match &version.value {
        turnkeep_model::json::Value::Number(text) => text.parse::<u64>().is_ok_and(|found| found > snapshot::VERSION),
        _ => false,
    });
    if let Some(version) = newer {
        return Err(Error::new(ErrorKind::Unsupported, "this version of the snapshot is not known here")
            .offset(version.at as usize)
            .path("version")
            .hint("use a newer turnkeep"));
    }
    for key in snapshot::STORES {
        expect_store(node.get(key), key)?;
    }
    let mut validator = Validator::new(Generation::January);
    validator.snapshot(node);
    Ok(validator.rejections)
}

pub(super) fn check_session(node: &Node<'_>, mode: Mode) -> Result<Vec<Rejection>> {
    if mode == Mode::Faithful {
        expect_map(node, "")?;
    }
    for key in ["header", "definition", "state"] {
        let held = node.get(key).filter(|inner| inner.as_object().is_some() || inner.as_array().is_some());
        match (held, mode) {
            (Some(_), _) => {}
            (None, Mode::Compat) => return Err(Error::new(ErrorKind::Corrupt, format!("Missing or invalid {key}"))),
            (None, Mode::Faithful) => {
                let at = node.get(key).map_or(node.at, |inner| inner.at);
                return Err(Error::new(ErrorKind::Corrupt, format!("the session file has no `{key}`"))
                    .offset(at as usize)
                    .path(key)
                    .hint("restore the file, or read its state alone with --from cognesy.state"));
            }
        }
    }
    let mut validator = Validator::new(Generation::V2);
    node.get("header").into_iter().for_each(|header| validator.header(header));
    let mut rejections = validator.rejections;
    let unsafe_id = rejections.iter().find(|rejection| rejection.verdict.starts_with("Invalid session ID"));
    if let (Mode::Faithful, Some(rejection)) = (mode, unsafe_id) {
        return Err(Error::new(ErrorKind::Corrupt, "a session id is made of letters, digits, `_` and `-`")
            .offset(rejection.at as usize)
            .path(rejection.path.clone())
            .hint("rename the session in the file"));
    }
    if let Some(state) = node.get("state") {
        rejections.extend(check_state(state, "state")?);
    }
    Ok(rejections)
}
