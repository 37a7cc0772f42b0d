//! Rules on settings.

use turnkeep_model::json::{Json, Object};

use super::super::lint::{error, warning};
use super::content::{blocks, is};
use crate::wire::rule::{Evidence, Rule, at, items, number_at};

pub(in super::super) static RULES: &[Rule] = &[
    error("AN-MODEL", Evidence::Stated("the model is required, by the SDK's types"), "name a model", model),
    error(
        "AN-MAXTOKENS",
        Evidence::Stated("the limit is required, by the SDK's types"),
        "say how long the answer may be",
        max_tokens,
    ),
    error("AN-TEMPRANGE", Evidence::Answer("temperature: range: 0..1"), "keep it from 0 to 1", temperature_range),
    error(
        "AN-BUDGET",
        Evidence::Stated("the budget is at least 1024 tokens, by the documentation"),
        "give thinking at least 1024 tokens",
        budget,
    ),
    warning(
        "AN-BUDGETMAX",
        Evidence::Stated("the budget is less than `max_tokens`, by the documentation"),
        "give the answer more room than thinking",
        budget_max,
    ),
    error(
        "AN-TEMP",
        Evidence::Stated("the temperature is 1 while the model thinks, by the documentation"),
        "leave the temperature out",
        temperature,
    ),
    error(
        "AN-CHOICE",
        Evidence::Stated("calls cannot be forced while the model thinks, by the documentation"),
        "let the model choose",
        forced,
    ),
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
    warning(
        "AN-EFFORT",
        Evidence::Answer("This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium."),
        "use `high` or `max`",
        effort,
    ),
];

type Found = Vec<(String, String)>;

fn one(wrong: bool, at: &str, what: &str) -> Found {
    wrong.then(|| (at.to_owned(), what.to_owned())).into_iter().collect()
}

fn model(body: &Object) -> Found {
    let hosted = body.contains("anthropic_version");
    one(!hosted && body.get_str("model").is_none_or(|model| model.is_empty()), "model", "no model is named")
}

fn max_tokens(body: &Object) -> Found {
    let limit = body.get("max_tokens").and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64);
    one(limit.is_none_or(|limit| limit == 0), "max_tokens", "there is no limit for the answer")
}

fn temperature_range(body: &Object) -> Found {
    let value = number_at(body, &["temperature"]);
    one(value.is_some_and(|value| !(0.0..=1.0).contains(&value)), "temperature", "it is out of range")
}

fn thinks(body: &Object) -> bool {
    at(body, &["thinking", "type"]).and_then(Json::as_str).as_deref() == Some("enabled")
}

fn budget(body: &Object) -> Found {
    let budget = number_at(body, &["thinking", "budget_tokens"]);
    let wrong = thinks(body) && budget.is_none_or(|budget| budget < 1024.0);
    one(wrong, "thinking.budget_tokens", "the budget is too small")
}

fn budget_max(body: &Object) -> Found {
    let budget = number_at(body, &["thinking", "budget_tokens"]);
    let limit = number_at(body, &["max_tokens"]);
    let wrong = thinks(body) && budget.zip(limit).is_some_and(|(budget, limit)| budget >= limit);
    one(wrong, "thinking.budget_tokens", "thinking leaves no room for the answer")
}

fn temperature(body: &Object) -> Found {
    let value = number_at(body, &["temperature"]);
    one(thinks(body) && value.is_some_and(|value| value != 1.0), "temperature", "the model is to think")
}

fn forced(body: &Object) -> Found {
    let choice = at(body, &["tool_choice", "type"]).and_then(Json::as_str);
    let wrong = thinks(body) && matches!(choice.as_deref(), Some("any" | "tool"));
    one(wrong, "tool_choice", "a call is forced while the model is to think")
}

/// Breakpoints may stand on tools, system text, blocks and the body; not inside what a tool answered as data.
fn cache(body: &Object) -> Found {
    let marked = |value: &&Json| value.as_object().is_some_and(is_marked);
    let tools = items(body, "tools").iter().filter(marked).count();
    let system = items(body, "system").iter().filter(marked).count();
    let content = blocks(body).filter(|(_, _, block)| is_marked(block)).count();
    let count = tools + system + content + usize::from(is_marked(body));
    one(count > 4, "messages", &format!("{count} blocks are marked for the cache"))
}

fn is_marked(object: &Object) -> bool {
    matches!(object.get("cache_control"), Some(Json::Object(_)))
}

fn thinking_first(body: &Object) -> Found {
    let assistant = |message: &&Json| super::content::role(message).as_deref() == Some("assistant");
    let messages = items(body, "messages");
    let Some(index) = messages.iter().rposition(|message| assistant(&message)) else { return Vec::new() };
    let all: Vec<_> = blocks(body).filter(|(at, _, _)| at.starts_with(&format!("messages[{index}]."))).collect();
    let calls = all.iter().any(|(_, _, block)| is(block, "tool_use"));
    let first = all.first().is_some_and(|(_, _, block)| is(block, "thinking") || is(block, "redacted_thinking"));
    one(
        thinks(body) && calls && !first,
        &format!("messages[{index}].content[0]"),
        "the last answer does not begin with thinking",
    )
}

fn effort(body: &Object) -> Found {
    let effort = at(body, &["output_config", "effort"]).and_then(Json::as_str);
    one(effort.as_deref() == Some("xhigh"), "output_config.effort", "not every model takes this effort")
}
