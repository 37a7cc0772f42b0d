//! Attempt the model, again where it may answer later, and another where it cannot.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use turnkeep_model::event::{ModelFailed, TurnOpened};
use turnkeep_model::{Block, Event, Number, Options, Seq, Session, Time};
use turnkeep_store::Loaded;

use super::answer::one_request;
use super::partial_answer::PartialAnswer;
use super::run_loop::RunLoop;
use crate::error::Result;
use crate::input::next_turn;
use crate::port::{Answer, Cause, Identity, ModelError, Request, Tried};

/// What came of asking.
pub(super) enum AskOutcome {
    Answered(Box<TimedAnswer>),
    Failed(Box<FailedAttempt>),
    /// Someone asked to stop; what had arrived of the answer is recorded.
    Stopped,
}

/// An answer, and how long it took.
pub(super) struct TimedAnswer {
    pub(super) answer: Answer,
    pub(super) asking: Attempt,
    pub(super) seconds: f64,
}

/// No answer, and why.
pub(super) struct FailedAttempt {
    pub(super) error: ModelError,
    asking: Attempt,
    by: Identity,
    /// What had arrived of the answer.
    partial: Vec<Block>,
    /// The endpoints that were asked before.
    before: Vec<Tried>,
}

/// One question.
pub(super) struct Attempt {
    pub(super) turn: u32,
    pub(super) attempt: u32,
    pub(super) seq: Seq,
    pub(super) started: Time,
}

impl FailedAttempt {
    /// Why nobody answered, with every endpoint that was asked.
    pub(super) fn reason(&self) -> ModelError {
        Tried::error_of(&self.before.iter().cloned().chain([self.tried()]).collect::<Vec<_>>())
    }

    /// With the endpoints that were asked before.
    fn after(mut self: Box<FailedAttempt>, before: Vec<Tried>) -> Box<FailedAttempt> {
        self.before = before;
        self
    }

    fn tried(&self) -> Tried {
        Tried { by: self.by.clone(), error: self.error.clone() }
    }

    /// The events of an answer that did not come: why, what had arrived of it, and what was used all the same. A turn that
    /// only the answer would have opened is opened to keep what had arrived.
    pub(super) fn events(&self, state: &Loaded) -> Vec<Event> {
        let (error, asking) = (&self.error, &self.asking);
        let is_open = state.session.turns.len() > asking.turn as usize;
        let opened = (!is_open && !self.partial.is_empty())
            .then(|| TurnOpened { turn: Box::new(next_turn(&state.session)) }.into());
        let failed = ModelFailed {
            turn: asking.turn,
            attempt: Some(asking.attempt),
            seq: Some(asking.seq),
            cause: error.cause.clone(),
            class: error.class.clone(),
            message: Some(error.message.clone()),
            wait: error.retry_after.map(|wait| Number::from_f64(wait.as_secs_f64())),
            request: error.request.clone(),
            headers: error.headers.clone(),
            partial: self.partial.clone(),
        };
        opened.into_iter().chain([failed.into(), one_request(&error.usage)]).collect()
    }
}

