//! `turnkeep run`

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pollster::block_on;
use turnkeep_model::{Json, Loss, SessionId};
use turnkeep_provider::Transport;
use turnkeep_provider::cassette::{Cassette, Mode, RecordedClock, RecordedIds, Tape};
use turnkeep_runner::{Artifact, Fixture, Ran, Setup, Tap, artifacts, difference};
use turnkeep_runtime::port::{Ids, RandomIds};
use turnkeep_runtime::{Ports, StopSignal};
use turnkeep_store::{ErrorKind, Store, StoreExt};

use super::CommandResult;
use super::conversation::{self, Interrupt, beside, kept_text, replaying, responder, tools};
use crate::conversation_args::Run;
use crate::exit::{CliError, Exit};
use crate::input_args::InputArgs;
use crate::parallel::{all_in_parallel, cores};
use crate::progress::Progress;
use crate::report::{note_losses, object, text_or_null, texts};
use crate::terminal::{DIM, GREEN, RED, counted, print, print_error, print_json, print_note};
use crate::visible::{visible, visible_line};

pub(crate) fn run(args: &Run) -> CommandResult {
    let fixtures = fixtures(&args.fixture)?;
    if !args.check {
        turnkeep_file::make_directory(&args.out)?;
    }
    let suite =
        Suite { args, is_directory: args.fixture.is_dir(), store: kept_in(args)?, stop: Interrupt::watch().arm() };
    let is_suite = suite.is_directory;
    let mut progress = Progress::of("running", fixtures.len());
    let outcomes = all_in_parallel(&fixtures, cores(), |path| suite.one(path), || progress.step());
    progress.end();
    if let ([only], false) = (outcomes.as_slice(), is_suite)
        && let Err(error) = only
    {
        print_error(error);
        return Ok(error.exit());
    }
    let exit = outcomes.iter().map(exit_of).max_by_key(|exit| *exit as u8).unwrap_or(Exit::Ok);
    if args.json {
        let rows = fixtures.iter().zip(&outcomes).map(|(path, outcome)| as_json(path, outcome)).collect();
        print_json(&object([("runs", Json::Array(rows))]))?;
    } else {
        for (path, outcome) in fixtures.iter().zip(&outcomes) {
            print(&as_text(path, outcome, args))?;
            if let Ok(outcome) = outcome {
                note_losses(&outcome.losses, "--json lists them all");
                outcome.kept.iter().for_each(|kept| print_note(kept));
            }
        }
        if is_suite {
            let passed = outcomes.iter().filter(|outcome| exit_of(outcome) == Exit::Ok).count();
            print_note(&format!("{}, {passed} passed", counted(outcomes.len(), "fixture", "fixtures")));
        }
    }
    Ok(exit)
}

/// The file, or the files of a directory that are fixtures: not those that stand beside one.
fn fixtures(path: &Path) -> Result<Vec<PathBuf>, CliError> {
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
        return Err(CliError::Usage(what, "name a session file, or a directory of them".to_owned()));
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
    /// The id of the session, where it is kept.
    session: Option<SessionId>,
    /// What is kept of a question without an answer.
    kept: Option<String>,
    exit: Exit,
}

/// Where sessions are kept; `None` where none are. A replay has its answers already: it keeps its session only in a store
/// that is named.
fn kept_in(args: &Run) -> Result<Option<Arc<dyn Store>>, CliError> {
    let replays = args.check || args.replay.is_some();
    let keeps = !args.no_store && (args.store.is_named() || !replays);
    keeps.then(|| args.store.open()).transpose()
}

/// Fixtures that are run.
struct Suite<'a> {
    args: &'a Run,
    is_directory: bool,
    store: Option<Arc<dyn Store>>,
    stop: StopSignal,
}

