//! A tool that is a program: arguments on its standard input, the result on its standard output.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use turnkeep_model::event::Effect;
use turnkeep_model::{Json, ToolSpec, json};
use turnkeep_runtime::port::{Consent, Settings, Tool, ToolContext, ToolError, ToolOutput};
use turnkeep_store::BoxFuture;

use crate::environment::{Keys, Variable, environment};
use crate::process::{self, Ended, Keep, Unknown};

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
            let limit = self.settings.max_result;
            let keep = Keep { output: limit.saturating_add(BEYOND), complaint: COMPLAINT + BEYOND };
            match process::run(self.command(context)?, arguments.to_text(), keep).await {
                Ok(ended) => judge(without_keys(ended, &self.keys, limit)),
                Err(unknown) => Err(self.error(&unknown)),
            }
        })
    }
}

impl ShellTool {
    fn command(&self, context: &ToolContext) -> Result<Command, ToolError> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(ToolError::failed("the tool has no command"));
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.directory);
        command.env_clear().envs(environment(&self.environment));
        command.env("TURNKEEP_CALL_ID", context.call_id.to_string()).env("TURNKEEP_KEY", &context.key);
        command.env("TURNKEEP_ATTEMPT", context.attempt.to_string());
        command.env("TURNKEEP_IS_RESUME", context.is_resume.to_string());
        Ok(command)
    }

    fn error(&self, unknown: &Unknown) -> ToolError {
        let program = self.command.first().map(String::as_str).unwrap_or_default();
        match unknown {
            // Nothing was done, and it may work later.
            Unknown::NoThread(error) => ToolError::retryable(format!(
                "`{program}` was not started, because no thread can be started ({error}); end other programs, or raise \
                 the limit on threads"
            )),
            Unknown::NotStarted(error) => ToolError::failed(format!("`{program}` cannot be started: {error}")),
            Unknown::Lost(error) => ToolError::unsure(format!("the program's output could not be read: {error}")),
        }
    }
}

/// The same without keys, and cut.
fn without_keys(ended: Ended, keys: &Keys, limit: usize) -> Ended {
    let cut = |bytes: Vec<u8>, limit: usize| {
        let mut bytes = keys.scrubbed(bytes);
        bytes.truncate(limit);
        bytes
    };
    // A byte more than is kept: so whoever cuts it can say that it was cut.
    let (output, complaint) = (cut(ended.output, limit.saturating_add(1)), cut(ended.complaint, COMPLAINT));
    Ended { output, complaint, ..ended }
}

/// What the end of a program means.
fn judge(ended: Ended) -> Result<ToolOutput, ToolError> {
    let complaint = String::from_utf8_lossy(&ended.complaint);
    let said = if complaint.trim().is_empty() { String::new() } else { format!(": {}", complaint.trim()) };
    match ended.status.code() {
        Some(0) => Ok(result_of(ended.output)),
        Some(TRY_LATER) => Err(ToolError::retryable(format!("it cannot be done now{said}"))),
        Some(code) => Err(ToolError::failed(format!("it ended with exit code {code}{said}"))),
        None => Err(ToolError::unsure(format!("it was ended by a signal{said}"))),
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
