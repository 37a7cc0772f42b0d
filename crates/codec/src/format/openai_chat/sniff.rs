//! Whether an object is a body of this wire.

use turnkeep_model::json::{Json, Object};

use crate::sniff::Guess;

/// Fields that only requests of this wire have.
const OWN: &[&str] = &[
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "modalities",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "stream_options",
    "top_logprobs",
    "web_search_options",
];

/// Fields that requests of this wire share with others.
const SHARED: &[&str] = &[
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "temperature",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
    "user",
    "verbosity",
];

/// How many messages are looked at.
const ENOUGH: usize = 64;

pub(super) fn request(body: &Object) -> Guess {
    let Some(messages) = body.get("messages").and_then(Json::as_array) else { return Guess::no() };
    let messages = messages.iter().take(ENOUGH);
    let objects: Vec<&Object> = messages.filter_map(Json::as_object).collect();
    if body.get("system").is_some() || body.get("toolConfig").is_some() || body.get("inferenceConfig").is_some() {
        return Guess::no();
    }
    if objects.iter().any(|message| is_foreign(message)) {
        return Guess::no();
    }
    if objects.iter().any(|message| is_own(message)) {
        return Guess::certain("its messages call tools as OpenAI's chat wire does");
    }
    if body.get("model").is_some() && OWN.iter().any(|key| body.contains(key)) && !objects.is_empty() {
        return Guess::certain("it has `messages` and settings that only OpenAI's chat wire has");
    }
    // Many systems keep messages with roles; a request names a model, or has nothing that a request has not.
    let is_request =
        body.contains("model") || body.iter().all(|(key, _)| SHARED.iter().chain(OWN).any(|own| key.is(own)));
    if is_request && objects.iter().all(|message| message.contains("role")) {
        return Guess::likely("it has `messages` with roles");
    }
    Guess::no()
}

/// Whether a message is of another wire for certain.
fn is_foreign(message: &Object) -> bool {
    let parts = message.get("content").and_then(Json::as_array).unwrap_or_default();
    let foreign = |part: &Json| {
        let kind = part.as_object().and_then(|part| part.get_str("type"));
        kind.is_some_and(|kind| matches!(&*kind, "tool_use" | "tool_result" | "redacted_thinking"))
            || part.as_object().is_some_and(|part| part.contains("toolUse") || part.contains("toolResult"))
    };
    // Images are texts of bytes with Ollama, and objects with routers that speak this wire.
    let images = message.get("images").and_then(Json::as_array);
    let are_bytes = images.is_some_and(|images| images.iter().all(|image| image.as_str().is_some()));
    message.contains("tool_name") || are_bytes || parts.iter().take(ENOUGH).any(foreign)
}

fn is_own(message: &Object) -> bool {
    let calls = message.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
    let textual = |call: &Json| {
        let function = call.as_object().and_then(|call| call.get("function")?.as_object());
        function.is_some_and(|function| function.get_str("arguments").is_some())
    };
    let answers = message.get_str("role").is_some_and(|role| role == "tool") && message.contains("tool_call_id");
    answers || calls.iter().any(textual)
}

pub(super) fn response(body: &Object) -> Guess {
    let choices = body.get("choices").and_then(Json::as_array);
    let named = body.get_str("object").is_some_and(|object| object == "chat.completion");
    let messages = choices.into_iter().flatten().filter_map(Json::as_object);
    match choices {
        Some(_) if named => Guess::certain("it is a `chat.completion`"),
        Some([]) => Guess::likely("it has `choices`"),
        Some(_) if messages.clone().any(|choice| choice.get("message").and_then(Json::as_object).is_some()) => {
            Guess::certain("its `choices` have messages")
        }
        Some(_) => Guess::likely("it has `choices`"),
        None if is_error(body) => Guess::likely("it is an error of a vendor"),
        None => Guess::no(),
    }
}

fn is_error(body: &Object) -> bool {
    let is_told = match body.get("error").or_else(|| body.get("detail")) {
        Some(Json::Object(error)) => error.contains("message"),
        Some(Json::String(_)) => body.len() == 1,
        _ => false,
    };
    is_told && !body.contains("messages") && !body.contains("type")
}

pub(super) fn event(event: &Object) -> Guess {
    let named = event.get_str("object").is_some_and(|object| object == "chat.completion.chunk");
    let choices = event.get("choices").and_then(Json::as_array);
    let delta = |choice: &Json| choice.as_object().is_some_and(|choice| choice.contains("delta"));
    match choices {
        _ if named => Guess::certain("its events are `chat.completion.chunk`s"),
        Some(choices) if choices.iter().any(delta) => Guess::certain("its events have `choices` with deltas"),
        Some(_) => Guess::likely("its events have `choices`"),
        None => Guess::no(),
    }
}
