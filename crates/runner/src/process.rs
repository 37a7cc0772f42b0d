//! A program that runs beside us: its input, its output, and its end.
//!
//! Three threads attend a program: one writes its input, one reads what it complains of, one reads its output and waits
//! for its end. All of them are there *before* the program starts. Where the system has no thread left, nothing was done
//! then, and the caller may say so; a program without attendants would be one that may have acted.
//!
//! The program is in a process group of its own. When nobody waits for it any more (the future is dropped), the whole
//! group is ended, and a program that has not started yet never does.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

/// How much of each stream is kept; the rest is read and forgotten.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keep {
    pub(crate) output: usize,
    pub(crate) complaint: usize,
}

/// What a program did.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) output: Vec<u8>,
    pub(crate) complaint: Vec<u8>,
}

/// Why nothing is known of a program's end.
#[derive(Debug)]
pub(crate) enum Unknown {
    /// The system has no thread for it now. It was not started.
    NoThread(io::Error),
    /// It could not be started.
    NotStarted(io::Error),
    /// It was started, and may have acted.
    Lost(io::Error),
}

/// Runs a program to its end.
pub(crate) async fn run(mut command: Command, input: String, keep: Keep) -> Result<Ended, Unknown> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    in_own_group(&mut command);
    let stage = Shared::default();
    let guard = Guard(stage.clone());
    let (sender, receiver) = futures_channel::oneshot::channel();
    let attending = move || {
        // Nobody waits for it any more where this fails.
        let _ = sender.send(attend(command, input, keep, &stage));
    };
    thread::Builder::new().spawn(attending).map_err(Unknown::NoThread)?;
    let ended = receiver.await;
    drop(guard);
    ended.unwrap_or_else(|_| Err(Unknown::Lost(io::Error::other("the thread that read it ended"))))
}

/// How far a program is.
#[derive(Debug, Default)]
enum Stage {
    #[default]
    NotStarted,
    Running(u32),
    Ended,
    /// Nobody waits for it any more.
    Abandoned,
}

#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<Stage>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the program, unless nobody waits for it any more.
    fn start(&self, command: &mut Command) -> Result<Child, Unknown> {
        // Locked while it starts: whoever gives it up meanwhile finds it running, and ends it.
        let mut stage = self.lock();
        if matches!(*stage, Stage::Abandoned) {
            return Err(Unknown::NotStarted(io::ErrorKind::Interrupted.into()));
        }
        let child = command.spawn().map_err(Unknown::NotStarted)?;
        *stage = Stage::Running(child.id());
        Ok(child)
    }
}

/// Ends the program when it is dropped.
struct Guard(Shared);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Stage::Running(id) = std::mem::replace(&mut *self.0.lock(), Stage::Abandoned) {
            end_group(id);
        }
    }
}

fn attend(mut command: Command, input: String, keep: Keep, stage: &Shared) -> Result<Ended, Unknown> {
    let (to_feeder, stdin) = mpsc::channel::<ChildStdin>();
    let (to_listener, stderr) = mpsc::channel::<ChildStderr>();
    let feeding = thread::Builder::new().spawn(move || {
        // A program that does not read its arguments is none the worse for it.
        let _ = stdin.recv().map(|mut stdin| stdin.write_all(input.as_bytes()));
    });
    let feeding = feeding.map_err(Unknown::NoThread)?;
    let listening = thread::Builder::new()
        .spawn(move || stderr.recv().map_or(Ok(Vec::new()), |stderr| read_some(stderr, keep.complaint)));
    let listening = listening.map_err(Unknown::NoThread)?;
    let mut child = stage.start(&mut command)?;
    // The threads end with their streams; one that is not there ends them at once.
    child.stdin.take().map(|stdin| to_feeder.send(stdin));
    child.stderr.take().map(|stderr| to_listener.send(stderr));
    drop((to_feeder, to_listener));
    let output = child.stdout.take().map_or(Ok(Vec::new()), |stdout| read_some(stdout, keep.output));
    let status = child.wait().map_err(Unknown::Lost)?;
    end(stage);
    let _ = feeding.join();
    let complaint = listening.join().unwrap_or_else(|_| Ok(Vec::new()));
    Ok(Ended { status, output: output.map_err(Unknown::Lost)?, complaint: complaint.map_err(Unknown::Lost)? })
}

/// Its number may be another program's from here on.
fn end(stage: &Shared) {
    let mut stage = stage.lock();
    if matches!(*stage, Stage::Running(_)) {
        *stage = Stage::Ended;
    }
}

/// The first bytes; the rest is read and forgotten, so that the writer is not held up.
fn read_some(mut reader: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    reader.by_ref().take(limit as u64).read_to_end(&mut kept)?;
    io::copy(&mut reader, &mut io::sink())?;
    Ok(kept)
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
