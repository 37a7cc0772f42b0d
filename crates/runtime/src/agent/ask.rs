//! Asking the model, again where it may answer later, and another where it cannot.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use turnkeep_model::event::{ModelFailed, UsageAdded};
use turnkeep_model::{Event, Number, Options, Seq, Session, SessionId, Time};

use super::drive::Drive;
use crate::error::Result;
use crate::hub::Hub;
use crate::port::{Answer, Begun, Cause, Delta, Deltas, Identity, ModelError, Request, Tried};

/// What came of asking.
pub(super) enum Asked {
    Answered(Box<Given>),
    Failed(Box<Refused>),
    Stopped,
}

/// An answer, and how long it took.
pub(super) struct Given {
    pub(super) answer: Answer,
    pub(super) asking: Asking,
    pub(super) seconds: f64,
}

impl Given {
    /// The same answer to a session that was recorded meanwhile, up to here.
    pub(super) fn recorded_at(mut self: Box<Given>, seq: Seq) -> Box<Given> {
        self.asking.seq = seq;
        self
    }
}

/// No answer, and why.
pub(super) struct Refused {
    pub(super) error: ModelError,
    asking: Asking,
    by: Identity,
    /// Whether pieces of an answer had arrived.
    began: bool,
    /// The endpoints that were asked before.
    before: Vec<Tried>,
}

/// One question.
pub(super) struct Asking {
    pub(super) turn: u32,
    pub(super) attempt: u32,
    pub(super) seq: Seq,
    pub(super) started: Time,
}

impl Refused {
    /// Why nobody answered, with every endpoint that was asked.
    pub(super) fn reason(&self) -> ModelError {
        let last = Tried { by: self.by.clone(), error: self.error.clone() };
        Tried::error_of(&self.before.iter().cloned().chain([last]).collect::<Vec<_>>())
    }

    /// With the endpoints that were asked before.
    fn after(mut self: Box<Refused>, before: Vec<Tried>) -> Box<Refused> {
        self.before = before;
        self
    }

    fn into_tried(self) -> Tried {
        Tried { by: self.by, error: self.error }
    }

    /// The events of an answer that did not come: why, and what was used all the same.
    pub(super) fn events(&self) -> Vec<Event> {
        let (error, asking) = (&self.error, &self.asking);
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
        };
        let used = (error.usage != Default::default()).then(|| UsageAdded { usage: error.usage.clone() }.into());
        std::iter::once(failed.into()).chain(used).collect()
    }
}

