//! What is believed of models that the table does not list, before their wire knows better.

use super::super::row::{Forced, Row, Sampling, Thinks};
use super::{PAGES, PLAIN};

/// The row of a model of which not even the wire is known.
pub(in super::super) static NOTHING_KNOWN: Row = UNLISTED;

/// Nothing that only some models take. The rows of the wires say what else all of their models take.
pub(crate) const UNLISTED: Row = Row {
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
