//! Recording what a model answers, with the intents of its calls.

use std::collections::HashSet;
use std::time::Duration;

use turnkeep_model::event::{
    ApprovalAsked, BlockAdded, Effect, LossNoted, ModelAnswered, ToolIntended, ToolSettled, TurnClosed, TurnOpened,
    UsageAdded,
};
use turnkeep_model::{
    Author, Block, Body, CallId, Event, Ledger, Number, Outcome, Session, Time, Timing, ToolCall, Usage, canon,
};
use turnkeep_store::Loaded;

use super::ask::TimedAnswer;
use super::run_loop::RunLoop;
use super::{Agent, Duplicates};
use crate::error::Result;
use crate::human::{approval_digest, key};
use crate::input::next_turn;
use crate::ordinals::next_ordinal;
use crate::port::{Answer, Consent, Identity};
use crate::recorder::Recorder;
use crate::tool_result::{refused, result_block};

impl RunLoop<'_> {
    /// Records an answer with the intents of its calls: one batch, before any of them runs.
    pub(super) async fn record_answer(&mut self, turn: u32, given: Box<TimedAnswer>) -> Result<()> {
        let mut given = *given;
        self.name_calls(&mut given.answer);
        let (agent, identity) = (self.agent, self.context.model().identity());
        self.recorder
            .record_with(|state, recorder| Ok(answering(agent, &identity, state, recorder, turn, &given)))
            .await?;
        // Before any of them runs: whoever restores the checkpoint knows that they may have begun.
        self.recorder.checkpoint().await
    }

    /// Every call has an id that no other call of the session has.
    fn name_calls(&self, answer: &mut Answer) {
        if !answer.blocks.iter().any(|block| as_call(block).is_some()) {
            return;
        }
        let mut taken = ids_in(self.recorder.session());
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
            taken.insert(id.clone());
            call.call = id;
        }
    }
}

/// The ids that calls and results of a session have. The ledger does not know calls that were refused, or made elsewhere.
fn ids_in(session: &Session) -> HashSet<CallId> {
    let id = |block: &Block| match &block.body {
        Body::ToolCall(call) => Some(call.call.clone()),
        Body::ToolResult(result) => Some(result.call.clone()),
        _ => None,
    };
    session.blocks().filter_map(|(_, block)| id(block)).collect()
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

/// The events of an answer.
fn answering(
    agent: &Agent,
    identity: &Identity,
    state: &Loaded,
    recorder: &Recorder,
    turn: u32,
    given: &TimedAnswer,
) -> Vec<Event> {
    let now = recorder.now();
    let mut events = Vec::new();
    let opened = state.session.turns.len() > turn as usize;
    if !opened {
        events.push(TurnOpened { turn: Box::new(next_turn(&state.session)) }.into());
    }
    let ordinal = next_ordinal(&state.session, turn as usize + 1);
    let blocks = placed(&given.answer, ordinal, &now);
    events.extend(blocks.into_iter().map(|block| BlockAdded { turn, block }.into()));
    events.push(closed(identity, recorder, turn, given).into());
    events.extend(known_of(given, &state.ledger));
    events.push(one_request(&given.answer.usage));
    let calls = given.answer.blocks.iter().filter_map(as_call);
    for (call, place) in calls.zip(ordinal.saturating_add(1)..) {
        events.extend(call_events(agent, state, recorder, turn, call, (place, &now)));
    }
    events
}

/// What one request used. The session counts requests; a vendor that counts its own is believed.
pub(super) fn one_request(usage: &Usage) -> Event {
    UsageAdded { usage: Usage { requests: usage.requests.or(Some(1)), ..usage.clone() } }.into()
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
fn known_of(given: &TimedAnswer, ledger: &Ledger) -> Vec<Event> {
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

fn closed(identity: &Identity, recorder: &Recorder, turn: u32, given: &TimedAnswer) -> TurnClosed {
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
fn call_events(
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
    let effect = tool.effect();
    let duplicate_of = duplicate_of(state, call);
    let doubtful = duplicate_of.is_some() && effect == Effect::Once && agent.duplicates == Duplicates::AskHuman;
    match (tool.consent(), doubtful) {
        (Consent::Needed { within }, _) => vec![approval_request(recorder, call, within, None).into()],
        (Consent::NotNeeded, true) => {
            let earlier = duplicate_of.map(|earlier| earlier.to_string()).unwrap_or_default();
            let why = format!("call {earlier} asked for the same, and nobody knows whether it acted");
            vec![approval_request(recorder, call, None, Some(why)).into()]
        }
        (Consent::NotNeeded, false) => vec![
            ToolIntended {
                call: call.call.clone(),
                effect,
                key: (effect != Effect::Pure).then(|| key(recorder.id(), &call.call)),
                attempt: Some(1),
                duplicate_of,
            }
            .into(),
        ],
    }
}

pub(super) fn approval_request(
    recorder: &Recorder,
    call: &ToolCall,
    within: Option<Duration>,
    reason: Option<String>,
) -> ApprovalAsked {
    let now = recorder.ports().clock.now();
    let end = within.and_then(|within| now.checked_add(within).ok());
    ApprovalAsked {
        call: call.call.clone(),
        digest: approval_digest(&call.name, &call.arguments),
        expires: end.map(Time::from_instant),
        reason,
    }
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
