//! A tool that is a program: arguments on its standard input, the result on its standard output.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use turnkeep_model::event::Effect;
use turnkeep_model::{Json, ToolSpec, json};
use turnkeep_runtime::port::{Consent, Settings, Tool, ToolContext, ToolError, ToolOutput};
use turnkeep_store::BoxFuture;

use crate::environment::{Keys, Variable, environment};

/// The exit code that says: not now, and nothing was done. As in `sysexits.h`.
const TRY_LATER: i32 = 75;

/// How much of what a program complains of is told to the model.
const COMPLAINT: usize = 2000;

/// How much more is read than is kept: a key that is cut in two would not be found.
const BEYOND: usize = 4096;

/// A tool that is a program. It is told its call in the variables `TURNKEEP_CALL_ID`, `TURNKEEP_KEY`,
/// `TURNKEEP_ATTEMPT` and `TURNKEEP_IS_RESUME`. Of our own environment it sees what every program needs, and what it is
/// given by name.
///
/// Exit code 0 makes its output the result, 75 says that it may work later and did nothing, any other is a failure that
/// the model is told. A program that a signal ended may have acted.
#[derive(Debug, Clone)]
pub struct ShellTool {
    /// What the model is told of it.
    pub spec: ToolSpec,
    /// What repeating a call would do.
    pub effect: Effect,
    /// How it is to be called.
    pub settings: Settings,
    /// Whether a person must consent to each call.
    pub consent: Consent,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// What it sees of the environment beside the usual.
    pub environment: Vec<Variable>,
    /// What is taken out of what it says.
    pub keys: Arc<Keys>,
}

impl Tool for ShellTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn settings(&self) -> Settings {
        self.settings.clone()
    }

    fn consent(&self) -> Consent {
        self.consent
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Json,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let child = self.start(context)?;
            let running = Running::of(&child);
            let (text, limit) = (arguments.to_text(), self.settings.max_result);
            let (sender, receiver) = futures_channel::oneshot::channel();
            thread::spawn(move || {
                let _ = sender.send(attend(child, text, limit));
            });
            let ended = receiver.await;
            running.ended.store(true, Ordering::SeqCst);
            match ended {
                Ok(Ok(ended)) => ended.without(&self.keys, limit).judge(),
                Ok(Err(error)) => Err(ToolError::unsure(format!("the program's output could not be read: {error}"))),
                Err(_) => Err(ToolError::unsure("the program's output could not be read")),
            }
        })
    }
}

impl ShellTool {
    fn start(&self, context: &ToolContext) -> Result<Child, ToolError> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(ToolError::failed("the tool has no command"));
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.directory);
        command.env_clear().envs(environment(&self.environment));
        command.env("TURNKEEP_CALL_ID", context.call_id.to_string()).env("TURNKEEP_KEY", &context.key);
        command.env("TURNKEEP_ATTEMPT", context.attempt.to_string());
        command.env("TURNKEEP_IS_RESUME", context.is_resume.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        in_own_group(&mut command);
        command.spawn().map_err(|error| ToolError::failed(format!("`{program}` cannot be started: {error}")))
    }
}

/// A program whose end is awaited. When nobody waits any more, it is ended, and what it started with it.
struct Running {
    id: u32,
    ended: Arc<AtomicBool>,
}

impl Running {
    fn of(child: &Child) -> Running {
        Running { id: child.id(), ended: Arc::default() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended.load(Ordering::SeqCst) {
            end_group(self.id);
        }
    }
}

/// What a program did.
struct Ended {
    status: ExitStatus,
    output: Vec<u8>,
    complaint: Vec<u8>,
}

fn attend(mut child: Child, arguments: String, limit: usize) -> io::Result<Ended> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feeding = thread::spawn(move || {
        // A program that does not read its arguments is none the worse for it.
        let _ = stdin.map(|mut stdin| stdin.write_all(arguments.as_bytes()));
    });
    let listening =
        thread::spawn(move || stderr.map_or(Ok(Vec::new()), |stderr| read_some(stderr, COMPLAINT + BEYOND)));
    let output = stdout.map_or(Ok(Vec::new()), |stdout| read_some(stdout, limit.saturating_add(BEYOND)))?;
    let status = child.wait()?;
    let _ = feeding.join();
    let complaint = listening.join().unwrap_or_else(|_| Ok(Vec::new()))?;
    Ok(Ended { status, output, complaint })
}

/// The first bytes; the rest is read and forgotten, so that the writer is not held up.
fn read_some(mut reader: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    reader.by_ref().take(limit as u64).read_to_end(&mut kept)?;
    io::copy(&mut reader, &mut io::sink())?;
    Ok(kept)
}

impl Ended {
    /// The same without keys, and cut.
    fn without(self, keys: &Keys, limit: usize) -> Ended {
        let cut = |bytes: Vec<u8>, limit: usize| {
            let mut bytes = keys.scrubbed(bytes);
            bytes.truncate(limit);
            bytes
        };
        // A byte more than is kept: so whoever cuts it can say that it was cut.
        let (output, complaint) = (cut(self.output, limit.saturating_add(1)), cut(self.complaint, COMPLAINT));
        Ended { output, complaint, ..self }
    }

    fn judge(self) -> Result<ToolOutput, ToolError> {
        let complaint = String::from_utf8_lossy(&self.complaint);
        let said = if complaint.trim().is_empty() { String::new() } else { format!(": {}", complaint.trim()) };
        match self.status.code() {
            Some(0) => Ok(result_of(self.output)),
            Some(TRY_LATER) => Err(ToolError::retryable(format!("it cannot be done now{said}"))),
            Some(code) => Err(ToolError::failed(format!("it ended with exit code {code}{said}"))),
            None => Err(ToolError::unsure(format!("it was ended by a signal{said}"))),
        }
    }
}

/// An object or an array is kept as JSON; anything else is the text, without its last line break.
fn result_of(mut output: Vec<u8>) -> ToolOutput {
    if output.ends_with(b"\n") {
        output.pop();
    }
    let json = std::str::from_utf8(&output).ok().and_then(|text| json::parse(text).ok());
    match json {
        Some(node) if node.as_array().is_some() || node.is_object() => ToolOutput::json(node.into_json()),
        _ => ToolOutput::bytes(output),
    }
}

#[cfg(unix)]
fn in_own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn in_own_group(_: &mut Command) {}

#[cfg(unix)]
fn end_group(id: u32) {
    let group = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw);
    let _ = group.map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
}

#[cfg(not(unix))]
fn end_group(_: u32) {}
