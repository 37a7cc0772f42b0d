//! PyYAML's C loader, in a process that stays open so that runs can be interleaved.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::Outcome;

/// Reads the document once for every line on stdin, and prints the seconds it took.
const SCRIPT: &str = r#"
import sys, time, gc, yaml
text = open(sys.argv[1], encoding="utf-8").read()
loader = yaml.CSafeLoader
print("ready", flush=True)
for line in sys.stdin:
    gc.collect()
    start = time.perf_counter()
    value = yaml.load(text, Loader=loader)
    taken = time.perf_counter() - start
    del value
    print(taken, flush=True)
"#;

/// A Python process that has the document in memory.
pub(crate) struct Python {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Python {
    /// Starts it; the error says what this machine lacks.
    pub(crate) fn start(scratch: &Path, document: &Path) -> Outcome<Python> {
        let python = environment(scratch)?;
        let mut child = Command::new(python)
            .args(["-c", SCRIPT])
            .arg(document)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().ok_or("no stdin")?;
        let output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut python = Python { child, input, output };
        match python.line()?.as_str() {
            "ready" => Ok(python),
            _ => Err("PyYAML has no CSafeLoader here".into()),
        }
    }

    /// How long one load of the document takes.
    pub(crate) fn load(&mut self) -> Outcome<Duration> {
        writeln!(self.input)?;
        Ok(Duration::try_from_secs_f64(self.line()?.parse()?)?)
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }

    /// Lets it end.
    pub(crate) fn finish(self) -> Outcome<()> {
        let Python { mut child, input, output } = self;
        drop((input, output));
        child.wait()?;
        Ok(())
    }
}

/// The Python of a virtual environment with PyYAML in it, made if need be.
fn environment(scratch: &Path) -> Outcome<PathBuf> {
    let home = scratch.join("venv");
    let python = home.join("bin").join("python");
    if !python.is_file() {
        quietly(Command::new("python3").args(["-m", "venv"]).arg(&home), "python3 -m venv")?;
    }
    if quietly(Command::new(&python).args(["-c", "import yaml"]), "import yaml").is_err() {
        quietly(Command::new(&python).args(["-m", "pip", "install", "--quiet", "pyyaml"]), "pip install pyyaml")?;
    }
    Ok(python)
}

fn quietly(command: &mut Command, what: &str) -> Outcome<()> {
    let done = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    match done {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("`{what}` failed").into()),
    }
}
