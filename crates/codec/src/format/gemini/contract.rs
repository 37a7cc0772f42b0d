//! The facts of the wire.

use super::rules::{RULES, SHAPE};
use crate::models::BreachKind::{Budget, Choice, Effort, Limit, Penalty, Prefill, Thinking, Tools};
use crate::models::{Row, Sampling, Setting, Settings, Terms, UNLISTED, part, slot};
use crate::sniff::outline::document;
use crate::wire::contract::{ModelNames, NameStyle};
use crate::wire::frame::Framing;
use crate::wire::repair::IdRule;
use crate::wire::{Contract, Delivery, Limits, Naming, Route};

/// The vendor says nothing of ids; these are taken.
pub(super) const LIMITS: Limits =
    Limits { call_ids: IdRule { shortest: 1, longest: 128, legal: |c| c.is_ascii_graphic() }, tool_name: 64 };

pub(super) static CONTRACT: Contract = Contract {
    route: Route {
        base: "/v1beta",
        whole: "/models/*:generateContent",
        stream: "/models/*:streamGenerateContent?alt=sse",
    },
    framing: Framing::Sse,
    naming: Naming::Address("model"),
    default_delivery: Delivery::Whole,
    held: &[],
    history: "contents",
    answer_role: "model",
    limits: LIMITS,
    model_names: ModelNames { prefixes: &["gemini", "models/gemini"], style: NameStyle::Plain },
    outlines: &[document("a request", &["contents"]), document("a response", &["candidates[]"])],
    request_content: &[
        ("cachedContent", "a part of the prompt is with its vendor, in this cache"),
        ("systemInstruction", "the system's text is no content that we can read"),
    ],
    answer_content: &[("candidates", "there are more answers than one, and a history has one")],
    repeated_content: &[],
    request_shape: SHAPE,
    rules: &[RULES],
    settings: Settings {
        terms: Terms::Gemini,
        slots: &[
            slot(Setting::Penalty, "generationConfig.presencePenalty", "options.presence_penalty"),
            slot(Setting::Penalty, "generationConfig.frequencyPenalty", "options.frequency_penalty"),
            slot(Setting::Effort, "generationConfig.thinkingConfig.thinkingLevel", "options.reasoning"),
            slot(Setting::Budget, "generationConfig.thinkingConfig.thinkingBudget", "options.budget_tokens"),
            part(
                Setting::Include,
                "generationConfig.thinkingConfig.includeThoughts",
                "generationConfig.thinkingConfig",
                "extra.gemini.contents.fields.generationConfig",
            ),
            slot(Setting::Limit, "generationConfig.maxOutputTokens", "options.max_tokens"),
            slot(Setting::Tools, "tools", "tools"),
            slot(Setting::Choice, "toolConfig.functionCallingConfig", "options.tool_choice"),
        ],
        makers: &[],
        unknown_rule: "GE-UNKNOWN",
        rules: &[
            (Penalty, "GE-PENALTY"),
            (Effort, "GE-LEVEL"),
            (Thinking, "GE-THINKING"),
            (Budget, "GE-BUDGET"),
            (Limit, "GE-LIMIT"),
            (Tools, "GE-TOOLS"),
            (Choice, "GE-CHOICE"),
            (Prefill, "GE-PREFILL"),
        ],
    },
    unlisted: &[(
        &[],
        Row {
            evidence: "Google's model pages say that sampling parameters are taken or ignored by all models; levels and budgets of thinking exclude each other.",
            maker: "Google",
            sampling: Sampling::Any,
            samples_thinking: true,
            stop: true,
            schema: true,
            parallel: true,
            most_tools: Some(512),
            ..UNLISTED
        },
    )],
};
