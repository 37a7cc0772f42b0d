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

/// By the service model.
pub(super) const LIMITS: Limits = Limits {
    call_ids: IdRule {
        shortest: 1,
        longest: 64,
        legal: |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'),
    },
    tool_name: 64,
};

pub(super) static CONTRACT: Contract = Contract {
    route: Route { base: "", whole: "/model/*/converse", stream: "/model/*/converse-stream" },
    framing: Framing::Aws,
    naming: Naming::Address("modelId"),
    default_delivery: Delivery::Whole,
    held: &[],
    history: "messages",
    answer_role: "assistant",
    limits: LIMITS,
    model_names: ModelNames {
        prefixes: &["amazon.", "anthropic.", "apac.anthropic.", "eu.anthropic.", "global.anthropic.", "us.anthropic."],
        style: NameStyle::Plain,
    },
    outlines: &[document("a request", &["messages[]"]), document("a response", &["output.message", "stopReason"])],
    request_content: &[
        ("system", "the system's text is no content that we can read"),
        ("promptVariables", "a part of the prompt is with its vendor, in the template that these fill"),
    ],
    answer_content: &[],
    repeated_content: &[],
    request_shape: SHAPE,
    rules: &[RULES],
    settings: Settings {
        terms: Terms::Claude,
        slots: &[
            slot(Setting::Temperature, "inferenceConfig.temperature", "options.temperature"),
            slot(Setting::TopP, "inferenceConfig.topP", "options.top_p"),
            slot(Setting::TopK, "additionalModelRequestFields.top_k", "options.top_k"),
            slot(Setting::Effort, "additionalModelRequestFields.output_config.effort", "options.reasoning"),
            slot(Setting::Effort, "additionalModelRequestFields.reasoning_effort", "options.reasoning"),
            part(
                Setting::Thinking,
                "additionalModelRequestFields.thinking.type",
                "additionalModelRequestFields.thinking",
                "options.reasoning",
            ),
            part(
                Setting::Budget,
                "additionalModelRequestFields.thinking.budget_tokens",
                "additionalModelRequestFields.thinking",
                "options.budget_tokens",
            ),
            slot(Setting::Limit, "inferenceConfig.maxTokens", "options.max_tokens"),
            slot(Setting::Tools, "toolConfig.tools", "tools"),
            slot(Setting::Choice, "toolConfig.toolChoice", "options.tool_choice"),
            slot(Setting::Format, "outputConfig", "response_format"),
        ],
        makers: &[],
        unknown_rule: "BE-UNKNOWN",
        rules: &[
            (Sampling, "BE-SAMPLING"),
            (ThinkingSampling, "BE-TEMP"),
            (Effort, "BE-EFFORT"),
            (Thinking, "BE-THINKING"),
            (Budget, "BE-BUDGET"),
            (BudgetRoom, "BE-BUDGETMAX"),
            (Limit, "BE-LIMIT"),
            (Choice, "BE-CHOICE"),
            (Format, "BE-FORMAT"),
            (Prefill, "BE-PREFILL"),
        ],
    },
    unlisted: &[(
        &[],
        Row {
            evidence: "Bedrock's model cards say that newer Claude models refuse temperature and topP; an application inference profile does not tell its model.",
            maker: "any",
            stop: true,
            parallel: true,
            ..UNLISTED
        },
    )],
};
