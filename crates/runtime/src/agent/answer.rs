//! Asking the model, and recording what it answers with the intents of its calls.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use turnkeep_model::event::{
    ApprovalAsked, BlockAdded, Choice, Effect, LossNoted, ModelAnswered, ModelFailed, ToolIntended, ToolSettled,
    TurnClosed, TurnOpened, UsageAdded,
};
use turnkeep_model::{
    Author, Block, Body, CallId, Event, Json, Ledger, Number, Object, Options, Outcome, Seq, Session, SessionId, Time,
    Timing, ToolCall, canon,
};
use turnkeep_store::Loaded;

use super::calls::refused;
use super::drive::Drive;
use super::settings::{Agent, Duplicates};
use crate::error::Result;
use crate::hub::Hub;
use crate::human::{next_ordinal, result_block};
use crate::port::{Answer, Cause, Consent, Delta, Deltas, Identity, Model, ModelError, Request};
use crate::recorder::Recorder;

/// What came of asking.
pub(super) enum Asked {
    Answered(Box<Given>),
    Failed(Box<Refused>),
    Stopped,
}

/// An answer, and how long it took.
pub(super) struct Given {
    answer: Answer,
    asking: Asking,
    seconds: f64,
}

/// No answer, and why.
pub(super) struct Refused {
    pub(super) error: ModelError,
    asking: Asking,
}

/// One question.
#[derive(Clone)]
struct Asking {
    turn: u32,
    attempt: u32,
    seq: Seq,
    started: Time,
}

