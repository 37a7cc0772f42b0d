//! A PostgreSQL server on loopback for tests, thrown away with everything in it.
//!
//! It needs nothing but the programs of PostgreSQL, and runs as an unprivileged user where its owner is root, because
//! PostgreSQL refuses anything else. Only the standard library is used: the project's own chores include this file.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Why there is no server.
pub type Reason = String;

/// What a server does with what it acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fsync {
    /// It is synced to the disk, as in earnest.
    On,
    /// It is left to the system: faster, and as good for tests that pull no plug.
    Off,
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopMode {
    /// Connections are closed, and everything is written.
    Fast,
    /// At once, as if it had crashed; it recovers when it starts again.
    Crash,
}

/// A running server.
#[derive(Debug)]
pub struct PostgresServer {
    programs: PathBuf,
    folder: PathBuf,
    user: Option<(u32, u32)>,
    port: u16,
    sync: Fsync,
    running: Option<Child>,
}

/// How long a server may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

impl PostgresServer {
    /// Makes a new database cluster and starts it.
    ///
    /// # Errors
    /// Why that is not possible here.
    pub fn start(sync: Fsync) -> Result<PostgresServer, Reason> {
        let programs = programs().ok_or("PostgreSQL is not installed")?;
        let user = if effective_user() == Some(0) { Some(unprivileged()?) } else { None };
        let folder = folder(user)?;
        let mut server = PostgresServer { programs, folder, user, port: 0, sync, running: None };
        server.create()?;
        // A port that was free a moment ago may be taken by now.
        let mut tried = server.launch(free_port()?);
        for _ in 0..4 {
            if tried.is_ok() {
                break;
            }
            tried = server.launch(free_port()?);
        }
        tried.map(|()| server)
    }

    /// The URL of its one database.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Stops it; what it holds stays.
    ///
    /// # Errors
    /// Where it does not obey.
    pub fn stop(&mut self, how: StopMode) -> Result<(), Reason> {
        let Some(mut running) = self.running.take() else {
            return Ok(());
        };
        let mode = match how {
            StopMode::Fast => "fast",
            StopMode::Crash => "immediate",
        };
        let stopped = run(self.program("pg_ctl").args(["stop", "-w", "-t", "120", "-m", mode, "-D"]).arg(self.data()));
        if stopped.is_err() {
            let _ = running.kill();
        }
        running.wait().map_err(|error| error.to_string())?;
        stopped
    }

    /// Stops all of its processes where they are: connections stay open, and nobody answers.
    ///
    /// # Errors
    /// Where they do not obey.
    pub fn freeze(&self) -> Result<(), Reason> {
        self.signal("-STOP")
    }

    /// Lets its processes go on.
    ///
    /// # Errors
    /// Where they do not obey.
    pub fn thaw(&self) -> Result<(), Reason> {
        self.signal("-CONT")
    }

    /// Signals the server, then the processes that it has started; a frozen one starts no more.
    fn signal(&self, signal: &str) -> Result<(), Reason> {
        let server = self.running.as_ref().ok_or("the server does not run")?.id().to_string();
        run(Command::new("kill").args([signal, &server]))?;
        let file = format!("/proc/{server}/task/{server}/children");
        let children = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        // One that has just ended is none to be signalled.
        children.split_whitespace().for_each(|child| drop(run(Command::new("kill").args([signal, child]))));
        Ok(())
    }

    /// Starts it again where it was.
    ///
    /// # Errors
    /// Where it does not start.
    pub fn resume(&mut self) -> Result<(), Reason> {
        self.launch(self.port)
    }

    /// Starts it again so that it takes encrypted connections and no others.
    ///
    /// # Errors
    /// Where it does not start with this certificate and this key.
    pub fn encrypt(&mut self, certificate: &[u8], key: &[u8]) -> Result<(), Reason> {
        self.stop(StopMode::Fast)?;
        self.put("server.crt", certificate)?;
        self.put("server.key", key)?;
        self.put("pg_hba.conf", b"hostssl all all all trust\n")?;
        let settings = self.data().join("postgresql.auto.conf");
        fs::write(settings, "ssl = on\n").map_err(|error| error.to_string())?;
        self.resume()
    }

