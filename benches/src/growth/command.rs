//! The command on long sessions: time, and the peak memory of its process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pollster::block_on;
use turnkeep_model::event::{BlockAdded, LogAdded, TurnOpened};
use turnkeep_model::{Author, Batch, Block, CallId, Event, Seq, SessionId, ToolCall, ToolResult, Turn};
use turnkeep_store::{Durability, FileStore, Options, Store};

use super::rows;
use crate::documents::high_water_mark;
use crate::report::{Bound, Report, Row};
use crate::{Outcome, store};

const MB: usize = 1_000_000;

/// How many calls the sessions have whose ledger is shown.
const CALLS: [usize; 3] = [200, 2_000, 20_000];

/// How many turns of about 7 kB the long sessions have, and how many megabytes their journals.
const TURNS: [usize; 3] = [280, 2_800, 28_000];
const LONG: [usize; 3] = [2, 20, 200];

/// How many megabytes the one line of a journal has.
const LINES: [usize; 3] = [1, 10, 100];

/// Formats of whole sessions, and the memory that each may take for a byte of its output. What is written as a wire, or as
/// another program's document, is read back to tell what was lost, and so takes more.
const FORMATS: &[(&str, f64)] = &[
    ("turnkeep", 3.0),
    ("turnkeep.yaml", 3.0),
    ("markdown", 3.0),
    ("openai.chat", 8.0),
    ("anthropic.messages", 8.0),
    ("geppetto.turn", 8.0),
];

pub(super) fn all(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let Some(program) = program()? else {
        report.skipped("long sessions", "the command is not built beside this program");
        return Ok(());
    };
    let place = Place { program, folder: scratch.join("growth-long") };
    let _ = fs::remove_dir_all(&place.folder);
    let store = FileStore::open(&place.folder, Options { durability: Durability::Process, ..Options::default() })?;
    for calls in CALLS {
        call_tools(&store, calls)?;
    }
    for (turns, size) in TURNS.into_iter().zip(LONG) {
        for batches in store::session(turns) {
            store::append(&store, &SessionId::new(format!("long-{size}")), &batches)?;
        }
    }
    drop(store);
    let ledger =
        |calls: &usize| -> Outcome<Duration> { Ok(place.run(&["show", "--ledger", &format!("calls-{calls}")])?.time) };
    rows(report, "show --ledger", "calls", &CALLS, &CALLS.iter().map(ledger).collect::<Outcome<Vec<_>>>()?);
    for words in [["show"].as_slice(), &["export", "--to", "turnkeep.jsonl"]] {
        place.measure(report, words)?;
    }
    place.formats(report)?;
    one_line(report, &place, scratch)
}

/// The command, built beside this program.
fn program() -> Outcome<Option<PathBuf>> {
    let program = std::env::current_exe()?.with_file_name("turnkeep");
    Ok(program.exists().then_some(program))
}

struct Place {
    program: PathBuf,
    folder: PathBuf,
}

/// What a run of the command took.
struct Ran {
    time: Duration,
    peak: u64,
    output: u64,
}

impl Place {
    /// Time and memory of a command on the long sessions.
    fn measure(&self, report: &mut Report, words: &[&str]) -> Outcome<()> {
        let run = |size: &usize| self.run(&[words, &[format!("long-{size}").as_str()]].concat());
        let ran = LONG.iter().map(run).collect::<Outcome<Vec<Ran>>>()?;
        let what = words.join(" ");
        rows(report, &what, "MB", &LONG, &ran.iter().map(|ran| ran.time).collect::<Vec<_>>());
        if let [_, short, long] = ran.as_slice() {
            let name = format!("peak memory of {what}, {} MB / {}", LONG[2], LONG[1]);
            report.measured(Row::memory(&name, long.peak, short.peak, Bound::AtMost(1.5)));
        }
        Ok(())
    }

