//! `turnkeep ask --compare`: the same question to several endpoints, each in a session of its own.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use pollster::block_on;
use turnkeep_model::{Json, SessionId, Status};
use turnkeep_runtime::port::{Ids, RandomIds};
use turnkeep_runtime::{Stop as StopAsked, Stopped};
use turnkeep_store::{Store, StoreExt};

use super::super::Ending;
use super::answering::{Answering, nothing, tools};
use super::ask::{Told, ending, question};
use super::session::{Heard, Talk};
use crate::exit::{Exit, Stop};
use crate::report::object;
use crate::talk_args::{Ask, Who};
use crate::terminal::{BOLD, print, print_json, table, table_text};
use crate::visible::{visible, visible_line};

pub(super) fn compare(args: &Ask) -> Ending {
    let names: Vec<&str> = args.with.who.endpoint.as_deref().unwrap_or_default().split(',').map(str::trim).collect();
    if names.len() < 2 || names.iter().any(|name| name.is_empty()) {
        let what = "--compare needs endpoints to compare".to_owned();
        return Err(Stop::Usage(what, "name two or more: --endpoint A,B --compare".to_owned()));
    }
    let store = args.place.open()?;
    let talks = names.iter().map(|name| talk(args, name, &store)).collect::<Result<Vec<_>, _>>()?;
    let rows: Vec<Row> = thread::scope(|scope| {
        let asked: Vec<_> = talks.into_iter().map(|talk| scope.spawn(|| row(talk, args))).collect();
        asked.into_iter().filter_map(|asked| asked.join().ok()).collect()
    });
    if args.json {
        print_json(&object([("answers", Json::Array(rows.iter().map(|row| row.json.clone()).collect()))]))?;
    } else {
        print(&as_text(&rows))?;
    }
    let ended = |exit: Exit| rows.iter().any(|row| row.exit == exit);
    let worst = [Exit::Failed, Exit::NeedsHuman, Exit::Interrupted].into_iter().find(|exit| ended(*exit));
    Ok(worst.unwrap_or(Exit::Ok))
}

/// A fork of the session, or a new one, for one endpoint.
fn talk(args: &Ask, name: &str, store: &Arc<dyn Store>) -> Result<Talk, Stop> {
    let who = Who { endpoint: Some(name.to_owned()), script: args.with.who.script.clone() };
    let (answering, tools) = (Answering::of(&who, None, &nothing)?, tools(args.with.tools.as_deref())?);
    if args.id == "new" {
        return Ok(Talk::new(store.clone(), answering, tools, args.system.clone()));
    }
    let (parent, child) = (SessionId::new(args.id.as_str()), SessionId::new(RandomIds.next()));
    let at = block_on(store.last(&parent))?;
    block_on(store.fork(&parent, at, &child))?;
    Talk::stored(store.clone(), child, answering, tools)
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

fn row(mut talk: Talk, args: &Ask) -> Row {
    let name = talk.answering.name.clone();
    match answered(&mut talk, args) {
        Ok(row) => row,
        Err(stop) => {
            let why = stop.told();
            let json = object([("endpoint", name.as_str().into()), ("error", why.as_str().into())]);
            Row {
                name,
                id: talk.id.to_string(),
                text: String::new(),
                cells: Default::default(),
                failed: Some(why),
                exit: Exit::Failed,
                json,
            }
        }
    }
}

fn answered(talk: &mut Talk, args: &Ask) -> Result<Row, Stop> {
    let (began, before) = (Instant::now(), talk.session()?.turns.len());
    let stopped = talk.ask(question(args)?, Heard::Silently, &StopAsked::default())?;
    let session = talk.session()?;
    let told = Told { session: &session, before, stopped: &stopped, seconds: began.elapsed().as_secs_f64() };
    let usage = told.usage();
    let number = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    Ok(Row {
        name: talk.answering.name.clone(),
        id: talk.id.to_string(),
        text: stopped.text.clone().unwrap_or_default(),
        cells: [
            number(usage.input),
            number(usage.output),
            usage.cost.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string),
            format!("{:.1} s", told.seconds),
        ],
        failed: failure(&stopped, &told, talk),
        exit: ending(&stopped),
        json: told.to_json(talk),
    })
}

/// Why there is no answer yet, if there is none.
fn failure(stopped: &Stopped, told: &Told<'_>, talk: &Talk) -> Option<String> {
    match &stopped.status {
        Status::Failed(failed) => Some(failed.error.clone()),
        Status::WaitingForHuman(_) => Some(told.waiting(talk.id.as_str()).join("; ")),
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
