//! Whose model a name belongs to, as evidence for the wire it is spoken to over.

use turnkeep_model::json::Json;

const OPENAI: &[&str] = &["openai.chat", "openai.responses"];
const COMPATIBLE: &[&str] = &["openai.chat"];
const AMAZON: &[&str] = &["bedrock.converse", "anthropic.messages"];

/// How the names of a vendor's models begin, and the vendor's own wires. The longest beginning decides.
const FAMILIES: &[(&str, &[&str])] = &[
    ("amazon.", &["bedrock.converse"]),
    ("anthropic.", AMAZON),
    ("apac.anthropic.", AMAZON),
    ("chatgpt", OPENAI),
    ("claude", &["anthropic.messages"]),
    ("codestral", COMPATIBLE),
    ("codex", OPENAI),
    ("deepseek-", COMPATIBLE),
    ("eu.anthropic.", AMAZON),
    ("gemini", &["gemini.contents"]),
    ("glm-", COMPATIBLE),
    ("global.anthropic.", AMAZON),
    ("gpt-", OPENAI),
    ("gpt-oss:", &["ollama.chat"]),
    ("grok", COMPATIBLE),
    ("kimi", COMPATIBLE),
    ("magistral-", COMPATIBLE),
    ("ministral-", COMPATIBLE),
    ("mistral-", COMPATIBLE),
    ("models/gemini", &["gemini.contents"]),
    ("moonshot", COMPATIBLE),
    ("o1", OPENAI),
    ("o3", OPENAI),
    ("o4", OPENAI),
    ("sonar", COMPATIBLE),
    ("us.anthropic.", AMAZON),
];

/// Whether `wire` is what a model of this name is usually spoken to over.
pub(super) fn favours(model: &str, wire: &str) -> bool {
    // Ollama names a model and a tag; routers name a vendor and a model.
    let wires = match (model.contains('/') && !model.starts_with("models/"), model.contains(':')) {
        (true, _) => COMPATIBLE,
        (false, true) if !model.contains('.') || !model.contains("-v") => &["ollama.chat"],
        _ => {
            let begins = FAMILIES.iter().filter(|(begin, _)| model.starts_with(begin));
            begins.max_by_key(|(begin, _)| begin.len()).map_or(&[] as &[&str], |(_, wires)| wires)
        }
    };
    wires.contains(&wire)
}

/// The model that records name, wherever a body or an event has it.
pub(super) fn model_of(records: &[Json]) -> Option<String> {
    let of = |record: &Json| {
        let object = record.as_object()?;
        let inner = |key: &str| object.get(key)?.as_object()?.get_str("model");
        let name =
            object.get_str("model").or_else(|| ["request", "response", "message"].iter().find_map(|key| inner(key)));
        name.map(std::borrow::Cow::into_owned)
    };
    records.iter().find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_whose_model_it_is() {
        for (model, wire) in [
            ("claude-sonnet-4-5", "anthropic.messages"),
            ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "bedrock.converse"),
            ("gpt-4o-mini", "openai.chat"),
            ("o3-mini", "openai.responses"),
            ("gemini-2.5-pro", "gemini.contents"),
            ("llama3.2:1b", "ollama.chat"),
            ("gpt-oss:20b", "ollama.chat"),
            ("anthropic/claude-sonnet-4", "openai.chat"),
        ] {
            assert!(favours(model, wire), "{model}");
        }
        assert!(!favours("claude-sonnet-4-5", "openai.chat"));
        assert!(!favours("my-own-model", "openai.chat"));
    }
}
