//! What vendors refuse, written down a second time: short, by names, and without the table.

use turnkeep_model::{Json, Number};

use super::at;

/// Why the vendor would refuse a body.
pub(super) fn refused(wire: &str, body: &Json) -> Vec<&'static str> {
    match wire {
        "openai.chat" => chat(body),
        "openai.responses" => responses(body),
        "anthropic.messages" => claude(body, CLAUDE),
        "bedrock.converse" => claude(body, CONVERSE),
        "gemini.contents" => gemini(body),
        "ollama.chat" => ollama(body),
        other => panic!("{other}"),
    }
}

fn number(body: &Json, place: &str) -> Option<f64> {
    at(body, place).and_then(Json::as_number).map(Number::as_f64)
}

fn word(body: &Json, place: &str) -> String {
    at(body, place).and_then(Json::as_str).unwrap_or_default().into_owned()
}

fn has(body: &Json, place: &str) -> bool {
    at(body, place).is_some_and(|value| *value != Json::Null)
}

fn count(body: &Json, place: &str) -> usize {
    at(body, place).and_then(Json::as_array).map_or(0, <[_]>::len)
}

fn why(checks: &[(bool, &'static str)]) -> Vec<&'static str> {
    checks.iter().filter(|(wrong, _)| *wrong).map(|(_, why)| *why).collect()
}

fn is_o_series(model: &str) -> bool {
    ["o1", "o3", "o4"].iter().any(|start| model.starts_with(start))
}

/// The models of OpenAI that always think.
fn always_thinks(model: &str) -> bool {
    model.starts_with("gpt-5") && !model.starts_with("gpt-5.") && !model.contains("chat") || is_o_series(model)
}

fn never_thinks(model: &str) -> bool {
    ["gpt-4", "gpt-3.5", "gpt-5-chat"].iter().any(|start| model.starts_with(start))
}

/// Names that only a host knows.
fn is_unknown(model: &str) -> bool {
    model.starts_with("my-") || model.contains("application-inference-profile")
}

fn bad_effort(model: &str, effort: &str) -> bool {
    let allowed: &[&str] = match model {
        _ if effort.is_empty() => return false,
        model if never_thinks(model) || is_unknown(model) => &[],
        model if is_o_series(model) => &["low", "medium", "high"],
        model if model.starts_with("gpt-5.1") => &["none", "low", "medium", "high"],
        model if always_thinks(model) => &["minimal", "low", "medium", "high"],
        _ => return false,
    };
    !allowed.contains(&effort)
}

fn openai(body: &Json, effort: &str) -> Vec<&'static str> {
    let model = word(body, "model");
    let thinks =
        always_thinks(&model) || is_unknown(&model) || model.starts_with("gpt-5.1") && !matches!(effort, "" | "none");
    let changed = |key: &str| number(body, key).is_some_and(|value| value != 1.0);
    why(&[
        (thinks && changed("temperature"), "a temperature while thinking"),
        (thinks && changed("top_p"), "top_p while thinking"),
        (bad_effort(&model, effort), "an effort that the model does not have"),
        (count(body, "tools") > 128, "more than 128 tools"),
        (is_o_series(&model) && has(body, "parallel_tool_calls"), "parallel_tool_calls on the o series"),
    ])
}

fn chat(body: &Json) -> Vec<&'static str> {
    let model = word(body, "model");
    let thinks = always_thinks(&model);
    let mut found = openai(body, &word(body, "reasoning_effort"));
    let penalised = has(body, "presence_penalty") || has(body, "frequency_penalty");
    found.extend(why(&[
        (thinks && has(body, "max_tokens"), "max_tokens by its old name"),
        (thinks && !model.starts_with("o1") && !model.starts_with("o3-mini") && count(body, "stop") > 0, "stop"),
        (thinks && penalised, "penalties while thinking"),
        (has(body, "tool_choice") && count(body, "tools") == 0, "a choice without tools"),
    ]));
    found
}

fn responses(body: &Json) -> Vec<&'static str> {
    let model = word(body, "model");
    let mut found = openai(body, &word(body, "reasoning.effort"));
    let includes = at(body, "include").and_then(Json::as_array).unwrap_or_default();
    let thinking = includes.iter().any(|item| item.as_str().is_some_and(|word| word.starts_with("reasoning")));
    found.extend(why(&[(never_thinks(&model) && thinking, "thinking included of a model that does not think")]));
    found
}

/// Where a wire has the settings of Claude.
struct Places {
    model: &'static str,
    temperature: &'static str,
    top_p: &'static str,
    limit: &'static str,
    thinking: &'static str,
    effort: &'static str,
    thought: &'static [&'static str],
    call: &'static str,
}

const CLAUDE: Places = Places {
    model: "model",
    temperature: "temperature",
    top_p: "top_p",
    limit: "max_tokens",
    thinking: "thinking",
    effort: "output_config.effort",
    thought: &["thinking", "redacted_thinking"],
    call: "tool_use",
};

