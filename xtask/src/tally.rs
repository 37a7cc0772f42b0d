//! Counting what the test runners say, and only that.

/// What the test runners reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Names of tests that were not run.
    pub(crate) ignored: Vec<String>,
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
        }
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
            self.ignored.push(name.trim().to_owned());
        }
    }
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
            "test slow_one ... ignored",
            "test other ... ignored, needs a server",
            "test result: ok. 8 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.80s",
            "test result: FAILED. 6 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "5 passed, 0 failed",
        ];

        let ignored = vec!["slow_one".to_owned(), "other".to_owned()];
        assert_eq!(tally(Tally::add_cargo_line, &lines), Tally { passed: 14, failed: 1, ignored });
    }

    #[test]
    fn counts_nextest_but_not_the_output_of_tests() {
        let lines = [
            "    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "     Summary [   0.012s] 16 tests run: 14 passed (1 slow), 2 failed, 1 skipped",
            "        SKIP [         ] turnkeep-model fold::slow_one",
        ];

        let ignored = vec!["turnkeep-model fold::slow_one".to_owned()];
        assert_eq!(tally(Tally::add_nextest_line, &lines), Tally { passed: 14, failed: 2, ignored });
    }

    #[test]
    fn colours_do_not_hide_a_count() {
        let line = "\u{1b}[32;1m     Summary\u{1b}[0m [   0.012s] \u{1b}[1m3\u{1b}[0m tests run: \u{1b}[1m3\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m";

        assert_eq!(tally(Tally::add_nextest_line, &[line]).passed, 3);
    }
}
