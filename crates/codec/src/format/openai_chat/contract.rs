//! The facts of the wire.

use super::rules::{RULES, SHAPE};
use crate::models::BreachKind::{
    Choice, Effort, Format, Limit, NewLimit, OldLimit, Parallel, Penalty, Prefill, Sampling as Sampled, Stop,
    ThinkingSampling, Tools,
};
use crate::models::{Row, Sampling, Setting, Settings, Terms, UNLISTED, slot};
use crate::sniff::outline::document;
use crate::wire::contract::{ModelNames, NameStyle};
use crate::wire::frame::Framing;
use crate::wire::repair::IdRule;
use crate::wire::{Contract, Delivery, Limits, Naming, Route};

/// OpenAI's own; profiles say which ids others take.
pub(super) const LIMITS: Limits =
    Limits { call_ids: IdRule { shortest: 1, longest: 40, legal: |_| true }, tool_name: 64 };

pub(super) static CONTRACT: Contract = Contract {
    route: Route::one("/v1", "/chat/completions"),
    framing: Framing::Sse,
    naming: Naming::Body("model"),
    default_delivery: Delivery::Whole,
    held: &[],
    history: "messages",
    answer_role: "assistant",
    limits: LIMITS,
    model_names: ModelNames {
        prefixes: &[
            "chatgpt",
            "codestral",
            "codex",
            "deepseek-",
            "glm-",
            "gpt-",
            "grok",
            "kimi",
            "magistral-",
            "ministral-",
            "mistral-",
            "moonshot",
            "o1",
            "o3",
            "o4",
            "sonar",
        ],
        style: NameStyle::VendorSlashModel,
    },
    outlines: &[document("a request", &["messages[]"]), document("a response", &["choices[]"])],
    request_content: &[],
    answer_content: &[("choices", "there are more answers than one, and a history has one")],
    repeated_content: &[],
    request_shape: SHAPE,
    rules: &[RULES],
    settings: Settings {
        terms: Terms::Chat,
        slots: &[
            slot(Setting::Temperature, "temperature", "options.temperature"),
            slot(Setting::TopP, "top_p", "options.top_p"),
            slot(Setting::Penalty, "presence_penalty", "options.presence_penalty"),
            slot(Setting::Penalty, "frequency_penalty", "options.frequency_penalty"),
            slot(Setting::Penalty, "logprobs", "extra.openai.chat.fields.logprobs"),
            slot(Setting::Penalty, "top_logprobs", "extra.openai.chat.fields.top_logprobs"),
            slot(Setting::Penalty, "logit_bias", "extra.openai.chat.fields.logit_bias"),
            slot(Setting::Stop, "stop", "options.stop"),
            slot(Setting::Effort, "reasoning_effort", "options.reasoning"),
            slot(Setting::Limit, "max_completion_tokens", "options.max_tokens"),
            slot(Setting::OldLimit, "max_tokens", "options.max_tokens"),
            slot(Setting::Tools, "tools", "tools"),
            slot(Setting::Choice, "tool_choice", "options.tool_choice"),
            slot(Setting::Parallel, "parallel_tool_calls", "options.parallel_tool_calls"),
            slot(Setting::Format, "response_format", "response_format"),
        ],
        makers: &["openai", "azure"],
        unknown_rule: "OC-UNKNOWN",
        rules: &[
            (Sampled, "OC-SAMPLING"),
            (ThinkingSampling, "OC-THINKTEMP"),
            (Penalty, "OC-PENALTY"),
            (Stop, "OC-STOP"),
            (Effort, "OC-EFFORT"),
            (Limit, "OC-LIMIT"),
            (OldLimit, "OC-MAXTOKENS"),
            (NewLimit, "OC-NEWLIMIT"),
            (Tools, "OC-TOOLS"),
            (Choice, "OC-CHOICE"),
            (Parallel, "OC-PARALLEL"),
            (Format, "OC-FORMAT"),
            (Prefill, "OC-PREFILL"),
        ],
    },
    unlisted: &[
        (
            &["openai", "azure"],
            Row {
                evidence: "OpenAI's guide to reasoning lists what models that think refuse; a deployment of Azure does not tell its model.",
                maker: "OpenAI",
                old_limit: false,
                most_tools: Some(128),
                schema: true,
                prefill: true,
                ..UNLISTED
            },
        ),
        (
            &[],
            Row {
                evidence: "Recordings of Groq, vLLM, Together and llama.cpp show temperature, top_p, stop and `max_tokens` accepted; each vendor's dialect says what it knows of effort.",
                maker: "any",
                sampling: Sampling::Any,
                samples_thinking: true,
                penalties: true,
                stop: true,
                schema: true,
                prefill: true,
                parallel: true,
                ..UNLISTED
            },
        ),
    ],
};
