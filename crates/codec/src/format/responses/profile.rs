//! Who speaks this wire, and what is particular about them.

use turnkeep_model::json::{Json, Object};

/// A vendor that speaks this wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// Its name, as a turn's provider and as the profile of a lint target.
    pub name: &'static str,
    /// How names of its models begin.
    pub models: &'static [&'static str],
    /// Whether reasoning that has an id must be followed by the very item it led to, with its id.
    pub reasoning_needs_follower: bool,
    /// Whether the calls of one answer must stand together, before their outputs.
    pub calls_stand_together: bool,
    /// The longest id of a call.
    pub longest_call_id: usize,
    /// Whether it keeps the items of its answers, so that a request may refer to them.
    pub keeps_items: bool,
    /// The model to ask where nobody says which.
    pub model: &'static str,
}

/// OpenAI itself.
pub(super) const OPENAI: Profile = Profile {
    name: "openai",
    models: &["gpt-", "chatgpt-", "o1", "o3", "o4", "codex-", "computer-use"],
    reasoning_needs_follower: true,
    calls_stand_together: false,
    longest_call_id: 64,
    keeps_items: true,
    model: "gpt-5",
};

/// A vendor or a server that follows the wire and looks nothing up: whatever it is to know is in the request.
const COMPATIBLE: Profile = Profile {
    name: "compatible",
    models: &[],
    reasoning_needs_follower: false,
    keeps_items: false,
    model: "default",
    ..OPENAI
};

/// Every profile, OpenAI first.
pub(super) const ALL: &[Profile] = &[
    OPENAI,
    Profile { name: "azure", models: &[], ..OPENAI },
    Profile { name: "chatgpt", models: &[], keeps_items: false, model: "gpt-5-codex", ..OPENAI },
    Profile { name: "copilot", models: &[], keeps_items: false, ..OPENAI },
    Profile { name: "xai", models: &["grok-"], reasoning_needs_follower: false, model: "grok-4", ..OPENAI },
    Profile {
        name: "deepseek",
        models: &["deepseek-"],
        calls_stand_together: true,
        model: "deepseek-v4-flash",
        ..COMPATIBLE
    },
    Profile { name: "openrouter", model: "openrouter/auto", ..COMPATIBLE },
    Profile { name: "groq", model: "openai/gpt-oss-120b", ..COMPATIBLE },
    Profile { name: "bedrock", model: "openai.gpt-oss-120b", ..COMPATIBLE },
    Profile { name: "llamacpp", ..COMPATIBLE },
    Profile { name: "vllm", ..COMPATIBLE },
    COMPATIBLE,
];

/// The names of the profiles.
pub(crate) const VARIANTS: &[&str] = &[
    "openai",
    "azure",
    "chatgpt",
    "copilot",
    "xai",
    "deepseek",
    "openrouter",
    "groq",
    "bedrock",
    "llamacpp",
    "vllm",
    "compatible",
];

impl Profile {
    /// The profile with this name.
    pub fn by_name(name: &str) -> Option<&'static Profile> {
        ALL.iter().find(|profile| profile.name == name)
    }

    /// Whose model this is, as far as its name tells.
    pub fn of_model(model: &str) -> Option<&'static Profile> {
        let name = model.rsplit('/').next().unwrap_or(model);
        ALL.iter().find(|profile| profile.models.iter().any(|start| name.starts_with(start)))
    }

    /// Whether a model may be one of its: it is named like one, or the vendor serves those of others.
    pub fn may_serve(&self, model: &str) -> bool {
        let name = model.rsplit('/').next().unwrap_or(model);
        self.models.is_empty() || self.models.iter().any(|start| name.starts_with(start))
    }

    /// Who answered with this body: Azure tells of its filters, the others are known by their models.
    pub fn of_answer(body: &Object) -> &'static str {
        if body.contains("content_filters") {
            return "azure";
        }
        let model = body.get("model").and_then(Json::as_str).unwrap_or_default();
        Profile::of_model(&model).map_or(OPENAI.name, |profile| profile.name)
    }
}
