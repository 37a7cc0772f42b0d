//! What people do to a session from any process: say something, consent, decide.

use turnkeep_model::event::{
    ApprovalGiven, BlockAdded, Resolution, SessionChanged, ToolResolved, ToolSettled, TurnOpened, Verdict,
};
use turnkeep_model::status::Pending;
use turnkeep_model::{
    Author, Block, Body, CallId, ErrorKind, EvaluationId, Event, Options, Outcome, Seq, Session, SessionId, Status,
    Time, ToolCall, ToolResult, Turn,
};
use turnkeep_store::{Loaded, Store};

use crate::error::{Error, Result};
use crate::port::ToolOutput;
use crate::ports::Ports;
use crate::recorder::post;

/// What someone says to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Input {
    /// The content.
    pub blocks: Vec<Block>,
    /// Settings of the answer to it that differ from the session's.
    pub options: Options,
}

impl Input {
    /// Refuses to say nothing: a model that is asked nothing answers anything.
    pub(crate) fn check(&self) -> Result<()> {
        if self.blocks.is_empty() {
            return Err(Error::new(ErrorKind::Unsupported, "there is nothing to say")
                .hint("say something, or resume the session to go on with what is due"));
        }
        Ok(())
    }
}

impl From<Vec<Block>> for Input {
    fn from(blocks: Vec<Block>) -> Input {
        Input { blocks, options: Options::default() }
    }
}

impl From<&str> for Input {
    fn from(text: &str) -> Input {
        vec![Block::text(Author::User, text)].into()
    }
}

impl From<String> for Input {
    fn from(text: String) -> Input {
        text.as_str().into()
    }
}

/// Ordinals that are left free for an answer that is on its way.
const ROOM: u32 = 1024;

/// The events of saying something. It joins the turn that waits for an answer; where one is on its way or given, it opens
/// the next.
pub(crate) fn saying(state: &Loaded, input: &Input, now: &Time) -> Vec<Event> {
    let session = &state.session;
    let open = session.turns.last().filter(|last| !last.blocks.iter().any(Block::is_answer));
    let last = u32::try_from(session.turns.len()).unwrap_or(u32::MAX);
    let flying = in_flight(state).filter(|turn| turn.saturating_add(1) >= last);
    let mut events = Vec::new();
    let mut ordinal = next_ordinal(session, session.turns.len());
    let mut turn = last.saturating_sub(1);
    if flying == Some(last) {
        // The answer on its way has no turn yet; it gets its own, before this one.
        events.push(TurnOpened { turn: Box::new(next_turn(session)) }.into());
        turn = last;
    }
    if flying.is_some() {
        ordinal = ordinal.saturating_add(ROOM);
    }
    if open.is_none() || flying.is_some() {
        let opened = Turn { options: input.options.clone(), ..next_turn(session) };
        events.push(TurnOpened { turn: Box::new(opened) }.into());
        turn = if session.turns.is_empty() && flying.is_none() { 0 } else { turn.saturating_add(1) };
    }
    events.extend(input.blocks.iter().map(|block| {
        let mut block = block.clone();
        block.message.ordinal = ordinal.saturating_add(block.message.ordinal);
        block.message.time.get_or_insert_with(|| now.clone());
        BlockAdded { turn, block }.into()
    }));
    events
}

/// A turn that follows those of a session: of the same evaluation, where one evaluates a prompt.
pub(crate) fn next_turn(session: &Session) -> Turn {
    let own = session.id.as_ref().filter(|_| session.prompt.is_some()).map(|id| EvaluationId::new(id.as_str()));
    let evaluation = session.turns.last().and_then(|last| last.evaluation.clone()).or(own);
    Turn { evaluation, ..Turn::default() }
}

/// The turn of an answer that a run may be waiting for.
fn in_flight(state: &Loaded) -> Option<u32> {
    let asked = state.ledger.asked()?;
    let running = state.session.runs.last().is_some_and(|run| run.status.is_none());
    let answered = state.session.turns.get(asked as usize).is_some_and(|turn| turn.blocks.iter().any(Block::is_answer));
    (running && !answered).then_some(asked)
}

/// The ordinal of the next message of the turn before which `turns` turns stand, or of the last of them.
pub(crate) fn next_ordinal(session: &Session, turns: usize) -> u32 {
    let mut before = session.turns.iter().take(turns).rev();
    before.find_map(last_place).map_or(0, |highest| highest.saturating_add(1))
}

/// The last ordinal that a turn has, or keeps for the results of its calls.
fn last_place(turn: &Turn) -> Option<u32> {
    let taken = turn.blocks.iter().map(|block| block.message.ordinal).max()?;
    let calls = u32::try_from(crate::plan::calls(turn).count()).unwrap_or(u32::MAX);
    Some(place_of_calls(turn).map_or(taken, |at| taken.max(at.saturating_add(calls))))
}

