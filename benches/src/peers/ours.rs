//! turnkeep on the turns that the others get: a turn is one batch, as it is one write for them.

use std::fs;
use std::path::Path;

use pollster::block_on;
use serde::Deserialize;
use turnkeep_model::event::TurnOpened;
use turnkeep_model::{
    Author, Batch, Block, Body, CallId, Event, Part, Seq, SessionId, Text, ToolCall, ToolResult, Turn, Usage,
};
use turnkeep_store::{Accounting, Durability, SqliteStore, Store, StoreExt};

use super::{LENGTHS, Measured, WINDOW};
use crate::Outcome;
use crate::race::{clocked, tenth};
use crate::store::{fresh, open};

/// A turn of the workload has four to five messages, calls and results.
const LAST: u32 = 5;

#[derive(Deserialize)]
struct Given {
    messages: Vec<Message>,
    usage: Spent,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
    #[serde(default)]
    tool_calls: Vec<Call>,
    tool_call_id: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    id: String,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    arguments: String,
}

#[derive(Deserialize)]
struct Spent {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

/// Measures the SQLite store at every length.
pub(super) fn measure(turns: &Path, scratch: &Path) -> Outcome<Vec<Measured>> {
    let text = fs::read_to_string(turns)?;
    let lines: Vec<&str> = text.lines().collect();
    let given: Vec<Turn> = lines.iter().map(|line| Ok(turn(serde_json::from_str(line)?))).collect::<Outcome<_>>()?;
    LENGTHS.iter().map(|length| at(*length, &given, &lines, scratch)).collect()
}

fn at(length: usize, turns: &[Turn], lines: &[&str], scratch: &Path) -> Outcome<Measured> {
    let (file, session) = (fresh(scratch, "peers.db"), SessionId::new("s"));
    let (before, window) = turns.split_at(length);
    grow(&*open(&file, Durability::Process)?, &session, before)?;
    let store = open(&file, Durability::Power)?;
    let usage = block_on(store.usage())?;
    let (cpu, mut walls) = appends(&store, &session, window)?;
    let (mut loads, mut load_walls) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        let (_, used, wall) = clocked(|| Ok(block_on(store.load(&session))?))?;
        loads.push(used);
        load_walls.push(wall);
    }
    let mut tails = timed(20, |_| block_on(store.load_window(&session, LAST)).map(drop).map_err(Into::into))?;
    let last = block_on(store.last(&session))?;
    let fork = |n| Ok(block_on(store.fork(&session, last, &SessionId::new(format!("fork{n}"))))?);
    let mut forks = timed(5, fork)?;
    let micro = |time: std::time::Duration| time.as_secs_f64() * 1e6;
    Ok(Measured {
        system: "turnkeep".to_owned(),
        turns: length,
        raw: lines.iter().take(length).map(|line| line.len() as f64 + 1.0).sum(),
        bytes: Some((usage.total - usage.search) as f64),
        append_cpu: micro(cpu),
        append_wall: micro(tenth(&mut walls)),
        load_cpu: micro(loads.into_iter().min().unwrap_or_default()),
        load_wall: micro(tenth(&mut load_walls)),
        tail_wall: Some(micro(tenth(&mut tails))),
        fork_wall: Some(micro(tenth(&mut forks))),
    })
}

fn grow(store: &SqliteStore, session: &SessionId, turns: &[Turn]) -> Outcome<()> {
    turns.iter().zip(0..).try_for_each(|(turn, at)| append(store, session, turn, Seq(at)))
}

fn append(store: &SqliteStore, session: &SessionId, turn: &Turn, at: Seq) -> Outcome<()> {
    let opened = Event::from(TurnOpened { turn: Box::new(turn.clone()) });
    block_on(store.append(session, at, &Batch::new(at.next(), vec![opened.into()])))?;
    Ok(())
}

/// The processor time of an append, and how long each took.
fn appends(
    store: &SqliteStore,
    session: &SessionId,
    turns: &[Turn],
) -> Outcome<(std::time::Duration, Vec<std::time::Duration>)> {
    let mut at = block_on(store.last(session))?;
    let (mut cpu, mut walls) = (std::time::Duration::ZERO, Vec::new());
    for turn in turns.iter().take(WINDOW) {
        let ((), used, wall) = clocked(|| append(store, session, turn, at))?;
        cpu += used;
        walls.push(wall);
        at = at.next();
    }
    Ok((cpu / u32::try_from(WINDOW)?, walls))
}

fn timed(times: u32, mut work: impl FnMut(u32) -> Outcome<()>) -> Outcome<Vec<std::time::Duration>> {
    (0..times).map(|n| Ok(clocked(|| work(n))?.2)).collect()
}

fn turn(given: Given) -> Turn {
    let Spent { prompt_tokens, completion_tokens, total_tokens } = given.usage;
    let usage = Usage {
        input: Some(prompt_tokens),
        output: Some(completion_tokens),
        total: Some(total_tokens),
        ..Usage::default()
    };
    let blocks = given.messages.into_iter().zip(0..).flat_map(|(message, n)| blocks(message, n)).collect();
    Turn { usage, blocks, ..Turn::default() }
}

fn blocks(message: Message, number: u32) -> Vec<Block> {
    let block = |author, body: Body| Block::new(author, body).in_message(number);
    let text = message.content;
    if let Some(call) = message.tool_call_id {
        let result = ToolResult {
            call: CallId::given(call),
            name: None,
            parts: vec![Part::Text(Text { text })],
            error: None,
            is_error: None,
            outcome: None,
        };
        return vec![block(Author::Tool, result.into())];
    }
    let author = if message.role == "user" { Author::User } else { Author::Assistant };
    let call = |Call { id, function: Function { name, arguments } }| {
        block(Author::Assistant, ToolCall { call: CallId::given(id), name, arguments }.into())
    };
    std::iter::once(block(author, Text { text }.into())).chain(message.tool_calls.into_iter().map(call)).collect()
}
