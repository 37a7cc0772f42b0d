//! What the vendors that speak this wire do differently with a history, as data. Which settings they take stands with the
//! table of models.

use turnkeep_model::json::{Json, Object};

use super::contract::LIMITS;
use crate::models::{Vendor, vendor};
use crate::wire::repair::IdRule;

/// How a vendor takes thinking back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingIn {
    /// It refuses or ignores it.
    No,
    /// In this field, as text.
    Field(&'static str),
    /// As a part of the content.
    Part,
    /// As it came: opaque pieces too.
    Details,
}

/// How a vendor names its effort setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EffortIn {
    /// It has none.
    No,
    /// `reasoning_effort`, with a word that the vendor knows.
    Word,
    /// `reasoning.effort` and `reasoning.max_tokens`.
    Object,
}

/// One vendor's dialect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Profile {
    /// Its name, as in `openai.chat:mistral`.
    pub(super) name: &'static str,
    /// Which call ids it takes.
    pub(super) ids: IdRule,
    /// Whether it knows the role `developer`.
    pub(super) developer: bool,
    /// How it takes thinking back.
    pub(super) thinking: ThinkingIn,
    /// How it names its effort setting.
    pub(super) effort: EffortIn,
    /// What it calls the seed.
    pub(super) seed: &'static str,
    /// Its word for a tool that must be called.
    pub(super) required: &'static str,
    /// Which parts of a user's content it takes beside text.
    pub(super) media: &'static [&'static str],
    /// Whether it fetches a file whose address is given.
    pub(super) files_by_url: bool,
    /// Whether it refuses fields that it does not know.
    pub(super) strict: bool,
    /// Whether an assistant's message at the end has to be marked as a beginning to go on from.
    pub(super) prefix: bool,
    /// Whether calls must stand with thinking.
    pub(super) thinking_required: bool,
    /// How names of its models begin.
    pub(super) families: &'static [&'static str],
    /// Whether it samples from `top_k` candidates.
    pub(super) top_k: bool,
    /// Whether a stream tells what it used only where it is asked to.
    pub(super) stream_usage: bool,
    /// The model to ask where nobody says which.
    pub(super) model: &'static str,
}

const ANY: IdRule = IdRule { shortest: 1, longest: 256, legal: |_| true };
const NINE: IdRule = IdRule { shortest: 9, longest: 9, legal: |c| c.is_ascii_alphanumeric() };

const OPENAI: Profile = Profile {
    name: "openai",
    ids: LIMITS.call_ids,
    developer: true,
    thinking: ThinkingIn::No,
    effort: EffortIn::Word,
    seed: "seed",
    required: "required",
    media: &["image_url", "input_audio", "file"],
    files_by_url: false,
    strict: false,
    prefix: false,
    thinking_required: false,
    families: &["gpt-", "o1", "o3", "o4", "chatgpt", "ft:gpt"],
    top_k: false,
    stream_usage: true,
    model: "gpt-5",
};

/// A vendor that follows the wire without its newer roles and names.
const COMPATIBLE: Profile = Profile { ids: ANY, developer: false, media: &["image_url"], families: &[], ..OPENAI };

