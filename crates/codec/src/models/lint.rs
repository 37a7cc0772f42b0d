//! Lint rules on settings that a model refuses.

use turnkeep_model::json::Node;
use turnkeep_model::line_and_column;

use super::ask::{self, Asked};
use super::check::{Breach, Grade, Kind, breaches};
use crate::lint::{Finding, Rule, Severity, Strictness};

/// A rule on models: its id on each wire that has it, what a vendor answers, and what to do.
struct ModelRule {
    kind: Kind,
    ids: &'static [(&'static str, &'static str)],
    evidence: &'static str,
    fix: &'static str,
}

const CHAT: &str = "openai.chat";
const RESPONSES: &str = "openai.responses";
const MESSAGES: &str = "anthropic.messages";
const GEMINI: &str = "gemini.contents";
const OLLAMA: &str = "ollama.chat";
const CONVERSE: &str = "bedrock.converse";

const MODEL_RULES: &[ModelRule] = &[
    ModelRule {
        kind: Kind::Sampling,
        ids: &[(CHAT, "OC-SAMPLING"), (RESPONSES, "OR-SAMPLING"), (MESSAGES, "AN-SAMPLING"), (CONVERSE, "BE-SAMPLING")],
        evidence: "`temperature` is deprecated for this model.",
        fix: "leave it out",
    },
    ModelRule {
        kind: Kind::ThinkingSampling,
        ids: &[(CHAT, "OC-THINKTEMP"), (RESPONSES, "OR-THINKTEMP"), (MESSAGES, "AN-TEMP"), (CONVERSE, "BE-TEMP")],
        evidence: "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
        fix: "leave it out, or turn thinking off where the model allows it",
    },
    ModelRule {
        kind: Kind::Penalty,
        ids: &[(CHAT, "OC-PENALTY"), (GEMINI, "GE-PENALTY")],
        evidence: "Unsupported parameter: 'presence_penalty' is not supported with this model.",
        fix: "leave it out",
    },
    ModelRule {
        kind: Kind::Stop,
        ids: &[(CHAT, "OC-STOP")],
        evidence: "Unsupported parameter: 'stop' is not supported with this model.",
        fix: "leave `stop` out",
    },
    ModelRule {
        kind: Kind::Effort,
        ids: &[
            (CHAT, "OC-EFFORT"),
            (RESPONSES, "OR-EFFORT"),
            (MESSAGES, "AN-EFFORT"),
            (GEMINI, "GE-LEVEL"),
            (CONVERSE, "BE-EFFORT"),
        ],
        evidence: "Unsupported value: 'minimal' is not supported with the 'o4-mini' model. Supported values are: 'low', 'medium', and 'high'.",
        fix: "choose an effort that the model has, or leave it out",
    },
    ModelRule {
        kind: Kind::Thinking,
        ids: &[
            (RESPONSES, "OR-THINKING"),
            (MESSAGES, "AN-THINKING"),
            (GEMINI, "GE-THINKING"),
            (OLLAMA, "OL-THINK"),
            (CONVERSE, "BE-THINKING"),
        ],
        evidence: "\"llama3.1:8b\" does not support thinking",
        fix: "leave it out, or ask a model that thinks so",
    },
    ModelRule {
        kind: Kind::Budget,
        ids: &[(MESSAGES, "AN-BUDGET"), (GEMINI, "GE-BUDGET"), (CONVERSE, "BE-BUDGET")],
        evidence: "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        fix: "choose a budget that the model takes, or tell it how to think in its own way",
    },
    ModelRule {
        kind: Kind::BudgetRoom,
        ids: &[(MESSAGES, "AN-BUDGETMAX"), (CONVERSE, "BE-BUDGETMAX")],
        evidence: "`max_tokens` must be greater than `thinking.budget_tokens`.",
        fix: "give the answer more room than thinking",
    },
    ModelRule {
        kind: Kind::Limit,
        ids: &[
            (CHAT, "OC-LIMIT"),
            (RESPONSES, "OR-LIMIT"),
            (MESSAGES, "AN-LIMIT"),
            (GEMINI, "GE-LIMIT"),
            (CONVERSE, "BE-LIMIT"),
        ],
        evidence: "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
        fix: "ask for fewer tokens",
    },
    ModelRule {
        kind: Kind::OldLimit,
        ids: &[(CHAT, "OC-MAXTOKENS")],
        evidence: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        fix: "name it `max_completion_tokens`",
    },
    ModelRule {
        kind: Kind::Tools,
        ids: &[(CHAT, "OC-TOOLS"), (RESPONSES, "OR-TOOLS"), (GEMINI, "GE-TOOLS")],
        evidence: "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 140 instead.",
        fix: "send fewer tools",
    },
    ModelRule {
        kind: Kind::Choice,
        ids: &[
            (CHAT, "OC-CHOICE"),
            (RESPONSES, "OR-CHOICE"),
            (MESSAGES, "AN-CHOICE"),
            (GEMINI, "GE-CHOICE"),
            (CONVERSE, "BE-CHOICE"),
        ],
        evidence: "Thinking may not be enabled when tool_choice forces tool use.",
        fix: "let the model choose, or leave the choice out",
    },
    ModelRule {
        kind: Kind::Parallel,
        ids: &[(CHAT, "OC-PARALLEL"), (RESPONSES, "OR-PARALLEL")],
        evidence: "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
        fix: "leave it out",
    },
    ModelRule {
        kind: Kind::Format,
        ids: &[(CHAT, "OC-FORMAT"), (RESPONSES, "OR-FORMAT"), (MESSAGES, "AN-FORMAT"), (CONVERSE, "BE-FORMAT")],
        evidence: "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        fix: "ask for JSON in words, or ask a model that takes a schema",
    },
    ModelRule {
        kind: Kind::Prefill,
        ids: &[(CHAT, "OC-PREFILL"), (MESSAGES, "AN-PREFILL"), (GEMINI, "GE-PREFILL"), (CONVERSE, "BE-PREFILL")],
        evidence: "This model does not support assistant message prefill. The conversation must end with a user message.",
        fix: "end with the user",
    },
];

