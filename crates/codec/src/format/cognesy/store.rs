//! The message store: sections of messages.

use turnkeep_model::ExtraPart;
use turnkeep_model::json::{Json, Object};

use super::map::{Draft, Form, KeyRule, Map, keep_fields, keep_keys};
use super::message::{SECTION, SUMMARY};

const STORE: Form = &[("sections", KeyRule::List), ("parameters", KeyRule::List)];
const SECTION_FORM: Form = &[("name", KeyRule::Derived), ("messages", KeyRule::List)];

/// The note on the order of the sections.
const ORDER: &str = "sections";

/// Where fields of a section are kept, under its name.
pub(super) const FIELDS: &str = "#sections";

/// The messages of a store with the section of each, in the order in which a model sees them.
pub(super) type Stored = Vec<(String, Json)>;

/// Takes the store under `key`: sections, or a bare list of messages.
pub(super) fn take(map: &mut Map, key: &str, path: &str, part: &mut ExtraPart) -> Stored {
    if let Some(items) = map.list(key) {
        return items.into_iter().map(|item| (SECTION.to_owned(), item)).collect();
    }
    let Some(mut store) = map.open_at(key, STORE) else { return Vec::new() };
    let sections = store.list("sections").unwrap_or_default();
    store.leave(part, path);
    read(sections, part)
}

fn read(sections: Vec<Json>, part: &mut ExtraPart) -> Stored {
    let mut names = Vec::new();
    let mut stored: Vec<(String, Json)> = Vec::new();
    for (index, section) in sections.into_iter().enumerate() {
        let Ok(mut map) = Map::open(section, SECTION_FORM) else { continue };
        let name = map.text("name").unwrap_or_else(|| format!("#{index}"));
        let messages = map.list("messages").unwrap_or_default();
        let (left, note) = map.close();
        let path = format!("{FIELDS}.{name}");
        keep_fields(part, &path, left);
        keep_keys(part, &path, note);
        stored.extend(messages.into_iter().map(|message| (name.clone(), message)));
        names.push(name);
    }
    stored.sort_by_key(|(name, _)| rank(name));
    if names != appearing(&stored) {
        part.spelling.set(ORDER, names.into_iter().map(Json::from).collect::<Vec<_>>());
    }
    stored
}

/// A model sees the summary first, then what waits to be summarised, then the rest.
fn rank(section: &str) -> u8 {
    match section {
        SUMMARY => 0,
        "buffer" => 1,
        _ => 2,
    }
}

fn appearing(stored: &[(String, Json)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in stored {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The store of some messages.
pub(super) fn write(stored: Stored, part: Option<&ExtraPart>, path: &str) -> Json {
    let mut names: Vec<String> = part
        .and_then(|part| part.spelling.get(ORDER))
        .and_then(Json::as_array)
        .map(|names| names.iter().filter_map(super::map::text).collect())
        .unwrap_or_default();
    names.extend(appearing(&stored).into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>());
    let mut sections: Vec<(String, Vec<Json>)> = names.into_iter().map(|name| (name, Vec::new())).collect();
    for (name, message) in stored {
        if let Some((_, messages)) = sections.iter_mut().find(|(own, _)| *own == name) {
            messages.push(message);
        }
    }
    let mut draft = Draft::default();
    if !sections.is_empty() {
        draft.put("sections", sections.into_iter().map(|section| write_section(section, part)).collect::<Vec<_>>());
    }
    draft.finish(STORE, part, path)
}

fn write_section((name, messages): (String, Vec<Json>), part: Option<&ExtraPart>) -> Json {
    let mut draft = Draft::default();
    if !name.starts_with('#') {
        draft.put("name", name.as_str());
    }
    if !messages.is_empty() {
        draft.put("messages", messages);
    }
    match draft.finish(SECTION_FORM, part, &format!("{FIELDS}.{name}")) {
        Json::Array(_) => Json::Object(Object::new()),
        section => section,
    }
}
