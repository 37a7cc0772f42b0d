//! `turnkeep resume`

use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::{Json, Ledger, Object, SessionId};
use turnkeep_runner::direct;
use turnkeep_runtime::plan::{CallStep, Plan, PlannedCall, plan};
use turnkeep_runtime::{Ports, Stopped, TakeOver};
use turnkeep_store::{Store, StoreExt};

use super::super::CommandResult;
use super::ask::stored;
use super::interrupt::Interrupt;
use super::outcome::{exit_of, print_failure};
use super::responder::{responder, tools};
use crate::exit::{CliError, Exit};
use crate::report::object;
use crate::session_args::Resume;
use crate::terminal::{print, print_json, print_note};
use crate::visible::visible_line;

pub(crate) fn resume(args: &Resume) -> CommandResult {
    let store = args.store.open_existing()?;
    match args.agent.model.is_named() {
        true => go_on(args, store),
        false => show_plan(args, &*store),
    }
}

/// Without something that answers, it can be said what is needed.
fn show_plan(args: &Resume, store: &dyn Store) -> CommandResult {
    let loaded = block_on(store.load(&SessionId::new(args.id.as_str())))?;
    let tools = tools(args.agent.tools.as_deref())?;
    let now = Ports::default().clock.now();
    let planned = plan(&loaded.session, &loaded.ledger, args.policy.into(), now, &|name| tools.effect(name));
    if args.json {
        print_json(&as_json(&planned))?;
    } else {
        print(&as_text(&args.id, &planned, &loaded.ledger))?;
    }
    Ok(match &planned {
        Plan::Calls { steps, .. } if steps.iter().any(needs_human) => Exit::NeedsHuman,
        _ => Exit::Ok,
    })
}

fn needs_human(planned: &PlannedCall) -> bool {
    matches!(planned.step, CallStep::Unsure | CallStep::AwaitHuman)
}

fn word(step: &CallStep) -> &'static str {
    match step {
        CallStep::Replay => "replay",
        CallStep::Call { .. } => "call",
        CallStep::Unsure => "unsure",
        CallStep::AwaitHuman => "await_human",
        CallStep::Deny(_) => "deny",
        CallStep::Abandon => "abandon",
    }
}

fn as_json(planned: &Plan) -> Json {
    match planned {
        Plan::Ask => object([("next", "ask".into())]),
        Plan::Done => object([("next", "done".into())]),
        Plan::Calls { turn, steps } => {
            let calls = steps.iter().map(|planned| {
                let mut call = Object::new();
                call.set("call", planned.call.call.to_string());
                call.set("tool", planned.call.name.as_str());
                call.set("step", word(&planned.step));
                Json::Object(call)
            });
            let pairs: [(&str, Json); 3] =
                [("next", "calls".into()), ("turn", u64::from(*turn).into()), ("calls", Json::Array(calls.collect()))];
            object(pairs)
        }
    }
}

pub(crate) fn as_text(id: &str, planned: &Plan, ledger: &Ledger) -> String {
    let lines: Vec<String> = match planned {
        Plan::Ask => vec!["the model's answer is due".to_owned()],
        Plan::Done => vec!["nothing is left to do".to_owned()],
        Plan::Calls { steps, .. } => steps.iter().map(|planned| line(id, planned, ledger)).collect(),
    };
    lines.join("\n") + "\n"
}

fn line(id: &str, planned: &PlannedCall, ledger: &Ledger) -> String {
    let (call, id) = (visible_line(&planned.call.call.to_string()), visible_line(id));
    let consents = ledger.get(&planned.call.call).is_none() && ledger.approval(&planned.call.call).is_some();
    let what = match &planned.step {
        CallStep::Replay => "ended before: its recorded result stands".to_owned(),
        CallStep::Call { attempt: 1, .. } => "is called".to_owned(),
        CallStep::Call { attempt, .. } => format!("is called again (try {attempt}): repeating it does no harm"),
        CallStep::Unsure => {
            format!(
                "may have acted, and is not repeated: turnkeep resolve {id} {call} --retry | --done RESULT | --skip"
            )
        }
        CallStep::AwaitHuman if consents => format!("waits for a person: turnkeep approve | deny {id} {call}"),
        CallStep::AwaitHuman => {
            format!("waits for a person: turnkeep resolve {id} {call} --retry | --done RESULT | --skip")
        }
        CallStep::Deny(why) => format!("is not called: {why}"),
        CallStep::Abandon => "is given up, and the model is told that its outcome is unknown".to_owned(),
    };
    format!("{} {call}: {what}", visible_line(&planned.call.name))
}

fn go_on(args: &Resume, store: Arc<dyn Store>) -> CommandResult {
    let responder = responder(&args.agent.model, None, &direct)?;
    let take_over = if args.take_over { TakeOver::Always } else { TakeOver::IfIdle };
    let tools = tools(args.agent.tools.as_deref())?;
    let agent = responder.agent().with_tools(tools).with_store(store).with_resume_policy(args.policy.into());
    let conversation = stored(&agent, &args.id)?.with_take_over(take_over);
    let stopped = block_on(conversation.resume_until(&Interrupt::watch().arm()))?;
    tell(args, &stopped)?;
    print_failure(conversation.id(), &stopped);
    Ok(exit_of(&stopped))
}

fn tell(args: &Resume, stopped: &Stopped) -> Result<(), CliError> {
    let text = stopped.text.clone().unwrap_or_default();
    if args.json {
        let status: Json = stopped.status.kind().into();
        print_json(&object([("status", status), ("text", text.into())]))?;
        return Ok(());
    }
    if !text.is_empty() {
        print(&format!("{text}\n"))?;
    }
    print_note(&format!("the session is {}", stopped.status.kind()));
    Ok(())
}
