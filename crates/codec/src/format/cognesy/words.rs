//! Words of the program and ours.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::status::{
    Completed, Failed, Handoff, InProgress, Pending, Status, Stopped, WaitingForHuman, WaitingForTools,
};
use turnkeep_model::{Body, ExtraPart, Finish, FinishReason, Turn, Usage};

use super::map::{Draft, Form, KeyRule, Map, has_note, part};

/// Which generation of the program wrote a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation {
    /// v1.17 to v1.18.1.
    V1,
    /// The development of January 2026.
    January,
    /// v2.0 and later.
    V2,
}

impl Generation {
    /// Its name as a variant.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Generation::V1 => "v1.18",
            Generation::January => "2026-01",
            Generation::V2 => "v2",
        }
    }

    /// The name under which states of this generation keep what only they have.
    pub(super) fn part(self) -> &'static str {
        match self {
            Generation::V1 => "cognesy.state:v1.18",
            Generation::January => "cognesy.state:2026-01",
            Generation::V2 => "cognesy.state",
        }
    }

    /// The generation of a variant's name.
    pub(super) fn from_word(word: &str) -> Option<Generation> {
        [Generation::V1, Generation::January, Generation::V2].into_iter().find(|own| own.as_str() == word)
    }
}

/// The status that a word names.
pub(super) fn status(word: &str) -> Status {
    match word {
        "pending" => Pending {}.into(),
        "in_progress" => InProgress {}.into(),
        "completed" => Completed {}.into(),
        "stopped" => Stopped {}.into(),
        "failed" => Failed::default().into(),
        other => Status::Other { kind: other.to_owned(), raw: Object::new() },
    }
}

/// The word for a status, where the program has one.
pub(super) fn status_word(status: &Status, generation: Generation) -> &str {
    match status {
        Status::Pending(Pending {}) if generation == Generation::V1 => "in_progress",
        Status::Pending(Pending {}) => "pending",
        Status::InProgress(InProgress {})
        | Status::WaitingForTools(WaitingForTools {})
        | Status::WaitingForHuman(WaitingForHuman {}) => "in_progress",
        Status::Completed(Completed {}) => "completed",
        Status::Stopped(Stopped {}) | Status::Handoff(Handoff { .. }) if generation == Generation::V2 => "stopped",
        Status::Stopped(Stopped {}) | Status::Handoff(Handoff { .. }) => "completed",
        Status::Failed(_) => "failed",
        Status::Other { kind, .. } => kind,
        _ => "in_progress",
    }
}

/// Takes the status. A word that its generation does not know is noted, so that it comes back.
pub(super) fn take_status(map: &mut Map, generation: Generation, part: &mut ExtraPart) -> Option<Status> {
    let word = map.text("status")?;
    let made = status(&word);
    if status_word(&made, generation) != word {
        part.spelling.set("status", "own");
    }
    Some(made)
}

/// Says the status, if there is one.
pub(super) fn put_status(draft: &mut Draft, status: Option<&Status>, generation: Generation, part: Option<&ExtraPart>) {
    let own = has_note(part, "status");
    let word = status.map(|status| if own { status.kind() } else { status_word(status, generation) });
    draft.put_text("status", word);
}

/// The words of a status that each generation knows.
pub(super) fn statuses(generation: Generation) -> &'static [&'static str] {
    match generation {
        Generation::V1 => &["in_progress", "completed", "failed"],
        Generation::January => &["pending", "in_progress", "completed", "failed"],
        Generation::V2 => &["pending", "in_progress", "completed", "stopped", "failed"],
    }
}

/// The reasons to stop that each generation knows.
pub(super) fn stop_reasons(generation: Generation) -> &'static [&'static str] {
    match generation {
        Generation::V2 => &[
            "completed",
            "steps_limit",
            "token_limit",
            "time_limit",
            "retry_limit",
            "error",
            "stop_requested",
            "finish_reason",
            "user_requested",
            "unknown",
        ],
        _ => &[
            "completed",
            "steps_limit",
            "token_limit",
            "time_limit",
            "retry_limit",
            "error",
            "finish_reason",
            "guard",
            "user_requested",
        ],
    }
}

