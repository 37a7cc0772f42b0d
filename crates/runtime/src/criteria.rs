//! Whether a run goes on after a step, and who decided.

use std::sync::Arc;

use turnkeep_model::status::{Continuation, Decision, Evaluation};
use turnkeep_model::{FinishReason, Number, Session, StopReason, Turn};

/// What a criterion looks at: the session after a step.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The session.
    pub session: &'a Session,
    /// The turn that just ended.
    pub turn: &'a Turn,
    /// How many answers this exchange has had.
    pub steps: u32,
    /// How many tries in a row gave no answer.
    pub retries: u32,
    /// How many seconds the session ran, over all its runs.
    pub seconds: f64,
    /// The time.
    pub now: jiff::Timestamp,
    /// Whether someone asked to stop.
    pub stop_asked: bool,
}

/// Something that has a say in whether a run goes on.
pub trait Criterion: Send + Sync {
    /// Its name, as it is recorded.
    fn name(&self) -> &str;

    /// What it says.
    fn evaluate(&self, progress: &Progress<'_>) -> CriterionResult;
}

/// What a criterion said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriterionResult {
    /// The decision.
    pub decision: Decision,
    /// Why, in words.
    pub reason: String,
    /// Why the run stops, if it does.
    pub stop_reason: Option<StopReason>,
}

impl CriterionResult {
    fn allow(reason: impl Into<String>) -> CriterionResult {
        CriterionResult { decision: Decision::Allow, reason: reason.into(), stop_reason: None }
    }

    fn forbid(stop: StopReason, reason: impl Into<String>) -> CriterionResult {
        CriterionResult { decision: Decision::Forbid, reason: reason.into(), stop_reason: Some(stop) }
    }
}

/// A criterion made of a name and a function.
pub struct FnCriterion<F>(&'static str, F);

impl<F: Fn(&Progress<'_>) -> CriterionResult + Send + Sync> FnCriterion<F> {
    /// A criterion of one's own.
    pub fn new(name: &'static str, evaluate: F) -> FnCriterion<F> {
        FnCriterion(name, evaluate)
    }
}

impl<F: Fn(&Progress<'_>) -> CriterionResult + Send + Sync> Criterion for FnCriterion<F> {
    fn name(&self) -> &str {
        self.0
    }

    fn evaluate(&self, progress: &Progress<'_>) -> CriterionResult {
        (self.1)(progress)
    }
}

/// Goes on while the model calls tools.
pub fn tool_call_presence() -> impl Criterion {
    FnCriterion("ToolCallPresenceCheck", |progress: &Progress<'_>| match crate::plan::calls(progress.turn).count() {
        0 => CriterionResult {
            decision: Decision::Stop,
            reason: "No tool calls".into(),
            stop_reason: Some(StopReason::Completed),
        },
        _ => CriterionResult { decision: Decision::Request, reason: "Tool calls present".into(), stop_reason: None },
    })
}

/// At most `limit` answers an exchange; the session's own limit counts if it has one.
pub fn steps_limit(limit: u32) -> impl Criterion {
    FnCriterion("StepsLimit", move |progress: &Progress<'_>| {
        let own = progress.session.options.limits.steps.as_ref().and_then(Number::as_u64);
        let (steps, limit) = (u64::from(progress.steps), own.unwrap_or(u64::from(limit)));
        if steps >= limit {
            CriterionResult::forbid(StopReason::StepsLimit, format!("Step {steps} exceeded limit {limit}"))
        } else {
            CriterionResult::allow(format!("Step {steps} of {limit}"))
        }
    })
}

/// At most so many tokens, as the session's limits say.
pub fn token_limit() -> impl Criterion {
    FnCriterion("TokenUsageLimit", |progress: &Progress<'_>| {
        let usage = &progress.session.usage;
        let used = usage.total.unwrap_or_else(|| usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0)));
        match progress.session.options.limits.tokens.as_ref().and_then(Number::as_u64) {
            Some(limit) if used >= limit => {
                CriterionResult::forbid(StopReason::TokenLimit, format!("{used} tokens used, {limit} allowed"))
            }
            _ => CriterionResult::allow(format!("{used} tokens used")),
        }
    })
}

/// At most so much money, as the session's limits say.
pub fn cost_limit() -> impl Criterion {
    FnCriterion("CostLimit", |progress: &Progress<'_>| {
        match (&progress.session.usage.cost, &progress.session.options.limits.cost) {
            (Some(cost), Some(limit)) if cost.at_least(limit) => {
                CriterionResult::forbid(StopReason::CostLimit, format!("{cost} spent, {limit} allowed"))
            }
            _ => CriterionResult::allow("Within the cost limit"),
        }
    })
}

