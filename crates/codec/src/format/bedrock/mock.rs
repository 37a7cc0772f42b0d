//! What Bedrock's Converse answers.

use turnkeep_model::Block;
use turnkeep_model::json::{Json, Object};

use super::{Converse, WIRE, block, restore};
use crate::base64_text;
use crate::wire::mock::{
    Event, MockAnswer, Refusal, VendorMock, items_at, object, object_at, pieces, said, signed, stop_reason, text_at,
    with_object_arguments, without,
};

const CLASSES: &[(u16, &str)] = &[
    (400, "ValidationException"),
    (403, "AccessDeniedException"),
    (404, "ResourceNotFoundException"),
    (408, "ModelTimeoutException"),
    (424, "ModelErrorException"),
    (429, "ThrottlingException"),
    (503, "ServiceUnavailableException"),
    (500, "InternalServerException"),
];

impl VendorMock for Converse {
    fn expressible(&self, blocks: &[Block]) -> Vec<Block> {
        with_object_arguments(said(blocks)).into_iter().map(|block| signed(WIRE, block, in_base64)).collect()
    }

    fn response(&self, speech: &MockAnswer) -> Json {
        let content: Vec<Json> = self.expressible(&speech.blocks).iter().map(block::write).collect();
        let message = object([("role", "assistant".into()), ("content", content.into())]);
        object([
            ("output", object([("message", message)])),
            ("stopReason", stop_reason(&speech.finish, "content_filtered").into()),
            ("usage", restore::usage(&speech.usage).into()),
            ("metrics", object([("latencyMs", 1_u64.into())])),
        ])
    }

    fn events(&self, body: &Json, piece: usize) -> Vec<Event> {
        let whole = body.as_object().cloned().unwrap_or_default();
        let message = object_at(&Json::Object(object_at(body, "output")), "message");
        let mut events = vec![Event::named("messageStart", object([("role", "assistant".into())]))];
        for (index, block) in items_at(&message, "content").iter().filter_map(Json::as_object).enumerate() {
            events.extend(block_events(index as u64, block, piece));
        }
        let reason = whole.get("stopReason").cloned().unwrap_or_default();
        events.push(Event::named("messageStop", object([("stopReason", reason)])));
        events.push(Event::named("metadata", without(&whole, &["output", "stopReason"]).into()));
        events
    }

    fn refusal(&self, refusal: &Refusal) -> Json {
        object([("message", refusal.message.as_str().into())])
    }

    fn refusal_headers(&self, refusal: &Refusal) -> Vec<(&'static str, String)> {
        vec![("x-amzn-errortype", refusal.class_of(CLASSES))]
    }

    /// Exceptions in a stream are named in lower camel case.
    fn late_refusal(&self, refusal: &Refusal) -> Event {
        let class = refusal.class_of(CLASSES);
        let mut letters = class.chars();
        let name = letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default();
        Event::Exception(name, self.refusal(refusal))
    }

    fn call_id(&self, token: &str) -> String {
        format!("tooluse_{token}")
    }
}

/// What cannot be read is bytes in base64.
fn in_base64(data: String) -> Option<String> {
    let is_base64 = base64_text::decode(&data).is_some_and(|bytes| base64_text::encode(&bytes) == data);
    let bytes = if is_base64 { data } else { base64_text::encode(data.as_bytes()) };
    Some(bytes).filter(|bytes| !bytes.is_empty())
}

fn block_events(index: u64, block: &Object, piece: usize) -> Vec<Event> {
    let at = |key: &'static str, inner: Json| {
        let pairs = [(key, inner), ("contentBlockIndex", index.into())];
        Event::named(if key == "start" { "contentBlockStart" } else { "contentBlockDelta" }, object(pairs))
    };
    let texts = |text: &str, wrap: &dyn Fn(Json) -> Json| -> Vec<Event> {
        pieces(text, piece).into_iter().map(|text| at("delta", wrap(text.into()))).collect()
    };
    let thinking = |key: &'static str| move |text: Json| object([("reasoningContent", object([(key, text)]))]);
    let inner = |key: &str| block.get(key).and_then(Json::as_object);
    let mut events = Vec::new();
    if let Some(call) = inner("toolUse") {
        events.push(at("start", object([("toolUse", without(call, &["input"]).into())])));
        let input = call.get("input").map(Json::to_text).unwrap_or_default();
        events.extend(texts(&input, &|text| object([("toolUse", object([("input", text)]))])));
    } else if let Some(thought) = inner("reasoningContent") {
        let said = thought.get("reasoningText").and_then(Json::as_object).cloned().unwrap_or_default();
        events.extend(texts(&text_at(&said, "text"), &thinking("text")));
        let opaque = [("signature", said.get("signature")), ("redactedContent", thought.get("redactedContent"))];
        for (key, value) in opaque {
            value.into_iter().for_each(|value| events.push(at("delta", thinking(key)(value.clone()))));
        }
    } else {
        events.extend(texts(&text_at(block, "text"), &|text| object([("text", text)])));
    }
    events.push(Event::named("contentBlockStop", object([("contentBlockIndex", index.into())])));
    events
}
