//! Runs a property over generated cases.

use std::fmt::Debug;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// How many cases to run where `base` are run by default: `TURNKEEP_CASES` times as many.
pub fn cases(base: u32) -> u32 {
    base.saturating_mul(environment("TURNKEEP_CASES").unwrap_or(1))
}

/// How many processes to kill where `base` are killed by default: `TURNKEEP_KILLS` times as many.
pub fn kills(base: u32) -> u32 {
    base.saturating_mul(environment("TURNKEEP_KILLS").unwrap_or(1))
}

/// The seed of all generated cases, from `TURNKEEP_SEED`.
pub fn seed() -> u32 {
    environment("TURNKEEP_SEED").unwrap_or(0)
}

fn environment(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

/// Checks `property` for `base` generated cases, more if the environment asks for it.
///
/// # Panics
/// With the smallest case found, where the property does not hold.
#[track_caller]
#[expect(clippy::panic, reason = "a broken law is a failed test")]
pub fn for_all<S: Strategy>(base: u32, strategy: &S, property: impl Fn(S::Value) -> Result<(), TestCaseError>)
where
    S::Value: Debug,
{
    let mut runner = TestRunner::new_with_rng(config(cases(base)), generator());
    match runner.run(strategy, property) {
        Ok(()) => {}
        Err(TestError::Abort(why)) => panic!("no cases could be generated: {why}"),
        Err(TestError::Fail(why, smallest)) => {
            panic!("{why}\nsmallest case (seed {}): {}", seed(), terse(&format!("{smallest:#?}")))
        }
    }
}

/// A printed value without the fields that are empty.
fn terse(printed: &str) -> String {
    let empty = |line: &&str| [": None,", ": [],", ": Null,"].iter().any(|end| line.ends_with(end));
    let lines: Vec<&str> = printed.lines().filter(|line| !empty(line)).collect();
    lines.join("\n")
}

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, max_shrink_iters: 4096, ..Config::default() }
}

fn generator() -> TestRng {
    let mut bytes = [0; 32];
    for (slot, byte) in bytes.iter_mut().zip(seed().to_le_bytes()) {
        *slot = byte;
    }
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}
