//! The field names of front ends that were written before there were envelopes.

use turnkeep_model::Object;

/// For each kind of envelope: a field, and what the events of the original program call it.
const NAMES: [(&str, &[(&str, &str)]); 6] = [
    (
        "agent.step.started",
        &[("step_number", "stepNumber"), ("message_count", "messageCount"), ("available_tools", "availableTools")],
    ),
    (
        "agent.step.completed",
        &[
            ("step_number", "stepNumber"),
            ("has_tool_calls", "hasToolCalls"),
            ("errors", "errorCount"),
            ("finish_reason", "finishReason"),
            ("duration_ms", "durationMs"),
        ],
    ),
    ("agent.tool.started", &[("tool_name", "tool"), ("tool_call_id", "toolCallId")]),
    (
        "agent.tool.completed",
        &[
            ("tool_name", "tool"),
            ("tool_call_id", "toolCallId"),
            ("duration_ms", "durationMs"),
            ("result_summary", "result"),
        ],
    ),
    ("agent.stream.chunk", &[("chunk", "content"), ("index", "chunk_index")]),
    (
        "agent.continuation",
        &[
            ("step_number", "stepNumber"),
            ("should_continue", "shouldContinue"),
            ("stop_reason", "stopReason"),
            ("resolved_by", "resolvedBy"),
        ],
    ),
];

/// Puts every field of a payload under its old name, too.
pub(super) fn beside(kind: &str, payload: &mut Object) {
    let names = NAMES.iter().find(|(of, _)| *of == kind).map(|(_, names)| *names).unwrap_or_default();
    for (field, old) in names {
        if let Some(value) = payload.get(field).cloned() {
            payload.set(old, value);
        }
    }
}
