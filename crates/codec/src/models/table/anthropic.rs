//! Anthropic's models.

use super::super::row::{Budget, Forced, Row, Sampling, Thinks};
use super::{NO_MEDIA, PAGES, PLAIN, UP_TO_HIGH};

const CLAUDE: Row = Row { maker: "Anthropic", samples_thinking: false, media: PAGES, schema: false, ..PLAIN };

/// A model that thinks with a budget on request.
const BUDGETED: Row = Row {
    thinks: Thinks::OnRequest,
    budget: Some(Budget { least: 1024, most: 128_000 }),
    forced: Forced::NotThinking,
    ..CLAUDE
};

/// A model that decides how much to think, and takes an effort.
const ADAPTIVE: Row = Row {
    sampling: Sampling::Never,
    thinks: Thinks::OnRequest,
    efforts: &["low", "medium", "high", "xhigh", "max"],
    adaptive: true,
    prefill: false,
    schema: true,
    most_tokens: Some(128_000),
    ..CLAUDE
};

pub(super) static ROWS: &[Row] = &[
    Row {
        models: &["claude-2*", "claude-instant*", "claude-v2*"],
        since: "2023-07-11",
        evidence: "Recordings of Bedrock show temperature with top_p accepted; extended thinking and images came with later models.",
        media: NO_MEDIA,
        most_tokens: Some(4_096),
        ..CLAUDE
    },
    Row {
        models: &["claude-3-5*"],
        since: "2024-06-20",
        evidence: "Recordings show temperature with top_p and a last message of the assistant accepted; the models overview says 8,192 tokens and no extended thinking.",
        most_tokens: Some(8_192),
        ..CLAUDE
    },
    Row {
        models: &["claude-3-7*"],
        since: "2025-02-24",
        evidence: "Recordings show thinking with 1,024 tokens, also on Bedrock; the documentation allows 128,000 tokens with a beta header.",
        most_tokens: Some(128_000),
        ..BUDGETED
    },
    Row {
        models: &["claude-3*"],
        since: "2024-03-04",
        evidence: "Recordings show temperature with top_p accepted; the models overview says 4,096 tokens and no extended thinking.",
        most_tokens: Some(4_096),
        ..CLAUDE
    },
    Row {
        models: &["claude-opus-4-1*"],
        since: "2025-08-05",
        evidence: "The vendor answers \"`temperature` and `top_p` cannot both be specified for this model. Please use only one.\"; the models overview says 32,000 tokens.",
        sampling: Sampling::Either,
        schema: true,
        most_tokens: Some(32_000),
        ..BUDGETED
    },
    Row {
        models: &["claude-sonnet-4-5*", "claude-haiku-4-5*"],
        since: "2025-09-29",
        evidence: "Recordings show thinking with a budget; the models overview says that effort is not supported; the vendor answers \"`temperature` and `top_p` cannot both be specified for this model. Please use only one.\"",
        sampling: Sampling::Either,
        schema: true,
        most_tokens: Some(64_000),
        ..BUDGETED
    },
    Row {
        models: &["claude-opus-4-5*"],
        since: "2025-11-24",
        evidence: "The documentation of effort lists Claude Opus 4.5 with low, medium and high; the same answer to temperature with top_p is reported of it.",
        sampling: Sampling::Either,
        efforts: UP_TO_HIGH,
        schema: true,
        most_tokens: Some(64_000),
        ..BUDGETED
    },
    Row {
        models: &["claude-opus-4-6*", "claude-sonnet-4-6*"],
        since: "2026-02-05",
        evidence: "Recordings show \"This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.\", \"This model does not support assistant message prefill.\", budgets and adaptive thinking.",
        sampling: Sampling::Either,
        efforts: &["low", "medium", "high", "max"],
        adaptive: true,
        prefill: false,
        schema: true,
        most_tokens: Some(128_000),
        ..BUDGETED
    },
    Row {
        models: &["claude-opus-5-5*"],
        since: "2026-09",
        evidence: "The models overview says adaptive thinking, always on, and 128K tokens; the documentation of effort lists it.",
        thinks: Thinks::Always,
        ..ADAPTIVE
    },
    Row {
        models: &["claude-opus-4-7*", "claude-opus-4-8*", "claude-opus-5*", "claude-sonnet-5*"],
        since: "2026-04-16",
        evidence: "The vendor answers \"`temperature` is deprecated for this model.\" and \"\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.\"; recordings show xhigh.",
        ..ADAPTIVE
    },
    Row {
        models: &["claude-haiku-5*"],
        since: "2026-09",
        evidence: "The models overview says adaptive thinking and 128K tokens; the documentation of effort lists it, without xhigh and max.",
        efforts: UP_TO_HIGH,
        ..ADAPTIVE
    },
    Row {
        models: &["claude-fable-*", "claude-mythos-*"],
        since: "2026-06",
        evidence: "The models overview says adaptive thinking, always on; the documentation of tools says that these models refuse a forced tool_choice.",
        thinks: Thinks::Always,
        forced: Forced::Never,
        ..ADAPTIVE
    },
    Row {
        models: &["claude-opus-4", "claude-opus-4-0*", "claude-opus-4-2025*", "claude-4-opus*"],
        since: "2025-05-22",
        evidence: "The models overview says extended thinking and 32,000 tokens; structured outputs begin with Opus 4.1.",
        most_tokens: Some(32_000),
        ..BUDGETED
    },
    Row {
        models: &["claude-sonnet-4", "claude-sonnet-4-0*", "claude-sonnet-4-2025*", "claude-4-sonnet*"],
        since: "2025-05-22",
        evidence: "Recordings show budgets with a temperature of 1, on Anthropic and on Bedrock; the models overview says 64,000 tokens.",
        most_tokens: Some(64_000),
        ..BUDGETED
    },
];