const CONVERSE: Places = Places {
    model: "modelId",
    temperature: "inferenceConfig.temperature",
    top_p: "inferenceConfig.topP",
    limit: "inferenceConfig.maxTokens",
    thinking: "additionalModelRequestFields.thinking",
    effort: "additionalModelRequestFields.output_config.effort",
    thought: &["reasoningContent"],
    call: "toolUse",
};

fn claude(body: &Json, places: Places) -> Vec<&'static str> {
    let model = word(body, places.model);
    let any = |parts: &[&str]| parts.iter().any(|part| model.contains(part));
    let is_new = any(&["opus-4-7", "opus-4-8", "opus-5", "sonnet-5", "fable", "mythos"]);
    let is_middle = any(&["opus-4-6", "sonnet-4-6"]);
    let takes_effort = is_new || is_middle || any(&["opus-4-5", "haiku-5"]);
    let knows = !is_unknown(&model);
    let is_plain =
        any(&["claude-3-5", "claude-3-haiku", "claude-3-opus", "claude-3-sonnet", "nova", "llama"]) || !knows;
    let mode = word(body, &format!("{}.type", places.thinking));
    let budget = number(body, &format!("{}.budget_tokens", places.thinking));
    let (enabled, limit) = (mode == "enabled", number(body, places.limit));
    let temperature = number(body, places.temperature).is_some_and(|value| value != 1.0);
    let top_p = number(body, places.top_p);
    let is_last = |message: &&Json| word(message, "role") == "assistant";
    let messages = at(body, "messages").and_then(Json::as_array).unwrap_or_default();
    let last = messages.iter().rev().find(is_last);
    why(&[
        (temperature && (is_new || !knows), "a temperature that the model does not take"),
        (temperature && enabled, "a temperature while thinking"),
        (temperature && top_p.is_some() && any(&["4-5", "4-6", "opus-4-1"]), "temperature and top_p"),
        (has(body, places.effort) && !takes_effort, "an effort that the model does not have"),
        (enabled && (is_new || is_plain), "a budget that the model does not take"),
        (mode == "adaptive" && !(is_new || is_middle || any(&["haiku-5"])), "adaptive thinking"),
        (enabled && budget.is_none_or(|budget| budget < 1024.0), "a budget below 1024"),
        (enabled && limit.is_some_and(|limit| budget.unwrap_or(0.0) >= limit), "a budget without room for the answer"),
        (enabled && last.is_some_and(|last| calls_without_thought(last, &places)), "thinking on without thinking"),
        ((is_new || is_middle) && messages.last().is_some_and(|last| is_last(&last)), "prefill"),
    ])
}

fn calls_without_thought(message: &Json, places: &Places) -> bool {
    let blocks = at(message, "content").and_then(Json::as_array).unwrap_or_default();
    let is = |block: &Json, kind: &str| word(block, "type") == kind || has(block, kind);
    let calls = blocks.iter().any(|block| is(block, places.call));
    calls && !blocks.first().is_some_and(|first| places.thought.iter().any(|kind| is(first, kind)))
}

fn gemini(body: &Json) -> Vec<&'static str> {
    let model = word(body, "model");
    let place = |key: &str| format!("generationConfig.thinkingConfig.{key}");
    let (level, budget) = (has(body, &place("thinkingLevel")), number(body, &place("thinkingBudget")));
    let tools = at(body, "tools").and_then(Json::as_array).unwrap_or_default();
    let declared: usize = tools.iter().map(|tool| count(tool, "functionDeclarations")).sum();
    let is_served = at(body, "toolConfig.includeServerSideToolInvocations") == Some(&Json::Bool(true));
    let configured = has(body, "toolConfig.functionCallingConfig") && !is_served;
    let is_old = ["gemini-1", "gemini-2.0"].iter().any(|start| model.starts_with(start)) || !model.contains("gemini");
    why(&[
        (level && !model.contains("gemini-3"), "a level before Gemini 3"),
        (budget.is_some() && model.contains("gemini-3"), "a budget on Gemini 3"),
        (is_old && has(body, "generationConfig.thinkingConfig"), "thinking of a model that does not think"),
        (model.contains("2.5-pro") && budget == Some(0.0), "a budget of 0 on 2.5 Pro"),
        (configured && declared == 0, "calls configured without functions"),
        (declared > 512, "more than 512 functions"),
    ])
}

fn ollama(body: &Json) -> Vec<&'static str> {
    let model = word(body, "model");
    let thinks = ["qwen3", "gpt-oss", "deepseek-r1"].iter().any(|start| model.starts_with(start));
    let asks = at(body, "think").is_some_and(|think| *think != Json::Bool(false));
    why(&[(asks && !thinks, "thinking of a model that does not think")])
}
