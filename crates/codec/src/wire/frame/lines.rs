//! Recorded JSON lines.

use turnkeep_model::Result;
use turnkeep_model::json::Json;

use super::{Frames, event};

/// The events of a text of JSON lines: more than one line, each an object. A single object is no stream.
pub(super) fn events(text: &str) -> Result<Option<Frames>> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_object = |line: &&str| line.trim_start().starts_with('{') && line.trim_end().ends_with('}');
    let (last, before) = match lines.split_last() {
        Some((last, before)) if !before.is_empty() && before.iter().all(is_object) => (last, before),
        _ => return Ok(None),
    };
    let mut events = Vec::with_capacity(lines.len());
    for line in before {
        match event(line) {
            Ok(Json::Object(object)) => events.push(Json::Object(object)),
            // A document that is spread over lines is no stream.
            _ => return Ok(None),
        }
    }
    let end = event(last).ok();
    let torn = end.is_none();
    events.extend(end);
    Ok(Some(Frames { events, torn }))
}
