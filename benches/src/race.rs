//! Timing two ways of doing the same in turns, so that a noisy machine disturbs both alike.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::Outcome;

/// The best time of each side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) ours: Duration,
    pub(crate) theirs: Duration,
}

impl Times {
    /// Our throughput over theirs.
    pub(crate) fn ratio(&self) -> f64 {
        self.theirs.as_secs_f64() / self.ours.as_secs_f64()
    }
}

/// Runs both sides `rounds` times, one after the other, and keeps the best of each: the least disturbed.
pub(crate) fn race(
    rounds: usize,
    mut ours: impl FnMut() -> Outcome<Duration>,
    mut theirs: impl FnMut() -> Outcome<Duration>,
) -> Outcome<Times> {
    let mut best = Times { ours: Duration::MAX, theirs: Duration::MAX };
    for _ in 0..rounds {
        best.ours = best.ours.min(ours()?);
        best.theirs = best.theirs.min(theirs()?);
    }
    Ok(best)
}

/// How much of the processor `work` takes; dropping its result is not counted. Unlike a clock on the wall, this does not
/// run while others have the processor.
pub(crate) fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Outcome<Duration>
where
    E: Into<crate::Failure>,
{
    let start = processor_time()?;
    let result = black_box(work());
    let taken = processor_time()? - start;
    result.map(|_| taken).map_err(Into::into)
}

/// How much of the processor `work` takes on all threads, and how long that is on the wall.
pub(crate) fn clocked<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, Duration, Duration)> {
    let (start, cpu) = (std::time::Instant::now(), all_threads()?);
    let result = work()?;
    Ok((result, all_threads()? - cpu, start.elapsed()))
}

fn all_threads() -> Outcome<Duration> {
    Ok(clock_gettime(ClockId::ProcessCPUTime).try_into()?)
}

/// The time that a tenth of these stays below: what the machine can do when nobody disturbs it.
pub(crate) fn tenth(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 10).copied().unwrap_or_default()
}

fn processor_time() -> Outcome<Duration> {
    Ok(clock_gettime(ClockId::ThreadCPUTime).try_into()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_each_side_counts() {
        let mut ours = [3, 2, 4].map(Duration::from_secs).into_iter();
        let mut theirs = [9, 8, 1].map(Duration::from_secs).into_iter();

        let times = race(3, || Ok(ours.next().unwrap()), || Ok(theirs.next().unwrap())).unwrap();

        assert_eq!((times.ours.as_secs(), times.theirs.as_secs()), (2, 1));
        assert!((times.ratio() - 0.5).abs() < 1e-9);
    }
}