impl Refused {
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

impl Given {
    /// The same answer to a session that was recorded meanwhile, up to here.
    pub(super) fn recorded_at(mut self: Box<Given>, seq: Seq) -> Box<Given> {
        self.asking.seq = seq;
        self
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

impl Drive<'_> {
    /// Asks until there is an answer, no more tries, and nobody else to ask.
    pub(super) async fn ask(&mut self, turn: u32) -> Result<Asked> {
        let (mut attempt, mut tries) = (0_u32, 0_u32);
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
                Next::Elsewhere => tries = 0,
                Next::Nobody => return Ok(Asked::Failed(refused)),
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
        loop {
            (attempt, tries) = (attempt.saturating_add(1), tries.saturating_add(1));
            let refused = match self.ask_once(session, turn, attempt).await {
                Asked::Failed(refused) => refused,
                asked => return asked,
            };
            failed.extend(refused.events());
            match self.after(&refused, tries).await {
                Next::Again => {}
                Next::Elsewhere => tries = 0,
                Next::Nobody => return Asked::Failed(refused),
                Next::Stopped => return Asked::Stopped,
            }
        }
    }

    /// What to do after a try that failed; where it is worth waiting, that is done.
    async fn after(&mut self, refused: &Refused, tries: u32) -> Next {
        match refused.error.retry_after {
            Some(wait) if tries <= self.agent.retries => match self.wait_or_stop(wait).await {
                Waited::Over => Next::Again,
                Waited::Stopped => Next::Stopped,
            },
            _ if refused.error.may_pass_elsewhere() && self.failed_models < self.agent.fallbacks.len() => {
                self.failed_models += 1;
                Next::Elsewhere
            }
            _ => Next::Nobody,
        }
    }

    /// Records that the model is about to be asked, which endpoint that is where it is another, and what came of the
    /// try before.
    async fn announce(&mut self, turn: u32, attempt: u32, mut events: Vec<Event>) -> Result<()> {
        events.extend(self.choice());
        if attempt > 1 || self.asked != Some(turn) {
            events.push(self.pace.asking(self.recorder.session(), turn, attempt, 0));
            self.asked = Some(turn);
        }
        if events.is_empty() {
            return Ok(());
        }
        self.recorder.record(events).await.map(drop)
    }

    /// The choice of the endpoint, where the journal has another or none.
    pub(super) fn choice(&self) -> Option<Event> {
        let now = self.model().identity();
        let before = self.recorder.ledger().endpoint().map(Identity::of);
        let choice = match &before {
            Some(before) if *before == now => return None,
            _ if self.failed_models > 0 => Choice::Fallback,
            Some(_) => Choice::Resumed,
            None => Choice::First,
        };
        Some(now.chosen(choice).into())
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
        let options = in_force(session, turn, &self.model().identity().defaults);
        let request = Request { session, options: &options, tools: self.agent.tools.specs(), turn };
        let deltas = HubDeltas { hub: self.recorder.ports().hub.clone(), session: self.recorder.id().clone() };
        let began = clock.now();
        let asking = Asking { turn, attempt, seq: self.recorder.seq(), started: Time::from_instant(began) };
        // Making the future may panic as well as driving it.
        let answer = AssertUnwindSafe(async { self.model().answer(request, &deltas).await }).catch_unwind();
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
        Asked::Failed(Box::new(Refused { error: refused, asking }))
    }

    fn model(&self) -> &dyn Model {
        self.agent.model(self.failed_models)
    }

    /// Records an answer with the intents of its calls: one batch, before any of them runs.
    pub(super) async fn record_answer(&mut self, turn: u32, given: Box<Given>) -> Result<()> {
        let mut given = *given;
        self.name_calls(&mut given.answer);
        let (agent, identity) = (self.agent, self.model().identity());
        self.recorder
            .record_with(|state, recorder| Ok(answering(agent, &identity, state, recorder, turn, &given)))
            .await?;
        Ok(())
    }

    /// Every call has an id that no other call of the session has.
    fn name_calls(&self, answer: &mut Answer) {
        let mut taken: Vec<CallId> = Vec::new();
        for block in &mut answer.blocks {
            let Body::ToolCall(call) = &mut block.body else {
                continue;
            };
            let wanted = match &call.call {
                CallId::Given(id) => id.to_string(),
                CallId::Minted(_) => format!("call_{}", self.recorder.ports().ids.next()),
            };
            let id = free_id(&wanted, |id| taken.contains(id) || is_known(self.recorder.ledger(), id));
            if id.as_given() != Some(&wanted) {
                block.metadata.set("given_call_id", wanted);
            }
            taken.push(id.clone());
            call.call = id;
        }
    }
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

fn is_known(ledger: &Ledger, id: &CallId) -> bool {
    ledger.get(id).is_some() || ledger.approval(id).is_some()
}

/// The id, or the first of its numbered variants that is free. Some models begin anew in every answer.
fn free_id(wanted: &str, taken: impl Fn(&CallId) -> bool) -> CallId {
    let variants = (2_u32..).map(|n| CallId::given(format!("{wanted}-{n}")));
    let mut all = std::iter::once(CallId::given(wanted)).chain(variants);
    all.find(|id| !taken(id)).unwrap_or_else(|| CallId::given(wanted))
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

/// The events of an answer.
fn answering(
    agent: &Agent,
    identity: &Identity,
    state: &Loaded,
    recorder: &Recorder,
    turn: u32,
    given: &Given,
) -> Vec<Event> {
    let now = recorder.now();
    let mut events = Vec::new();
    let opened = state.session.turns.len() > turn as usize;
    if !opened {
        events.push(TurnOpened::default().into());
    }
    let ordinal = next_ordinal(&state.session, turn as usize + 1);
    let blocks = placed(&given.answer, ordinal, &now);
    let calls: Vec<ToolCall> = blocks.iter().filter_map(as_call).cloned().collect();
    events.extend(blocks.iter().map(|block| BlockAdded { turn, block: block.clone() }.into()));
    events.push(closed(identity, recorder, turn, given).into());
    events.extend(known_of(given, &state.ledger));
    if given.answer.usage != Default::default() {
        events.push(UsageAdded { usage: given.answer.usage.clone() }.into());
    }
    for (call, place) in calls.iter().zip(ordinal.saturating_add(1)..) {
        events.extend(fate(agent, state, recorder, turn, call, (place, &now)));
    }
    events
}

/// The blocks of an answer as one message; an answer of nothing is an empty text, so that it is seen to be one.
fn placed(answer: &Answer, ordinal: u32, now: &Time) -> Vec<Block> {
    let mut blocks = answer.blocks.clone();
    if blocks.is_empty() {
        blocks.push(Block::text(Author::Assistant, ""));
    }
    for block in &mut blocks {
        block.message.ordinal = ordinal;
        block.message.time.get_or_insert_with(|| now.clone());
    }
    blocks
}

fn as_call(block: &Block) -> Option<&ToolCall> {
    match &block.body {
        Body::ToolCall(call) => Some(call),
        _ => None,
    }
}

/// What is known of the request and the response besides the content, where there is anything.
fn known_of(given: &Given, ledger: &Ledger) -> Vec<Event> {
    let (answer, asking) = (&given.answer, &given.asking);
    let answered = (answer.request.is_some() || !answer.headers.is_empty()).then(|| {
        ModelAnswered {
            turn: asking.turn,
            attempt: Some(asking.attempt),
            seq: Some(asking.seq),
            request: answer.request.clone(),
            headers: answer.headers.clone(),
        }
        .into()
    });
    let new = answer.losses.iter().filter(|loss| !ledger.is_noted(loss));
    let noted = new.map(|loss| LossNoted { turn: asking.turn, loss: loss.clone() }.into());
    answered.into_iter().chain(noted).collect()
}

fn closed(identity: &Identity, recorder: &Recorder, turn: u32, given: &Given) -> TurnClosed {
    let identity = identity.clone();
    TurnClosed {
        turn,
        finish: given.answer.finish.clone(),
        usage: (given.answer.usage != Default::default()).then(|| given.answer.usage.clone()),
        timing: Some(Timing {
            started: Some(given.asking.started.clone()),
            completed: Some(recorder.now()),
            seconds: Some(Number::from_f64((given.seconds * 1000.0).round() / 1000.0)),
            ..Timing::default()
        }),
        provider_payload: given.answer.payload.clone(),
        run: Some(recorder.run().clone()),
        provider: identity.provider,
        api: identity.api,
        model: given.answer.model.clone().or(identity.model),
        account: identity.account,
        ..TurnClosed::default()
    }
}

/// What becomes of a call: an intent, a question to a person, or a refusal that never runs.
fn fate(
    agent: &Agent,
    state: &Loaded,
    recorder: &Recorder,
    turn: u32,
    call: &ToolCall,
    (place, now): (u32, &Time),
) -> Vec<Event> {
    let tool = match (agent.tools.get(&call.name), agent.tools.arguments(&call.name, &call.arguments)) {
        (Some(tool), Ok(_)) => tool,
        (_, fits) => {
            let why = fits.err().unwrap_or_default();
            let mut block = result_block(&state.session, turn, refused(call, &why), now);
            block.message.ordinal = place;
            let settled = ToolSettled::new(call.call.clone(), Outcome::Failed);
            return vec![settled.into(), BlockAdded { turn, block }.into()];
        }
    };
    let (effect, settings) = (tool.effect(), tool.settings());
    let duplicate_of = duplicate_of(state, call);
    let doubtful = duplicate_of.is_some() && effect == Effect::Once && agent.duplicates == Duplicates::AskHuman;
    match (settings.consent, doubtful) {
        (Consent::Needed { within }, _) => vec![asked(recorder, call, within, None).into()],
        (Consent::NotNeeded, true) => {
            let earlier = duplicate_of.map(|earlier| earlier.to_string()).unwrap_or_default();
            let why = format!("call {earlier} asked for the same, and nobody knows whether it acted");
            vec![asked(recorder, call, None, Some(why)).into()]
        }
        (Consent::NotNeeded, false) => vec![
            ToolIntended {
                call: call.call.clone(),
                effect,
                key: key(recorder.id(), &call.call, effect),
                attempt: Some(1),
                duplicate_of,
            }
            .into(),
        ],
    }
}

/// The key of a call: the same for every attempt.
pub(super) fn key(session: &SessionId, call: &CallId, effect: Effect) -> Option<String> {
    (effect != Effect::Pure).then(|| format!("{session}/{call}"))
}

fn asked(recorder: &Recorder, call: &ToolCall, within: Option<Duration>, reason: Option<String>) -> ApprovalAsked {
    let now = recorder.ports().clock.now();
    let end = within.and_then(|within| now.checked_add(within).ok());
    ApprovalAsked {
        call: call.call.clone(),
        digest: shown(&call.name, &call.arguments),
        expires: end.map(Time::from_instant),
        reason,
    }
}

/// The digest of what a person is shown: the tool and its arguments.
pub(crate) fn shown(tool: &str, arguments: &str) -> String {
    let mut object = Object::new();
    object.set("tool", tool);
    object.set("arguments", arguments);
    canon::digest(&Json::Object(object))
}

/// An earlier call of the same tool with equal arguments, whose outcome nobody knows.
fn duplicate_of(state: &Loaded, call: &ToolCall) -> Option<CallId> {
    let unknown = |entry: &&turnkeep_model::ledger::LedgerEntry| {
        entry.settled.as_ref().is_none_or(|(outcome, _)| *outcome == Outcome::Interrupted)
    };
    let mut doubtful = state.ledger.entries().iter().filter(unknown).map(|entry| &entry.call).peekable();
    doubtful.peek()?;
    let doubtful: Vec<&CallId> = doubtful.collect();
    let same = |other: &&ToolCall| {
        doubtful.contains(&&other.call) && other.name == call.name && same_arguments(&other.arguments, &call.arguments)
    };
    let blocks = state.session.blocks().filter_map(|(_, block)| as_call(block));
    blocks.filter(same).last().map(|other| other.call.clone())
}

fn same_arguments(a: &str, b: &str) -> bool {
    let canonical = |text: &str| turnkeep_model::json::parse(text).ok().map(|node| canon::canonical(&node.into_json()));
    a == b || canonical(a).is_some_and(|a| Some(a) == canonical(b))
}
