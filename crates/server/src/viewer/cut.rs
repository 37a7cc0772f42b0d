//! Batches with long texts shortened, so that a page can show a large session without fetching all of it.

use turnkeep_model::{Json, Object};

/// Images are worth more bytes than text: they cannot be shown in part.
const MEDIA: usize = 300_000;

/// A line of a journal in which texts of events are at most `limit` characters. `cut` tells, for every event, how many
/// characters each shortened text has, by its path. A line without a long text stays as it is.
pub(crate) fn cut_line(line: &str, limit: usize) -> String {
    if line.len() <= limit {
        return line.to_owned();
    }
    let Ok(parsed) = turnkeep_model::json::parse(line) else { return line.to_owned() };
    let mut json = parsed.into_json();
    let Json::Object(batch) = &mut json else { return line.to_owned() };
    let mut cuts = Vec::new();
    for (key, value) in batch.iter_mut() {
        if let (true, Json::Array(events)) = (key.to_str_lossy() == "events", value) {
            cuts = events.iter_mut().map(|event| cut_event(event, limit)).collect();
        }
    }
    if cuts.iter().all(|cut| *cut == Json::Null) {
        return line.to_owned();
    }
    batch.set("cut", Json::Array(cuts));
    json.to_text()
}

/// What was cut of an event; `null` where nothing was.
fn cut_event(event: &mut Json, limit: usize) -> Json {
    let mut cuts = Object::new();
    cut(event, "", "", limit, &mut cuts);
    if cuts.is_empty() { Json::Null } else { Json::Object(cuts) }
}

fn cut(node: &mut Json, path: &str, key: &str, limit: usize, cuts: &mut Object) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match node {
        Json::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                let key = key.to_str_lossy().into_owned();
                cut(value, &below(&key), &key, limit, cuts);
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                cut(item, &below(&index.to_string()), key, limit, cuts);
            }
        }
        Json::String(text) => {
            let limit = if key == "inline" { limit.max(MEDIA) } else { limit };
            let whole = text.to_str_lossy();
            if let Some((end, _)) = whole.char_indices().nth(limit) {
                let (begin, length) = (whole.get(..end).unwrap_or_default().to_owned(), whole.chars().count());
                *node = begin.into();
                cuts.set(path, length as u64);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_at_characters_and_said_to_be() {
        let line = r#"{"seq":1,"events":[{"type":"log.added","line":"short"},{"type":"block.added","block":{"text":"äöüß and more","parts":[{"text":"0123456789"}]}}],"sum":"x"}"#;

        let cut = cut_line(line, 4);

        let expected = r#"{"seq":1,"events":[{"type":"log.","line":"shor"},{"type":"bloc","block":{"text":"äöüß","parts":[{"text":"0123"}]}}],"sum":"x","cut":[{"type":9,"line":5},{"type":11,"block.text":13,"block.parts.0.text":10}]}"#;
        assert_eq!(cut, expected);
        assert_eq!(cut_line(line, 400), line);
        assert_eq!(cut_line("no JSON at all", 3), "no JSON at all");
    }
}
