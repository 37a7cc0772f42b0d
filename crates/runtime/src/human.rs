//! What people do to a session from any process: say something, consent, decide.

use sha2::{Digest, Sha256};
use turnkeep_model::event::{
    ApprovalGiven, BlockAdded, Resolution, SessionChanged, ToolResolved, ToolSettled, Verdict,
};
use turnkeep_model::json::Node;
use turnkeep_model::status::Pending;
use turnkeep_model::{
    Block, Body, CallId, ErrorKind, Event, Json, Object, Outcome, Seq, Session, SessionId, Status, Time, ToolCall,
    canon,
};
use turnkeep_store::{Loaded, Store};

use crate::error::{Error, Result};
use crate::input::input_events;
use crate::port::ToolOutput;
use crate::ports::Ports;
use crate::post::post;
use crate::tool_result::{result_block, succeeded};

pub use crate::input::Input;

/// Says something to a session, also while an agent runs it: nothing is lost, and nothing is poisoned.
///
/// # Errors
/// `NotFound`, `Unsupported` where nothing is said, and what the store says.
pub async fn say(store: &dyn Store, id: &SessionId, ports: &Ports, input: impl Into<Input>) -> Result<Seq> {
    let input = input.into();
    input.check()?;
    let now = Time::from_instant(ports.clock.now());
    post(store, id, ports, |state| Ok(awake(state, input_events(state, &input, &now)))).await
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
pub struct ConsentDecision {
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

impl ConsentDecision {
    /// It may be called.
    pub fn approve() -> ConsentDecision {
        ConsentDecision { verdict: Verdict::Approve, digest: None, arguments: None, by: None, reason: None }
    }

    /// It may be called with these arguments.
    pub fn edit(arguments: impl Into<String>) -> ConsentDecision {
        ConsentDecision { verdict: Verdict::Edit, arguments: Some(arguments.into()), ..ConsentDecision::approve() }
    }

    /// It may not be called.
    pub fn deny(reason: impl Into<String>) -> ConsentDecision {
        ConsentDecision { verdict: Verdict::Deny, reason: Some(reason.into()), ..ConsentDecision::approve() }
    }
}

/// The digest of what a person is shown of a call: SHA-256 in hex, over the canonical JSON of its tool and arguments.
///
/// A page that shows a call can make it anew and send it with the decision, which then counts for nothing else. Arguments
/// that are no JSON count as a text.
///
/// ```
/// use turnkeep_runtime::human::approval_digest;
///
/// assert_eq!(approval_digest("pay", r#"{"to":"ada","sum":5}"#), approval_digest("pay", r#"{ "sum": 5, "to": "ada" }"#));
/// ```
pub fn approval_digest(tool: &str, arguments: &str) -> String {
    let told = turnkeep_model::json::parse(arguments).map_or_else(|_| arguments.into(), Node::into_json);
    let shown: Object = [("tool", Json::from(tool)), ("arguments", told)].into_iter().collect();
    let digest = Sha256::digest(canon::canonical(&Json::Object(shown)));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The key of a call: the same for every attempt.
pub(crate) fn key(session: &SessionId, call: &CallId) -> String {
    format!("{session}/{call}")
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
    decision: &ConsentDecision,
    ports: &Ports,
) -> Result<Seq> {
    let now = ports.clock.now();
    post(store, id, ports, |state| Ok(awake(state, vec![given(id, state, call, decision, now)?.into()]))).await
}

fn given(
    id: &SessionId,
    state: &Loaded,
    call: &CallId,
    decision: &ConsentDecision,
    now: jiff::Timestamp,
) -> Result<ApprovalGiven> {
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
    if decision.digest.as_ref().is_some_and(|shown| *shown != approval.asked.digest) {
        let what = format!("what was shown is not what call {call} would do now");
        return Err(Error::new(ErrorKind::Mismatch, what).hint("look at the call again, then decide"));
    }
    if decision.verdict == Verdict::Edit {
        check_edited(&state.session, made, decision.arguments.as_deref().unwrap_or_default())?;
    }
    Ok(ApprovalGiven {
        call: call.clone(),
        digest: approval.asked.digest.clone(),
        verdict: decision.verdict,
        arguments: decision.arguments.clone(),
        by: decision.by.clone(),
        reason: decision.reason.clone(),
        key: (decision.verdict != Verdict::Deny).then(|| key(id, call)),
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
#[non_exhaustive]
pub enum KnownOutcome {
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
    known: &KnownOutcome,
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
        let events = match known {
            KnownOutcome::Retry => vec![resolved(Resolution::Retry)],
            KnownOutcome::Skip => vec![resolved(Resolution::Skip)],
            KnownOutcome::Done(output) => {
                let result = succeeded(made, output.clone(), usize::MAX);
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
