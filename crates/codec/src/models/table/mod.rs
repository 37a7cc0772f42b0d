//! The table, family by family. Within a family the more particular patterns stand first.

mod anthropic;
mod google;
mod openai;
mod others;
mod unlisted;

use super::row::{Forced, Medium, Row, Sampling, Thinks};

pub(super) use unlisted::NOTHING_KNOWN;
pub(crate) use unlisted::UNLISTED;

/// Every row of a model.
pub static ROWS: &[&[Row]] = &[openai::ROWS, anthropic::ROWS, google::ROWS, others::ROWS];

const NO_MEDIA: &[Medium] = &[];
const IMAGES: &[Medium] = &[Medium::Image];
const PAGES: &[Medium] = &[Medium::Image, Medium::Document];
const ALL_MEDIA: &[Medium] = &[Medium::Image, Medium::Document, Medium::Audio, Medium::Video];

const UP_TO_HIGH: &[&str] = &["low", "medium", "high"];

/// A model that answers without thinking first and refuses nothing that is known.
const PLAIN: Row = Row {
    models: &[],
    maker: "",
    since: "",
    evidence: "",
    sampling: Sampling::Any,
    samples_thinking: true,
    penalties: true,
    stop: true,
    thinks: Thinks::Never,
    efforts: &[],
    budget: None,
    adaptive: false,
    old_limit: true,
    most_tokens: None,
    media: NO_MEDIA,
    most_tools: None,
    parallel: true,
    forced: Forced::Always,
    prefill: true,
    schema: true,
    system: true,
};
