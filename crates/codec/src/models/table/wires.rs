//! What every model of a wire takes: the rows of models that the table does not know.

use super::super::row::{Forced, Row, Sampling, Thinks};
use super::{PAGES, PLAIN};

/// A wire, its dialects that the row is for (empty for all), and the row.
type Conservative = (&'static str, &'static [&'static str], Row);

/// Nothing that only some models take.
pub(in super::super) static UNKNOWN: Row = ANY;

const ANY: Row = Row {
    models: &["*"],
    maker: "any",
    since: "2022-11",
    evidence: "No document says what a model without a row takes: settings that some models refuse are not sent.",
    sampling: Sampling::Never,
    samples_thinking: false,
    penalties: false,
    stop: false,
    thinks: Thinks::Never,
    media: PAGES,
    forced: Forced::NotThinking,
    prefill: false,
    schema: false,
    parallel: false,
    ..PLAIN
};

/// The conservative rows, by wire.
pub static CONSERVATIVE: &[Conservative] = &[
    (
        "openai.chat",
        &["openai", "azure"],
        Row {
            evidence: "OpenAI's guide to reasoning lists what models that think refuse; a deployment of Azure does not tell its model.",
            maker: "OpenAI",
            old_limit: false,
            most_tools: Some(128),
            schema: true,
            prefill: true,
            ..ANY
        },
    ),
    (
        "openai.chat",
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
            ..ANY
        },
    ),
    (
        "openai.responses",
        &["openai", "azure", "chatgpt", "copilot"],
        Row {
            evidence: "OpenAI's guide to reasoning lists what models that think refuse; a deployment of Azure does not tell its model.",
            maker: "OpenAI",
            most_tools: Some(128),
            schema: true,
            prefill: true,
            ..ANY
        },
    ),
    (
        "openai.responses",
        &[],
        Row {
            evidence: "Recordings of xAI, DeepSeek and vLLM show temperature and top_p accepted on this wire; effort is known of few models.",
            maker: "any",
            sampling: Sampling::Any,
            samples_thinking: true,
            schema: true,
            prefill: true,
            parallel: true,
            ..ANY
        },
    ),
    (
        "anthropic.messages",
        &[],
        Row {
            evidence: "The migration guides say that newer models refuse sampling parameters, budgets and a last message of the assistant, and that older ones refuse effort.",
            maker: "Anthropic",
            stop: true,
            parallel: true,
            ..ANY
        },
    ),
    (
        "gemini.contents",
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
            ..ANY
        },
    ),
    (
        "ollama.chat",
        &[],
        Row {
            evidence: "Ollama's reference takes the same options for every model; it answers \"does not support thinking\" for models without that ability.",
            maker: "any",
            sampling: Sampling::Any,
            samples_thinking: true,
            penalties: true,
            stop: true,
            schema: true,
            prefill: true,
            parallel: true,
            ..ANY
        },
    ),
    (
        "bedrock.converse",
        &[],
        Row {
            evidence: "Bedrock's model cards say that newer Claude models refuse temperature and topP; an application inference profile does not tell its model.",
            maker: "any",
            stop: true,
            parallel: true,
            ..ANY
        },
    ),
];
