//! What the demo shows: the journal as it grows, the kill, the plan, the answer.

use std::fmt::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollster::block_on;
use turnkeep_model::{Author, Event, Seq};
use turnkeep_runtime::plan::{CallStep, Plan, PlannedCall, plan};
use turnkeep_runtime::{Hub, Ports, ResumePolicy, Tail};
use turnkeep_store::{Store, StoreExt};

use super::super::CommandResult;
use super::super::journal::event_line;
use super::cast::{Scene, effect, session};
use crate::exit::{CliError, Exit};
use crate::terminal::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, print, width};
use crate::visible::shortened;

/// How long a process may take to do its part.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often the store is looked at.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) fn run() -> CommandResult {
    let folder = std::env::temp_dir().join(format!("turnkeep-demo-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let scene = Scene::new(&folder);
    let store = scene.store()?;
    heading("An agent runs, and every step is in its journal before the next one is taken")?;
    let mut shown = Shown { store: store.clone(), seq: Seq::START };
    let child = start(&folder)?;
    shown.until(|| !scene.charges().is_empty() && intends(&*store))?;
    kill(child)?;
    heading("A new process looks at the journal")?;
    tell_plan(&*store)?;
    heading("It goes on, with another model")?;
    let mut child = start(&folder)?;
    shown.until(|| child.try_wait().is_ok_and(|ended| ended.is_some()))?;
    shown.show()?;
    tell_end(&scene, &*store)?;
    Ok(Exit::Ok)
}

fn heading(text: &str) -> std::io::Result<()> {
    print(&format!("\n{BOLD}{CYAN}▸{CYAN:#} {BOLD}{text}{BOLD:#}\n\n"))
}

/// Starts this program as one process of the demo.
fn start(folder: &Path) -> Result<Child, CliError> {
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.args(["demo", "--play"]).arg(folder).stdin(Stdio::null()).stdout(Stdio::null());
    Ok(command.spawn()?)
}

/// Whether both calls are about to be made, or were.
fn intends(store: &dyn Store) -> bool {
    block_on(store.load(&session())).is_ok_and(|loaded| loaded.ledger.entries().len() == 2)
}

fn kill(mut child: Child) -> Result<(), CliError> {
    let process = child.id();
    child.kill()?;
    child.wait()?;
    print(&format!(
        "\n  {RED}{BOLD}kill -9 {process}{BOLD:#}{RED:#}  the bank has booked the charge, and the process that asked for it \
         is gone before it heard so\n"
    ))?;
    Ok(())
}

/// The journal as far as it was shown.
struct Shown {
    store: Arc<dyn Store>,
    seq: Seq,
}

impl Shown {
    /// Shows the journal as it grows, until something is so.
    fn until(&mut self, mut so: impl FnMut() -> bool) -> Result<(), CliError> {
        let start = Instant::now();
        while !so() {
            self.show()?;
            if start.elapsed() > PATIENCE {
                let what = "a process of the demo did not do its part in time".to_owned();
                return Err(CliError::Usage(what, "try again on a machine with less to do".to_owned()));
            }
            std::thread::sleep(PAUSE);
        }
        self.show()
    }

    fn show(&mut self) -> Result<(), CliError> {
        let mut tail = Tail::new(self.store.clone(), &Hub::default(), &session(), self.seq);
        if block_on(tail.look()).is_err() {
            // The session is not there yet.
            return Ok(());
        }
        let mut text = String::new();
        while let Some(batch) = tail.take_read() {
            for (entry, seq) in batch.events.iter().zip(batch.seq.0..) {
                if worth_showing(&entry.event) {
                    let line = shortened(&event_line(&entry.event), width().saturating_sub(8));
                    let _ = writeln!(text, "  {DIM}{seq:>4}{DIM:#}  {line}");
                }
                self.seq = Seq(seq);
            }
        }
        print(&text)?;
        Ok(())
    }
}

fn worth_showing(event: &Event) -> bool {
    !matches!(event, Event::SessionChanged(_) | Event::TurnOpened(_) | Event::TurnClosed(_))
}

fn tell_plan(store: &dyn Store) -> Result<(), CliError> {
    let loaded = block_on(store.load(&session()))?;
    let now = Ports::default().clock.now();
    let planned = plan(&loaded.session, &loaded.ledger, ResumePolicy::MissingOnly, now, &effect);
    let Plan::Calls { steps, .. } = planned else {
        return Ok(());
    };
    let text: String = steps.iter().map(line).collect();
    Ok(print(&text)?)
}

fn line(planned: &PlannedCall) -> String {
    let what = match planned.step {
        CallStep::Unsure => {
            format!("{YELLOW}unsure{YELLOW:#}: it may have acted, so it is not repeated; the bank is asked instead")
        }
        CallStep::Call { .. } => format!("{GREEN}call again{GREEN:#}: it only reads, so repeating it does no harm"),
        _ => "as it was".to_owned(),
    };
    format!("  {:<9} {what}\n", planned.call.name)
}

fn tell_end(scene: &Scene, store: &dyn Store) -> Result<(), CliError> {
    let loaded = block_on(store.load(&session()))?;
    let answer = loaded.session.turns.iter().rev().find_map(|turn| {
        let said = turn.blocks.iter().find(|block| block.author == Author::Assistant)?;
        Some((turn.model.clone().unwrap_or_default(), said.body.as_text()?.to_owned()))
    });
    let (model, answer) = answer.unwrap_or_default();
    heading("The end")?;
    let charges = scene.charges();
    let count = match charges.len() {
        1 => format!("{GREEN}one charge{GREEN:#}"),
        other => format!("{RED}{other} charges{RED:#}"),
    };
    let mut text = String::new();
    let _ = writeln!(text, "  {model} answers: {answer}");
    let _ = writeln!(text, "  the bank's books: {count}");
    let _ = writeln!(text, "\n{BOLD}What to type next{BOLD:#}\n");
    let steps = [
        ("show demo", "To read the conversation:"),
        ("show demo --ledger", "To see what is known of every call:"),
        ("tail demo --envelopes standard", "To see what a screen would be told:"),
        ("export demo --to anthropic.messages", "To take it to another vendor:"),
    ];
    for (command, why) in steps {
        let _ = writeln!(text, "{DIM}{why}{DIM:#}\n  {GREEN}turnkeep {command} --store {}{GREEN:#}", scene.url());
    }
    let _ = writeln!(
        text,
        "{DIM}To see sessions go from format to format:{DIM:#}\n  {GREEN}turnkeep demo --formats{GREEN:#}"
    );
    let _ = writeln!(text, "\n{DIM}From a checkout, `cargo run --release --` stands for `turnkeep`.{DIM:#}");
    Ok(print(&text)?)
}
