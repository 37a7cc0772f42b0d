//! The rules, as people are told of them.

use super::rules::{RULES, Rule};
use crate::lint::Rule as Told;

/// Every rule.
pub(crate) fn rules() -> Vec<Told> {
    let told = |rule: &Rule| Told {
        id: rule.id,
        severity: rule.severity,
        models: who(rule),
        evidence: rule.evidence,
        fix: rule.fix,
    };
    RULES.iter().map(told).collect()
}

/// Whose rule it is, in words.
fn who(rule: &Rule) -> &'static str {
    match (rule.vendors, rule.models) {
        ([], []) => "all",
        (["deepseek"], _) => "DeepSeek",
        (["openai", "azure", ..], []) => "OpenAI, Azure",
        (["openai", "azure", ..], _) => "OpenAI, Azure: models that think",
        ([], _) => "models that think",
        _ => "some vendors",
    }
}
