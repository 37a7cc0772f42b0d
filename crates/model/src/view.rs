//! Views: reduced renditions of a session for a screen or a database row.
//!
//! A [`View`] is no [`Session`]: nothing that takes a session takes it, so that it cannot be resumed by mistake.
//! Whoever wants to go on from one says so, and is told what is missing.

use crate::block::Block;
use crate::json::{Json, Number, Object};
use crate::session::{Session, Turn};
use crate::status::{FinishReason, Status};
use crate::time::{Time, Timing};

/// Under which name, and as which note, a session says how many of its steps are not listed any more.
pub const STEPS_BEFORE: (&str, &str) = ("cognesy.slim", "before");

/// The word of three for where a session stands: `in_progress`, `completed` or `failed`.
pub fn status_word(status: &Status) -> &'static str {
    match status {
        Status::Pending(_) | Status::InProgress(_) | Status::WaitingForTools(_) | Status::WaitingForHuman(_) => {
            "in_progress"
        }
        Status::Completed(_) | Status::Stopped(_) | Status::Handoff(_) => "completed",
        Status::Failed(_) => "failed",
        Status::Other { .. } => "in_progress",
    }
}

/// The word of four for why an answer ended: `tool_calls`, `stop`, `length` or `error`.
pub fn finish_word(reason: &FinishReason) -> &'static str {
    match reason {
        FinishReason::Length => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Error | FinishReason::Interrupted | FinishReason::ContentFilter | FinishReason::Refusal => {
            "error"
        }
        _ => "stop",
    }
}

/// Whether a turn is a step: it holds an answer, or held one before a summary stood for it.
pub fn is_step(turn: &Turn) -> bool {
    turn.finish.is_some() || turn.blocks.iter().any(Block::is_answer)
}

/// How many steps a session had before those that it lists.
pub fn steps_before(session: &Session) -> u64 {
    let (part, note) = STEPS_BEFORE;
    session.extra.spelling(part, note).and_then(Json::as_number).and_then(Number::as_u64).unwrap_or(0)
}

/// How many milliseconds something took, as a number with a point: as it says, or from its beginning to its end.
pub fn milliseconds(timing: &Timing) -> Option<Number> {
    let said = timing.seconds.as_ref().and_then(|seconds| {
        shifted(seconds.as_str(), 3).or_else(|| Number::parse(&format!("{}", seconds.as_f64() * 1000.0)))
    });
    let between = || {
        let (start, end) = (timing.started.as_ref()?.instant()?, timing.completed.as_ref()?.instant()?);
        Number::parse(&(end.as_millisecond() - start.as_millisecond()).max(0).to_string())
    };
    said.or_else(between).map(|number| with_point(&number))
}

fn with_point(number: &Number) -> Number {
    match number.as_str().bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        true => Number::parse(&format!("{}.0", number.as_str())).unwrap_or_else(|| number.clone()),
        false => number.clone(),
    }
}

/// A number with its point moved to the right, without rounding; `None` where it is not written in digits alone.
pub fn shifted(number: &str, places: i32) -> Option<Number> {
    let digits = number.strip_prefix('-').unwrap_or(number);
    if !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let sign = if digits.len() == number.len() { "" } else { "-" };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let point = whole.len() as i32 + places;
    let all = format!("{whole}{part}");
    let all = format!("{}{all}", "0".repeat(usize::try_from(1 - point).unwrap_or(0)));
    let point = usize::try_from(point.max(1)).unwrap_or(1);
    let all = format!("{all}{}", "0".repeat(point.saturating_sub(all.len())));
    let (whole, part) = all.split_at(point);
    let trimmed = whole.trim_start_matches('0');
    let whole = if trimmed.is_empty() { "0" } else { trimmed };
    let dot = if part.is_empty() { "" } else { "." };
    Number::parse(&format!("{sign}{whole}{dot}{part}"))
}

/// How much of a session a slim view holds.
///
/// ```
/// use turnkeep_model::view::Slim;
///
/// let standard = Slim::standard();
/// assert_eq!((standard.max_messages, standard.max_steps, standard.max_content_length), (50, 20, 2000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slim {
    /// How many messages, the newest ones; zero or less is none.
    pub max_messages: i64,
    /// How many steps, the newest ones; zero or less is none.
    pub max_steps: i64,
    /// How many characters of a message's text; zero or less is all of them.
    pub max_content_length: i64,
    /// Whether what tools answered is in it.
    pub include_tool_results: bool,
    /// Whether steps are in it.
    pub include_steps: bool,
    /// Whether it says why the run went on or stopped.
    pub include_continuation_trace: bool,
    /// Whether calls are reduced to their ids and tools.
    pub redact_tool_args: bool,
}

impl Default for Slim {
    fn default() -> Slim {
        Slim::standard()
    }
}

