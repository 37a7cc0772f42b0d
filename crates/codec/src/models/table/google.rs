//! Google's models.

use super::super::row::{Budget, Row, Thinks};
use super::{ALL_MEDIA, IMAGES, PLAIN, UP_TO_HIGH};

const GEMINI: Row = Row { maker: "Google", media: ALL_MEDIA, most_tools: Some(512), ..PLAIN };

const GEMINI_2_5: Row = Row { most_tokens: Some(65_536), ..GEMINI };

/// A model with thinking levels that cannot be turned off.
const GEMINI_3: Row =
    Row { thinks: Thinks::Always, efforts: &["minimal", "low", "medium", "high"], most_tokens: Some(65_536), ..GEMINI };

pub(super) static ROWS: &[Row] = &[
    Row {
        models: &["gemini-3*-image*"],
        since: "2025-11-20",
        evidence: "Recordings of gemini-3-pro-image show no thinking settings; the documentation of thinking lists no levels for image models.",
        thinks: Thinks::Always,
        efforts: &[],
        media: IMAGES,
        ..GEMINI_3
    },
    Row {
        models: &["gemini-*-image*", "gemini-*-tts*"],
        since: "2025-08-26",
        evidence: "The model pages of gemini-2.5-flash-image and the speech models say that thinking is not supported.",
        media: IMAGES,
        most_tokens: Some(32_768),
        ..GEMINI
    },
    Row {
        models: &["gemini-2.5-pro*"],
        since: "2025-06-17",
        evidence: "Vertex's documentation says 128 to 32,768 tokens, that thinking cannot be turned off, and that `thinking_level` returns an error before Gemini 3.",
        thinks: Thinks::Always,
        budget: Some(Budget { least: 128, most: 32_768 }),
        ..GEMINI_2_5
    },
    Row {
        models: &["gemini-2.5-flash-lite*"],
        since: "2025-07-22",
        evidence: "Vertex's documentation says 512 to 24,576 tokens and that thinking is off by default; the vendor answers \"Thinking level is not supported for this model.\"",
        thinks: Thinks::OnRequest,
        budget: Some(Budget { least: 512, most: 24_576 }),
        ..GEMINI_2_5
    },
    Row {
        models: &["gemini-2.5-*"],
        since: "2025-06-17",
        evidence: "Recordings show budgets from 0 to 4,096; Vertex's documentation says 1 to 24,576; the vendor answers \"Thinking level is not supported for this model.\" to gemini-2.5-flash.",
        thinks: Thinks::ByDefault,
        budget: Some(Budget { least: 1, most: 24_576 }),
        ..GEMINI_2_5
    },
    Row {
        models: &["gemini-3-pro*"],
        since: "2025-11-18",
        evidence: "Google's documentation of thinking lists low and high for Gemini 3 Pro.",
        efforts: &["low", "high"],
        ..GEMINI_3
    },
    Row {
        models: &["gemini-3.5-flash-lite*", "gemini-3.6*"],
        since: "2026-06",
        evidence: "The model page of Gemini 3.5 Flash-Lite says that penalties and a last turn of the model return an error, and that sampling parameters are ignored.",
        penalties: false,
        prefill: false,
        ..GEMINI_3
    },
    Row {
        models: &["gemini-3.7*"],
        since: "2026-08",
        evidence: "Google's documentation of thinking says that gemini-3.7-flash does not support minimal; it follows the rules of Gemini 3.5 Flash-Lite otherwise.",
        efforts: UP_TO_HIGH,
        penalties: false,
        prefill: false,
        ..GEMINI_3
    },
    Row {
        models: &["gemini-3*-pro*"],
        since: "2026-02-19",
        evidence: "Google's documentation of thinking lists low, medium and high for Gemini 3.1 Pro.",
        efforts: UP_TO_HIGH,
        ..GEMINI_3
    },
    Row {
        models: &["gemini-3*"],
        since: "2025-12-17",
        evidence: "Recordings of gemini-3-flash-preview show low, medium and high; the vendor answers \"You can only set only one of thinking budget and thinking level.\"",
        ..GEMINI_3
    },
    Row {
        models: &["gemini-pro-latest", "gemini-flash-latest", "gemini-flash-lite-latest"],
        since: "2025-09-25",
        evidence: "These names move to the newest models, which are of Gemini 3: low and high are what all of them take.",
        efforts: &["low", "high"],
        ..GEMINI_3
    },
    Row {
        models: &["gemini-1*", "gemini-2.0*", "gemini-pro", "gemini-pro-vision", "learnlm*"],
        since: "2023-12-06",
        evidence: "The model page of Gemini 2.0 Flash-Lite says that thinking is not supported and 8,192 tokens; recordings show temperatures.",
        most_tokens: Some(8_192),
        ..GEMINI
    },
];
