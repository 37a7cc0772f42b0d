//! `turnkeep run`

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pollster::block_on;
use turnkeep_model::{Json, Loss};
use turnkeep_provider::Transport;
use turnkeep_provider::cassette::{Cassette, Mode, RecordedClock, RecordedIds, Tape};
use turnkeep_runner::{Artifact, Fixture, Ran, Setup, Tap, artifacts, difference};
use turnkeep_runtime::{Ports, Stop as StopAsked};

use super::super::Ending;
use super::answering::{Answering, tools};
use super::scripted;
use crate::args::Reading;
use crate::exit::{Exit, Stop};
use crate::progress::Progress;
use crate::report::{object, say_losses, text_or_null, texts};
use crate::talk_args::Run;
use crate::terminal::{DIM, GREEN, RED, complain, counted, print, print_json, say};
use crate::visible::{visible, visible_line};

pub(crate) fn run(args: &Run) -> Ending {
    let fixtures = fixtures(&args.fixture)?;
    if !args.check {
        turnkeep_file::make_directory(&args.out)?;
    }
    let is_suite = args.fixture.is_dir();
    let outcomes = all(&fixtures, |path| one(args, path, is_suite));
    if let ([only], false) = (outcomes.as_slice(), is_suite)
        && let Err(stop) = only
    {
        complain(stop);
        return Ok(stop.exit());
    }
    let exit = outcomes.iter().map(ending).max_by_key(|exit| *exit as u8).unwrap_or(Exit::Ok);
    if args.json {
        let rows = fixtures.iter().zip(&outcomes).map(|(path, outcome)| as_json(path, outcome)).collect();
        print_json(&object([("runs", Json::Array(rows))]))?;
    } else {
        for (path, outcome) in fixtures.iter().zip(&outcomes) {
            print(&as_text(path, outcome, args))?;
            if let Ok(outcome) = outcome {
                say_losses(&outcome.losses, "--json lists them all");
            }
        }
        if is_suite {
            let passed = outcomes.iter().filter(|outcome| ending(outcome) == Exit::Ok).count();
            say(&format!("{}, {passed} passed", counted(outcomes.len(), "fixture", "fixtures")));
        }
    }
    Ok(exit)
}

/// The file, or the files of a directory that are fixtures: not those that stand beside one.
fn fixtures(path: &Path) -> Result<Vec<PathBuf>, Stop> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let beside = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        ["tools", "script", "cassette"].iter().any(|word| name.contains(&format!(".{word}.")))
            || name == "turnkeep.toml"
    };
    let files = turnkeep_file::walk(path)?.into_iter().filter(|path| !beside(path));
    let files: Vec<PathBuf> = files.map(|file| path.join(file)).collect();
    if files.is_empty() {
        let what = format!("{}: there is no fixture in it", path.display());
        return Err(Stop::Usage(what, "name a session file, or a directory of them".to_owned()));
    }
    Ok(files)
}

/// What came of one fixture.
struct Outcome {
    name: String,
    /// How the last run ended, where it did not complete.
    unfinished: Option<String>,
    written: Vec<String>,
    different: Vec<String>,
    requests: usize,
    text: Option<String>,
    losses: Vec<Loss>,
}

/// Every fixture, on all cores, in order.
fn all(paths: &[PathBuf], work: impl Fn(&Path) -> Result<Outcome, Stop> + Sync) -> Vec<Result<Outcome, Stop>> {
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(paths.len().max(1));
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let progress = Mutex::new(Progress::of("running", paths.len()));
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((place, path)) = {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    paths.get(place).map(|path| (place, path))
                } {
                    let outcome = work(path);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((place, outcome));
                    progress.lock().unwrap_or_else(PoisonError::into_inner).step();
                }
            });
        }
    });
    progress.into_inner().unwrap_or_else(PoisonError::into_inner).end();
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

fn one(args: &Run, path: &Path, is_suite: bool) -> Result<Outcome, Stop> {
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let opened = Reading::plain().options()?.open(path)?;
    let fixture = Fixture::of(&name, opened.archive).map_err(|error| error.file(path.display().to_string()))?;
    let tape = Arc::new(tape(args, &name, is_suite)?);
    let tap = Tap::default();
    let between = |inner: Arc<dyn Transport>| tap.before(Arc::new(Cassette::new(tape.clone(), inner)));
    let answering = match tape.mode() {
        Mode::Replay => Answering::replayed(&args.with.who, &tape, path, &between)?,
        _ => Answering::of(&args.with.who, Some(path), &between)?,
    };
    let beside = scripted::beside(path, "tools");
    let ports = Ports::default();
    let ports = Ports {
        clock: Arc::new(RecordedClock::new(tape.clone(), ports.clock)),
        ids: Arc::new(RecordedIds::new(tape.clone(), ports.ids)),
        hub: ports.hub,
        processes: ports.processes,
    };
    let setup = Setup {
        model: answering.model,
        fallbacks: answering.fallbacks,
        tools: tools(args.with.tools.as_deref().or(beside.as_deref()))?,
        ports,
        store: turnkeep_store::open("memory:")?,
        stop: StopAsked::default(),
    };
    let runs = block_on(turnkeep_runner::run(fixture, setup))?;
    tape.finish()?;
    let requests = tap.take();
    let (files, losses) = artifacts(&name, &requests, &runs)?;
    let outcome = Outcome::of(name, &runs, requests.len(), losses);
    if args.check { checked(args, outcome, &files) } else { written(args, outcome, files, &tape) }
}

