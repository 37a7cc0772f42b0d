//! Running cargo and its companions in the workspace.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::workspace::Workspace;
use crate::{Failure, Outcome};

/// A command to run at the root of the workspace.
pub(crate) struct Cargo {
    command: Command,
    what: String,
}

impl Cargo {
    /// A cargo command.
    pub(crate) fn new(workspace: &Workspace, arguments: &[&str]) -> Cargo {
        let mut command = Command::new(Cargo::program_name());
        command.args(arguments).current_dir(&workspace.root);
        Cargo { command, what: format!("cargo {}", arguments.join(" ")) }
    }

    /// The cargo that runs this program.
    pub(crate) fn program_name() -> OsString {
        std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
    }

    /// A command of the toolchain beside cargo.
    pub(crate) fn companion(workspace: &Workspace, program: &str, arguments: &[&str]) -> Cargo {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&workspace.root);
        Cargo { command, what: program.to_owned() }
    }

    /// A program that cargo has built.
    pub(crate) fn program(workspace: &Workspace, path: &Path) -> Cargo {
        let mut command = Command::new(path);
        command.current_dir(&workspace.root);
        Cargo { command, what: path.display().to_string() }
    }

    /// The same with a variable set.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Cargo {
        self.command.env(name, value);
        self
    }

    /// Runs it to its end.
    pub(crate) fn run(mut self) -> Outcome<()> {
        let status = self.command.status().map_err(|error| missing(&self.what, &error))?;
        if status.success() { Ok(()) } else { Err(format!("`{}` failed", self.what).into()) }
    }

    /// Whether it can be run and succeeds; what it prints is not shown.
    pub(crate) fn works(mut self) -> bool {
        self.command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// What it prints to stdout.
    pub(crate) fn output(mut self) -> Outcome<String> {
        let output = self.command.stderr(Stdio::inherit()).output().map_err(|error| missing(&self.what, &error))?;
        if !output.status.success() {
            return Err(format!("`{}` failed", self.what).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Runs it, showing the lines it prints that `shown` wants, and returns all of them with the verdict.
    pub(crate) fn watched(mut self, shown: fn(&str) -> bool) -> Outcome<(Vec<String>, Outcome<()>)> {
        if std::io::stdout().is_terminal() {
            self.command.env("CARGO_TERM_COLOR", "always");
        }
        let mut child = self
            .command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| missing(&self.what, &error))?;
        let stderr = child.stderr.take().map(|stream| thread::spawn(move || show(stream, shown)));
        let mut lines = child.stdout.take().map(|stream| show(stream, shown)).unwrap_or_default();
        if let Some(Ok(more)) = stderr.map(thread::JoinHandle::join) {
            lines.extend(more);
        }
        let verdict = if child.wait()?.success() { Ok(()) } else { Err(format!("`{}` failed", self.what).into()) };
        Ok((lines, verdict))
    }
}

fn missing(what: &str, error: &std::io::Error) -> Failure {
    format!("`{what}` cannot be started: {error}").into()
}

fn show(stream: impl Read, shown: fn(&str) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut stream = BufReader::new(stream);
    let mut bytes = Vec::new();
    // Tests may print anything; what is not UTF-8 is shown with marks.
    while stream.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
        let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
        if shown(&line) {
            println!("{line}");
        }
        lines.push(line);
        bytes.clear();
    }
    lines
}
