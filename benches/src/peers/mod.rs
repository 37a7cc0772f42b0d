//! turnkeep beside what one would use instead: the same turns, the same questions, one table.
//!
//! The others are driven by `benches/peers/*.py` in a virtual environment that is made beside the build.

mod chart;
mod ours;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::Outcome;

pub(crate) use table::rest;

/// How long a session is before it is measured.
const LENGTHS: [usize; 3] = [10, 100, 1_000];

/// How many turns are appended after each length.
const WINDOW: usize = 20;

/// How often all of them are measured, one after the other.
const ROUNDS: usize = 3;

/// Up to how many turns a system that stores everything again at each turn is grown turn by turn: at 1000 turns that
/// would be gigabytes.
const FULL: usize = 100;

/// The others, as `adapters.py` names them and as people do.
const PEERS: [(&str, &str); 6] = [
    ("json_rewrite", "JSON file, rewritten"),
    ("langgraph_sqlite", "LangGraph SQLite saver"),
    ("langgraph_postgres", "LangGraph Postgres saver"),
    ("openai_sqlite", "OpenAI Agents SQLiteSession"),
    ("adk_database", "ADK DatabaseSessionService"),
    ("adk_sqlite", "ADK SqliteSessionService"),
];

/// The connection string of a PostgreSQL for the saver that needs one.
const POSTGRES: &str = "TURNKEEP_PEERS_POSTGRES";

/// What was measured of one system at one length: times in microseconds.
#[derive(Debug, Clone, Deserialize)]
struct Measured {
    system: String,
    turns: usize,
    raw: f64,
    bytes: Option<f64>,
    append_cpu: f64,
    append_wall: f64,
    load_cpu: f64,
    load_wall: f64,
    #[serde(default)]
    tail_wall: Option<f64>,
    #[serde(default)]
    fork_wall: Option<f64>,
}

/// Measures all systems, prints the table, and tells whether ours is ahead in every row; writes the documents if asked.
pub(crate) fn run(scratch: &Path, write: bool) -> Outcome<bool> {
    let (turns, python) = (workload(scratch)?, environment(scratch)?);
    let (mut measured, mut skipped) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        ours::measure(&turns, scratch)?.into_iter().for_each(|row| merge(&mut measured, row));
        for (system, name) in PEERS {
            match peer(&python, system, &turns, scratch) {
                Ok(rows) => rows.into_iter().for_each(|row| merge(&mut measured, row)),
                Err(why) if round == 0 => skipped.push(format!("{name}: {why}")),
                Err(_) => {}
            }
        }
    }
    let table = table::Table::of(&measured);
    let costs = table::cost_of_loads(&measured);
    println!("{}\n{costs}", table.to_text());
    skipped.iter().for_each(|line| println!("skipped: {line}"));
    if write {
        fs::write("docs/benchmarks.svg", chart::svg(&measured))?;
        let text = fs::read_to_string("docs/benchmarks.md")?;
        fs::write("docs/benchmarks.md", table::put_into(&text, &table, &costs, &skipped))?;
    }
    Ok(table.ahead())
}

/// Keeps the least disturbed of each: what the machine can do when nobody else wants it.
fn merge(measured: &mut Vec<Measured>, row: Measured) {
    let Some(known) = measured.iter_mut().find(|known| known.system == row.system && known.turns == row.turns) else {
        measured.push(row);
        return;
    };
    let least = |known: &mut Option<f64>, new: Option<f64>| *known = known.zip(new).map(|(a, b)| a.min(b));
    known.append_cpu = known.append_cpu.min(row.append_cpu);
    known.append_wall = known.append_wall.min(row.append_wall);
    known.load_cpu = known.load_cpu.min(row.load_cpu);
    known.load_wall = known.load_wall.min(row.load_wall);
    least(&mut known.tail_wall, row.tail_wall);
    least(&mut known.fork_wall, row.fork_wall);
}

/// The turns that every system gets.
fn workload(scratch: &Path) -> Outcome<PathBuf> {
    let file = scratch.join("peers-turns.jsonl");
    let count = LENGTHS.into_iter().max().unwrap_or_default() + WINDOW;
    let made = Command::new("python3").args(["benches/peers/gen.py", &count.to_string()]).output()?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into_owned().into());
    }
    fs::write(&file, made.stdout)?;
    Ok(file)
}

/// The Python of a virtual environment with the others in it, made if need be.
fn environment(scratch: &Path) -> Outcome<PathBuf> {
    let home = scratch.join("peers-venv");
    let python = home.join("bin").join("python");
    if !python.is_file() {
        must(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
    }
    must(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r", "benches/peers/requirements.txt"]))?;
    Ok(python)
}

fn must(command: &mut Command) -> Outcome<()> {
    let done = command.stdout(Stdio::null()).output()?;
    if done.status.success() { Ok(()) } else { Err(last_line(&done.stderr).into()) }
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no word of why").to_owned()
}

fn peer(python: &Path, system: &str, turns: &Path, scratch: &Path) -> Outcome<Vec<Measured>> {
    if system == "langgraph_postgres" && std::env::var_os(POSTGRES).is_none() {
        return Err(format!("no server; name one in {POSTGRES}").into());
    }
    let lengths: Vec<String> = LENGTHS.iter().map(usize::to_string).collect();
    let output = Command::new(python)
        .args(["-W", "ignore", "benches/peers/measure.py", system])
        .arg(scratch.join("peers-data"))
        .arg(turns)
        .args([lengths.join(","), WINDOW.to_string(), FULL.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(last_line(&output.stderr).into());
    }
    let lines = String::from_utf8(output.stdout)?;
    lines.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}