/// The cassette of a fixture: what is named, or the one in the directory that is written to.
fn tape(args: &Run, name: &str, is_suite: bool) -> Result<Tape, Stop> {
    let file = format!("{name}.cassette.yaml");
    let at = |path: &PathBuf| if is_suite || path.is_dir() { path.join(&file) } else { path.clone() };
    let usual = args.out.join(&file);
    let (path, mode) = match (&args.replay, &args.record) {
        (Some(path), _) => (at(path), Mode::Replay),
        (None, Some(path)) => (at(path), Mode::Record),
        (None, None) if args.check => (usual, Mode::Replay),
        (None, None) => (usual, Mode::Record),
    };
    Ok(Tape::open(&path, mode, &[])?)
}

impl Outcome {
    fn of(name: String, runs: &[Ran], requests: usize, losses: Vec<Loss>) -> Outcome {
        let last = runs.last().map(|ran| &ran.stopped);
        let unfinished = last.filter(|stopped| stopped.status.kind() != "completed").map(|stopped| {
            let why = match &stopped.status {
                turnkeep_model::Status::Failed(failed) => format!(": {}", failed.error),
                _ => String::new(),
            };
            format!("{}{why}", stopped.status.kind())
        });
        let text = last.and_then(|stopped| stopped.text.clone());
        Outcome { name, unfinished, written: Vec::new(), different: Vec::new(), requests, text, losses }
    }
}

fn written(args: &Run, mut outcome: Outcome, files: Vec<Artifact>, tape: &Tape) -> Result<Outcome, Stop> {
    for Artifact { name, bytes } in files {
        turnkeep_file::save(&args.out.join(&name), &bytes)?;
        outcome.written.push(name);
    }
    if tape.mode() == Mode::Record && args.record.is_none() {
        outcome.written.push(format!("{}.cassette.yaml", outcome.name));
    }
    Ok(outcome)
}

/// What differs from the files that are there.
fn checked(args: &Run, mut outcome: Outcome, files: &[Artifact]) -> Result<Outcome, Stop> {
    let ours = |name: &str| {
        let rest = name.strip_prefix(&outcome.name).and_then(|rest| rest.strip_prefix('.'));
        rest.is_some_and(|rest| ["request", "final_turn", "events"].iter().any(|word| rest.starts_with(word)))
    };
    let there = fs::read_dir(&args.out).into_iter().flatten().flatten();
    let there = there.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(|name| ours(name));
    let mut names: Vec<String> = there.chain(files.iter().map(|file| file.name.clone())).collect();
    names.sort();
    names.dedup();
    for name in names {
        let agreed = fs::read(args.out.join(&name)).ok();
        let now = files.iter().find(|file| file.name == name).map(|file| file.bytes.as_slice());
        outcome.different.extend(difference(&name, agreed.as_deref(), now));
    }
    Ok(outcome)
}

fn ending(outcome: &Result<Outcome, Stop>) -> Exit {
    match outcome {
        Err(stop) => stop.exit(),
        Ok(outcome) if !outcome.different.is_empty() => Exit::DIFFERENT,
        Ok(outcome) => match outcome.unfinished.as_deref() {
            None => Exit::Ok,
            Some("waiting_for_human") => Exit::NeedsHuman,
            Some(_) => Exit::Failed,
        },
    }
}

fn as_json(path: &Path, outcome: &Result<Outcome, Stop>) -> Json {
    let fixture: Json = path.display().to_string().into();
    match outcome {
        Err(stop) => object([("fixture", fixture), ("error", stop.told().into())]),
        Ok(outcome) => object([
            ("fixture", fixture),
            ("completed", outcome.unfinished.is_none().into()),
            ("status", text_or_null(outcome.unfinished.as_deref())),
            ("requests", (outcome.requests as u64).into()),
            ("text", text_or_null(outcome.text.as_deref())),
            ("written", texts(&outcome.written)),
            ("different", texts(&outcome.different)),
            ("losses", crate::report::losses(&outcome.losses)),
        ]),
    }
}

fn as_text(path: &Path, outcome: &Result<Outcome, Stop>, args: &Run) -> String {
    let shown = visible_line(&path.display().to_string());
    match outcome {
        Err(stop) => format!("{RED}error{RED:#}      {shown}: {}\n", visible_line(&stop.told())),
        Ok(outcome) if !outcome.different.is_empty() => {
            format!("{RED}different{RED:#}  {shown}\n{}", visible(&outcome.different.concat()))
        }
        Ok(outcome) => {
            let word = match &outcome.unfinished {
                None if args.check => format!("{GREEN}same{GREEN:#}      "),
                None => format!("{GREEN}completed{GREEN:#} "),
                Some(_) => format!("{RED}unfinished{RED:#}"),
            };
            let why = outcome.unfinished.as_ref().map(|why| format!(" ({})", visible_line(why))).unwrap_or_default();
            let requests = counted(outcome.requests, "request", "requests");
            let files: String = outcome
                .written
                .iter()
                .map(|name| format!("  {}\n", visible_line(&args.out.join(name).display().to_string())))
                .collect();
            format!("{word} {shown}{why} {DIM}{requests}{DIM:#}\n{files}")
        }
    }
}