/// Every dialect, the wire's own first.
pub(super) const PROFILES: &[Profile] = &[
    OPENAI,
    Profile { name: "azure", ..OPENAI },
    Profile {
        name: "mistral",
        ids: NINE,
        thinking: ThinkingIn::Part,
        seed: "random_seed",
        required: "any",
        prefix: true,
        families: &["mistral", "ministral", "codestral", "pixtral", "magistral", "devstral", "open-mi"],
        stream_usage: false,
        model: "mistral-large-latest",
        ..COMPATIBLE
    },
    Profile { name: "groq", strict: true, model: "openai/gpt-oss-120b", ..COMPATIBLE },
    Profile {
        name: "deepseek",
        thinking: ThinkingIn::Field("reasoning_content"),
        media: &[],
        thinking_required: true,
        families: &["deepseek-"],
        model: "deepseek-chat",
        ..COMPATIBLE
    },
    Profile { name: "cerebras", media: &[], strict: true, model: "gpt-oss-120b", ..COMPATIBLE },
    Profile {
        name: "moonshot",
        thinking: ThinkingIn::Field("reasoning_content"),
        effort: EffortIn::No,
        families: &["kimi", "moonshot"],
        model: "kimi-k2-0905-preview",
        ..COMPATIBLE
    },
    Profile {
        name: "openrouter",
        thinking: ThinkingIn::Details,
        effort: EffortIn::Object,
        media: &["image_url", "input_audio", "file"],
        files_by_url: true,
        top_k: true,
        model: "openrouter/auto",
        ..COMPATIBLE
    },
    Profile { name: "xai", families: &["grok"], model: "grok-4", ..COMPATIBLE },
    Profile {
        name: "llamacpp",
        thinking: ThinkingIn::Field("reasoning_content"),
        effort: EffortIn::No,
        top_k: true,
        model: "default",
        ..COMPATIBLE
    },
    Profile {
        name: "vllm",
        thinking: ThinkingIn::Field("reasoning_content"),
        top_k: true,
        model: "default",
        ..COMPATIBLE
    },
    Profile { name: "together", top_k: true, model: "openai/gpt-oss-120b", ..COMPATIBLE },
    Profile {
        name: "fireworks",
        thinking: ThinkingIn::Field("reasoning_content"),
        top_k: true,
        model: "accounts/fireworks/models/gpt-oss-120b",
        ..COMPATIBLE
    },
    Profile { name: "perplexity", families: &["sonar"], top_k: true, model: "sonar", ..COMPATIBLE },
    Profile {
        name: "qwen",
        thinking: ThinkingIn::Field("reasoning_content"),
        effort: EffortIn::No,
        top_k: true,
        families: &["qwen", "qwq"],
        model: "qwen-plus",
        ..COMPATIBLE
    },
    Profile {
        name: "zai",
        thinking: ThinkingIn::Field("reasoning_content"),
        families: &["glm"],
        model: "glm-4.6",
        ..COMPATIBLE
    },
];

/// The names of the dialects.
pub(crate) const VARIANTS: &[&str] = &[
    "openai",
    "azure",
    "mistral",
    "groq",
    "deepseek",
    "cerebras",
    "moonshot",
    "openrouter",
    "xai",
    "llamacpp",
    "vllm",
    "together",
    "fireworks",
    "perplexity",
    "qwen",
    "zai",
];

/// The dialect of a name; the wire's own where there is none.
pub(super) fn named(name: Option<&str>) -> &'static Profile {
    PROFILES.iter().find(|profile| Some(profile.name) == name).unwrap_or(&OPENAI_STATIC)
}

static OPENAI_STATIC: Profile = OPENAI;

impl Profile {
    /// What it takes of any model.
    pub(super) fn vendor(&self) -> &'static Vendor {
        vendor::of(Some(self.name))
    }

    /// Whether a model is named like this vendor's.
    pub(super) fn owns(&self, model: &str) -> bool {
        self.families.iter().any(|family| model.starts_with(family))
    }
}

/// Fields that only one vendor answers with.
const SIGNS: &[(&str, &str)] = &[
    ("x_groq", "groq"),
    ("prompt_filter_results", "azure"),
    ("time_info", "cerebras"),
    ("copilot_usage", "copilot"),
    ("venice_parameters", "venice"),
    ("search_results", "perplexity"),
    ("timings", "llamacpp"),
    ("kv_transfer_params", "vllm"),
];

/// Who made a response, where it has a field that only one vendor answers with.
pub(super) fn made_by(body: &Object) -> Option<&'static str> {
    if let Some((_, vendor)) = SIGNS.iter().find(|(key, _)| body.contains(key)) {
        return Some(vendor);
    }
    let choice = body.get("choices").and_then(Json::as_array).and_then(|choices| choices.first()?.as_object());
    if choice.is_some_and(|choice| choice.contains("native_finish_reason")) {
        return Some("openrouter");
    }
    let usage = body.get("usage").and_then(Json::as_object)?;
    usage.contains("prompt_cache_hit_tokens").then_some("deepseek")
}
