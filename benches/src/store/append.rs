//! Appending: one writer at any length of the journal, and eight at once.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use pollster::block_on;
use turnkeep_model::{Batch, SessionId};
use turnkeep_store::{Durability, Store, StoreExt};
use turnkeep_testkit::vfs::{IoCount, Keep, Watch};

use super::{journal, raw};
use crate::documents::high_water_mark;
use crate::race::{clocked, tenth};
use crate::report::{Bound, Report, Row};
use crate::{Failure, Outcome, sessions};

const LENGTHS: [usize; 4] = [10, 100, 1_000, 5_000];

/// How many turns are measured after each length.
const MEASURED: usize = 60;

/// The files, ours and the raw one.
const OURS: &str = "append.db";
const RAW: &str = "append-raw.db";

const WRITERS: usize = 8;
const TURNS_EACH: usize = 60;

/// Measures the append of a turn, each batch with one sync, after histories of several lengths.
pub(crate) fn turns(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let watch = Watch::new(scratch, Keep::Nothing);
    let (file, raw_file) = (journal::fresh(scratch, OURS), journal::fresh(scratch, RAW));
    let session = SessionId::new("bench");
    let longest = LENGTHS.into_iter().max().unwrap_or_default();
    let mut turns = journal::session(longest + MEASURED * LENGTHS.len());
    let mut at = 0;
    for length in LENGTHS {
        grow(&file, &raw_file, turns.by_ref().take(length.saturating_sub(at)))?;
        let (store, plain) = (journal::open(&file, Durability::Power)?, raw::open(&raw_file, Durability::Power)?);
        let (mut ours, mut theirs) = (Side::new(&watch, OURS), Side::new(&watch, RAW));
        for batches in turns.by_ref().take(MEASURED) {
            ours.run(|| journal::append(&*store, &session, &batches))?;
            theirs.run(|| batches.iter().try_for_each(|batch| raw::insert(&plain, "bench", batch)))?;
        }
        at = length.max(at) + MEASURED;
        told(report, length, ours, theirs, &watch)?;
    }
    Ok(())
}

/// Appends turns to both files, as fast as that goes.
fn grow(file: &Path, raw_file: &Path, turns: impl Iterator<Item = Vec<Batch>>) -> Outcome<()> {
    let (store, plain) = (journal::open(file, Durability::Process)?, raw::open(raw_file, Durability::Process)?);
    plain.execute_batch("BEGIN")?;
    for batches in turns {
        journal::append(&*store, &SessionId::new("bench"), &batches)?;
        batches.iter().try_for_each(|batch| raw::insert(&plain, "bench", batch))?;
    }
    plain.execute_batch("COMMIT")?;
    Ok(())
}

/// What one side of a comparison took.
struct Side {
    file: &'static str,
    before: IoCount,
    walls: Vec<Duration>,
    cpu: Duration,
}

impl Side {
    fn new(watch: &Watch, file: &'static str) -> Side {
        Side { file, before: watch.count(file), walls: Vec::new(), cpu: Duration::ZERO }
    }

    fn run(&mut self, work: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
        let ((), used, wall) = clocked(work)?;
        self.walls.push(wall);
        self.cpu += used;
        Ok(())
    }

    /// Syncs and written bytes of a turn.
    fn written(&self, watch: &Watch) -> (f64, f64) {
        let now = watch.count(self.file);
        let per = |number: u64| number as f64 / MEASURED as f64;
        (per(now.syncs - self.before.syncs), per(now.bytes - self.before.bytes))
    }
}

fn told(report: &mut Report, length: usize, mut ours: Side, mut theirs: Side, watch: &Watch) -> Outcome<()> {
    let name = format!("append of a turn after {length} / raw insert");
    report.measured(Row::time(name, tenth(&mut ours.walls), tenth(&mut theirs.walls), Bound::AtMost(1.3)));
    let per = u32::try_from(MEASURED)?;
    let name = format!("processor time of that after {length} / raw insert");
    report.measured(Row::time(name, ours.cpu / per, theirs.cpu / per, Bound::AtMost(3.0)));
    let ((syncs, bytes), (raw_syncs, raw_bytes)) = (ours.written(watch), theirs.written(watch));
    let name = format!("syncs of that after {length} / raw insert");
    report.measured(Row::fraction(name, syncs, raw_syncs, Bound::AtMost(1.1)));
    let name = format!("bytes written for that after {length} / raw insert");
    report.measured(Row::number(name, bytes, raw_bytes, " B", Bound::AtMost(1.3)));
    Ok(())
}

