//! Counting what the test runners say, and only that.

/// What the test runners reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Names of tests that were not run.
    pub(crate) ignored: Vec<String>,
    /// How long each test took that passed, in milliseconds, with its name.
    pub(crate) times: Vec<(u64, String)>,
}

impl Tally {
    /// Adds what one line of cargo's own test harness says.
    pub(crate) fn add_cargo_line(&mut self, line: &str) {
        let line = without_colours(line);
        if line.starts_with("test result: ") {
            self.passed += count_before(&line, "passed");
            self.failed += count_before(&line, "failed");
        } else if let Some((name, _)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ignored")) {
            self.ignored.push(name.to_owned());
        } else {
            self.times.extend(cargo_pass(&line));
        }
    }

    /// The tests that took longest, as lines for a reader.
    pub(crate) fn slowest(&self, most: usize) -> Vec<String> {
        let mut times: Vec<_> = self.times.iter().collect();
        times.sort_unstable_by(|one, other| other.cmp(one));
        times.into_iter().take(most).map(|(time, name)| format!("{:>6.1} s  {name}", *time as f64 / 1e3)).collect()
    }

    /// Adds what one line of nextest says. It shows the output of failed tests too, so the lines of the harness in there
    /// must not count.
    pub(crate) fn add_nextest_line(&mut self, line: &str) {
        let line = without_colours(line);
        let line = line.trim();
        if line.starts_with("Summary [") {
            self.passed += count_before(line, "passed");
            self.failed += count_before(line, "failed") + count_before(line, "timed out");
        } else if let Some((_, name)) = line.strip_prefix("SKIP [").and_then(|rest| rest.split_once("] ")) {
            self.ignored.push(without_count(name).to_owned());
        } else {
            self.times.extend(nextest_pass(line));
        }
    }
}

/// Whether a line of either runner says no more than that a test passed.
pub(crate) fn is_pass(line: &str) -> bool {
    let line = without_colours(line);
    cargo_pass(&line).or_else(|| nextest_pass(line.trim())).is_some()
}

/// Reads `test NAME ... ok <1.234s>`; the time is not always there.
fn cargo_pass(line: &str) -> Option<(u64, String)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ok")?;
    let time = rest.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix("s>"));
    Some((time.and_then(milliseconds).unwrap_or_default(), name.to_owned()))
}

/// Reads `PASS [   1.234s] (12/99) NAME`; the count is not always there.
fn nextest_pass(line: &str) -> Option<(u64, String)> {
    let (time, rest) = line.strip_prefix("PASS [")?.split_once("s]")?;
    Some((milliseconds(time)?, without_count(rest).to_owned()))
}

/// The name of a test without the count that may stand before it, as in `(12/99) NAME` or `(───) NAME`.
fn without_count(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(text, |(_, name)| name)
}

fn milliseconds(seconds: &str) -> Option<u64> {
    seconds.trim().parse::<f64>().ok().map(|seconds| (seconds * 1e3).round() as u64)
}

/// The number that stands before `word`.
fn count_before(line: &str, word: &str) -> u64 {
    let before = line.split_once(&format!(" {word}")).map(|(before, _)| before);
    before.and_then(|before| before.rsplit(' ').next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The line without terminal escapes.
fn without_colours(line: &str) -> String {
    let mut pieces = line.split('\u{1b}');
    let first = pieces.next().unwrap_or_default();
    let rest = pieces.map(|piece| piece.split_once('m').map_or(piece, |(_, text)| text));
    std::iter::once(first).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(add: fn(&mut Tally, &str), lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        lines.iter().for_each(|line| add(&mut tally, line));
        tally
    }

    #[test]
    fn counts_cargo_test() {
        let lines = [
            "test json::tests::a ... ok",
            "test json::tests::b ... ok <1.250s>",
            "test slow_one ... ignored",
            "test other ... ignored, needs a server",
            "test result: ok. 8 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.80s",
            "test result: FAILED. 6 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "5 passed, 0 failed",
        ];

        let ignored = vec!["slow_one".to_owned(), "other".to_owned()];
        let times = vec![(0, "json::tests::a".to_owned()), (1250, "json::tests::b".to_owned())];
        assert_eq!(tally(Tally::add_cargo_line, &lines), Tally { passed: 14, failed: 1, ignored, times });
    }

    #[test]
    fn counts_nextest_but_not_the_output_of_tests() {
        let lines = [
            "    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "     Summary [   0.012s] 16 tests run: 14 passed (1 slow), 2 failed, 1 skipped",
            "        SKIP [         ] (───) turnkeep-model fold::slow_one",
            "        PASS [   0.034s] ( 12/999) turnkeep-model fold::one",
            "        PASS [   2.005s] turnkeep-model fold::two",
        ];

        let ignored = vec!["turnkeep-model fold::slow_one".to_owned()];
        let times = vec![(34, "turnkeep-model fold::one".to_owned()), (2005, "turnkeep-model fold::two".to_owned())];
        assert_eq!(tally(Tally::add_nextest_line, &lines), Tally { passed: 14, failed: 2, ignored, times });
    }

    #[test]
    fn colours_do_not_hide_a_count() {
        let line = "\u{1b}[32;1m     Summary\u{1b}[0m [   0.012s] \u{1b}[1m3\u{1b}[0m tests run: \u{1b}[1m3\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m";

        assert_eq!(tally(Tally::add_nextest_line, &[line]).passed, 3);
    }

    #[test]
    fn the_slowest_come_first() {
        let times = [(20, "a"), (3000, "b"), (100, "c")].map(|(time, name)| (time, name.to_owned())).to_vec();

        let slowest = Tally { times, ..Tally::default() }.slowest(2);

        assert_eq!(slowest, ["   3.0 s  b", "   0.1 s  c"]);
    }

    #[test]
    fn only_lines_that_say_passed_are_hidden() {
        let hidden = ["test a ... ok", "test a ... ok <0.001s>", "\u{1b}[32m    PASS\u{1b}[0m [   0.012s] ( 1/2) a b"];
        let shown =
            ["test a ... FAILED <0.001s>", "    FAIL [   0.012s] a b", "    Summary [   0.012s] 1 passed", "ok"];

        assert!(hidden.into_iter().all(is_pass));
        assert!(!shown.into_iter().any(is_pass));
    }
}
