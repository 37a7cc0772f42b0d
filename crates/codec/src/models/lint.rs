//! Lint rules on settings that a model refuses.

use turnkeep_model::json::Node;

use super::check::{Breach, BreachKind, Grade, breaches};
use super::settings::{Asked, Settings};
use crate::lint::{Finding, RuleInfo, Severity, Strictness};
use crate::wire::contract::NameStyle;
use crate::wire::{Contract, Wire};

/// A rule on models: what a vendor answers, and what to do. Wires that have it have an id for it.
struct ModelRule {
    kind: BreachKind,
    evidence: &'static str,
    fix: &'static str,
}

const MODEL_RULES: &[ModelRule] = &[
    ModelRule {
        kind: BreachKind::Sampling,
        evidence: "`temperature` is deprecated for this model.",
        fix: "leave it out",
    },
    ModelRule {
        kind: BreachKind::ThinkingSampling,
        evidence: "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
        fix: "leave it out, or turn thinking off where the model allows it",
    },
    ModelRule {
        kind: BreachKind::Penalty,
        evidence: "Unsupported parameter: 'presence_penalty' is not supported with this model.",
        fix: "leave it out",
    },
    ModelRule {
        kind: BreachKind::Stop,
        evidence: "Unsupported parameter: 'stop' is not supported with this model.",
        fix: "leave `stop` out",
    },
    ModelRule {
        kind: BreachKind::Effort,
        evidence: "Unsupported value: 'minimal' is not supported with the 'o4-mini' model. Supported values are: 'low', 'medium', and 'high'.",
        fix: "choose an effort that the model has, or leave it out",
    },
    ModelRule {
        kind: BreachKind::Thinking,
        evidence: "\"llama3.1:8b\" does not support thinking",
        fix: "leave it out, or ask a model that thinks so",
    },
    ModelRule {
        kind: BreachKind::Budget,
        evidence: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        fix: "choose a budget that the model takes, or tell it how to think in its own way",
    },
    ModelRule {
        kind: BreachKind::BudgetRoom,
        evidence: "`max_tokens` must be greater than `thinking.budget_tokens`.",
        fix: "give the answer more room than thinking",
    },
    ModelRule {
        kind: BreachKind::Limit,
        evidence: "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
        fix: "ask for fewer tokens",
    },
    ModelRule {
        kind: BreachKind::OldLimit,
        evidence: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        fix: "name it `max_completion_tokens`",
    },
    ModelRule {
        kind: BreachKind::NewLimit,
        evidence: "extra_forbidden: body.max_completion_tokens: Extra inputs are not permitted",
        fix: "name it `max_tokens`",
    },
    ModelRule {
        kind: BreachKind::Tools,
        evidence: "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 140 instead.",
        fix: "send fewer tools",
    },
    ModelRule {
        kind: BreachKind::Choice,
        evidence: "Thinking may not be enabled when tool_choice forces tool use.",
        fix: "let the model choose, or leave the choice out",
    },
    ModelRule {
        kind: BreachKind::Parallel,
        evidence: "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
        fix: "leave it out",
    },
    ModelRule {
        kind: BreachKind::Format,
        evidence: "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        fix: "ask for JSON in words, or ask a model that takes a schema",
    },
    ModelRule {
        kind: BreachKind::Prefill,
        evidence: "This model does not support assistant message prefill. The conversation must end with a user message.",
        fix: "end with the user",
    },
];

const UNKNOWN_EVIDENCE: &str = "nothing is known of this model; others of the wire refuse the setting";
const UNKNOWN_FIX: &str = "check the vendor's documentation of the model, or name the model behind it with --family";

/// The rules on models that a wire has.
pub(crate) fn rules(wire: &dyn Wire) -> impl Iterator<Item = RuleInfo> {
    let settings = &wire.contract().settings;
    let known = MODEL_RULES.iter().filter_map(|rule| {
        let (id, severity, models) = (settings.rule(rule.kind)?, Severity::Error, "by the table of models");
        Some(RuleInfo { id, severity, models, evidence: rule.evidence, fix: rule.fix })
    });
    let unknown = RuleInfo {
        id: settings.unknown_rule,
        severity: Severity::Warning,
        models: "models that the table does not know",
        evidence: UNKNOWN_EVIDENCE,
        fix: UNKNOWN_FIX,
    };
    known.chain(std::iter::once(unknown))
}

/// The settings of a body that its model refuses. `dialect` is the vendor it is for, where the wire has several.
pub(crate) fn findings(
    wire: &dyn Wire,
    dialect: Option<&str>,
    body: &Node<'_>,
    strictness: Strictness,
) -> Vec<Finding> {
    let asked = Asked::of(wire, body);
    let model = asked.model();
    let target = model.as_deref().map(|model| super::of(asked.wire, dialect, model));
    let is_known = target.is_some_and(|target| target.is_known);
    let Contract { settings, model_names, .. } = asked.contract;
    // A router drops or translates what the models of others do not take.
    let is_routed = |model: &str| model_names.style == NameStyle::VendorSlashModel && model.contains('/');
    let refuses = settings.is_maker(dialect) && !model.is_some_and(|model| is_routed(&model));
    let (any, vendor) = (super::conservative(asked.wire, dialect), super::vendor::of(dialect));
    let found = breaches(&asked, target, any, vendor).into_iter().filter_map(|breach| {
        let severity = match breach.grade {
            _ if strictness == Strictness::Strict => Severity::Error,
            Grade::Wire if refuses => Severity::Error,
            // A limit by another name is overlooked where unknown fields are.
            Grade::Vendor if vendor.strict || breach.kind != BreachKind::NewLimit => Severity::Error,
            Grade::Model if refuses && is_known => Severity::Error,
            Grade::Wire | Grade::Vendor | Grade::Model | Grade::Mild => Severity::Warning,
        };
        let is_guess = matches!(breach.grade, Grade::Model | Grade::Mild) && !is_known;
        finding(settings, breach, is_guess, severity)
    });
    found.collect()
}

fn finding(settings: &Settings, breach: Breach, is_guess: bool, severity: Severity) -> Option<Finding> {
    let rule = MODEL_RULES.iter().find(|rule| rule.kind == breach.kind)?;
    let (id, what) = if is_guess {
        let what = "the table has no row for this model, so whether it takes this is not known";
        (settings.unknown_rule, format!("{what}; {UNKNOWN_FIX}"))
    } else {
        let what = format!("{}; the vendor answers \"{}\"; {}", breach.what, rule.evidence, rule.fix);
        (settings.rule(breach.kind)?, what)
    };
    Some(Finding { rule: id, severity, at: breach.at, line: None, column: None, what })
}