/// Why an answer ended, from the program's word.
pub(super) fn finish(word: String) -> Finish {
    let reason = match word.as_str() {
        "stop" | "length" | "tool_calls" | "content_filter" | "error" => FinishReason::from_word(&word),
        other => FinishReason::Other(other.to_owned()),
    };
    Finish { reason, ..Finish::default() }
}

/// The program's word for why an answer ended.
pub(super) fn finish_word(finish: &Finish) -> &str {
    match &finish.reason {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::ContentFilter | FinishReason::Refusal => "content_filter",
        FinishReason::Interrupted | FinishReason::Error => "error",
        FinishReason::Other(word) => word,
        _ => "other",
    }
}

/// What a step was: errors or failed tools, calls of tools, or a final response.
pub(super) fn step_type(turn: &Turn) -> &'static str {
    let failed = |turn: &Turn| {
        turn.blocks.iter().any(|block| match &block.body {
            Body::ToolResult(result) => result.error.is_some() || result.is_error == Some(true),
            _ => false,
        })
    };
    if !turn.errors.is_empty() || failed(turn) {
        "error"
    } else if has_calls(turn) {
        "tool_execution"
    } else {
        "final_response"
    }
}

/// Whether a turn calls tools.
pub(super) fn has_calls(turn: &Turn) -> bool {
    turn.blocks.iter().any(|block| matches!(block.body, Body::ToolCall(_)))
}

const USAGE: Form = &[
    ("input", KeyRule::Zero),
    ("output", KeyRule::Zero),
    ("cacheWrite", KeyRule::Zero),
    ("cacheRead", KeyRule::Zero),
    ("reasoning", KeyRule::Zero),
];

/// Takes the five counts under `key`. Zeros everywhere mean that nothing was counted.
pub(super) fn take_usage(map: &mut Map, key: &str) -> Usage {
    let Some(mut counts) = map.open_at(key, USAGE) else { return Usage::default() };
    let mut usage = Usage {
        input: counts.count("input"),
        output: counts.count("output"),
        cached_write: counts.count("cacheWrite"),
        cached_read: counts.count("cacheRead"),
        reasoning: counts.count("reasoning"),
        ..Usage::default()
    };
    if usage != Usage::default() {
        // An answer that counted something counted both.
        for (key, count) in [("input", &mut usage.input), ("output", &mut usage.output)] {
            let zero = counts.get(key).is_some_and(|value| *value == Json::from(0_u64));
            *count = count.or(zero.then_some(0));
        }
    }
    counts.leave(usage.extra.part_mut(super::FORMAT), "");
    usage.extra.tidy();
    usage
}

/// The five counts.
pub(super) fn usage(usage: &Usage) -> Json {
    let mut draft = Draft::default();
    let counts = [
        ("input", usage.input),
        ("output", usage.output),
        ("cacheWrite", usage.cached_write),
        ("cacheRead", usage.cached_read),
        ("reasoning", usage.reasoning),
    ];
    for (key, count) in counts {
        draft.put_some(key, count.filter(|count| *count != 0));
    }
    draft.finish(USAGE, part(&usage.extra), "")
}

/// Whether an id is one that the program accepts.
pub(super) fn is_uuid(id: &str) -> bool {
    let groups: Vec<&str> = id.split('-').collect();
    let hex = |group: &str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
    match groups.as_slice() {
        [a, b, c, d, e] => {
            [a.len(), b.len(), c.len(), d.len(), e.len()] == [8, 4, 4, 4, 12]
                && groups.iter().all(|group| hex(group))
                && c.starts_with(['1', '2', '3', '4', '5'])
                && d.starts_with(['8', '9', 'a', 'b', 'A', 'B'])
        }
        _ => false,
    }
}

/// Whether a name can be a session's id: the program makes file names of it.
pub(super) fn is_session_id(id: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    id.bytes().all(inner) && id.starts_with(|first: char| first.is_ascii_alphanumeric())
}
