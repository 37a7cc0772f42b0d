//! Slim views: what of a session a screen or a database row needs, in the proposal's schema or a released dialect.

mod messages;
mod omitted;
mod read;
mod steps;
mod write;

use turnkeep_model::status::Status;
use turnkeep_model::view::{Slim, View, ViewContinuation, ViewExecution, ViewUsage, status_word};
use turnkeep_model::{Loss, LossKind, Result, Session, StopReason};

pub(super) use read::expect_required;
pub use read::{read, restore};
pub use write::write;

use super::slim::{Dialect, before};
use super::{slim_out, step_out, words};
use crate::codec::Mode;

/// A view, and what is not in it.
#[derive(Debug, Clone)]
pub struct Slimmed {
    /// The view.
    pub view: View,
    /// What of the session is gone, cut or reduced.
    pub losses: Vec<Loss>,
}

/// Makes a slim view of a session. Raw payloads, what only the source knew and thinking are never in it.
///
/// In compat mode limits are bytes, steps are numbered within those that are listed, and messages are sliced plainly, as the original
/// program does.
///
/// # Errors
/// In compat mode, `Corrupt` where the original cuts a character in two and then cannot write what is left.
pub fn slim(session: &Session, config: &Slim, dialect: Dialect, mode: Mode) -> Result<Slimmed> {
    let chosen = messages::choose(session, config, mode);
    let (messages, mut losses) = messages::write(session, &chosen, config, dialect, mode)?;
    let steps = steps::list(session, config, dialect, mode);
    let (status, told) = status(session, dialect);
    losses.extend(told);
    let traced = config.include_continuation_trace;
    losses.extend(omitted::losses(session, &chosen, &steps, traced, dialect));
    let view = View {
        agent_id: session.id.as_ref().map(ToString::to_string),
        parent_agent_id: session.parent.as_ref().map(|parent| parent.session.to_string()),
        status,
        step_count: before(session) + steps::of(session).len() as u64,
        usage: usage(session),
        execution: execution(session),
        messages,
        steps: steps.into_iter().map(|(_, step)| step).collect(),
        last_continuation: if traced { continuation(session) } else { None },
        metadata: session.metadata.clone(),
    };
    Ok(Slimmed { view, losses })
}

/// The word for where the session stands, and what that does not say.
fn status(session: &Session, dialect: Dialect) -> (String, Vec<Loss>) {
    let Some(status) = &session.status else {
        let word = unsaid(session);
        let what = format!("the session does not say where it stands; a view does: {word}");
        return (word.to_owned(), vec![Loss::policy(LossKind::Synthesised, "status", what)]);
    };
    let word = match (status, dialect) {
        (Status::Other { .. }, _) | (_, Dialect::Proposal) => status_word(status),
        (known, released) => words::status_word(known, released.generation()),
    };
    let mut losses = Vec::new();
    if word != status.kind() {
        let what = format!("a view knows no `{}`; it says {word}", status.kind());
        losses.push(Loss::policy(LossKind::Coerced, "status", what));
    } else if let Status::Failed(failed) = status
        && !failed.error.is_empty()
    {
        losses.push(Loss::policy(LossKind::Dropped, "status.error", "a view has no place for it"));
    }
    (word.to_owned(), losses)
}

/// Where a session stands that does not say so: at its end, unless an answer or a result is due.
pub(super) fn unsaid(session: &Session) -> &'static str {
    let answered = session.turns.last().is_some_and(step_out::is_answered);
    if answered && session.open_calls().is_empty() { "completed" } else { "in_progress" }
}

fn usage(session: &Session) -> ViewUsage {
    let counted = slim_out::summed(session);
    let count = |count: Option<u64>| count.unwrap_or(0);
    ViewUsage {
        input: count(counted.input),
        output: count(counted.output),
        total: counted.total.unwrap_or_else(|| super::slim::sum(&counted)),
        cache_write: count(counted.cached_write),
        cache_read: count(counted.cached_read),
        reasoning: count(counted.reasoning),
    }
}

fn execution(session: &Session) -> ViewExecution {
    let timing = &session.timing;
    ViewExecution {
        started_at: timing.started.clone().or_else(|| timing.created.clone()),
        updated_at: timing.updated.clone().or_else(|| timing.completed.clone()),
        cumulative_seconds: timing.seconds.clone(),
    }
}

fn continuation(session: &Session) -> Option<ViewContinuation> {
    let made = session.turns.last()?.continuation.as_ref()?;
    Some(ViewContinuation {
        should_continue: made.should_continue,
        stop_reason: made.stop_reason.as_ref().map(StopReason::as_str).map(str::to_owned),
        resolved_by: made.resolved_by.clone(),
    })
}
