//! The port that knows processes.

use std::sync::LazyLock;

/// Whether a process that began a run still lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It lives.
    Alive,
    /// It has ended.
    Gone,
    /// It ran on another machine, and cannot be looked at from here.
    Elsewhere,
}

/// Names this process, and tells whether another one lives. Without it nobody could tell a session that is being run from
/// one whose process was killed.
pub trait Processes: Send + Sync {
    /// The name of this process, as runs record it; `None` where runs record none.
    fn own(&self) -> Option<String>;

    /// Whether the process of this name lives.
    fn liveness(&self, process: &str) -> Liveness;
}

/// The processes of this machine, named `PID@HOST`. On Linux the name ends in the time the process started, because pids
/// are used again.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalProcesses;

/// The name of this process does not change while it lives.
static OWN: LazyLock<String> = LazyLock::new(|| name(std::process::id()));

impl Processes for LocalProcesses {
    fn own(&self) -> Option<String> {
        Some(OWN.clone())
    }

    fn liveness(&self, process: &str) -> Liveness {
        let Some((pid, host)) = process.split_once('@') else {
            return Liveness::Elsewhere;
        };
        let host = host.rsplit_once('+').map_or(host, |(host, _)| host);
        match pid.parse() {
            Ok(pid) if host == self::host() && is_alive(pid) && name(pid) == process => Liveness::Alive,
            Ok(_) if host == self::host() => Liveness::Gone,
            _ => Liveness::Elsewhere,
        }
    }
}

fn name(pid: u32) -> String {
    match started(pid) {
        Some(ticks) => format!("{pid}@{}+{ticks}", host()),
        None => format!("{pid}@{}", host()),
    }
}

/// When a process started, in ticks since the machine did.
fn started(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program may hold spaces and brackets; fields are counted after its end.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19).map(str::to_owned)
}

#[cfg(unix)]
fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    // A process of another user refuses the signal, and lives.
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_alive(_: u32) -> bool {
    true
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_one_of_its_pid_that_started_earlier_does_not() {
        let own = LocalProcesses.own().unwrap();
        let earlier = format!("{}@{}+0", std::process::id(), host());

        assert_eq!(LocalProcesses.liveness(&own), Liveness::Alive);
        assert_eq!(LocalProcesses.liveness(&earlier), Liveness::Gone);
    }

    #[test]
    fn a_process_that_ended_is_gone_and_one_of_another_machine_cannot_be_seen() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let name = name(child.id());
        child.wait().unwrap();

        assert_eq!(LocalProcesses.liveness(&name), Liveness::Gone);
        assert_eq!(LocalProcesses.liveness("1@elsewhere.invalid"), Liveness::Elsewhere);
    }
}