fn place_of_calls(turn: &Turn) -> Option<u32> {
    let calls = turn.blocks.iter().filter(|block| matches!(block.body, Body::ToolCall(_)));
    calls.map(|block| block.message.ordinal).max()
}

/// Results follow their calls in the order of the calls, however they ended: so a request does not depend on which tool
/// was faster, and nobody's words come between.
fn place_of_result(session: &Session, turn: u32, call: &CallId) -> u32 {
    let own = session.turns.get(turn as usize);
    let made = own.and_then(|own| crate::plan::calls(own).position(|made| made.call == *call));
    let (Some(at), Some(base)) = (made, own.and_then(place_of_calls)) else {
        return next_ordinal(session, turn as usize + 1);
    };
    let wanted = base.saturating_add(1).saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
    let later = session.turns.iter().skip(turn as usize + 1).flat_map(|turn| &turn.blocks);
    later.map(|block| block.message.ordinal).min().map_or(wanted, |later| wanted.min(later))
}

/// Says something to a session, also while an agent runs it: nothing is lost, and nothing is poisoned.
///
/// # Errors
/// `NotFound`, `Unsupported` where nothing is said, and what the store says.
pub async fn say(store: &dyn Store, id: &SessionId, ports: &Ports, input: impl Into<Input>) -> Result<Seq> {
    let input = input.into();
    input.check()?;
    let now = Time::from_instant(ports.clock.now());
    post(store, id, ports, |state| Ok(awake(state, saying(state, &input, &now)))).await
}

/// A session that rests is to be run again, and says so to whoever looks for work.
pub(crate) fn awake(state: &Loaded, mut events: Vec<Event>) -> Vec<Event> {
    if state.session.status.as_ref().is_some_and(|status| !matches!(status, Status::InProgress(_) | Status::Pending(_)))
    {
        let status = Some(Status::from(Pending {}));
        events.push(SessionChanged { status, ..SessionChanged::default() }.into());
    }
    events
}

/// A person's decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The decision.
    pub verdict: Verdict,
    /// The digest of what the person saw; `None` where it is what is asked for now.
    pub digest: Option<String>,
    /// The arguments to call it with instead, for [`Verdict::Edit`].
    pub arguments: Option<String>,
    /// Who decided.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

impl Judgement {
    /// It may be called.
    pub fn approve() -> Judgement {
        Judgement { verdict: Verdict::Approve, digest: None, arguments: None, by: None, reason: None }
    }

    /// It may be called with these arguments.
    pub fn edit(arguments: impl Into<String>) -> Judgement {
        Judgement { verdict: Verdict::Edit, arguments: Some(arguments.into()), ..Judgement::approve() }
    }

    /// It may not be called.
    pub fn deny(reason: impl Into<String>) -> Judgement {
        Judgement { verdict: Verdict::Deny, reason: Some(reason.into()), ..Judgement::approve() }
    }
}

/// Decides about a call that waits for consent.
///
/// # Errors
/// `NotFound` when no such call waits; `Conflict` when it was decided already, or has an outcome; `Mismatch` when what was
/// shown is not what is asked for, or the time is over; `Unsupported` when edited arguments do not fit the tool.
pub async fn decide(
    store: &dyn Store,
    id: &SessionId,
    call: &CallId,
    judgement: &Judgement,
    ports: &Ports,
) -> Result<Seq> {
    let now = ports.clock.now();
    post(store, id, ports, |state| Ok(awake(state, vec![given(state, call, judgement, now)?.into()]))).await
}

fn given(state: &Loaded, call: &CallId, judgement: &Judgement, now: jiff::Timestamp) -> Result<ApprovalGiven> {
    let missing = || {
        let what = format!("no call {call} waits for consent");
        Error::new(ErrorKind::NotFound, what).hint("`turnkeep show ID --ledger` lists the calls that wait")
    };
    let approval = state.ledger.approval(call).ok_or_else(missing)?;
    if approval.given.is_some() {
        let what = format!("call {call} was decided already");
        return Err(Error::new(ErrorKind::Conflict, what).hint("the first decision counts; resume the session"));
    }
    let (_, made) = open_call(state, call)?;
    let expires = approval.asked.expires.as_ref().and_then(Time::instant);
    if expires.is_some_and(|end| end <= now) {
        let what = format!("the time to decide about call {call} is over");
        return Err(Error::new(ErrorKind::Mismatch, what).hint("resume the session: it goes on without the call"));
    }
    if judgement.digest.as_ref().is_some_and(|shown| *shown != approval.asked.digest) {
        let what = format!("what was shown is not what call {call} would do now");
        return Err(Error::new(ErrorKind::Mismatch, what).hint("look at the call again, then decide"));
    }
    if judgement.verdict == Verdict::Edit {
        check_edited(&state.session, made, judgement.arguments.as_deref().unwrap_or_default())?;
    }
    Ok(ApprovalGiven {
        call: call.clone(),
        digest: approval.asked.digest.clone(),
        verdict: judgement.verdict,
        arguments: judgement.arguments.clone(),
        by: judgement.by.clone(),
        reason: judgement.reason.clone(),
    })
}

