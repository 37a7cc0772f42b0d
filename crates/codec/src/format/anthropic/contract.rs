//! The facts of the wire.

use super::rules::{RULES, SHAPE};
use crate::models::BreachKind::{
    Budget, BudgetRoom, Choice, Effort, Format, Limit, Prefill, Sampling, Thinking, ThinkingSampling,
};
use crate::models::{Row, Setting, Settings, Terms, UNLISTED, part, slot};
use crate::sniff::outline::document;
use crate::wire::contract::{ModelNames, NameStyle};
use crate::wire::frame::Framing;
use crate::wire::repair::IdRule;
use crate::wire::{Contract, Delivery, Limits, Naming, Route};

/// Ids of this length are known to be taken.
pub(super) const LIMITS: Limits = Limits {
    call_ids: IdRule { shortest: 1, longest: 128, legal: |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-') },
    tool_name: 128,
};

pub(super) static CONTRACT: Contract = Contract {
    route: Route::one("/v1", "/messages"),
    framing: Framing::Sse,
    naming: Naming::Body("model"),
    default_delivery: Delivery::Whole,
    held: &["container"],
    history: "messages",
    answer_role: "assistant",
    limits: LIMITS,
    model_names: ModelNames {
        prefixes: &["anthropic.", "apac.anthropic.", "claude", "eu.anthropic.", "global.anthropic.", "us.anthropic."],
        style: NameStyle::Plain,
    },
    outlines: &[document("a request", &["messages[]"]), document("a response", &["type", "content[]"])],
    request_content: &[("system", "the system's text is no content that we can read")],
    answer_content: &[],
    repeated_content: &[],
    request_shape: SHAPE,
    rules: RULES,
    settings: Settings {
        terms: Terms::Claude,
        slots: &[
            slot(Setting::Temperature, "temperature", "options.temperature"),
            slot(Setting::TopP, "top_p", "options.top_p"),
            slot(Setting::TopK, "top_k", "options.top_k"),
            slot(Setting::Effort, "output_config.effort", "options.reasoning"),
            part(Setting::Thinking, "thinking.type", "thinking", "options.reasoning"),
            slot(Setting::Thinking, "thinking", "extra.anthropic.messages.fields.thinking"),
            part(Setting::Budget, "thinking.budget_tokens", "thinking", "options.budget_tokens"),
            slot(Setting::Limit, "max_tokens", "options.max_tokens"),
            slot(Setting::Tools, "tools", "tools"),
            part(Setting::Choice, "tool_choice.type", "tool_choice", "options.tool_choice"),
            slot(Setting::Format, "output_config.format", "response_format"),
            slot(Setting::Format, "output_format", "response_format"),
        ],
        makers: &[],
        unknown_rule: "AN-UNKNOWN",
        rules: &[
            (Sampling, "AN-SAMPLING"),
            (ThinkingSampling, "AN-TEMP"),
            (Effort, "AN-EFFORT"),
            (Thinking, "AN-THINKING"),
            (Budget, "AN-BUDGET"),
            (BudgetRoom, "AN-BUDGETMAX"),
            (Limit, "AN-LIMIT"),
            (Choice, "AN-CHOICE"),
            (Format, "AN-FORMAT"),
            (Prefill, "AN-PREFILL"),
        ],
    },
    unlisted: &[(
        &[],
        Row {
            evidence: "The migration guides say that newer models refuse sampling parameters, budgets and a last message of the assistant, and that older ones refuse effort.",
            maker: "Anthropic",
            stop: true,
            parallel: true,
            ..UNLISTED
        },
    )],
};
