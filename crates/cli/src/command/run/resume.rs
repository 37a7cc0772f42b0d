//! `turnkeep resume`

use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::{Json, Ledger, Object, SessionId};
use turnkeep_runtime::plan::{Plan, PlannedCall, Step, plan};
use turnkeep_runtime::{Ports, Stopped};
use turnkeep_store::{Store, StoreExt};

use super::super::Ending;
use super::super::talk::{Heard, Interrupt, ending, open_talk, tell_failure, tools};
use crate::exit::{Exit, Stop};
use crate::report::object;
use crate::run_args::Resume;
use crate::terminal::{print, print_json, say};
use crate::visible::visible_line;

pub(crate) fn resume(args: &Resume) -> Ending {
    let store = args.place.there()?;
    match args.with.who.is_named() {
        true => go_on(args, store),
        false => show_plan(args, &*store),
    }
}

/// Without something that answers, it can be said what is needed.
fn show_plan(args: &Resume, store: &dyn Store) -> Ending {
    let loaded = block_on(store.load(&SessionId::new(args.id.as_str())))?;
    let tools = tools(args.with.tools.as_deref())?;
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
    matches!(planned.step, Step::Unsure | Step::AwaitHuman)
}

fn word(step: &Step) -> &'static str {
    match step {
        Step::Replay => "replay",
        Step::Call { .. } => "call",
        Step::Unsure => "unsure",
        Step::AwaitHuman => "await_human",
        Step::Deny(_) => "deny",
        Step::Abandon => "abandon",
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
        Step::Replay => "ended before: its recorded result stands".to_owned(),
        Step::Call { attempt: 1, .. } => "is called".to_owned(),
        Step::Call { attempt, .. } => format!("is called again (try {attempt}): repeating it does no harm"),
        Step::Unsure => {
            format!(
                "may have acted, and is not repeated: turnkeep resolve {id} {call} --retry | --done RESULT | --skip"
            )
        }
        Step::AwaitHuman if consents => format!("waits for a person: turnkeep approve | deny {id} {call}"),
        Step::AwaitHuman => {
            format!("waits for a person: turnkeep resolve {id} {call} --retry | --done RESULT | --skip")
        }
        Step::Deny(why) => format!("is not called: {why}"),
        Step::Abandon => "is given up, and the model is told that its outcome is unknown".to_owned(),
    };
    format!("{} {call}: {what}", visible_line(&planned.call.name))
}

fn go_on(args: &Resume, store: Arc<dyn Store>) -> Ending {
    let id = SessionId::new(args.id.as_str());
    let talk = open_talk(&args.with, store, &id)?.taking_over(args.take_over);
    let agent = talk.agent(Heard::Silently, &Interrupt::watch().arm()).with_resume_policy(args.policy.into());
    let stopped = talk.resume_with(&agent)?;
    tell(args, &stopped)?;
    tell_failure(&talk, &stopped);
    Ok(ending(&stopped))
}

fn tell(args: &Resume, stopped: &Stopped) -> Result<(), Stop> {
    let text = stopped.text.clone().unwrap_or_default();
    if args.json {
        let status: Json = stopped.status.kind().into();
        print_json(&object([("status", status), ("text", text.into())]))?;
        return Ok(());
    }
    if !text.is_empty() {
        print(&format!("{text}\n"))?;
    }
    say(&format!("the session is {}", stopped.status.kind()));
    Ok(())
}