/// Whether a person's arguments can be given to the tool, as far as the session knows it.
fn check_edited(session: &Session, call: &ToolCall, arguments: &str) -> Result<()> {
    let wrong = |why: String| {
        Error::new(ErrorKind::Unsupported, format!("the edited arguments {why}"))
            .hint("write a JSON object that follows the schema of the tool")
    };
    let json = turnkeep_model::json::parse(arguments).map_err(|_| wrong("are not JSON".to_owned()))?.into_json();
    let Some(tool) = session.tools.iter().find(|tool| tool.name == call.name) else {
        return Ok(());
    };
    crate::schema::check(&tool.parameters, &json).map_err(|why| wrong(format!("do not follow the schema: {why}")))
}

/// What someone knows of a call that may have acted.
#[derive(Debug, Clone, PartialEq)]
pub enum Knowledge {
    /// It did not act: call it again.
    Retry,
    /// It acted, and this is its result.
    Done(ToolOutput),
    /// Nobody knows; give it up.
    Skip,
}

/// Says what is to become of a call whose outcome nobody recorded.
///
/// # Errors
/// `NotFound` when no such call is open; `Conflict` when it has an outcome, or was never begun and waits for consent.
pub async fn resolve(
    store: &dyn Store,
    id: &SessionId,
    call: &CallId,
    knowledge: &Knowledge,
    by: Option<&str>,
    ports: &Ports,
) -> Result<Seq> {
    let now = Time::from_instant(ports.clock.now());
    post(store, id, ports, |state| {
        let (turn, made) = open_call(state, call)?;
        let waits = state.ledger.get(call).is_none()
            && state.ledger.approval(call).is_some_and(|approval| approval.given.is_none());
        if waits {
            let what = format!("call {call} was never begun: it waits for consent");
            return Err(Error::new(ErrorKind::Conflict, what).hint("approve or deny it"));
        }
        let resolved = |resolution| ToolResolved { call: call.clone(), resolution, by: by.map(str::to_owned) }.into();
        let events = match knowledge {
            Knowledge::Retry => vec![resolved(Resolution::Retry)],
            Knowledge::Skip => vec![resolved(Resolution::Skip)],
            Knowledge::Done(output) => {
                let result = ToolResult {
                    call: call.clone(),
                    name: Some(made.name.clone()),
                    parts: output.parts.clone(),
                    error: None,
                    is_error: None,
                    outcome: Some(Outcome::Success),
                };
                let block = result_block(&state.session, turn, result, &now);
                vec![ToolSettled::new(call.clone(), Outcome::Success).into(), BlockAdded { turn, block }.into()]
            }
        };
        Ok(awake(state, events))
    })
    .await
}

fn open_call<'a>(state: &'a Loaded, call: &CallId) -> Result<(u32, &'a ToolCall)> {
    let made =
        state.session.turns.iter().zip(0u32..).find_map(|(turn, index)| {
            crate::plan::calls(turn).find(|made| made.call == *call).map(|made| (index, made))
        });
    let unknown = || {
        Error::new(ErrorKind::NotFound, format!("there is no call {call}"))
            .hint("`turnkeep show ID --ledger` lists the calls")
    };
    let made = made.ok_or_else(unknown)?;
    let answers = |block: &Block| matches!(&block.body, Body::ToolResult(result) if result.call == *call);
    if state.session.blocks().any(|(_, block)| answers(block)) {
        let what = format!("call {call} has an outcome already");
        return Err(Error::new(ErrorKind::Conflict, what).hint("an outcome is not changed; `turnkeep show` prints it"));
    }
    Ok(made)
}

/// A result as the next message of its turn.
pub(crate) fn result_block(session: &Session, turn: u32, result: ToolResult, now: &Time) -> Block {
    let ordinal = place_of_result(session, turn, &result.call);
    let mut block = Block::new(Author::Tool, result);
    block.message.ordinal = ordinal;
    block.message.time = Some(now.clone());
    block
}
