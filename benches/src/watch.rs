//! Following sessions that other processes change: how soon a follower is woken, and what waiting costs.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use futures_util::StreamExt;
use pollster::block_on;
use rustix::time::{ClockId, clock_gettime};
use turnkeep_model::event::LogAdded;
use turnkeep_model::{Batch, Event, Seq, SessionId};
use turnkeep_store::{Changes, Store, StoreExt, open};

use crate::Outcome;
use crate::race::clocked;
use crate::report::{Bound, Report, Row};

/// How many appends are waited for, how many sessions are followed, and for how long nothing happens.
const WAKES: u64 = 200;
const FOLLOWED: usize = 1000;
const IDLE: Duration = Duration::from_secs(5);

/// How soon nineteen of twenty followers are woken, and the share of a processor that waiting takes.
const SOON: Duration = Duration::from_millis(50);
const SHARE: f64 = 0.01;

/// Measures every store that other processes can change.
pub(crate) fn all(report: &mut Report, scratch: &Path) -> Outcome<()> {
    for scheme in ["file", "sqlite"] {
        let place = scratch.join(format!("watch-{scheme}"));
        remove(&place)?;
        measure(report, scheme, &format!("{scheme}:{}?durability=process", place.display()))?;
        remove(&place)?;
    }
    postgres(report)
}

/// Removes what a run before left.
fn remove(place: &Path) -> Outcome<()> {
    for end in ["", "-wal", "-shm"] {
        let path = format!("{}{end}", place.display());
        if Path::new(&path).is_dir() {
            std::fs::remove_dir_all(&path)?;
        } else if Path::new(&path).exists() {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(not(feature = "postgres"))]
fn postgres(report: &mut Report) -> Outcome<()> {
    report.skipped("postgres, woken by another process", "no PostgreSQL could be started");
    Ok(())
}

#[cfg(feature = "postgres")]
fn postgres(report: &mut Report) -> Outcome<()> {
    let Ok(url) = std::env::var("TURNKEEP_POSTGRES") else {
        report.skipped("postgres, woken by another process", "TURNKEEP_POSTGRES names no database");
        return Ok(());
    };
    let place = format!("{url}{}schema=turnkeep_bench_watch", if url.contains('?') { '&' } else { '?' });
    let destroy = || turnkeep_store::PostgresStore::destroy(place.strip_prefix("postgres:").unwrap_or(&place));
    destroy()?;
    let measured = measure(report, "postgres", &place);
    destroy()?;
    measured
}

fn measure(report: &mut Report, scheme: &str, url: &str) -> Outcome<()> {
    let store = open(url)?;
    let watch = store.watch().ok_or("the store cannot tell")?;
    let mut followed: Vec<Changes> =
        (0..FOLLOWED).map(|n| watch.watch(&SessionId::new(format!("s{n}")))).collect::<Result<_, _>>()?;
    let mut latencies = wakes(&*store, url, followed.first_mut().ok_or("nobody follows")?)?;
    latencies.sort();
    for (percent, bound) in [(50, 0.5), (95, 1.0)] {
        let latency = latencies.get(latencies.len() * percent / 100).copied().unwrap_or_default();
        let name = format!("{scheme}, {percent} % of wakes by another process / 50 ms");
        report.measured(Row::time(name, latency, SOON, Bound::AtMost(bound)));
    }
    let ((), cpu, wall) = clocked(|| {
        std::thread::sleep(IDLE);
        Ok(())
    })?;
    let share = cpu.as_secs_f64() / wall.as_secs_f64();
    let name = format!("{scheme}, processor time of {FOLLOWED} idle followers / 1 %");
    report.measured(Row::fraction(name, share * 100.0, SHARE * 100.0, Bound::AtMost(1.0)));
    Ok(())
}

/// How long after each append of another process its follower knew of it.
fn wakes(store: &dyn Store, url: &str, changes: &mut Changes) -> Outcome<Vec<Duration>> {
    let mut writer = Writer::start(url)?;
    let session = SessionId::new("s0");
    let mut latencies = Vec::new();
    for last in (1..=WAKES).map(Seq) {
        let mut told = Duration::ZERO;
        let mut seen = Seq::START;
        writer.ask()?;
        while seen < last {
            let changed = block_on(changes.next()).ok_or("the store was closed")?;
            told = now()?;
            seen = match changed.last {
                Some(last) => last,
                None => block_on(store.last(&session)).unwrap_or_default(),
            };
        }
        latencies.push(told.saturating_sub(writer.appended()?));
    }
    Ok(latencies)
}

/// A process that appends when it is asked to, and says when that was done.
struct Writer {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Writer {
    fn start(url: &str) -> Outcome<Writer> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["watch", "append", url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        Ok(Writer { child, input, output })
    }

    fn ask(&mut self) -> Outcome<()> {
        writeln!(self.input)?;
        Ok(self.input.flush()?)
    }

    fn appended(&mut self) -> Outcome<Duration> {
        let nanos = self.output.next().ok_or("the writer ended")??.parse()?;
        Ok(Duration::from_nanos(nanos))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}

/// What the other process does: an append for every line of its input.
pub(crate) fn append(url: &str) -> Outcome<()> {
    let (store, session) = (open(url)?, SessionId::new("s0"));
    for (at, line) in (0..).map(Seq).zip(std::io::stdin().lines()) {
        line?;
        let event = Event::from(LogAdded { line: "wake up".to_owned() });
        block_on(store.append(&session, at, &Batch::new(at.next(), vec![event.into()])))?;
        println!("{}", now()?.as_nanos());
    }
    Ok(())
}

/// A time that all processes of the machine share.
fn now() -> Outcome<Duration> {
    Ok(clock_gettime(ClockId::Monotonic).try_into()?)
}