/// At most so many seconds over all runs, and not past a deadline, as the session's limits say.
pub fn time_limit() -> impl Criterion {
    FnCriterion("ExecutionTimeLimit", |progress: &Progress<'_>| {
        let limits = &progress.session.options.limits;
        let (ran, past) = (progress.seconds, limits.deadline.as_ref().and_then(turnkeep_model::Time::instant));
        if past.is_some_and(|deadline| deadline <= progress.now) {
            return CriterionResult::forbid(StopReason::TimeLimit, "The deadline has passed");
        }
        match limits.seconds.as_ref().map(Number::as_f64) {
            Some(limit) if ran >= limit => {
                CriterionResult::forbid(StopReason::TimeLimit, format!("Ran {ran:.1} s, {limit} s allowed"))
            }
            _ => CriterionResult::allow(format!("Ran {ran:.1} s")),
        }
    })
}

/// At most `limit` tries in a row without an answer.
pub fn retry_limit(limit: u32) -> impl Criterion {
    FnCriterion("RetryLimit", move |progress: &Progress<'_>| {
        if progress.retries > limit {
            CriterionResult::forbid(StopReason::RetryLimit, format!("{} tries, {limit} allowed", progress.retries))
        } else {
            CriterionResult::allow(format!("{} tries", progress.retries))
        }
    })
}

/// Stops where a turn ran into an error. An error belongs to the attempt that had it: once there is an answer, a later
/// attempt has overcome it.
pub fn error_presence() -> impl Criterion {
    FnCriterion("ErrorPresenceCheck", |progress: &Progress<'_>| {
        let answered = progress.turn.blocks.iter().any(turnkeep_model::Block::is_answer);
        match progress.turn.errors.first() {
            Some(_) if !answered => CriterionResult::forbid(StopReason::Error, "The step ran into an error"),
            Some(_) => CriterionResult::allow("A later attempt overcame the error"),
            None => CriterionResult::allow("No errors"),
        }
    })
}

/// Stops at answers that ended so.
pub fn finish_reason(stops: Vec<FinishReason>) -> impl Criterion {
    FnCriterion("FinishReasonCheck", move |progress: &Progress<'_>| match &progress.turn.finish {
        Some(finish) if stops.contains(&finish.reason) => CriterionResult {
            decision: Decision::Stop,
            reason: format!("The answer ended with {}", finish.reason.as_str()),
            stop_reason: Some(StopReason::FinishReason),
        },
        _ => CriterionResult::allow("The answer may be followed by another"),
    })
}

/// Stops when someone asked for it.
pub fn stop_asked() -> impl Criterion {
    FnCriterion("StopRequested", |progress: &Progress<'_>| {
        if progress.stop_asked {
            CriterionResult::forbid(StopReason::UserRequested, "Someone asked to stop")
        } else {
            CriterionResult::allow("Nobody asked to stop")
        }
    })
}

/// Stops when the model makes the same calls `limit` times in a row.
pub fn repetition(limit: usize) -> impl Criterion {
    FnCriterion("RepetitionGuard", move |progress: &Progress<'_>| {
        let same = same_calls_in_a_row(progress.session);
        if same >= limit.max(2) {
            CriterionResult::forbid(StopReason::Guard, format!("The same calls {same} times in a row"))
        } else {
            CriterionResult::allow("The calls differ")
        }
    })
}

fn same_calls_in_a_row(session: &Session) -> usize {
    let made = |turn: &Turn| -> Vec<(String, String)> {
        crate::plan::calls(turn).map(|call| (call.name.clone(), call.arguments.clone())).collect()
    };
    let Some(last) = session.turns.last().map(made).filter(|calls| !calls.is_empty()) else {
        return 0;
    };
    session.turns.iter().rev().take_while(|turn| made(turn) == last).count()
}

/// The usual criteria: errors, stop requests, the session's limits, `steps` answers an exchange, and tool calls.
pub fn usual(steps: u32) -> Vec<Arc<dyn Criterion>> {
    vec![
        Arc::new(error_presence()),
        Arc::new(stop_asked()),
        Arc::new(steps_limit(steps)),
        Arc::new(token_limit()),
        Arc::new(cost_limit()),
        Arc::new(time_limit()),
        Arc::new(repetition(8)),
        Arc::new(tool_call_presence()),
    ]
}

