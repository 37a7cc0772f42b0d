//! Arguments and results, in a few characters.

use turnkeep_model::{Json, JsonString, Part};

/// The first three arguments, each at most 30 characters; none where they are no object.
pub fn of_arguments(arguments: &str) -> Option<String> {
    let json = turnkeep_model::json::parse(arguments).ok()?.into_json();
    let object = json.as_object()?;
    let one = |(key, value): (&JsonString, &Json)| {
        let text = value.as_str().map_or_else(|| value.to_text(), |text| format!("'{text}'"));
        format!("{}: {}", key.to_str_lossy(), cut(&text, 30))
    };
    Some(object.iter().take(3).map(one).collect::<Vec<_>>().join(", "))
}

/// The arguments themselves; only texts at the top that are longer than the limit are cut.
pub(super) fn whole_arguments(arguments: &str, limit: usize) -> Json {
    let Ok(node) = turnkeep_model::json::parse(arguments) else {
        return arguments.into();
    };
    let mut json = node.into_json();
    if let Json::Object(object) = &mut json {
        for (_, value) in object.iter_mut() {
            if let Some(text) = value.as_str()
                && text.chars().count() > limit
            {
                let short: String = text.chars().take(limit).collect();
                *value = format!("{short}...").into();
            }
        }
    }
    json
}

/// The result's text, at most 100 characters.
pub fn of_result(parts: &[Part]) -> Option<String> {
    (!parts.is_empty()).then(|| of_text(&result_text(parts)))
}

/// A text, at most 100 characters of it.
pub(super) fn of_text(text: &str) -> String {
    cut(text, 100)
}

/// The text of a result; what is none is named.
pub(crate) fn result_text(parts: &[Part]) -> String {
    let text = parts.iter().map(|part| match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        other => format!("[{}]", other.kind()),
    });
    text.collect::<Vec<_>>().join("\n")
}

/// At most `limit` characters; a longer text ends in dots.
fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(3)).collect();
    format!("{kept}...")
}