impl Suite<'_> {
    fn one(&self, path: &Path) -> Result<Outcome, CliError> {
        if self.stop.is_asked() {
            return Err(CliError::Interrupted);
        }
        let args = self.args;
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let opened = InputArgs::plain().options()?.open(path)?;
        let fixture = Fixture::of(&name, opened.archive).map_err(|error| error.file(path.display().to_string()))?;
        let tape = Arc::new(tape(args, &name, self.is_directory)?);
        let tap = Tap::default();
        let between = |inner: Arc<dyn Transport>| tap.before(Arc::new(Cassette::new(tape.clone(), inner)));
        let responder = match tape.mode() {
            Mode::Replay => replaying(&args.agent.model, &tape, path, &between)?,
            _ => responder(&args.agent.model, Some(path), &between)?,
        };
        let listed = beside(path, "tools");
        let tools = tools(args.agent.tools.as_deref().or(listed.as_deref()))?;
        let stored_as = self.stored_as(&fixture, &tape)?;
        let setup = Setup {
            responder,
            tools,
            ports: recorded(&tape),
            store: self.store.clone().map_or_else(|| turnkeep_store::open("memory:"), Ok)?,
            stored_as: stored_as.clone(),
            stop: self.stop.clone(),
        };
        let ran = block_on(turnkeep_runner::run(fixture, setup));
        let kept = stored_as.filter(|_| self.store.is_some());
        let runs = ran.inspect_err(|_| kept.iter().for_each(|id| print_note(&kept_text(id))))?;
        tape.finish()?;
        let requests = tap.take();
        let (files, losses) = artifacts(&name, &requests, &runs)?;
        let outcome = Outcome::of(name, &runs, requests.len(), losses, kept);
        if args.check { checked(args, outcome, &files) } else { written(args, outcome, files, &tape) }
    }

    /// The id that the session is kept under: a new one, so that a fixture can run again in the same store. A replay takes
    /// that of the recording where it is free.
    fn stored_as(&self, fixture: &Fixture, tape: &Tape) -> Result<Option<SessionId>, CliError> {
        let recorded = tape.session().map(SessionId::new);
        let Some(store) = &self.store else {
            return Ok(recorded);
        };
        if let Some(id) = recorded
            && block_on(store.last(&id)).is_err_and(|error| error.kind() == ErrorKind::NotFound)
        {
            return Ok(Some(id));
        }
        let own = fixture.session.id.as_ref().map_or(fixture.name.as_str(), SessionId::as_str);
        let id = SessionId::new(format!("{own}-{}", RandomIds.next()));
        tape.keep_session(id.as_str());
        Ok(Some(id))
    }
}

/// The time and the ids of a run, recorded or replayed.
fn recorded(tape: &Arc<Tape>) -> Ports {
    let ports = Ports::default();
    Ports {
        clock: Arc::new(RecordedClock::new(tape.clone(), ports.clock)),
        ids: Arc::new(RecordedIds::new(tape.clone(), ports.ids)),
        ..Ports::default()
    }
}

/// The cassette of a fixture: what is named, or the one in the directory that is written to.
fn tape(args: &Run, name: &str, is_suite: bool) -> Result<Tape, CliError> {
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
    fn of(name: String, runs: &[Ran], requests: usize, losses: Vec<Loss>, session: Option<SessionId>) -> Outcome {
        let last = runs.last().map(|ran| &ran.stopped);
        let unfinished = last.filter(|stopped| stopped.status.kind() != "completed").map(|stopped| {
            let why = match &stopped.status {
                turnkeep_model::Status::Failed(failed) => format!(": {}", failed.error),
                _ => String::new(),
            };
            format!("{}{why}", stopped.status.kind())
        });
        let text = last.and_then(|stopped| stopped.text.clone());
        let exit = match last.map_or(Exit::Ok, conversation::exit_of) {
            Exit::Ok if unfinished.is_some() => Exit::Failed,
            exit => exit,
        };
        let kept = last.filter(|stopped| stopped.is_unanswered()).and(session.as_ref()).map(kept_text);
        let (written, different) = (Vec::new(), Vec::new());
        Outcome { name, unfinished, written, different, requests, text, losses, session, kept, exit }
    }
}

fn written(args: &Run, mut outcome: Outcome, files: Vec<Artifact>, tape: &Tape) -> Result<Outcome, CliError> {
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
fn checked(args: &Run, mut outcome: Outcome, files: &[Artifact]) -> Result<Outcome, CliError> {
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

fn exit_of(outcome: &Result<Outcome, CliError>) -> Exit {
    match outcome {
        Err(error) => error.exit(),
        Ok(outcome) if !outcome.different.is_empty() => Exit::DIFFERENT,
        Ok(outcome) => outcome.exit,
    }
}

fn as_json(path: &Path, outcome: &Result<Outcome, CliError>) -> Json {
    let fixture: Json = path.display().to_string().into();
    match outcome {
        Err(error) => object([("fixture", fixture), ("error", error.message().into())]),
        Ok(outcome) => object([
            ("fixture", fixture),
            ("session", text_or_null(outcome.session.as_ref().map(SessionId::as_str))),
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

fn as_text(path: &Path, outcome: &Result<Outcome, CliError>, args: &Run) -> String {
    let shown = visible_line(&path.display().to_string());
    match outcome {
        Err(error) => format!("{RED}error{RED:#}      {shown}: {}\n", visible_line(&error.message())),
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
            let session = outcome.session.as_ref().map(|id| format!(" · session {}", visible_line(id.as_str())));
            format!("{word} {shown}{why} {DIM}{requests}{}{DIM:#}\n{files}", session.unwrap_or_default())
        }
    }
}
