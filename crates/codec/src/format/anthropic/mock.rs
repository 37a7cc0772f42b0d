//! What Anthropic answers.

use turnkeep_model::Block;
use turnkeep_model::json::{Json, Object};

use super::{Messages, WIRE, block, restore};
use crate::wire::mock::{
    Event, MockAnswer, Refusal, VendorMock, items_at, object, pieces, said, signed, stop_reason, text_at,
    with_object_arguments,
};

const CLASSES: &[(u16, &str)] = &[
    (400, "invalid_request_error"),
    (401, "authentication_error"),
    (402, "billing_error"),
    (403, "permission_error"),
    (404, "not_found_error"),
    (413, "request_too_large"),
    (429, "rate_limit_error"),
    (504, "timeout_error"),
    (529, "overloaded_error"),
    (500, "api_error"),
];

impl VendorMock for Messages {
    fn expressible(&self, blocks: &[Block]) -> Vec<Block> {
        with_object_arguments(said(blocks)).into_iter().map(|block| signed(WIRE, block, Some)).collect()
    }

    fn response(&self, speech: &MockAnswer) -> Json {
        let blocks = self.expressible(&speech.blocks);
        object([
            ("model", speech.model.as_str().into()),
            ("id", format!("msg_{}", speech.token).into()),
            ("type", "message".into()),
            ("role", "assistant".into()),
            ("content", blocks.iter().map(block::write).collect::<Vec<_>>().into()),
            ("stop_reason", stop_reason(&speech.finish, "refusal").into()),
            ("stop_sequence", Json::Null),
            ("usage", restore::usage(&speech.usage).into()),
        ])
    }

    fn events(&self, body: &Json, piece: usize) -> Vec<Event> {
        let whole = body.as_object().cloned().unwrap_or_default();
        let mut events = vec![start(&whole), Event::named("ping", object([("type", "ping".into())]))];
        for (index, block) in items_at(&whole, "content").iter().filter_map(Json::as_object).enumerate() {
            events.extend(block_events(index as u64, block, piece));
        }
        events.push(close(&whole));
        events.push(Event::named("message_stop", object([("type", "message_stop".into())])));
        events
    }

    fn refusal(&self, refusal: &Refusal) -> Json {
        let error = object([("type", refusal.class_of(CLASSES).into()), ("message", refusal.message.as_str().into())]);
        object([("type", "error".into()), ("error", error)])
    }

    fn late_refusal(&self, refusal: &Refusal) -> Event {
        Event::named("error", self.refusal(refusal))
    }

    fn call_id(&self, token: &str) -> String {
        format!("toolu_{token}")
    }
}

/// The message before its content; what it will have used is not known yet.
fn start(whole: &Object) -> Event {
    let mut message = whole.clone();
    message.set("content", Vec::new());
    message.set("stop_reason", Json::Null);
    message.set("stop_sequence", Json::Null);
    if let Some(Json::Object(usage)) = message.get("usage") {
        let mut usage = usage.clone();
        if usage.contains("output_tokens") {
            usage.set("output_tokens", 1_u64);
        }
        message.set("usage", usage);
    }
    Event::named("message_start", object([("type", "message_start".into()), ("message", message.into())]))
}

fn close(whole: &Object) -> Event {
    let at = |key: &str| whole.get(key).cloned().unwrap_or_default();
    let delta = object([("stop_reason", at("stop_reason")), ("stop_sequence", at("stop_sequence"))]);
    let mut event: Object = [("type", Json::from("message_delta")), ("delta", delta)].into_iter().collect();
    if whole.contains("usage") {
        event.push("usage", at("usage"));
    }
    Event::named("message_delta", event.into())
}

fn block_events(index: u64, block: &Object, piece: usize) -> Vec<Event> {
    let delta = |delta: Json| {
        let pairs = [("type", "content_block_delta".into()), ("index", index.into()), ("delta", delta)];
        Event::named("content_block_delta", object(pairs))
    };
    let grown = |key: &str, kind: &str| {
        let text = text_at(block, key);
        let texts = pieces(&text, piece).into_iter().map(|text| object([("type", kind.into()), (key, text.into())]));
        texts.collect::<Vec<_>>()
    };
    let mut first = block.clone();
    let deltas = match block.get_str("type").as_deref() {
        Some("text") => {
            first.set("text", "");
            grown("text", "text_delta")
        }
        Some("thinking") => {
            first.set("thinking", "");
            let mut deltas = grown("thinking", "thinking_delta");
            if block.contains("signature") {
                first.set("signature", "");
                let signature = text_at(block, "signature");
                deltas.push(object([("type", "signature_delta".into()), ("signature", signature.into())]));
            }
            deltas
        }
        Some("tool_use") => {
            first.set("input", Object::new());
            let input = block.get("input").map(Json::to_text).unwrap_or_default();
            let texts = std::iter::once("").chain(pieces(&input, piece));
            texts.map(|text| object([("type", "input_json_delta".into()), ("partial_json", text.into())])).collect()
        }
        // What the vendor sends whole.
        _ => Vec::new(),
    };
    let start = [("type", "content_block_start".into()), ("index", index.into()), ("content_block", first.into())];
    let stop = object([("type", "content_block_stop".into()), ("index", index.into())]);
    let mut events = vec![Event::named("content_block_start", object(start))];
    events.extend(deltas.into_iter().map(delta));
    events.push(Event::named("content_block_stop", stop));
    events
}
