//! The table of rules.

use super::super::profile::{Profile, ThinkingIn};
use super::{Rule, history, settings};
use crate::lint::Rule as Told;
use crate::lint::Severity::{Error, Warning};

fn all(_: &Profile) -> bool {
    true
}

fn openai(profile: &Profile) -> bool {
    matches!(profile.name, "openai" | "azure")
}

fn others(profile: &Profile) -> bool {
    !openai(profile)
}

fn mistral(profile: &Profile) -> bool {
    profile.name == "mistral"
}

fn deepseek(profile: &Profile) -> bool {
    profile.thinking_required
}

fn text_only(profile: &Profile) -> bool {
    profile.media.is_empty()
}

fn strict(profile: &Profile) -> bool {
    profile.strict && profile.thinking == ThinkingIn::No
}

/// Every rule.
pub(super) const RULES: &[Rule] = &[
    Rule {
        told: Told {
            id: "OC-MESSAGES",
            severity: Error,
            models: "all",
            evidence: "[] is too short - 'messages'",
            fix: "send at least one message",
        },
        applies: all,
        check: history::messages,
    },
    Rule {
        told: Told {
            id: "OC-ROLE",
            severity: Error,
            models: "all",
            evidence: "Invalid value: '…'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
            fix: "use one of these roles",
        },
        applies: all,
        check: history::roles,
    },
    Rule {
        told: Told {
            id: "OC-ORPHAN",
            severity: Error,
            models: "all",
            evidence: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            fix: "put the result right after the message of its call, or drop it",
        },
        applies: all,
        check: history::orphans,
    },
    Rule {
        told: Told {
            id: "OC-DANGLING",
            severity: Error,
            models: "all",
            evidence: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
            fix: "answer the call, saying that its outcome is unknown where it is",
        },
        applies: all,
        check: history::dangling,
    },
    Rule {
        told: Told {
            id: "OC-IDLEN",
            severity: Error,
            models: "OpenAI, Azure",
            evidence: "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 43 instead.",
            fix: "shorten the id, in the call and in its result",
        },
        applies: openai,
        check: history::id_rule,
    },
    Rule {
        told: Told {
            id: "OC-DUPID",
            severity: Error,
            models: "all",
            evidence: "Duplicate value for 'tool_call_id'",
            fix: "give each call an id of its own",
        },
        applies: all,
        check: history::duplicate_ids,
    },
    Rule {
        told: Told {
            id: "OC-TCEMPTY",
            severity: Error,
            models: "OpenAI, Azure",
            evidence: "[] is too short - 'messages.1.tool_calls'",
            fix: "leave `tool_calls` out",
        },
        applies: openai,
        check: history::empty_calls,
    },
    Rule {
        told: Told {
            id: "OC-ARGS",
            severity: Error,
            models: "all but Mistral",
            evidence: "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead.",
            fix: "write the arguments as a JSON text",
        },
        applies: |profile| !mistral(profile),
        check: history::arguments,
    },
    Rule {
        told: Told {
            id: "OC-NAME",
            severity: Error,
            models: "all",
            evidence: "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
            fix: "rename the tool, in its definition and in its calls",
        },
        applies: openai,
        check: history::names,
    },
    Rule {
        told: Told {
            id: "OC-TOOLNAME",
            severity: Error,
            models: "OpenAI, Azure",
            evidence: "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
            fix: "rename the tool",
        },
        applies: openai,
        check: settings::tool_names,
    },
    Rule {
        told: Told {
            id: "OC-PARTTYPE",
            severity: Error,
            models: "all",
            evidence: "Missing required parameter: 'messages[1].content[0].type'.",
            fix: "say what the part is",
        },
        applies: all,
        check: history::part_types,
    },
    Rule {
        told: Told {
            id: "OC-TOOLPART",
            severity: Error,
            models: "OpenAI, Azure",
            evidence: "Invalid 'messages[3]'. Content blocks are expected to be either text or image_url type.",
            fix: "send text, and the rest in a user's message after the results",
        },
        applies: openai,
        check: history::tool_parts,
    },
    Rule {
        told: Told {
            id: "OC-TEMP",
            severity: Error,
            models: "all",
            evidence: "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 99.0 instead.",
            fix: "choose a temperature between 0 and 2",
        },
        applies: all,
        check: settings::temperature,
    },
    Rule {
        told: Told {
            id: "OC-NOSYSTEM",
            severity: Error,
            models: "o1-mini, o1-preview",
            evidence: "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            fix: "say it as the user",
        },
        applies: openai,
        check: settings::old_thinkers,
    },
    Rule {
        told: Told {
            id: "OC-STRICT",
            severity: Error,
            models: "OpenAI, Azure",
            evidence: "Invalid schema for function 'get_current_weather': In context=(), 'additionalProperties' is required to be supplied and to be false.",
            fix: "close the schema and require every property, or do not ask for `strict`",
        },
        applies: openai,
        check: settings::strict_schemas,
    },
    Rule {
        told: Told {
            id: "OC-NOCONTENT",
            severity: Error,
            models: "all",
            evidence: "Invalid value for 'content': expected a string, got null.",
            fix: "leave the message out",
        },
        applies: all,
        check: history::no_content,
    },
    Rule {
        told: Told {
            id: "OC-EMPTYTEXT",
            severity: Warning,
            models: "all",
            evidence: "text content blocks must be non-empty (where the request is passed on to another vendor)",
            fix: "leave the text out",
        },
        applies: all,
        check: history::empty_text,
    },
    Rule {
        told: Told {
            id: "OC-ARGSJSON",
            severity: Warning,
            models: "all",
            evidence: "nothing; but vendors whose arguments are objects cannot take it",
            fix: "keep it for this wire; it is wrapped for others",
        },
        applies: all,
        check: history::arguments_json,
    },
    Rule {
        told: Told {
            id: "OC-LONGID",
            severity: Warning,
            models: "all but OpenAI, Azure, Mistral",
            evidence: "nothing known; ids beyond 256 characters are unheard of",
            fix: "shorten the id, in the call and in its result",
        },
        applies: |profile| others(profile) && !mistral(profile),
        check: history::id_rule,
    },
    Rule {
        told: Told {
            id: "MI-ID",
            severity: Error,
            models: "Mistral",
            evidence: "Tool call id was abc123 but must be a-z, A-Z, 0-9, with a length of 9.",
            fix: "rewrite the id, in the call and in its result",
        },
        applies: mistral,
        check: history::id_rule,
    },
    Rule {
        told: Told {
            id: "MI-LAST",
            severity: Error,
            models: "Mistral",
            evidence: "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
            fix: "end with the user, or mark the answer with `prefix`",
        },
        applies: mistral,
        check: history::last_role,
    },
    Rule {
        told: Told {
            id: "MI-ORDER",
            severity: Error,
            models: "Mistral",
            evidence: "Unexpected role 'tool' after role 'user'",
            fix: "put the result right after the message of its call",
        },
        applies: mistral,
        check: history::result_order,
    },
    Rule {
        told: Told {
            id: "MI-TOOLUSER",
            severity: Warning,
            models: "Mistral served by others",
            evidence: "Unexpected role 'user' after role 'tool'",
            fix: "let the assistant speak in between where the server refuses it",
        },
        applies: mistral,
        check: history::user_after_tool,
    },
    Rule {
        told: Told {
            id: "DS-REASON",
            severity: Error,
            models: "DeepSeek, thinking",
            evidence: "The `reasoning_content` in the thinking mode must be passed back to the API.",
            fix: "send the thinking that led to the calls, or turn thinking off",
        },
        applies: deepseek,
        check: history::thinking_missing,
    },
    Rule {
        told: Told {
            id: "DS-CHOICE",
            severity: Error,
            models: "DeepSeek, thinking",
            evidence: "Thinking mode does not support this tool_choice",
            fix: "let the model choose, or turn thinking off",
        },
        applies: deepseek,
        check: settings::forced_tool,
    },
    Rule {
        told: Told {
            id: "DS-MODAL",
            severity: Error,
            models: "DeepSeek, Cerebras",
            evidence: "Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`",
            fix: "describe it in text",
        },
        applies: text_only,
        check: history::media,
    },
    Rule {
        told: Told {
            id: "GQ-REASON",
            severity: Error,
            models: "Groq, Cerebras",
            evidence: "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
            fix: "leave the thinking out",
        },
        applies: strict,
        check: history::thinking_refused,
    },
];