impl Slim {
    /// The names of the presets.
    pub const PRESETS: [&'static str; 3] = ["minimal", "standard", "full"];

    /// The least that a conversation can be shown from.
    pub const fn minimal() -> Slim {
        Slim {
            max_messages: 20,
            max_steps: 0,
            max_content_length: 500,
            include_tool_results: false,
            include_steps: false,
            ..Slim::standard()
        }
    }

    /// The usual.
    pub const fn standard() -> Slim {
        Slim {
            max_messages: 50,
            max_steps: 20,
            max_content_length: 2000,
            include_tool_results: true,
            include_steps: true,
            include_continuation_trace: false,
            redact_tool_args: false,
        }
    }

    /// As much as a view holds.
    pub const fn full() -> Slim {
        Slim {
            max_messages: 100,
            max_steps: 50,
            max_content_length: 5000,
            include_continuation_trace: true,
            ..Slim::standard()
        }
    }

    /// The preset of this name.
    pub fn preset(name: &str) -> Option<Slim> {
        match name {
            "minimal" => Some(Slim::minimal()),
            "standard" => Some(Slim::standard()),
            "full" => Some(Slim::full()),
            _ => None,
        }
    }
}

/// A slim view of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The session's id.
    pub agent_id: Option<String>,
    /// The id of the session it came from.
    pub parent_agent_id: Option<String>,
    /// Where it stands: `in_progress`, `completed` or `failed`.
    pub status: String,
    /// How many steps it has, those that the view does not list included.
    pub step_count: u64,
    /// What it used.
    pub usage: ViewUsage,
    /// When it ran.
    pub execution: ViewExecution,
    /// The newest messages.
    pub messages: Vec<ViewMessage>,
    /// The newest steps.
    pub steps: Vec<ViewStep>,
    /// Why the run went on or stopped.
    pub last_continuation: Option<ViewContinuation>,
    /// What the application keeps with it.
    pub metadata: Object,
}

/// What a session used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ViewUsage {
    /// Tokens sent.
    pub input: u64,
    /// Tokens answered.
    pub output: u64,
    /// Both together.
    pub total: u64,
    /// Tokens that went into a cache.
    pub cache_write: u64,
    /// Tokens that came from a cache.
    pub cache_read: u64,
    /// Tokens of thinking.
    pub reasoning: u64,
}

/// When a session ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ViewExecution {
    /// When it began.
    pub started_at: Option<Time>,
    /// When it was last changed.
    pub updated_at: Option<Time>,
    /// How long it ran, over all its runs.
    pub cumulative_seconds: Option<Number>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewMessage {
    /// Who wrote it.
    pub role: String,
    /// A text, or a list of parts.
    pub content: Json,
    /// Calls, the call that a result answers, and what the application keeps with it.
    pub metadata: Object,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewStep {
    /// Which step of the session, from 1.
    pub step_number: u64,
    /// What it was: `tool_execution`, `final` or `error`.
    pub kind: String,
    /// Whether it called tools.
    pub has_tool_calls: bool,
    /// Why its answer ended: `tool_calls`, `stop`, `length` or `error`.
    pub finish_reason: Option<String>,
    /// How many errors it ran into.
    pub errors: u64,
    /// How many tokens it used.
    pub total: u64,
    /// How many milliseconds it took.
    pub duration_ms: Option<Number>,
    /// The ids and tools of its calls.
    pub tool_calls: Vec<(Option<String>, String)>,
}

/// Why a run went on or stopped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ViewContinuation {
    /// Whether it goes on.
    pub should_continue: Option<bool>,
    /// Why it stops.
    pub stop_reason: Option<String>,
    /// Who decided.
    pub resolved_by: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_moved_and_moved_back_without_rounding() {
        for (milliseconds, seconds) in
            [("1250.5", "1.2505"), ("250.0", "0.2500"), ("7", "0.007"), ("0.5", "0.0005"), ("0", "0.000")]
        {
            let made = shifted(milliseconds, -3).unwrap();
            assert_eq!(made.as_str(), seconds);
            assert_eq!(shifted(made.as_str(), 3).unwrap().as_str(), milliseconds);
        }
        assert_eq!(shifted("2", 3).unwrap().as_str(), "2000");
        assert_eq!(shifted("1e3", 3), None);
    }

    #[test]
    fn a_duration_has_a_point() {
        let took = |seconds: &str| Timing { seconds: Number::parse(seconds), ..Timing::default() };

        assert_eq!(milliseconds(&took("2")).unwrap().as_str(), "2000.0");
        assert_eq!(milliseconds(&took("1.2505")).unwrap().as_str(), "1250.5");
        assert_eq!(milliseconds(&Timing::default()), None);
    }
}