impl RunLoop<'_> {
    /// Asks until there is an answer, no more tries, and nobody else to ask.
    pub(super) async fn ask(&mut self, turn: u32) -> Result<AskOutcome> {
        let (mut attempt, mut tries) = (0_u32, 0_u32);
        let mut tried = Vec::new();
        let mut failed = None;
        loop {
            (attempt, tries) = (attempt.saturating_add(1), tries.saturating_add(1));
            self.announce(turn, attempt, failed.as_deref()).await?;
            let failed_attempt = match self.ask_once(turn, attempt).await {
                Ok(given) => return Ok(AskOutcome::Answered(given)),
                Err(failed_attempt) => failed_attempt,
            };
            let next = match failed_attempt.error.cause {
                Cause::Stopped => AfterFailure::Stopped,
                _ => self.after(&failed_attempt, tries).await,
            };
            match next {
                AfterFailure::Again => {}
                AfterFailure::Elsewhere => {
                    tries = 0;
                    tried.push(failed_attempt.tried());
                }
                AfterFailure::Nobody => return Ok(AskOutcome::Failed(failed_attempt.after(tried))),
                AfterFailure::Stopped => {
                    self.recorder.record_with(|state, _| Ok(failed_attempt.events(state))).await?;
                    return Ok(AskOutcome::Stopped);
                }
            }
            failed = Some(failed_attempt);
        }
    }

    /// What to do after a try that failed; where it is worth waiting, that is done.
    async fn after(&mut self, failed_attempt: &FailedAttempt, tries: u32) -> AfterFailure {
        // What had begun to arrive is not asked for again, here or elsewhere.
        match failed_attempt.error.retry_after {
            _ if !failed_attempt.partial.is_empty() => AfterFailure::Nobody,
            Some(wait) if tries <= self.agent.retries => match self.wait_or_stop(wait).await {
                Waited::Over => AfterFailure::Again,
                Waited::Stopped => AfterFailure::Stopped,
            },
            _ if failed_attempt.error.may_pass_elsewhere()
                && self.context.failed_models < self.agent.fallbacks.len() =>
            {
                self.context.failed_models += 1;
                AfterFailure::Elsewhere
            }
            _ => AfterFailure::Nobody,
        }
    }

    /// Records that the model is about to be asked, which endpoint that is where it is another, and what came of the
    /// try before.
    async fn announce(&mut self, turn: u32, attempt: u32, failed: Option<&FailedAttempt>) -> Result<()> {
        let is_new = attempt > 1 || self.asked != Some(turn);
        let context = self.context;
        self.recorder
            .record_with(|state, _| {
                let mut events = failed.map(|failed_attempt| failed_attempt.events(state)).unwrap_or_default();
                events.extend(context.choice(&state.ledger));
                if is_new {
                    events.push(context.asking(&state.session, turn, attempt, 0));
                }
                Ok(events)
            })
            .await?;
        self.asked = Some(turn);
        Ok(())
    }

    async fn wait_or_stop(&self, wait: Duration) -> Waited {
        let over = self.recorder.ports().clock.sleep(wait);
        match select(over, Box::pin(self.agent.stop.asked())).await {
            Either::Left(_) => Waited::Over,
            Either::Right(_) => Waited::Stopped,
        }
    }

    async fn ask_once(&self, turn: u32, attempt: u32) -> std::result::Result<Box<TimedAnswer>, Box<FailedAttempt>> {
        let (session, clock) = (self.recorder.session(), &self.recorder.ports().clock);
        let by = self.context.model().identity();
        let options = in_force(session, turn, &by.defaults);
        let request = Request { session, options: &options, tools: self.agent.tools.specs(), turn };
        let arriving = PartialAnswer::new(self.recorder, turn, attempt);
        let began = clock.now();
        let asking = Attempt { turn, attempt, seq: self.recorder.seq(), started: Time::from_instant(began) };
        // Making the future may panic as well as driving it.
        let answer = AssertUnwindSafe(async { self.context.model().answer(request, &arriving).await }).catch_unwind();
        let limit = self.agent.model_timeout;
        let waiting = async { limit_of(limit, clock.as_ref()).await };
        let stop = self.agent.stop.asked();
        let error = match select(Box::pin(answer), select(Box::pin(waiting), Box::pin(stop))).await {
            Either::Left((Ok(Ok(answer)), _)) => {
                let seconds = crate::port::seconds(began, clock.now());
                return Ok(Box::new(TimedAnswer { answer, asking, seconds }));
            }
            Either::Right((Either::Right(_), _)) => ModelError::new(Cause::Stopped, "the answer was stopped"),
            Either::Left((Ok(Err(error)), _)) => error,
            Either::Left((Err(_), _)) => ModelError::fatal("the model's client panicked"),
            Either::Right((Either::Left(_), _)) => ModelError::new(Cause::TimedOut, "the model did not answer in time"),
        };
        Err(Box::new(FailedAttempt { error, asking, by, partial: arriving.into_blocks(), before: Vec::new() }))
    }
}

/// What is done after a try that failed.
enum AfterFailure {
    /// The same model is asked again.
    Again,
    /// The next model is asked.
    Elsewhere,
    /// There is nobody else to ask.
    Nobody,
    /// Somebody wants it to stop.
    Stopped,
}

/// How a wait between tries ended.
#[derive(PartialEq, Eq)]
enum Waited {
    Over,
    Stopped,
}

async fn limit_of(limit: Option<Duration>, clock: &dyn crate::port::Clock) {
    match limit {
        Some(limit) => clock.sleep(limit).await,
        None => std::future::pending().await,
    }
}

/// The settings in force: the turn's, then the session's, then the endpoint's.
pub(crate) fn in_force(session: &Session, turn: u32, defaults: &Options) -> Options {
    let own = session.turns.get(turn as usize).map(|turn| turn.options.clone()).unwrap_or_default();
    own.over(&session.options).over(defaults)
}
