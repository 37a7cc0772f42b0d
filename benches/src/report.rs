//! What was measured, and whether it holds.

use std::fmt;
use std::time::Duration;

use crate::race::Times;

/// What a ratio must not fall below or exceed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

/// One measurement.
#[derive(Debug)]
pub(crate) struct Row {
    name: String,
    ours: String,
    theirs: String,
    ratio: f64,
    bound: Bound,
}

/// A measurement that could not be made, and why.
#[derive(Debug)]
struct Skipped {
    name: String,
    why: String,
}

/// All that a run measured.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
    skipped: Vec<Skipped>,
}

impl Row {
    /// Our speed against another one's.
    pub(crate) fn speed(name: &str, times: Times, bound: Bound) -> Row {
        Row {
            name: name.to_owned(),
            ours: milliseconds(times.ours),
            theirs: milliseconds(times.theirs),
            ratio: times.ratio(),
            bound,
        }
    }

    /// Our time over another one's, or over what it may take: less is better.
    pub(crate) fn time(name: impl Into<String>, ours: Duration, theirs: Duration, bound: Bound) -> Row {
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64().max(f64::MIN_POSITIVE);
        Row { name: name.into(), ours: microseconds(ours), theirs: microseconds(theirs), ratio, bound }
    }

    /// Our number over another one.
    pub(crate) fn number(name: impl Into<String>, ours: f64, theirs: f64, unit: &str, bound: Bound) -> Row {
        let told = |number: f64| format!("{number:.0}{unit}");
        Row {
            name: name.into(),
            ours: told(ours),
            theirs: told(theirs),
            ratio: ours / theirs.max(f64::MIN_POSITIVE),
            bound,
        }
    }

    /// Our number, which may be small, over another one.
    pub(crate) fn fraction(name: impl Into<String>, ours: f64, theirs: f64, bound: Bound) -> Row {
        let ratio = ours / theirs.max(f64::MIN_POSITIVE);
        Row { name: name.into(), ours: format!("{ours:.2}"), theirs: format!("{theirs:.2}"), ratio, bound }
    }

    /// Our peak memory against the size of the file.
    pub(crate) fn memory(name: &str, peak: u64, file: u64, bound: Bound) -> Row {
        Row {
            name: name.to_owned(),
            ours: megabytes(peak),
            theirs: megabytes(file),
            ratio: peak as f64 / file.max(1) as f64,
            bound,
        }
    }

    pub(crate) fn holds(&self) -> bool {
        match self.bound {
            Bound::AtLeast(low) => self.ratio >= low,
            Bound::AtMost(high) => self.ratio <= high,
        }
    }

    fn verdict(&self) -> &'static str {
        if self.holds() { "PASS" } else { "FAIL" }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::AtLeast(low) => write!(f, "at least {low}x"),
            Bound::AtMost(high) => write!(f, "at most {high}x"),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { name, ours, theirs, ratio, bound } = self;
        let verdict = self.verdict();
        write!(f, "{name:<48} {ours:>10} {theirs:>10} {ratio:>7.2}x  {:<14} {verdict}", bound.to_string())
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<48} skipped: {}", self.name, self.why)
    }
}

impl Report {
    /// An empty report; prints the line above the rows.
    pub(crate) fn start() -> Report {
        println!("{:<48} {:>10} {:>10} {:>8}  {:<14} verdict", "what", "ours", "theirs", "ratio", "bound");
        Report::default()
    }

    /// Adds a measurement, and prints it.
    pub(crate) fn measured(&mut self, row: Row) {
        println!("{row}");
        self.rows.push(row);
    }

    /// Adds what could not be measured, and prints why.
    pub(crate) fn skipped(&mut self, name: &str, why: &str) {
        let skipped = Skipped { name: name.to_owned(), why: why.to_owned() };
        println!("{skipped}");
        self.skipped.push(skipped);
    }

    pub(crate) fn holds(&self) -> bool {
        self.rows.iter().all(Row::holds)
    }

    /// The report as the documentation shows it: only what does not depend on the machine's speed.
    pub(crate) fn to_markdown(&self) -> String {
        let mut text = String::from(INTRODUCTION);
        text.push_str("| what | ratio | bound | holds |\n|---|---:|---|---|\n");
        for row in &self.rows {
            let holds = if row.holds() { "yes" } else { "no" };
            text.push_str(&format!("| {} | {:.2}x | {} | {holds} |\n", row.name, row.ratio, row.bound));
        }
        for Skipped { name, why } in &self.skipped {
            text.push_str(&format!("| {name} | not measured: {why} | | |\n"));
        }
        text
    }
}

const INTRODUCTION: &str = "\
# Benchmarks

Written by `cargo xtask bench --write`; run `cargo xtask bench` to measure on your machine.

A speed ratio is our throughput over the other one's on the same bytes, by processor time, in turns in one run, best of
each: 2.0x means twice as fast as it, 0.5x half as fast. A memory ratio is the peak resident memory of a fresh process
over the size of the file it reads. Ratios vary by a few percent from run to run, and less from machine to machine than
times do; a run fails when a bound does not hold. A session of many tiny turns takes more memory for its bytes than this
one, because a turn has room for its settings, usage and timing whether or not it has any.

The documents are made from a fixed seed: sessions of a coding agent with thinking, tool calls and listings, about 7 kB
a turn. `serde_json` reads into and writes from derived structs with owned strings and the same fields, a block being
one flat struct (`benches/src/plain.rs`); they keep neither unknown fields nor the spelling of numbers, which we do.

Wires are measured with the requests that such a session makes and with streams of a word or two an event, against
structs of the fields that bodies and events have (`benches/src/wires/typed.rs`). Decoding a stream is cutting it into
events, putting the response together and reading that into a session; the other side finds line breaks with `memchr` and
parses each event. A lint pass is every rule over a body that is parsed already, as a share of decoding its bytes.

Growth is the time that ten times as much takes over the time that as much takes: 10x is linear, 100x is a square. Stores are
measured by processor time with 100, 1,000 and 10,000 sessions of two records, opening them included, PostgreSQL and the command
by the clock on the wall; the peak memory of the command is that of its process, with sessions of 2, 20 and 200 MB.

Fan-out is what a server uses of the processor for each delivery of an event of 1 kB over WebSockets, published over HTTP by eight
connections; servers and clients are processes of their own. The broadcaster on Node (`benches/peers/fanout`) checks no signature, ours does.

";

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

fn microseconds(time: Duration) -> String {
    format!("{:.0} us", time.as_secs_f64() * 1e6)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_does_not_hold_fails_the_report() {
        let rows = vec![Row::memory("a", 200, 100, Bound::AtMost(3.0)), Row::memory("b", 310, 100, Bound::AtMost(3.0))];

        let report = Report { rows, skipped: Vec::new() };

        assert_eq!(report.rows.iter().map(Row::verdict).collect::<Vec<_>>(), ["PASS", "FAIL"]);
        assert!(!report.holds());
    }
}
