//! The rules, as data.

use super::body::{Body, Hit};
use super::check;
use crate::lint::Severity;

/// A rule of the vendors that speak this wire.
pub struct Rule {
    /// Its name.
    pub id: &'static str,
    /// How bad it is to break it.
    pub severity: Severity,
    /// The vendors it is a rule of; empty for all.
    pub vendors: &'static [&'static str],
    /// How the names of the models begin that it applies to; empty for all.
    pub models: &'static [&'static str],
    /// What the vendor answers; `{}` stands for the name of what is wrong.
    pub evidence: &'static str,
    /// What helps.
    pub fix: &'static str,
    /// Finds the places that break it.
    pub check: fn(&Body<'_, '_>) -> Vec<Hit>,
}

impl Rule {
    pub(super) fn applies(&self, body: &Body<'_, '_>) -> bool {
        let vendor = self.vendors.is_empty() || self.vendors.contains(&body.profile.name);
        vendor && (self.models.is_empty() || self.models.iter().any(|begins| body.model.starts_with(begins)))
    }
}

const ANY: &[&str] = &[];
/// How the names of models that think begin.
const THINKING: &[&str] = &["o1", "o3", "o4", "gpt-5"];
const STRICTEST: &[&str] = &["openai", "azure", "chatgpt", "copilot"];

/// Every rule.
pub const RULES: &[Rule] = &[
    Rule {
        id: "OR-ORPHAN",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "No tool call found for function call output with call_id {}.",
        fix: "send the call before its output, or drop the output",
        check: check::orphans,
    },
    Rule {
        id: "OR-DANGLING",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "No tool output found for function call {}.",
        fix: "send an output that says that the outcome is unknown",
        check: check::dangling,
    },
    Rule {
        id: "OR-ORDER",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "No tool call found for function call output with call_id {}.",
        fix: "put the output after its call",
        check: check::early_outputs,
    },
    Rule {
        id: "OR-DUPOUT",
        severity: Severity::Warning,
        vendors: ANY,
        models: ANY,
        evidence: "the call {} has more than one output",
        fix: "send one output for a call",
        check: check::repeated_outputs,
    },
    Rule {
        id: "OR-INTERLEAVE",
        severity: Severity::Error,
        vendors: &["deepseek"],
        models: ANY,
        evidence: "No tool output found for tool call {}.",
        fix: "put the calls of an answer together and their outputs right after them",
        check: check::interleaved,
    },
    Rule {
        id: "OR-REASON-TAIL",
        severity: Severity::Error,
        vendors: STRICTEST,
        models: ANY,
        evidence: "Item '{}' of type 'reasoning' was provided without its required following item.",
        fix: "send the item that it led to with its id, or drop the reasoning, or its id where it is encrypted",
        check: check::reasoning_without_follower,
    },
    Rule {
        id: "OR-REASON-HEAD",
        severity: Severity::Error,
        vendors: STRICTEST,
        models: THINKING,
        evidence: "Item '{}' of type 'function_call' was provided without its required 'reasoning' item.",
        fix: "send the reasoning before it, or drop the item's id: call_id is enough to pair it",
        check: check::call_without_reasoning,
    },
    Rule {
        id: "OR-REASON-ENC",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "Item with id '{}' not found. Items are not persisted when `store` is set to false.",
        fix: "send its encrypted_content, or drop the reasoning and the ids of the items it led to",
        check: check::reasoning_without_content,
    },
    Rule {
        id: "OR-REASON-SUM",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "Missing required parameter: '{}'.",
        fix: "send a summary, which may be empty",
        check: check::reasoning_without_summary,
    },
    Rule {
        id: "OR-REF",
        severity: Severity::Warning,
        vendors: ANY,
        models: ANY,
        evidence: "Item with id '{}' not found. Items are not persisted when `store` is set to false.",
        fix: "send the item itself",
        check: check::references_without_store,
    },
    Rule {
        id: "OR-IDLEN",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "Invalid '{}': string too long. Expected a string with maximum length 64",
        fix: "shorten the id, in the call and its output alike",
        check: check::id_lengths,
    },
    Rule {
        id: "OR-ID",
        severity: Severity::Error,
        vendors: STRICTEST,
        models: ANY,
        evidence: "Invalid '{}': expected an ID that begins with what it names ('rs', 'fc', 'ctc' or 'msg').",
        fix: "drop the item's id",
        check: check::id_beginnings,
    },
    Rule {
        id: "OR-CALL",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "Missing required parameter: '{}'.",
        fix: "send it as a string",
        check: check::incomplete_calls,
    },
    Rule {
        id: "OR-NAME",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "Invalid '{}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        fix: "rename the tool, in its calls too",
        check: check::names,
    },
    Rule {
        id: "OR-ROLE",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "Invalid value: '{}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
        fix: "send tool results as function_call_output, other roles as user",
        check: check::roles,
    },
    Rule {
        id: "OR-PART",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "Invalid value: '{}'. An assistant's parts are 'output_text' and 'refusal', the others' begin with 'input_'.",
        fix: "change the type of the part",
        check: check::parts,
    },
    Rule {
        id: "OR-EMPTYTEXT",
        severity: Severity::Warning,
        vendors: ANY,
        models: ANY,
        evidence: "the text of '{}' is empty",
        fix: "leave it out",
        check: check::empty_texts,
    },
    Rule {
        id: "OR-NOINPUT",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.",
        fix: "send some input",
        check: check::no_input,
    },
    Rule {
        id: "OR-FILE",
        severity: Severity::Error,
        vendors: STRICTEST,
        models: ANY,
        evidence: "Invalid file data: '{}'. Expected a base64-encoded data URL with a valid file MIME type.",
        fix: "describe sound and video in words",
        check: check::files,
    },
    Rule {
        id: "OR-STRICT",
        severity: Severity::Error,
        vendors: STRICTEST,
        models: ANY,
        evidence: "Invalid schema for function '{}': 'required' must include every key in properties and 'additionalProperties' must be false.",
        fix: "set strict to false, or complete the schema",
        check: check::strict_schemas,
    },
    Rule {
        id: "OR-TEMP",
        severity: Severity::Error,
        vendors: ANY,
        models: ANY,
        evidence: "Invalid 'temperature': expected a value >= 0 and <= 2, but got {} instead.",
        fix: "choose one in the range",
        check: check::temperature,
    },
];
