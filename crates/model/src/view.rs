//! Views: reduced renditions of a session for a screen or a database row.
//!
//! A [`View`] is no [`Session`](crate::Session): nothing that takes a session takes it, so that it cannot be resumed by mistake.
//! Whoever wants to go on from one says so, and is told what is missing.

use crate::json::{Json, Number, Object};
use crate::time::Time;

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