    /// Writes a file of the cluster that only its user may read.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Reason> {
        let file = self.data().join(name);
        let written = fs::write(&file, bytes)
            .and_then(|()| fs::set_permissions(&file, fs::Permissions::from_mode(0o600)))
            .and_then(|()| match self.user {
                Some((user, group)) => std::os::unix::fs::chown(&file, Some(user), Some(group)),
                None => Ok(()),
            });
        written.map_err(|error| format!("{name} cannot be written: {error}"))
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command.current_dir(&self.folder).env("LC_ALL", "C");
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }

    fn create(&self) -> Result<(), Reason> {
        let options = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", "-D"];
        run(self.program("initdb").args(options).arg(self.data()))
    }

    fn launch(&mut self, port: u16) -> Result<(), Reason> {
        self.port = port;
        let log = fs::File::create(self.folder.join("log")).map_err(|error| error.to_string())?;
        let mut server = self.program("postgres");
        server.arg("-D").arg(self.data()).arg("-k").arg(&self.folder).args(["-p", &port.to_string()]);
        for setting in ["listen_addresses=127.0.0.1", "max_connections=200", "logging_collector=off", self.fsync()] {
            server.args(["-c", setting]);
        }
        let child = server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        let mut child = child.map_err(|error| format!("PostgreSQL cannot be started: {error}"))?;
        match self.answers(&mut child) {
            Ok(()) => self.running = Some(child),
            Err(reason) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(reason);
            }
        }
        Ok(())
    }

    fn fsync(&self) -> &'static str {
        match self.sync {
            Fsync::On => "fsync=on",
            Fsync::Off => "fsync=off",
        }
    }

    /// Waits until it takes connections.
    fn answers(&self, child: &mut Child) -> Result<(), Reason> {
        let start = Instant::now();
        loop {
            let mut asked = self.program("pg_isready");
            asked.args(["-q", "-t", "5", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
            if run(&mut asked).is_ok() {
                return Ok(());
            }
            let ended = child.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() || start.elapsed() > PATIENCE {
                return Err(format!("PostgreSQL does not start: {}", self.last_words()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn last_words(&self) -> String {
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        log.lines().next_back().unwrap_or("it says nothing").to_owned()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let _ = self.thaw();
        let _ = self.stop(StopMode::Crash);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The folder of the newest PostgreSQL that is installed.
pub fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let installed = versions.map(|entry| entry.path().join("bin"));
    let known = ["/usr/local/pgsql/bin", "/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"].map(PathBuf::from);
    let complete = |folder: &PathBuf| folder.join("initdb").is_file() && folder.join("postgres").is_file();
    installed.filter(complete).max_by_key(|folder| version(folder)).or_else(|| known.into_iter().find(complete))
}

fn version(folder: &Path) -> Option<u32> {
    folder.parent()?.file_name()?.to_str()?.parse().ok()
}

/// Who this process is.
pub fn effective_user() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|itself| itself.uid())
}

/// A user that may do nothing in particular.
fn unprivileged() -> Result<(u32, u32), Reason> {
    let users = fs::read_to_string("/etc/passwd").map_err(|error| error.to_string())?;
    let ids = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    ids("postgres")
        .or_else(|| ids("nobody"))
        .ok_or_else(|| "root may not run PostgreSQL, and nobody else is there".into())
}

/// A new folder that belongs to the user.
fn folder(user: Option<(u32, u32)>) -> Result<PathBuf, Reason> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("turnkeep-postgres-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    let made = fs::create_dir(&folder)
        .and_then(|()| fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)))
        .and_then(|()| match user {
            Some((user, group)) => std::os::unix::fs::chown(&folder, Some(user), Some(group)),
            None => Ok(()),
        });
    made.map(|()| folder).map_err(|error| format!("no folder for PostgreSQL: {error}"))
}

fn free_port() -> Result<u16, Reason> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    listener.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}

fn run(command: &mut Command) -> Result<(), Reason> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().next_back().unwrap_or("it failed without a word").to_owned())
}