/// Measures the same turns after a long history and after a short one, in turns.
pub(crate) fn flat(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let long = journal::open(&scratch.join(OURS), Durability::Power)?;
    let short = journal::open(&journal::fresh(scratch, "flat.db"), Durability::Power)?;
    let session = SessionId::new("bench");
    for batches in journal::session(10) {
        journal::append(&*short, &session, &batches)?;
    }
    let mut used = [Duration::ZERO; 2];
    for turn in sessions::turns(MEASURED) {
        for (store, used) in [&long, &short].into_iter().zip(&mut used) {
            let summary = block_on(store.summary(&session))?;
            let batches = journal::batches(&turn, u32::try_from(summary.turns)?, summary.last);
            *used += clocked(|| journal::append(&**store, &session, &batches))?.1;
        }
    }
    let [after_many, after_few] = used.map(|used| used / MEASURED as u32);
    report.measured(Row::time(
        "processor time after 5000 turns / after 10",
        after_many,
        after_few,
        Bound::AtMost(1.15),
    ));
    Ok(())
}

/// Measures eight who append at once, each to a session of its own.
pub(crate) fn writers(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let work: Vec<Vec<Batch>> = journal::session(TURNS_EACH).collect();
    let count = WRITERS * work.iter().map(Vec::len).sum::<usize>();
    let store = journal::open(&journal::fresh(scratch, "writers.db"), Durability::Power)?;
    let (ours, longest) = crowd(|writer, note| {
        let session = SessionId::new(format!("w{writer}"));
        work.iter()
            .flatten()
            .try_for_each(|batch| note(&mut || journal::append(&*store, &session, std::slice::from_ref(batch))))
    })?;
    let raw_file = journal::fresh(scratch, "writers-raw.db");
    drop(raw::open(&raw_file, Durability::Power)?);
    let (theirs, _) = crowd(|writer, note| {
        let plain = raw::open(&raw_file, Durability::Power)?;
        let session = format!("w{writer}");
        work.iter().flatten().try_for_each(|batch| note(&mut || raw::insert(&plain, &session, batch)))
    })?;
    let rate = |time: Duration| count as f64 / time.as_secs_f64();
    let name = "8 writers, batches a second / raw commits a second";
    report.measured(Row::number(name, rate(ours), rate(theirs), "/s", Bound::AtLeast(2.0)));
    let name = "8 writers, the longest wait / 500 ms";
    report.measured(Row::time(name, longest, Duration::from_millis(500), Bound::AtMost(1.0)));
    Ok(())
}

type Note<'a> = dyn FnMut(&mut dyn FnMut() -> Outcome<()>) -> Outcome<()> + 'a;

/// How long all writers took together, and the longest that one of them waited for one batch.
fn crowd(work: impl Fn(usize, &mut Note<'_>) -> Outcome<()> + Sync) -> Outcome<(Duration, Duration)> {
    let (longest, failure) = (Mutex::new(Duration::ZERO), Mutex::new(None::<String>));
    let start = Instant::now();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (work, longest, failure) = (&work, &longest, &failure);
            scope.spawn(move || {
                let mut own = Duration::ZERO;
                let mut note = |step: &mut dyn FnMut() -> Outcome<()>| {
                    let start = Instant::now();
                    let done = step();
                    own = own.max(start.elapsed());
                    done
                };
                if let (Err(error), Ok(mut failure)) = (work(writer, &mut note), failure.lock()) {
                    *failure = Some(error.to_string());
                }
                if let Ok(mut longest) = longest.lock() {
                    *longest = own.max(*longest);
                }
            });
        }
    });
    let taken = start.elapsed();
    match failure.into_inner() {
        Ok(Some(failure)) => Err(Failure::from(failure)),
        _ => Ok((taken, longest.into_inner().unwrap_or_default())),
    }
}

/// Measures the peak memory of a process that appends to a long session and to a short one.
pub(crate) fn memory(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let long = scratch.join("append.db");
    let short = journal::fresh(scratch, "short.db");
    let store = journal::open(&short, Durability::Process)?;
    for batches in journal::session(10) {
        journal::append(&*store, &SessionId::new("bench"), &batches)?;
    }
    drop(store);
    let peak = |file: &Path| -> Outcome<f64> {
        let child = Command::new(std::env::current_exe()?).args(["store", "peak"]).arg(file).output()?;
        if !child.status.success() {
            return Err(String::from_utf8_lossy(&child.stderr).into_owned().into());
        }
        Ok(String::from_utf8(child.stdout)?.trim().parse::<f64>()? / 1024.0)
    };
    let name = "peak memory of appending after 5000 turns / after 10";
    report.measured(Row::number(name, peak(&long)?, peak(&short)?, " kB", Bound::AtMost(1.3)));
    Ok(())
}

/// Appends some turns to the session in `file` and returns the peak resident memory of this process in bytes.
pub(crate) fn peak(file: &Path) -> Outcome<u64> {
    let store = journal::open(file, Durability::Process)?;
    let session = SessionId::new("bench");
    let summary = block_on(store.summary(&session))?;
    let mut at = summary.last;
    for (turn, index) in sessions::turns(40).zip(u32::try_from(summary.turns)?..) {
        for batch in journal::batches(&turn, index, at) {
            at = block_on(store.append(&session, at, &batch))?;
        }
    }
    high_water_mark(&std::fs::read_to_string("/proc/self/status")?)
}