impl Drive<'_> {
    /// Asks until there is an answer, no more tries, and nobody else to ask.
    pub(super) async fn ask(&mut self, turn: u32) -> Result<Asked> {
        let (mut attempt, mut tries) = (0_u32, 0_u32);
        let mut tried = Vec::new();
        let mut failed = Vec::new();
        loop {
            (attempt, tries) = (attempt.saturating_add(1), tries.saturating_add(1));
            self.announce(turn, attempt, std::mem::take(&mut failed)).await?;
            let refused = match self.ask_once(self.recorder.session(), turn, attempt).await {
                Asked::Failed(refused) => refused,
                asked => return Ok(asked),
            };
            failed = refused.events();
            match self.after(&refused, tries).await {
                Next::Again => {}
                Next::Elsewhere => {
                    tries = 0;
                    tried.push(refused.into_tried());
                }
                Next::Nobody => return Ok(Asked::Failed(refused.after(tried))),
                Next::Stopped => {
                    self.recorder.record(failed).await?;
                    return Ok(Asked::Stopped);
                }
            }
        }
    }

    /// The same of a session that is not recorded yet. What came of tries that failed goes to `failed`.
    pub(super) async fn ask_aside(&mut self, session: &Session, turn: u32, failed: &mut Vec<Event>) -> Asked {
        let (mut attempt, mut tries) = (0_u32, 0_u32);
        let mut tried = Vec::new();
        loop {
            (attempt, tries) = (attempt.saturating_add(1), tries.saturating_add(1));
            let refused = match self.ask_once(session, turn, attempt).await {
                Asked::Failed(refused) => refused,
                asked => return asked,
            };
            failed.extend(refused.events());
            match self.after(&refused, tries).await {
                Next::Again => {}
                Next::Elsewhere => {
                    tries = 0;
                    tried.push(refused.into_tried());
                }
                Next::Nobody => return Asked::Failed(refused.after(tried)),
                Next::Stopped => return Asked::Stopped,
            }
        }
    }

    /// What to do after a try that failed; where it is worth waiting, that is done.
    async fn after(&mut self, refused: &Refused, tries: u32) -> Next {
        // What had begun to arrive is not asked for again, here or elsewhere.
        match refused.error.retry_after {
            _ if refused.began => Next::Nobody,
            Some(wait) if tries <= self.agent.retries => match self.wait_or_stop(wait).await {
                Waited::Over => Next::Again,
                Waited::Stopped => Next::Stopped,
            },
            _ if refused.error.may_pass_elsewhere() && self.pace.failed_models < self.agent.fallbacks.len() => {
                self.pace.failed_models += 1;
                Next::Elsewhere
            }
            _ => Next::Nobody,
        }
    }

    /// Records that the model is about to be asked, which endpoint that is where it is another, and what came of the
    /// try before.
    async fn announce(&mut self, turn: u32, attempt: u32, mut events: Vec<Event>) -> Result<()> {
        events.extend(self.pace.choice(self.recorder.ledger()));
        if attempt > 1 || self.asked != Some(turn) {
            events.push(self.pace.asking(self.recorder.session(), turn, attempt, 0));
            self.asked = Some(turn);
        }
        if events.is_empty() {
            return Ok(());
        }
        self.recorder.record(events).await.map(drop)
    }

    async fn wait_or_stop(&self, wait: Duration) -> Waited {
        let over = self.recorder.ports().clock.sleep(wait);
        match select(over, Box::pin(self.agent.stop.asked())).await {
            Either::Left(_) => Waited::Over,
            Either::Right(_) => Waited::Stopped,
        }
    }

    async fn ask_once(&self, session: &Session, turn: u32, attempt: u32) -> Asked {
        let clock = &self.recorder.ports().clock;
        let by = self.pace.model().identity();
        let options = in_force(session, turn, &by.defaults);
        let request = Request { session, options: &options, tools: self.agent.tools.specs(), turn };
        let deltas = HubDeltas { hub: self.recorder.ports().hub.clone(), session: self.recorder.id().clone() };
        let deltas = Begun::new(&deltas);
        let began = clock.now();
        let asking = Asking { turn, attempt, seq: self.recorder.seq(), started: Time::from_instant(began) };
        // Making the future may panic as well as driving it.
        let answer = AssertUnwindSafe(async { self.pace.model().answer(request, &deltas).await }).catch_unwind();
        let limit = self.agent.model_timeout;
        let waiting = async { limit_of(limit, clock.as_ref()).await };
        let stop = self.agent.stop.asked();
        let refused = match select(Box::pin(answer), select(Box::pin(waiting), Box::pin(stop))).await {
            Either::Left((Ok(Ok(answer)), _)) => {
                let seconds = crate::port::seconds(began, clock.now());
                return Asked::Answered(Box::new(Given { answer, asking, seconds }));
            }
            Either::Right((Either::Right(_), _)) => return Asked::Stopped,
            Either::Left((Ok(Err(error)), _)) => error,
            Either::Left((Err(_), _)) => ModelError::fatal("the model's client panicked"),
            Either::Right((Either::Left(_), _)) => ModelError::new(Cause::TimedOut, "the model did not answer in time"),
        };
        Asked::Failed(Box::new(Refused { error: refused, asking, by, began: deltas.has_begun(), before: Vec::new() }))
    }
}

/// What is done after a try that failed.
enum Next {
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

struct HubDeltas {
    hub: Hub,
    session: SessionId,
}

impl Deltas for HubDeltas {
    fn delta(&self, delta: Delta) {
        self.hub.publish_delta(&self.session, &delta);
    }
}
