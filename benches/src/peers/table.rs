//! The table: a row for every question, a column for every system.

use std::fmt::Write;

use super::{LENGTHS, Measured, PEERS};

/// What a question is called, and its answer.
type Question = (&'static str, fn(&Measured) -> Option<f64>);

const QUESTIONS: [Question; 4] = [
    ("append of a turn, processor us", |m| Some(m.append_cpu)),
    ("append of a turn, wall p10 us", |m| Some(m.append_wall)),
    ("load of all as typed values, wall p10 us", |m| Some(m.load_wall)),
    ("last 20 items, wall p10 us", |m| m.tail_wall),
];

const BYTES: Question = ("bytes on disk / raw JSON", |m| m.bytes.map(|bytes| bytes / m.raw));
const FORK: Question = ("fork, wall p10 us", |m| m.fork_wall);

/// Where the documents hold what this writes.
const BEGIN: &str = "<!-- peers -->";

struct Row {
    name: String,
    ours: f64,
    theirs: Vec<Option<f64>>,
}

/// Every row in which ours and another has an answer.
pub(super) struct Table {
    systems: Vec<&'static str>,
    rows: Vec<Row>,
}

impl Table {
    pub(super) fn of(measured: &[Measured]) -> Table {
        let there = PEERS.iter().filter(|(system, _)| measured.iter().any(|m| m.system == *system));
        let (ids, systems): (Vec<&str>, Vec<&str>) = there.copied().unzip();
        let mut rows = Vec::new();
        for (name, question) in QUESTIONS {
            rows.extend(LENGTHS.iter().filter_map(|length| row(name, question, *length, measured, &ids)));
        }
        // What an empty store takes says nothing of a session, nor does copying a file that is hardly one.
        let lengths = LENGTHS.iter().filter(|length| **length >= 100);
        rows.extend(lengths.filter_map(|length| row(BYTES.0, BYTES.1, *length, measured, &ids)));
        rows.extend(LENGTHS.last().and_then(|length| row(FORK.0, FORK.1, *length, measured, &ids)));
        Table { systems, rows }
    }

    /// Whether ours is ahead in every row, of every system that has an answer.
    pub(super) fn ahead(&self) -> bool {
        self.rows.iter().all(|row| row.theirs.iter().flatten().all(|theirs| row.ours < *theirs))
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{:<42} {:>10}", "what", "turnkeep");
        self.systems.iter().for_each(|system| _ = write!(text, " {system:>28}"));
        for Row { name, ours, theirs } in &self.rows {
            let _ = write!(text, "\n{name:<42} {:>10}", number(*ours));
            for theirs in theirs {
                let cell = theirs.map_or("-".to_owned(), |theirs| {
                    format!("{} ({:.1}x)", number(theirs), theirs / ours.max(f64::MIN_POSITIVE))
                });
                let _ = write!(text, " {cell:>28}");
            }
        }
        text
    }
}

/// What loads cost, as a sentence.
pub(super) fn cost_of_loads(measured: &[Measured]) -> String {
    let longest = LENGTHS.last().copied().unwrap_or_default();
    let at = measured.iter().filter(|m| m.turns == longest);
    let named = |m: &Measured| {
        let name = PEERS.iter().find(|(system, _)| *system == m.system).map_or("turnkeep", |(_, name)| *name);
        format!("{name} {:.1} ms", m.load_cpu / 1000.0)
    };
    let costs: Vec<String> = at.map(named).collect();
    format!("Processor time of a load of {longest} turns: {}.", costs.join(", "))
}

fn row(
    name: &str,
    question: fn(&Measured) -> Option<f64>,
    length: usize,
    measured: &[Measured],
    ids: &[&str],
) -> Option<Row> {
    let answer = |system: &str| measured.iter().find(|m| m.system == system && m.turns == length).and_then(question);
    let theirs: Vec<Option<f64>> = ids.iter().map(|system| answer(system)).collect();
    theirs.iter().any(Option::is_some).then_some(())?;
    Some(Row { name: format!("{name}, at {length} turns"), ours: answer("turnkeep")?, theirs })
}

fn number(number: f64) -> String {
    if number < 10.0 { format!("{number:.2}") } else { format!("{number:.0}") }
}

/// The document with the table in the place of the one before.
pub(super) fn put_into(document: &str, table: &Table, costs: &str, skipped: &[String]) -> String {
    let kept = document.split(BEGIN).next().unwrap_or_default().trim_end();
    let mut text = format!("{kept}\n\n{BEGIN}\n\n{INTRODUCTION}\n```text\n{}\n```\n\n{costs}\n", table.to_text());
    skipped.iter().for_each(|line| _ = writeln!(text, "\nNot measured: {line}."));
    text
}

const INTRODUCTION: &str = "\
## Beside others

Written by `cargo xtask bench peers --write`; `cargo xtask bench peers` measures on your machine, in a virtual environment
that it makes.

Every system gets the same turns (`benches/peers/gen.py`, about 7 kB each) and does what it does by default
(`benches/peers/adapters.py`); a turn is one write for each. Ours is the SQLite store with a sync for each turn; a JSON file
that is written anew is never synced. In brackets: how many times ours that is. A system without an answer has no such call,
or stores everything again at each turn, which is only done for 100 turns. A load gives values with named fields: those of
each system, and for the JSON file the plainest data classes. Ours reads on all processors (two, where this was measured).
On one it would come after a JSON file, and after a table of JSON texts: it decompresses every line and checks it against
its sum. The processor time of a load is told below the table.

![Processor time of an append by the length of the session](benchmarks.svg)
";

/// What of the document is not ours to write.
pub(crate) fn rest(document: &str) -> &str {
    document.find(BEGIN).and_then(|at| document.get(at..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(system: &str, append: f64) -> Measured {
        Measured {
            system: system.to_owned(),
            turns: 100,
            raw: 100.0,
            bytes: Some(50.0),
            append_cpu: append,
            append_wall: append,
            load_cpu: append,
            load_wall: append,
            tail_wall: None,
            fork_wall: None,
        }
    }

    #[test]
    fn one_row_behind_is_behind() {
        let (ours, theirs) = (measured("turnkeep", 5.0), measured("json_rewrite", 9.0));
        let small = Measured { bytes: Some(40.0), ..theirs.clone() };
        let large = Measured { bytes: Some(60.0), ..theirs };

        assert!(Table::of(&[ours.clone(), large]).ahead());
        assert!(!Table::of(&[ours, small]).ahead());
    }

    #[test]
    fn writing_twice_is_writing_once() {
        let table = Table::of(&[measured("turnkeep", 5.0), measured("json_rewrite", 9.0)]);

        let once = put_into("# Benchmarks\n", &table, "Costs.", &[]);

        assert_eq!(put_into(&once, &table, "Costs.", &[]), once);
        assert!(once.starts_with("# Benchmarks\n\n<!-- peers -->"));
    }
}
