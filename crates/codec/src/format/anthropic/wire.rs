//! The wire: its description, its looks, and its four kinds of documents.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Loss, Result, Session};

use super::contract::CONTRACT;
use super::{WIRE, decode, request, restore, stream};
use crate::codec::{EncodeOptions, Fidelity, Keeps, Spec};
use crate::sniff::Guess;
use crate::wire::frame::aws;
use crate::wire::mock::VendorMock;
use crate::wire::{Assembler, Contract, Delivery, Kind, Parts, Wire, block_wire};

static SPEC: Spec = Spec {
    id: WIRE,
    title: "Anthropic Messages",
    variants: &[],
    extensions: &[],
    reads: true,
    writes: true,
    fidelity: Fidelity {
        signatures: Keeps::Some,
        tool_errors: Keeps::All,
        usage: Keeps::Some,
        ids: Keeps::Some,
        ..Fidelity::WIRE
    },
};

/// Anthropic's Messages.
pub struct Messages;

impl Wire for Messages {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn contract(&self) -> &'static Contract {
        &CONTRACT
    }

    fn mock(&self) -> &'static dyn VendorMock {
        &Messages
    }

    fn sniff_request(&self, body: &Object) -> Guess {
        let Some(messages) = body.get("messages").and_then(Json::as_array) else { return Guess::no() };
        if body.get_str("anthropic_version").is_some() {
            return Guess::certain("it names a version of Anthropic's interface");
        }
        if messages.iter().any(is_foreign) {
            return Guess::no();
        }
        if messages.iter().any(has_own_blocks) {
            return Guess::certain("messages with Anthropic's blocks");
        }
        let tools = body.get("tools").and_then(Json::as_array).unwrap_or_default();
        if tools.iter().filter_map(Json::as_object).any(|tool| tool.contains("input_schema")) {
            return Guess::certain("tools with an `input_schema`");
        }
        let limited = body.get("max_tokens").and_then(Json::as_number).is_some();
        let own = ["system", "stop_sequences", "thinking", "output_config"].iter().any(|key| body.contains(key));
        if limited && own {
            return Guess::likely("messages with a limit and settings as Anthropic names them");
        }
        if limited || own { Guess::likely("messages and a limit of tokens") } else { Guess::no() }
    }

    fn sniff_response(&self, body: &Object) -> Guess {
        let kind = body.get_str("type");
        let is = |key: &str, word: &str| body.get_str(key).as_deref() == Some(word);
        match kind.as_deref() {
            Some("message") if is("role", "assistant") && matches!(body.get("content"), Some(Json::Array(_))) => {
                Guess::certain("a message of the assistant with content blocks")
            }
            Some("error") if matches!(body.get("error"), Some(Json::Object(_))) => {
                Guess::likely("an error as Anthropic answers it")
            }
            _ => Guess::no(),
        }
    }

    fn sniff_event(&self, event: &Object) -> Guess {
        let Json::Object(event) = aws::unwrapped(Json::Object(event.clone())) else { return Guess::no() };
        match event.get_str("type").as_deref() {
            Some(
                "message_start"
                | "content_block_start"
                | "content_block_delta"
                | "content_block_stop"
                | "message_delta"
                | "message_stop",
            ) => Guess::certain("events as Anthropic streams them"),
            _ => Guess::no(),
        }
    }

    fn decode(&self, parts: Parts) -> Result<(Session, Vec<Loss>)> {
        block_wire::session::<Messages>(parts)
    }

    fn restore(&self, session: &Session, kind: Kind) -> Parts {
        restore::parts(session, kind)
    }

    fn next_request(&self, session: &mut Session, options: &EncodeOptions) -> (Json, Vec<Loss>) {
        request::next(session, options)
    }

    fn deliver(&self, body: &mut Object, _: Option<&str>, delivery: Delivery) {
        body.remove("stream");
        // There it is said in the address.
        let is_bedrock = decode::platform(body) == "bedrock";
        if delivery == Delivery::Stream && !is_bedrock {
            body.push("stream", true);
        }
    }

    fn assembler(&self) -> Box<dyn Assembler> {
        Box::new(stream::Stream::default())
    }
}

/// Whether a message is of another vendor's wire.
fn is_foreign(message: &Json) -> bool {
    let Some(message) = message.as_object() else { return false };
    let role = message.get_str("role");
    let foreign_role = matches!(role.as_deref(), Some("tool" | "developer" | "function" | "model"));
    let foreign_field =
        ["tool_calls", "function_call", "tool_call_id", "reasoning_content", "tool_name", "images", "parts"];
    let blocks = message.get("content").and_then(Json::as_array).unwrap_or_default();
    let foreign_block = |block: &Json| {
        let Some(block) = block.as_object() else { return false };
        let kinds = ["image_url", "input_text", "output_text", "input_image", "input_audio", "file", "refusal"];
        block.get_str("type").is_none_or(|kind| kinds.contains(&&*kind))
    };
    foreign_role || foreign_field.iter().any(|key| message.contains(key)) || blocks.iter().any(foreign_block)
}

fn has_own_blocks(message: &Json) -> bool {
    let content = message.as_object().and_then(|message| message.get("content"));
    let blocks = content.and_then(Json::as_array).unwrap_or_default();
    blocks.iter().filter_map(Json::as_object).any(|block| match block.get_str("type").as_deref() {
        Some("tool_use") => block.contains("input"),
        Some("tool_result") => block.contains("tool_use_id"),
        Some("thinking") => block.contains("signature"),
        Some("redacted_thinking" | "server_tool_use" | "container_upload" | "web_search_tool_result") => true,
        Some("image" | "document") => block.contains("source"),
        // Routers take `cache_control` on the chat wire too.
        _ => false,
    })
}
