//! `turnkeep ask --compare`: the same question to several endpoints, each in a session of its own.

use std::sync::Arc;
use std::time::Instant;

use pollster::block_on;
use turnkeep_model::{Json, SessionId, Status};
use turnkeep_runner::{Responder, direct};
use turnkeep_runtime::{Conversation, StopSignal, Tools};
use turnkeep_store::Store;

use super::super::CommandResult;
use super::ask::{agent, asked, question};
use super::outcome::{Outcome, exit_of};
use super::printer::{Answers, observer, print_busy};
use super::responder::{responder, tools};
use crate::conversation_args::{Ask, ModelArgs};
use crate::exit::{CliError, Exit};
use crate::parallel::all_in_parallel;
use crate::report::object;
use crate::terminal::{BOLD, print, print_json, table, table_text};
use crate::visible::{visible, visible_line};

pub(super) fn compare(args: &Ask) -> CommandResult {
    let names: Vec<&str> = args.agent.model.endpoint.as_deref().unwrap_or_default().split(',').map(str::trim).collect();
    if names.len() < 2 || names.iter().any(|name| name.is_empty()) {
        let what = "--compare needs endpoints to compare".to_owned();
        return Err(CliError::Usage(what, "name two or more: --endpoint A,B --compare".to_owned()));
    }
    // All of them before the first fork: whoever names one that is not there leaves nothing behind.
    let responders = names.iter().map(|name| endpoint(args, name)).collect::<Result<Vec<_>, _>>()?;
    let store = args.store.open()?;
    let conversations = responders.into_iter().map(|responder| conversation(args, responder, &store));
    let conversations = conversations.collect::<Result<Vec<_>, _>>()?;
    let answer = |(name, conversation): &(String, Conversation)| row(name, conversation, args);
    let rows: Vec<Row> = all_in_parallel(&conversations, conversations.len(), answer, || {});
    if args.json {
        print_json(&object([("answers", Json::Array(rows.iter().map(|row| row.json.clone()).collect()))]))?;
    } else {
        print(&as_text(&rows))?;
    }
    let ended = |exit: Exit| rows.iter().any(|row| row.exit == exit);
    let worst = [Exit::Failed, Exit::NeedsHuman, Exit::Interrupted].into_iter().find(|exit| ended(*exit));
    Ok(worst.unwrap_or(Exit::Ok))
}

/// Who answers at one endpoint, and the tools.
fn endpoint(args: &Ask, name: &str) -> Result<(Responder, Tools), CliError> {
    let model = ModelArgs { endpoint: Some(name.to_owned()), script: args.agent.model.script.clone() };
    Ok((responder(&model, None, &direct)?, tools(args.agent.tools.as_deref())?))
}

/// A fork of the session, or a new one, for one endpoint, and its name.
fn conversation(
    args: &Ask,
    (responder, tools): (Responder, Tools),
    store: &Arc<dyn Store>,
) -> Result<(String, Conversation), CliError> {
    let responder = responder.observed(&observer(Answers::Kept));
    let agent = agent(&responder, args.system.as_deref()).with_tools(tools).with_store(store.clone());
    let conversation = match args.id.as_str() {
        "new" => agent.begin()?,
        parent => block_on(agent.fork(&SessionId::new(parent)))?,
    };
    Ok((responder.name, conversation.on_busy(print_busy)))
}

struct Row {
    name: String,
    id: String,
    text: String,
    cells: [String; 4],
    failed: Option<String>,
    exit: Exit,
    json: Json,
}

fn row(name: &str, conversation: &Conversation, args: &Ask) -> Row {
    answered(name, conversation, args).unwrap_or_else(|error| {
        let why = error.message();
        let json = object([("endpoint", name.into()), ("error", why.as_str().into())]);
        Row {
            name: name.to_owned(),
            id: conversation.id().to_string(),
            text: String::new(),
            cells: Default::default(),
            failed: Some(why),
            exit: Exit::Failed,
            json,
        }
    })
}

fn answered(name: &str, conversation: &Conversation, args: &Ask) -> Result<Row, CliError> {
    let began = Instant::now();
    let stopped = asked(conversation, question(args)?, &StopSignal::default())?;
    let outcome = Outcome::of(conversation, name, stopped.first_turn, stopped, began)?;
    let number = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    Ok(Row {
        name: name.to_owned(),
        id: conversation.id().to_string(),
        text: outcome.stopped.text.clone().unwrap_or_default(),
        cells: [
            number(outcome.usage.input),
            number(outcome.usage.output),
            outcome.usage.cost.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string),
            format!("{:.1} s", outcome.seconds),
        ],
        failed: failure(&outcome),
        exit: exit_of(&outcome.stopped),
        json: outcome.to_json(),
    })
}

/// Why there is no answer yet, if there is none.
fn failure(outcome: &Outcome) -> Option<String> {
    match &outcome.stopped.status {
        Status::Failed(failed) => Some(failed.error.clone()),
        Status::WaitingForHuman(_) => Some(outcome.waiting().join("; ")),
        _ => None,
    }
}

fn as_text(rows: &[Row]) -> String {
    let mut out = String::new();
    for row in rows {
        let said = row.failed.as_ref().map_or_else(|| row.text.clone(), |why| format!("no answer: {why}"));
        out.push_str(&format!("{BOLD}{}{BOLD:#}\n{}\n\n", visible_line(&row.name), visible(said.trim_end())));
    }
    let mut table = table(&["endpoint", "input", "output", "cost", "time", "session"]);
    for row in rows {
        let [input, output, cost, time] = &row.cells;
        table.add_row([&row.name, input, output, cost, time, &row.id]);
    }
    out + &table_text(&table)
}