/// The rule of a model that the table does not know, on each wire.
const UNKNOWN: &[(&str, &str)] = &[
    (CHAT, "OC-UNKNOWN"),
    (RESPONSES, "OR-UNKNOWN"),
    (MESSAGES, "AN-UNKNOWN"),
    (GEMINI, "GE-UNKNOWN"),
    (OLLAMA, "OL-UNKNOWN"),
    (CONVERSE, "BE-UNKNOWN"),
];
const UNKNOWN_EVIDENCE: &str = "nothing is known of this model; others of the wire refuse the setting";
const UNKNOWN_FIX: &str = "check the vendor's documentation of the model";

/// The rules on models that a wire has.
pub(crate) fn rules(wire: &str) -> impl Iterator<Item = Rule> {
    let on = |rules: &'static [(&str, &str)]| rules.iter().find(|(own, _)| *own == wire).map(|(_, id)| *id);
    let models = "by the table of models";
    let known = MODEL_RULES.iter().filter_map(move |rule| {
        let ModelRule { evidence, fix, .. } = *rule;
        Some(Rule { id: on(rule.ids)?, severity: Severity::Error, models, evidence, fix })
    });
    let unknown = on(UNKNOWN).map(|id| Rule {
        id,
        severity: Severity::Warning,
        models: "models that the table does not know",
        evidence: UNKNOWN_EVIDENCE,
        fix: UNKNOWN_FIX,
    });
    known.chain(unknown).collect::<Vec<_>>().into_iter()
}

/// The settings of a body that its model refuses. `dialect` is the vendor it is for, where the wire has several.
pub(crate) fn findings(
    wire: &str,
    dialect: Option<&str>,
    body: &Node<'_>,
    text: Option<&str>,
    strictness: Strictness,
) -> Vec<Finding> {
    let Some(wire) = ask::wire(wire) else { return Vec::new() };
    let asked = Asked::of(wire, body);
    let model = asked.model();
    let target = model.as_deref().map(|model| super::of(wire.id, dialect, model));
    let is_known = target.is_some_and(|target| target.is_known);
    let refuses = is_makers(wire.id, dialect) && model.is_none_or(|model| wire.id != CHAT || !model.contains('/'));
    let vendor = super::conservative(wire.id, dialect);
    let found = breaches(&asked, target, vendor).into_iter().filter_map(|breach| {
        let severity = match breach.grade {
            _ if strictness == Strictness::Strict => Severity::Error,
            Grade::Wire if refuses => Severity::Error,
            Grade::Model if refuses && is_known => Severity::Error,
            Grade::Wire | Grade::Model | Grade::Mild => Severity::Warning,
        };
        let is_guess = breach.grade != Grade::Wire && !is_known;
        finding(wire.id, breach, is_guess, severity, text)
    });
    found.collect()
}

/// Whether the vendor itself refuses what its models do not take. Others drop or translate it.
fn is_makers(wire: &str, dialect: Option<&str>) -> bool {
    !matches!(wire, CHAT | RESPONSES)
        || dialect.is_none_or(|dialect| matches!(dialect, "openai" | "azure" | "chatgpt" | "copilot"))
}

fn finding(wire: &str, breach: Breach, is_guess: bool, severity: Severity, text: Option<&str>) -> Option<Finding> {
    let rule = MODEL_RULES.iter().find(|rule| rule.kind == breach.kind)?;
    let ids = if is_guess { UNKNOWN } else { rule.ids };
    let id = ids.iter().find(|(own, _)| *own == wire)?.1;
    let what = if is_guess {
        format!("the table has no row for this model, so whether it takes this is not known; {UNKNOWN_FIX}")
    } else {
        format!("{}; the vendor answers \"{}\"; {}", breach.what, rule.evidence, rule.fix)
    };
    let line = text.map(|text| line_and_column(text, breach.offset as usize).0);
    Some(Finding { rule: id, severity, at: breach.at, line, what })
}
