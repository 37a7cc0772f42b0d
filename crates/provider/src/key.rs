//! Where keys come from.

use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use turnkeep_model::{Error, ErrorKind, Result};

use crate::secret::Secret;

/// Where a key comes from. The key itself stands in no configuration.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySource {
    /// A variable of the environment.
    Env(String),
    /// A file that holds nothing else; white space around it is ignored.
    File(PathBuf),
    /// What a command prints, without the white space around it.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// The longest it may take.
        within: Duration,
    },
}

/// The longest that a command may take, unless it is told otherwise.
pub const COMMAND_TIME: Duration = Duration::from_secs(15);

/// The longest key, in bytes.
const LONGEST: u64 = 64 * 1024;

impl KeySource {
    /// The key.
    ///
    /// # Errors
    /// `NotFound` where there is none, `Unavailable` where a command does not end in time, `Io` where it fails. Nothing of
    /// what was read is told.
    pub fn read(&self) -> Result<Secret> {
        let text = match self {
            KeySource::Env(name) => of_env(name)?,
            KeySource::File(path) => of_file(path)?,
            KeySource::Command { words, within } => of_command(words, *within)?,
        };
        match text.trim() {
            "" => Err(Error::new(ErrorKind::NotFound, format!("the key from {self} is empty")).hint(self.remedy())),
            key if key.chars().any(char::is_control) => {
                let what = format!("what {self} holds is no key: it has several lines, or control characters");
                Err(Error::new(ErrorKind::Corrupt, what).hint(self.remedy()))
            }
            key => Ok(Secret::new(key)),
        }
    }

    fn remedy(&self) -> String {
        match self {
            KeySource::Env(name) => format!("set {name} to the key"),
            KeySource::File(path) => format!("put the key alone into {}", path.display()),
            KeySource::Command { .. } => "let the command print the key and nothing else".to_owned(),
        }
    }
}

/// Where it comes from, without what a command is told: that could hold a secret.
impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySource::Env(name) => write!(f, "the variable {name}"),
            KeySource::File(path) => write!(f, "the file {}", path.display()),
            KeySource::Command { words, .. } => {
                write!(f, "the command `{}`", words.first().map(String::as_str).unwrap_or_default())
            }
        }
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeySource({self})")
    }
}

fn of_env(name: &str) -> Result<String> {
    std::env::var(name).map_err(|_| {
        Error::new(ErrorKind::NotFound, format!("the variable {name} is not set"))
            .hint(format!("set {name} to the key"))
    })
}

fn of_file(path: &PathBuf) -> Result<String> {
    let failed = |error: std::io::Error| {
        let kind = if error.kind() == std::io::ErrorKind::NotFound { ErrorKind::NotFound } else { ErrorKind::Io };
        Error::new(kind, "the key cannot be read").file(path.display().to_string()).because(error)
    };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

fn of_command(words: &[String], within: Duration) -> Result<String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(Error::new(ErrorKind::NotFound, "the command for the key is empty"));
    };
    let failed = |error: std::io::Error| {
        Error::new(ErrorKind::Io, format!("the command `{program}` for the key cannot be run")).because(error)
    };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    let output = child.stdout.take();
    let read = move || {
        let mut text = String::new();
        output.map_or(Ok(0), |output| output.take(LONGEST).read_to_string(&mut text)).map(|_| text)
    };
    let reading = std::thread::Builder::new().spawn(read).or_else(|error| {
        // Nobody would read what it prints.
        child.kill().and_then(|()| child.wait())?;
        Err(error)
    });
    let reading = reading.map_err(failed)?;
    if !awaited(&mut child, within).map_err(failed)? {
        let what = format!("the command `{program}` for the key failed");
        return Err(Error::new(ErrorKind::Io, what).hint("run it by hand to see why"));
    }
    let text = reading.join().ok().and_then(std::result::Result::ok);
    text.ok_or_else(|| Error::new(ErrorKind::Corrupt, format!("what `{program}` printed is not a text")))
}

/// Whether a command succeeded; one that takes too long is ended.
fn awaited(child: &mut Child, within: Duration) -> std::io::Result<bool> {
    let (began, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if began.elapsed() >= within {
            child.kill()?;
            child.wait()?;
            return Err(std::io::Error::new(
                std::io::ErrorKind::TimedOut,
                format!("it did not end within {} s", within.as_secs_f64()),
            ));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str, within: Duration) -> KeySource {
        KeySource::Command { words: ["sh", "-c", text].map(str::to_owned).to_vec(), within }
    }

    #[test]
    fn a_key_comes_from_a_command_without_the_white_space_around_it() {
        assert_eq!(shell("echo ' sk-1 '", COMMAND_TIME).read().unwrap(), Secret::new("sk-1"));
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended() {
        let error = shell("echo sk-1; exec sleep 60", Duration::from_millis(20)).read().unwrap_err();

        assert_eq!(error.to_string(), "the command `sh` for the key cannot be run: it did not end within 0.02 s");
    }

    #[test]
    fn nothing_of_a_key_or_a_command_is_told() {
        let sources =
            [shell("echo sk-planted; false", COMMAND_TIME), shell("printf 'sk-planted\\nsk-planted'", COMMAND_TIME)];
        for source in sources {
            let error = source.read().unwrap_err();
            let told = format!("{error} {error:?} {:?} {source:?} {source}", error.remedy());

            assert!(!told.contains("planted"), "{told}");
        }
    }

    #[test]
    fn a_key_comes_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "sk-2\n").unwrap();

        assert_eq!(KeySource::File(path.clone()).read().unwrap(), Secret::new("sk-2"));
        std::fs::write(&path, "\n").unwrap();
        assert_eq!(KeySource::File(path).read().unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let error = KeySource::Env("TURNKEEP_NO_SUCH_KEY".to_owned()).read().unwrap_err();

        assert_eq!(error.to_string(), "the variable TURNKEEP_NO_SUCH_KEY is not set");
        assert_eq!(error.remedy(), Some("set TURNKEEP_NO_SUCH_KEY to the key"));
    }
}
