//! Whether an object is a body of this wire.

use turnkeep_model::json::{Json, Object};

use crate::sniff::Guess;

const ENOUGH: usize = 64;

/// Fields of requests of this wire: settings stand in `options`, but clients are seen to send `temperature` beside them.
const FIELDS: &[&str] =
    &["format", "keep_alive", "messages", "model", "options", "stream", "temperature", "think", "tools"];

pub(super) fn request(body: &Object) -> Guess {
    let Some(messages) = body.get("messages").and_then(Json::as_array) else { return Guess::no() };
    let objects: Vec<&Object> = messages.iter().take(ENOUGH).filter_map(Json::as_object).collect();
    let plain = |message: &&Object| {
        message.get("content").is_none_or(|content| content.as_array().is_none()) && !message.contains("tool_call_id")
    };
    let textual =
        objects.iter().flat_map(|message| calls(message)).any(|function| function.get_str("arguments").is_some());
    if textual || body.contains("system") || !objects.iter().all(|message| message.contains("role")) {
        return Guess::no();
    }
    let own = ["think", "keep_alive"].iter().any(|key| body.contains(key))
        || body.get("options").and_then(Json::as_object).is_some();
    let spoken = objects.iter().any(|message| message.contains("tool_name") || has_images(message));
    let is_known = body.iter().all(|(key, _)| FIELDS.iter().any(|field| key.is(field)));
    let called = objects
        .iter()
        .flat_map(|message| calls(message))
        .any(|function| function.get("arguments").and_then(Json::as_object).is_some());
    match () {
        () if spoken || called && own => Guess::certain("its messages call tools as Ollama does"),
        () if own && objects.iter().all(plain) => Guess::certain("it has `messages` and settings of Ollama"),
        () if is_known && objects.iter().all(plain) => Guess::likely("it has `messages` of plain text"),
        () => Guess::no(),
    }
}

/// Images are texts of bytes here, and objects with other vendors.
fn has_images(message: &Object) -> bool {
    let images = message.get("images").and_then(Json::as_array);
    images.is_some_and(|images| !images.is_empty() && images.iter().all(|image| image.as_str().is_some()))
}

fn calls(message: &Object) -> impl Iterator<Item = &Object> {
    let calls = message.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
    calls.iter().filter_map(|call| call.as_object()?.get("function")?.as_object())
}

pub(super) fn response(body: &Object) -> Guess {
    let message = body.get("message").and_then(Json::as_object).is_some();
    let done = body.get("done").and_then(Json::as_bool).is_some();
    match (message, done) {
        (true, true) => Guess::certain("it has a `message` and says whether it is done"),
        _ if body.get_str("error").is_some() && body.len() == 1 => Guess::likely("it is an error"),
        _ => Guess::no(),
    }
}
