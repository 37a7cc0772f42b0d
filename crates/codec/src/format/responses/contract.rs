//! The facts of the wire.

use super::rules::{RULES, SHAPE};
use crate::models::BreachKind::{
    Choice, Effort, Format, Limit, Parallel, Sampling as Sampled, Thinking, ThinkingSampling, Tools,
};
use crate::models::{Row, Sampling, Setting, Settings, Terms, UNLISTED, slot};
use crate::sniff::outline::document;
use crate::wire::contract::{ModelNames, NameStyle};
use crate::wire::frame::Framing;
use crate::wire::repair::IdRule;
use crate::wire::{Contract, Delivery, Limits, Naming, Route};

/// OpenAI's own; a profile may take shorter ids.
pub(super) const LIMITS: Limits =
    Limits { call_ids: IdRule { shortest: 1, longest: 64, legal: |c| !c.is_control() }, tool_name: 64 };

pub(super) static CONTRACT: Contract = Contract {
    route: Route::one("/v1", "/responses"),
    framing: Framing::Sse,
    naming: Naming::Body("model"),
    default_delivery: Delivery::Whole,
    held: &["previous_response_id", "conversation"],
    history: "input",
    answer_role: "assistant",
    limits: LIMITS,
    model_names: ModelNames { prefixes: &["chatgpt", "codex", "gpt-", "o1", "o3", "o4"], style: NameStyle::Plain },
    outlines: &[
        document("a request", &["input"]),
        document("a request", &["model", "previous_response_id"]),
        document("a response", &["output[]"]),
    ],
    request_content: &[
        ("previous_response_id", "what was said before is with its vendor, under this id"),
        ("conversation", "what was said before is with its vendor, in this conversation"),
        ("prompt", "a part of the prompt is with its vendor, in this template"),
        ("instructions", "the system's text is no content that we can read"),
    ],
    answer_content: &[],
    repeated_content: &[("instructions", "the answer repeats the system's text, and its request is not here")],
    request_shape: SHAPE,
    rules: &[RULES],
    settings: Settings {
        terms: Terms::Responses,
        slots: &[
            slot(Setting::Temperature, "temperature", "options.temperature"),
            slot(Setting::TopP, "top_p", "options.top_p"),
            slot(Setting::Effort, "reasoning.effort", "options.reasoning"),
            slot(Setting::Thinking, "reasoning", "extra.openai.responses.fields.reasoning"),
            slot(Setting::Include, "include", "extra.openai.responses.fields.include"),
            slot(Setting::Limit, "max_output_tokens", "options.max_tokens"),
            slot(Setting::Tools, "tools", "tools"),
            slot(Setting::Choice, "tool_choice", "options.tool_choice"),
            slot(Setting::Parallel, "parallel_tool_calls", "options.parallel_tool_calls"),
            slot(Setting::Format, "text.format", "response_format"),
        ],
        makers: &["openai", "azure", "chatgpt", "copilot"],
        unknown_rule: "OR-UNKNOWN",
        rules: &[
            (Sampled, "OR-SAMPLING"),
            (ThinkingSampling, "OR-THINKTEMP"),
            (Effort, "OR-EFFORT"),
            (Thinking, "OR-THINKING"),
            (Limit, "OR-LIMIT"),
            (Tools, "OR-TOOLS"),
            (Choice, "OR-CHOICE"),
            (Parallel, "OR-PARALLEL"),
            (Format, "OR-FORMAT"),
        ],
    },
    unlisted: &[
        (
            &["openai", "azure", "chatgpt", "copilot"],
            Row {
                evidence: "OpenAI's guide to reasoning lists what models that think refuse; a deployment of Azure does not tell its model.",
                maker: "OpenAI",
                most_tools: Some(128),
                schema: true,
                prefill: true,
                ..UNLISTED
            },
        ),
        (
            &[],
            Row {
                evidence: "Recordings of xAI, DeepSeek and vLLM show temperature and top_p accepted on this wire; effort is known of few models.",
                maker: "any",
                sampling: Sampling::Any,
                samples_thinking: true,
                schema: true,
                prefill: true,
                parallel: true,
                ..UNLISTED
            },
        ),
    ],
};