    /// The memory that other formats take for what they write, beyond what the program takes anyhow.
    fn formats(&self, report: &mut Report) -> Outcome<()> {
        for (format, bound) in FORMATS {
            let export = |size: usize| self.run(&["export", "--to", format, &format!("long-{size}")]);
            let (short, long) = (export(LONG[0])?, export(LONG[1])?);
            let name = format!("memory of export --to {format} / its output");
            let (memory, output) = (long.peak.saturating_sub(short.peak), long.output - short.output);
            report.measured(Row::memory(&name, memory, output, Bound::AtMost(*bound)));
        }
        Ok(())
    }

    /// The best of some runs.
    fn run(&self, words: &[&str]) -> Outcome<Ran> {
        let mut best = self.run_once(words)?;
        for _ in 0..2 {
            let again = self.run_once(words)?;
            best = Ran { time: best.time.min(again.time), peak: best.peak.max(again.peak), output: again.output };
        }
        Ok(best)
    }

    fn run_once(&self, words: &[&str]) -> Outcome<Ran> {
        let output = self.folder.with_extension("out");
        let mut command = Command::new(&self.program);
        command.args(words).arg("--store").arg(format!("file:{}", self.folder.display()));
        let start = Instant::now();
        let mut child = command.stdout(fs::File::create(&output)?).stderr(Stdio::null()).spawn()?;
        let peak = peak_until_the_end(&mut child)?;
        Ok(Ran { time: start.elapsed(), peak, output: fs::metadata(&output)?.len() })
    }
}

/// The peak memory of a process, looked at until it ends.
fn peak_until_the_end(child: &mut Child) -> Outcome<u64> {
    let (status, mut peak) = (format!("/proc/{}/status", child.id()), 0);
    loop {
        if let Some(mark) = fs::read_to_string(&status).ok().and_then(|status| high_water_mark(&status).ok()) {
            peak = peak.max(mark);
        }
        match child.try_wait()? {
            Some(ended) if ended.success() => return Ok(peak),
            Some(ended) => return Err(format!("the command ended with {ended}").into()),
            None => std::thread::sleep(Duration::from_micros(500)),
        }
    }
}

/// A session of turns with one call each.
fn call_tools(store: &FileStore, calls: usize) -> Outcome<()> {
    let session = SessionId::new(format!("calls-{calls}"));
    let mut at = Seq::START;
    for (turn, n) in (0u32..).zip(0..calls) {
        let call = CallId::given(format!("call_{n}"));
        let asked = ToolCall { call: call.clone(), name: "look".to_owned(), arguments: format!("{{\"n\":{n}}}") };
        let result = ToolResult { call, name: None, parts: Vec::new(), error: None, is_error: None, outcome: None };
        let added = |block| Event::from(BlockAdded { turn, block }).into();
        let events = vec![
            Event::from(TurnOpened { turn: Box::new(Turn::default()) }).into(),
            added(Block::new(Author::Assistant, asked)),
            added(Block::new(Author::Tool, result).in_message(1)),
        ];
        at = block_on(store.append(&session, at, &Batch::new(at.next(), events)))?;
    }
    Ok(())
}

/// Measures listing a store that holds one line, however long.
fn one_line(report: &mut Report, place: &Place, scratch: &Path) -> Outcome<()> {
    let mut times = Vec::new();
    for size in LINES {
        let line = Place { program: place.program.clone(), folder: scratch.join("growth-line") };
        let _ = fs::remove_dir_all(&line.folder);
        let options = Options { durability: Durability::Process, max_batch: usize::MAX, ..Options::default() };
        let store = FileStore::open(&line.folder, options)?;
        let event = Event::from(LogAdded { line: "x".repeat(size * MB) }).into();
        block_on(store.append(&SessionId::new("line"), Seq::START, &Batch::new(Seq(1), vec![event])))?;
        drop(store);
        times.push(line.run(&["ls"])?.time);
    }
    rows(report, "ls of a line", "MB", &LINES, &times);
    Ok(())
}
