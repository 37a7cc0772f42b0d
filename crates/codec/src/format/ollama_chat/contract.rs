//! The facts of the wire.

use super::rules::{RULES, SHAPE};
use crate::models::{BreachKind, Row, Sampling, Setting, Settings, Terms, UNLISTED, slot};
use crate::sniff::outline::document;
use crate::wire::contract::{ModelNames, NameStyle};
use crate::wire::frame::Framing;
use crate::wire::repair::IdRule;
use crate::wire::{Contract, Delivery, Limits, Naming, Route};

/// Nothing is known to be refused.
pub(super) const LIMITS: Limits =
    Limits { call_ids: IdRule { shortest: 1, longest: usize::MAX, legal: |_| true }, tool_name: usize::MAX };

pub(super) static CONTRACT: Contract = Contract {
    route: Route::one("", "/api/chat"),
    framing: Framing::Lines,
    naming: Naming::Body("model"),
    default_delivery: Delivery::Stream,
    held: &[],
    history: "messages",
    answer_role: "assistant",
    limits: LIMITS,
    model_names: ModelNames { prefixes: &["gpt-oss:"], style: NameStyle::ModelColonTag },
    outlines: &[document("a request", &["messages[]"]), document("a response", &["message", "done"])],
    request_content: &[("system", "the system's text is no content that we can read")],
    answer_content: &[],
    repeated_content: &[],
    request_shape: SHAPE,
    rules: &[RULES],
    settings: Settings {
        terms: Terms::Ollama,
        slots: &[slot(Setting::Thinking, "think", "options.reasoning")],
        makers: &[],
        unknown_rule: "OL-UNKNOWN",
        rules: &[(BreachKind::Thinking, "OL-THINK")],
    },
    unlisted: &[(
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
            ..UNLISTED
        },
    )],
};
