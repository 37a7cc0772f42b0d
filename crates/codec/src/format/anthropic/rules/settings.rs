//! Rules on settings.

use turnkeep_model::Number;
use turnkeep_model::json::Node;

use crate::lint::rule::{Evidence, Hit, Rule, error, warning};
use crate::lint::two_sides;
use crate::lint::view::{RequestView, at, items, number_at};

pub(super) static RULES: &[Rule] = &[
    error("AN-MODEL", Evidence::Stated("the model is required, by the SDK's types"), "name a model", model)
        .of_requests(),
    error(
        "AN-MAXTOKENS",
        Evidence::Stated("the limit is required, by the SDK's types"),
        "say how long the answer may be",
        max_tokens,
    )
    .of_requests(),
    error("AN-TEMPRANGE", Evidence::Answer("temperature: range: 0..1"), "keep it from 0 to 1", temperature_range),
    error(
        "AN-CACHE",
        Evidence::Stated("at most four blocks are marked with `cache_control`, by the documentation"),
        "keep four of them",
        cache,
    ),
    warning(
        "AN-THINKFIRST",
        Evidence::Answer(
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block",
        ),
        "send the thinking back, or turn it off until the user speaks again",
        thinking_first,
    ),
];

fn model(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let body = view.body;
    let hosted = body.get("anthropic_version").is_some();
    RequestView::hit_if(
        !hosted && body.get_str("model").is_none_or(|model| model.is_empty()),
        "model",
        "no model is named",
    )
}

fn max_tokens(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let body = view.body;
    let limit = body.get("max_tokens").and_then(Node::as_number).as_ref().and_then(Number::as_u64);
    RequestView::hit_if(limit.is_none_or(|limit| limit == 0), "max_tokens", "there is no limit for the answer")
}

fn temperature_range(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let body = view.body;
    let value = number_at(body, &["temperature"]);
    RequestView::hit_if(value.is_some_and(|value| !(0.0..=1.0).contains(&value)), "temperature", "it is out of range")
}

/// Breakpoints may stand on tools, system text, blocks and the body; not inside what a tool answered as data.
fn cache(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let body = view.body;
    let marked = |value: &&Node<'_>| is_marked(value);
    let tools = items(body, "tools").iter().filter(marked).count();
    let system = items(body, "system").iter().filter(marked).count();
    let content = view.blocks.iter().filter(|block| is_marked(block.node)).count();
    let count = tools + system + content + usize::from(is_marked(body));
    RequestView::hit_if(count > 4, "messages", format!("{count} blocks are marked for the cache"))
}

fn is_marked(object: &Node<'_>) -> bool {
    object.get("cache_control").is_some_and(Node::is_object)
}

fn thinking_first(view: &RequestView<'_, '_>) -> Vec<Hit> {
    let thinks = at(view.body, &["thinking", "type"]).and_then(Node::as_str).as_deref() == Some("enabled");
    two_sides::thinking_first(view, thinks, "tool_use", &["thinking", "redacted_thinking"])
}
