//! A server in a process of its own, and what it has used.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use turnkeep_provider::Secret;
use turnkeep_server::pusher::feed::NoSessions;
use turnkeep_server::pusher::{App, Hub, Limits, NoAuthorizer, Pusher};

use crate::Outcome;

/// Sockudo's program, where someone has built it.
const SOCKUDO: &str = "TURNKEEP_SOCKUDO";

const SOCKUDO_PORT: u16 = 46_001;

/// The app that all servers know.
pub(super) fn app() -> App {
    let limits = Limits { connections: 100_000, channels: 10_000, ..Limits::default() };
    App { limits, ..App::new("app-id", "app-key", Secret::new("app-secret"), "tenant") }
}

/// Our server, until the process ends. It prints its port.
pub(crate) fn serve() -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?.port());
        let hub = Arc::new(Hub::new([app()], 100_000));
        let router = Pusher::new(hub, Arc::new(NoSessions), Arc::new(NoAuthorizer)).router();
        // A listener that cannot set an option still serves.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        Ok(axum::serve(listener, router).await?)
    })
}

/// A server that runs; it ends with this value.
pub(super) struct Process {
    child: Child,
    pub(super) port: u16,
}

impl Process {
    pub(super) fn ours() -> Outcome<Process> {
        Process::told(Command::new(std::env::current_exe()?).args(["fanout", "serve"]))
    }

    /// The broadcaster of `benches/peers/fanout`, with `ws` installed beside the build.
    pub(super) fn node(scratch: &Path) -> Outcome<Process> {
        let folder = scratch.join("npm");
        if !folder.join("node_modules/ws").exists() {
            fs::create_dir_all(&folder)?;
            let install = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
            let installed = Command::new("npm").args(install).arg(&folder).arg("ws@8").status();
            installed.ok().filter(std::process::ExitStatus::success).ok_or("npm could not install ws")?;
        }
        Process::told(Command::new("node").arg("benches/peers/fanout/server.cjs").arg(folder))
    }

    /// A program that someone has built, named by the variable.
    pub(super) fn sockudo() -> Outcome<Process> {
        let program = std::env::var_os(SOCKUDO).ok_or(format!("{SOCKUDO} names no program"))?;
        let mut command = Command::new(program);
        let port = SOCKUDO_PORT.to_string();
        let settings = [
            ("PORT", port.as_str()),
            ("HOST", "127.0.0.1"),
            ("RATE_LIMITER_ENABLED", "false"),
            ("METRICS_ENABLED", "false"),
            ("SOCKUDO_DEFAULT_APP_MAX_BACKEND_EVENTS_PER_SECOND", "1000000"),
            ("SOCKUDO_DEFAULT_APP_ID", "app-id"),
            ("SOCKUDO_DEFAULT_APP_KEY", "app-key"),
            ("SOCKUDO_DEFAULT_APP_SECRET", "app-secret"),
            ("SOCKUDO_DEFAULT_APP_ENABLED", "true"),
        ];
        let child = command.envs(settings).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let process = Process { child, port: SOCKUDO_PORT };
        for _ in 0..100 {
            if std::net::TcpStream::connect(("127.0.0.1", SOCKUDO_PORT)).is_ok() {
                return Ok(process);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err("Sockudo does not start".into())
    }

    /// Starts a program that prints its port.
    fn told(command: &mut Command) -> Outcome<Process> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let output = child.stdout.take().ok_or("no output")?;
        let mut process = Process { child, port: 0 };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        process.port = line.trim().parse().map_err(|_| "the server does not start")?;
        Ok(process)
    }

    /// How much of the processor all its threads have used.
    pub(super) fn processor_time(&self) -> Outcome<Duration> {
        let mut nanoseconds = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
            nanoseconds += text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// The bytes of memory that it has.
    pub(super) fn resident(&self) -> Outcome<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes * 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended already is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
