//! `turnkeep approve`, `turnkeep deny` and `turnkeep resolve`

use pollster::block_on;
use turnkeep_model::{CallId, Seq, SessionId};
use turnkeep_runtime::Ports;
use turnkeep_runtime::human::{self, ConsentDecision, KnownOutcome};
use turnkeep_runtime::port::ToolOutput;

use super::super::CommandResult;
use crate::exit::Exit;
use crate::report::object;
use crate::session_args::{Approve, DeciderArgs, Deny, Resolve};
use crate::terminal::{print, print_json};
use crate::visible::visible_line;

pub(crate) fn approve(args: &Approve) -> CommandResult {
    let judgement = match &args.edit {
        Some(arguments) => ConsentDecision::edit(arguments.as_str()),
        None => ConsentDecision::approve(),
    };
    decide(&args.id, &args.call, judgement, &args.decider, "approved")
}

pub(crate) fn deny(args: &Deny) -> CommandResult {
    let reason = args.reason.as_deref().unwrap_or("a person said no");
    decide(&args.id, &args.call, ConsentDecision::deny(reason), &args.decider, "denied")
}

fn decide(id: &str, call: &str, judgement: ConsentDecision, decider: &DeciderArgs, what: &str) -> CommandResult {
    let store = decider.store.open_existing()?;
    let judgement = ConsentDecision { digest: decider.digest.clone(), by: decider.by.clone(), ..judgement };
    let (session, call) = (SessionId::new(id), CallId::given(call));
    let seq = block_on(human::decide(&*store, &session, &call, &judgement, &Ports::default()))?;
    told(&session, &call, what, seq, decider.json)
}

pub(crate) fn resolve(args: &Resolve) -> CommandResult {
    let store = args.store.open_existing()?;
    let (session, call) = (SessionId::new(args.id.as_str()), CallId::given(args.call.as_str()));
    let (knowledge, what) = match &args.known.done {
        Some(result) => (KnownOutcome::Done(output(result)), "has its result"),
        None if args.known.retry => (KnownOutcome::Retry, "will be called again"),
        None => (KnownOutcome::Skip, "is given up"),
    };
    let by = args.by.as_deref();
    let seq = block_on(human::resolve(&*store, &session, &call, &knowledge, by, &Ports::default()))?;
    told(&session, &call, what, seq, args.json)
}

/// A result that is JSON is kept as JSON.
fn output(result: &str) -> ToolOutput {
    match turnkeep_model::json::parse(result) {
        Ok(node) if node.as_str().is_none() => ToolOutput::json(node.into_json()),
        _ => ToolOutput::text(result),
    }
}

fn told(session: &SessionId, call: &CallId, what: &str, seq: Seq, json: bool) -> CommandResult {
    if json {
        let pairs = [("session", session.as_str().into()), ("call", call.to_string().into()), ("seq", seq.0.into())];
        print_json(&object(pairs))?;
    } else {
        let (call, session) = (visible_line(&call.to_string()), visible_line(session.as_str()));
        print(&format!("call {call} {what}\n  go on with: turnkeep resume {session}\n"))?;
    }
    Ok(Exit::Ok)
}
