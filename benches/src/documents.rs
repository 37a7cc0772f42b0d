//! Native documents: speed against `serde_json`, and peak memory.

use std::fs;
use std::path::Path;
use std::process::Command;

use turnkeep_codec::{Codec, DecodeOptions, EncodeOptions, Input, format};

use crate::race::{race, timed};
use crate::report::{Bound, Report, Row};
use crate::{Outcome, plain, sessions};

const SPEED_BYTES: usize = 22_000_000;
const MEMORY_BYTES: usize = 100_000_000;
const ROUNDS: usize = 20;

pub(crate) fn codec() -> Outcome<&'static dyn Codec> {
    Ok(format::by_id("turnkeep")?)
}

/// Measures decoding and encoding.
pub(crate) fn speed(report: &mut Report) -> Outcome<()> {
    let codec = codec()?;
    let archive = sessions::archive(SPEED_BYTES);
    let bytes = codec.encode(&archive, &EncodeOptions::default())?.bytes;
    let decoding = race(
        ROUNDS,
        || timed(|| codec.decode(Input::new(&bytes), &DecodeOptions::default())),
        || timed(|| serde_json::from_slice::<plain::Archive>(&bytes)),
    )?;
    report.measured(Row::speed("native JSON decode / serde_json, 22 MB", decoding, Bound::AtLeast(0.6)));
    let typed: plain::Archive = serde_json::from_slice(&bytes)?;
    let encoding = race(
        ROUNDS,
        || timed(|| codec.encode(&archive, &EncodeOptions::default())),
        || timed(|| serde_json::to_vec(&typed)),
    )?;
    report.measured(Row::speed("native JSON encode / serde_json, 22 MB", encoding, Bound::AtLeast(0.6)));
    Ok(())
}

/// What a child process does while its memory is watched.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Job {
    Decode,
    Copy,
}

impl Job {
    pub(crate) fn parse(word: &str) -> Option<Job> {
        [Job::Decode, Job::Copy].into_iter().find(|job| job.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Job::Decode => "decode",
            Job::Copy => "copy",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Job::Decode => "peak memory of decode / file, 100 MB",
            Job::Copy => "peak memory of decode and encode / file, 100 MB",
        }
    }
}

/// Measures peak memory, in a fresh process each.
pub(crate) fn memory(report: &mut Report, scratch: &Path) -> Outcome<()> {
    let file = scratch.join("session.turnkeep.json");
    fs::write(&file, codec()?.encode(&sessions::archive(MEMORY_BYTES), &EncodeOptions::default())?.bytes)?;
    let size = fs::metadata(&file)?.len();
    for job in [Job::Decode, Job::Copy] {
        let child = Command::new(std::env::current_exe()?).args(["peak", job.word()]).arg(&file).output()?;
        if !child.status.success() {
            return Err(format!("{}: {}", job.name(), String::from_utf8_lossy(&child.stderr)).into());
        }
        let peak = String::from_utf8(child.stdout)?.trim().parse()?;
        report.measured(Row::memory(job.name(), peak, size, Bound::AtMost(3.0)));
    }
    fs::remove_file(&file)?;
    Ok(())
}

/// Does `job` on `file` and returns the peak resident memory of this process in bytes.
pub(crate) fn peak(job: Job, file: &Path) -> Outcome<u64> {
    let codec = codec()?;
    let bytes = fs::read(file)?;
    let decoded = codec.decode(Input::new(&bytes), &DecodeOptions::default())?;
    drop(bytes);
    if let Job::Copy = job {
        std::hint::black_box(codec.encode(&decoded.archive, &EncodeOptions::default())?.bytes);
    }
    high_water_mark(&fs::read_to_string("/proc/self/status")?)
}

pub(crate) fn high_water_mark(status: &str) -> Outcome<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: u64 = line.ok_or("no VmHWM in /proc/self/status")?.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_read_in_bytes() {
        assert_eq!(high_water_mark("Name:\tx\nVmHWM:\t   2048 kB\nVmRSS:\t1 kB\n").unwrap(), 2048 * 1024);
        assert!(high_water_mark("Name:\tx\n").is_err());
    }
}
