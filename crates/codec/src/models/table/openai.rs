//! OpenAI's models.

use super::super::row::{Medium, Row, Sampling, Thinks};
use super::{IMAGES, NO_MEDIA, PAGES, PLAIN, UP_TO_HIGH};

const GPT: Row = Row { maker: "OpenAI", samples_thinking: false, most_tools: Some(128), media: PAGES, ..PLAIN };

/// A model that always thinks.
const THINKER: Row = Row {
    thinks: Thinks::Always,
    efforts: UP_TO_HIGH,
    penalties: false,
    stop: false,
    old_limit: false,
    most_tokens: Some(128_000),
    ..GPT
};

/// One of the o series.
const O: Row = Row { parallel: false, most_tokens: Some(100_000), ..THINKER };

/// A model whose effort can be set, down to none.
const SWITCHED: Row = Row { efforts: &["none", "low", "medium", "high", "xhigh"], penalties: true, ..THINKER };

const PRO: Row = Row { efforts: &["medium", "high", "xhigh"], ..THINKER };

/// A model for talking, which always thinks with the same effort.
const TALKER: Row = Row { efforts: &["medium"], most_tokens: Some(16_384), ..THINKER };

pub(super) static ROWS: &[Row] = &[
    Row {
        models: &["gpt-oss*"],
        since: "2025-08-05",
        evidence: "The model card says low, medium and high, and that thinking cannot be turned off; recordings of Groq and Bedrock show all three with a temperature and `max_tokens`.",
        samples_thinking: true,
        thinks: Thinks::Always,
        efforts: UP_TO_HIGH,
        media: NO_MEDIA,
        most_tools: None,
        ..GPT
    },
    Row {
        models: &["gpt-6*"],
        since: "2026-09",
        evidence: "OpenAI's guide to gpt-6 moves users of none and minimal to low and keeps the rules of models that think; no recording is at hand.",
        efforts: &["low", "medium", "high", "xhigh"],
        ..THINKER
    },
    Row {
        models: &["gpt-5.6*"],
        since: "2026-06",
        evidence: "Recordings of Responses show none, low, high and max, and a temperature of 0.5 with effort none; pydantic-ai checked live in 2026-07 that it thinks by default.",
        efforts: &["none", "low", "medium", "high", "xhigh", "max"],
        thinks: Thinks::ByDefault,
        ..SWITCHED
    },
    Row {
        models: &["gpt-5.5-pro*"],
        since: "2026-04",
        evidence: "pydantic-ai checked live in 2026-07 that effort none is refused.",
        ..PRO
    },
    Row {
        models: &["gpt-5.5*"],
        since: "2026-04",
        evidence: "Recordings of Responses show low and high; pydantic-ai checked live in 2026-07 that it thinks by default and accepts none.",
        thinks: Thinks::ByDefault,
        ..SWITCHED
    },
    Row {
        models: &["gpt-5.4-pro*", "gpt-5.2-pro*"],
        since: "2025-12-11",
        evidence: "OpenAI's model pages list medium, high and xhigh; pydantic-ai checked live in 2026-07 that none is refused.",
        ..PRO
    },
    Row {
        models: &["gpt-5.3-chat*", "gpt-5.2-chat*", "gpt-5.1-chat*"],
        since: "2025-11-12",
        evidence: "pydantic-ai checked live in 2026-07 that these always think with medium effort and refuse sampling parameters and other efforts.",
        ..TALKER
    },
    Row {
        models: &["gpt-5.1-codex-max*"],
        since: "2025-11-19",
        evidence: "The reference of `reasoning.effort` says that xhigh came with gpt-5.1-codex-max; it thinks always.",
        efforts: &["low", "medium", "high", "xhigh"],
        ..THINKER
    },
    Row {
        models: &["gpt-5.1-codex*"],
        since: "2025-11-13",
        evidence: "OpenAI's model page lists low, medium and high; pydantic-ai checked live in 2026-07 that it always thinks.",
        ..THINKER
    },
    Row {
        models: &["gpt-5.1*"],
        since: "2025-11-13",
        evidence: "The vendor answers \"Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'.\"",
        efforts: &["none", "low", "medium", "high"],
        thinks: Thinks::OnRequest,
        ..SWITCHED
    },
    Row {
        models: &["gpt-5.*"],
        since: "2025-12-11",
        evidence: "Recordings of gpt-5.2 to gpt-5.4 show low, medium and high, and temperatures where no effort is given; the reference says that these default to none.",
        thinks: Thinks::OnRequest,
        ..SWITCHED
    },
    Row {
        models: &["gpt-5-chat*"],
        since: "2025-08-07",
        evidence: "OpenAI's model page of gpt-5-chat-latest says that it does not reason, and takes sampling parameters.",
        most_tokens: Some(16_384),
        old_limit: false,
        ..GPT
    },
    Row {
        models: &["gpt-5-pro*"],
        since: "2025-10-06",
        evidence: "The reference of `reasoning.effort` says that gpt-5-pro defaults to and only supports high.",
        efforts: &["high"],
        most_tokens: Some(272_000),
        ..THINKER
    },
    Row {
        models: &["gpt-5-codex*"],
        since: "2025-09-15",
        evidence: "OpenAI's model page lists low, medium and high, without minimal.",
        ..THINKER
    },
    Row {
        models: &["gpt-5*"],
        since: "2025-08-07",
        evidence: "The vendor answers \"Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.\" and \"Unsupported parameter: 'stop' is not supported with this model.\"; recordings show a temperature of 1 accepted.",
        efforts: &["minimal", "low", "medium", "high"],
        ..THINKER
    },
    Row {
        models: &["o1-mini*", "o1-preview*"],
        since: "2024-09-12",
        evidence: "Recordings show \"Unsupported parameter: 'stop' is not supported with this model.\" and \"Unsupported value: 'messages[0].role' does not support 'system' with this model.\"",
        efforts: &[],
        media: NO_MEDIA,
        schema: false,
        system: false,
        most_tokens: Some(65_536),
        ..O
    },
    Row {
        models: &["o3-mini*"],
        since: "2025-01-31",
        evidence: "The vendor answers \"Unsupported parameter: 'temperature' is not supported with this model.\"; recordings show low and high, and a `stop` that was accepted.",
        stop: true,
        media: NO_MEDIA,
        ..O
    },
    Row {
        models: &["o1*"],
        since: "2024-12-17",
        evidence: "OpenAI's guide to reasoning lists temperature, top_p, penalties and parallel tool calls as unsupported.",
        stop: true,
        ..O
    },
    Row {
        models: &["o3*", "o4*", "codex-mini*"],
        since: "2025-04-16",
        evidence: "The vendor answers \"Unsupported value: 'minimal' is not supported with the 'o4-mini' model. Supported values are: 'low', 'medium', and 'high'.\" and \"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.\"",
        ..O
    },
    Row {
        models: &["gpt-4o-search*", "gpt-4o-mini-search*"],
        since: "2025-03-11",
        evidence: "The vendor answers \"Model incompatible request argument supplied: temperature\" for models that search.",
        sampling: Sampling::Never,
        penalties: false,
        most_tokens: Some(16_384),
        ..GPT
    },
    Row {
        models: &["gpt-4o-audio*", "gpt-4o-mini-audio*", "gpt-audio*"],
        since: "2024-10-17",
        evidence: "Recordings of OpenAI's chat show sound in the request of gpt-4o-audio-preview, gpt-audio and gpt-audio-mini.",
        media: &[Medium::Audio],
        schema: false,
        most_tokens: Some(16_384),
        ..GPT
    },
    Row {
        models: &["gpt-4o-2024-05-13"],
        since: "2024-05-13",
        evidence: "OpenAI's guide to structured outputs begins with gpt-4o-2024-08-06; the model page says 4,096 tokens.",
        media: IMAGES,
        schema: false,
        most_tokens: Some(4_096),
        ..GPT
    },
    Row {
        models: &["gpt-4o*", "chatgpt-4o*", "gpt-4.5*"],
        since: "2024-05-13",
        evidence: "Hundreds of recordings show temperature, top_p, stop, penalties, both names of the limit, images and schemas accepted.",
        most_tokens: Some(16_384),
        ..GPT
    },
    Row {
        models: &["gpt-4.1*"],
        since: "2025-04-14",
        evidence: "Recordings of chat and Responses show temperature, top_p and `max_tokens` accepted; the model page says 32,768 tokens.",
        most_tokens: Some(32_768),
        ..GPT
    },
    Row {
        models: &["gpt-4-turbo*", "gpt-4-vision*", "gpt-4-1106*", "gpt-4-0125*"],
        since: "2023-11-06",
        evidence: "OpenAI's model page says 4,096 tokens; the guide to structured outputs does not list it.",
        media: IMAGES,
        schema: false,
        most_tokens: Some(4_096),
        ..GPT
    },
    Row {
        models: &["gpt-4", "gpt-4-*"],
        since: "2023-03-14",
        evidence: "Recordings show temperature, stop and penalties accepted; the model page says text only and 8,192 tokens.",
        media: NO_MEDIA,
        schema: false,
        most_tokens: Some(8_192),
        ..GPT
    },
    Row {
        models: &["gpt-3.5*", "gpt-35*"],
        since: "2023-03-01",
        evidence: "Recordings show temperature, penalties and both names of the limit accepted; the model page says text only and 4,096 tokens.",
        media: NO_MEDIA,
        schema: false,
        most_tokens: Some(4_096),
        ..GPT
    },
];