/// Asks every criterion, and resolves what they say.
pub fn evaluate(criteria: &[Arc<dyn Criterion>], progress: &Progress<'_>) -> Continuation {
    let evaluations = criteria.iter().map(|criterion| {
        let said = criterion.evaluate(progress);
        Evaluation {
            criterion: criterion.name().to_owned(),
            decision: Some(said.decision),
            reason: Some(said.reason),
            stop_reason: said.stop_reason,
            ..Evaluation::default()
        }
    });
    resolve(evaluations.collect())
}

/// Any `forbid` stops; else any `request` goes on; else any `stop` stops; else any `allow` goes on; nothing stops.
pub fn resolve(evaluations: Vec<Evaluation>) -> Continuation {
    let first = |decision: Decision| evaluations.iter().find(|said| said.decision.as_ref() == Some(&decision));
    let (goes_on, decision, by, stop_reason) = if let Some(said) = first(Decision::Forbid) {
        let reason = strongest(&evaluations, &Decision::Forbid).unwrap_or(StopReason::Guard);
        (false, Decision::Forbid, said.criterion.clone(), Some(reason))
    } else if let Some(said) = first(Decision::Request) {
        (true, Decision::Request, said.criterion.clone(), None)
    } else if first(Decision::Stop).is_some() {
        let reason = strongest(&evaluations, &Decision::Stop).unwrap_or(StopReason::Completed);
        (false, Decision::Stop, "aggregate".to_owned(), Some(reason))
    } else if first(Decision::Allow).is_some() {
        (true, Decision::Allow, "aggregate".to_owned(), None)
    } else {
        (false, Decision::Stop, "aggregate".to_owned(), Some(StopReason::Completed))
    };
    Continuation {
        should_continue: Some(goes_on),
        decision: Some(decision),
        resolved_by: Some(by),
        stop_reason,
        evaluations,
        ..Continuation::default()
    }
}

/// The reason that counts most among those who decided so.
fn strongest(evaluations: &[Evaluation], decision: &Decision) -> Option<StopReason> {
    let decided = evaluations.iter().filter(|said| said.decision.as_ref() == Some(decision));
    decided.filter_map(|said| said.stop_reason.clone()).min_by_key(priority)
}

/// The place of a reason among others: errors first.
pub fn priority(reason: &StopReason) -> u8 {
    match reason {
        StopReason::Error => 0,
        StopReason::StopRequested => 1,
        StopReason::UserRequested => 2,
        StopReason::StepsLimit => 3,
        StopReason::TokenLimit => 4,
        StopReason::TimeLimit => 5,
        StopReason::RetryLimit => 6,
        StopReason::FinishReason => 7,
        StopReason::Completed => 8,
        StopReason::Unknown => 9,
        // Not in the list they come from: they stop a run as firmly as a limit does.
        StopReason::CostLimit | StopReason::Guard => 6,
        _ => 9,
    }
}

/// Whether a run that stopped so was made to stop, rather than done.
pub fn is_forced(reason: &StopReason) -> bool {
    !matches!(reason, StopReason::Completed | StopReason::FinishReason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(decision: Decision, stop: Option<StopReason>) -> Evaluation {
        let criterion = format!("{decision:?}");
        Evaluation { criterion, decision: Some(decision), stop_reason: stop, ..Evaluation::default() }
    }

    #[test]
    fn decisions_resolve_by_their_rank() {
        let (forbid, request) = (said(Decision::Forbid, None), said(Decision::Request, None));
        let (stop, allow) = (said(Decision::Stop, None), said(Decision::Allow, None));
        let table = [
            (vec![request.clone(), forbid], false, "Forbid", Some(StopReason::Guard)),
            (vec![stop.clone(), request], true, "Request", None),
            (vec![allow.clone(), stop], false, "aggregate", Some(StopReason::Completed)),
            (vec![allow], true, "aggregate", None),
            (vec![], false, "aggregate", Some(StopReason::Completed)),
        ];
        for (evaluations, goes_on, by, reason) in table {
            let resolved = resolve(evaluations.clone());

            let got = (resolved.should_continue, resolved.resolved_by.as_deref(), resolved.stop_reason);
            assert_eq!(got, (Some(goes_on), Some(by), reason), "{evaluations:?}");
        }
    }

    #[test]
    fn forced_stops_and_their_order() {
        let limits =
            [said(Decision::Forbid, Some(StopReason::TimeLimit)), said(Decision::Forbid, Some(StopReason::Error))];

        assert_eq!(resolve(limits.to_vec()).stop_reason, Some(StopReason::Error));
        assert!(is_forced(&StopReason::StepsLimit) && is_forced(&StopReason::UserRequested));
        assert!(!is_forced(&StopReason::Completed) && !is_forced(&StopReason::FinishReason));
    }
}
