//! A directory to run the command in.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A session of one question and one answer, with what a reader must keep: `2.0`, and a key it does not know.
pub(crate) const SESSION: &str = r#"{"turnkeep":1,"sessions":[{"id":"s1","options":{"temperature":2.0},"turns":[{"model":"m1","blocks":[
{"author":"user","type":"text","text":"Say hi.","colour":"red"},
{"author":"assistant","message":{"ordinal":1},"type":"reasoning","encrypted":"gAAAAABabcdefghijklmnopqrstuvwxyz0123456789"},
{"author":"assistant","message":{"ordinal":1},"type":"tool_call","call":"c1","name":"greet","arguments":"{\"who\": \"you\"}"},
{"author":"tool","message":{"ordinal":2},"type":"tool_result","call":"c1","parts":[{"type":"text","text":"done"}]},
{"author":"assistant","message":{"ordinal":3},"type":"text","text":"Hi!"}]}]}]}"#;

/// The secret in [`SESSION`].
pub(crate) const SECRET: &str = "gAAAAABabcdefghijklmnopqrstuvwxyz0123456789";

/// A directory of files, gone when it is dropped.
pub(crate) struct Place(TempDir);

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    /// A directory that holds `s.json`, the session above.
    pub(crate) fn new() -> Place {
        Place(tempfile::tempdir().unwrap()).with("s.json", SESSION)
    }

    /// The same with one more file.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Place {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub(crate) fn files(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the command on words that a space separates.
    pub(crate) fn run(&self, words: &str) -> Ran {
        self.run_with(words, "")
    }

    /// The same with something on standard input.
    pub(crate) fn run_with(&self, words: &str, input: &str) -> Ran {
        let mut child = self.command(words).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A command that does not read its input may have closed it.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        Ran::from(child.wait_with_output().unwrap())
    }

    /// Runs the command on words that may hold anything.
    #[allow(dead_code, reason = "not every set of features has a test that needs it")]
    pub(crate) fn run_words(&self, words: &[&str]) -> Ran {
        let mut command = self.command("");
        Ran::from(command.args(words).stdin(Stdio::null()).output().unwrap())
    }

    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnkeep"));
        command.args(words.split_whitespace()).current_dir(self.0.path()).env_remove("CLICOLOR_FORCE");
        // Sessions that no test names a store for are gone with the directory.
        let (name, store) = match cfg!(feature = "sqlite") {
            true => ("XDG_DATA_HOME", self.path("data").display().to_string()),
            false => ("TURNKEEP_STORE", format!("file:{}", self.path("data").display())),
        };
        command.env_remove("TURNKEEP_STORE").env(name, store);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Checks the exit code, and shows all there is where it is another one.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self:#?}");
        assert!(!self.err.contains("panicked"), "{self:#?}");
        self
    }

    /// Checks that an error begins so, and that it comes with a remedy.
    #[track_caller]
    pub(crate) fn says(self, error: &str) -> Ran {
        assert!(self.err.starts_with(&format!("error: {error}")), "{self:#?}");
        assert!(self.err.contains("\n  help: "), "{self:#?}");
        assert_eq!(self.out, "");
        self
    }
}
