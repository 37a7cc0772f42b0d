//! Whose model a name belongs to, as evidence for the wire it is spoken to over.

use turnkeep_model::json::Json;

use crate::format;
use crate::wire::contract::NameStyle;

/// Whether `wire` is what a model of this name is usually spoken to over.
pub(super) fn favours(model: &str, wire: &str) -> bool {
    let Some(names) = format::wire(wire).map(|wire| &wire.contract().model_names) else { return false };
    match (model.contains('/') && !model.starts_with("models/"), model.contains(':')) {
        (true, _) => names.style == NameStyle::VendorSlashModel,
        // Bedrock's names have a version behind the colon.
        (false, true) if !model.contains('.') || !model.contains("-v") => names.style == NameStyle::ModelColonTag,
        _ => {
            let longest = |prefixes: &[&str]| {
                prefixes.iter().filter(|prefix| model.starts_with(**prefix)).map(|prefix| prefix.len()).max()
            };
            let best = format::wires().filter_map(|wire| longest(wire.contract().model_names.prefixes)).max();
            best.is_some() && longest(names.prefixes) == best
        }
    }
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
