//! Losses as a person takes them in: those that are alike are told once, with how often.

use std::collections::HashMap;

use turnkeep_model::{Loss, LossKind, Severity};

use crate::terminal::{DIM, YELLOW, counted, print_note};
use crate::visible::visible_line;

/// How many groups are named before a count has to do.
const NAMED: usize = 8;

/// Losses that differ only in numbers, such as the places of a list, counted together.
#[derive(Default)]
pub(crate) struct Tally {
    groups: Vec<Group>,
    places: HashMap<(LossKind, Severity, String, String), usize>,
}

struct Group {
    first: Loss,
    count: usize,
}

impl Tally {
    pub(crate) fn of(losses: &[Loss]) -> Tally {
        let mut tally = Tally::default();
        losses.iter().for_each(|loss| tally.add(loss));
        tally
    }

    pub(crate) fn add(&mut self, loss: &Loss) {
        let key = (loss.kind, loss.severity(), numberless(&loss.at), numberless(&loss.what));
        let place = *self.places.entry(key).or_insert(self.groups.len());
        match self.groups.get_mut(place) {
            Some(group) => group.count += 1,
            None => self.groups.push(Group { first: loss.clone(), count: 1 }),
        }
    }

    /// Says it on standard error; `more` says where the rest can be seen.
    pub(crate) fn print_note(&self, more: &str) {
        let total: usize = self.groups.iter().map(|group| group.count).sum();
        if total == 0 {
            return;
        }
        let total_of = counted(total, "loss", "losses");
        print_note(&format!("{YELLOW}{total_of}{YELLOW:#} ({}): {}", self.kinds(), self.severities()));
        let worst = self.worst_first();
        for group in worst.iter().take(NAMED) {
            print_note(&format!("  {}", group.line()));
        }
        let told: usize = worst.iter().take(NAMED).map(|group| group.count).sum();
        let rest = if told < total { format!("… and {} more; ", total - told) } else { String::new() };
        if told < total || self.groups.len() < total {
            print_note(&format!("  {DIM}{rest}{more}{DIM:#}"));
        }
    }

    /// How many losses there are of each kind, as in `3 dropped, 1 renamed`.
    pub(crate) fn kinds(&self) -> String {
        self.counts(LossKind::ALL, |loss| loss.kind)
    }

    /// How many losses there are of each severity, as in `1 content, 3 spelling`.
    fn severities(&self) -> String {
        self.counts(Severity::ALL, Loss::severity)
    }

    fn counts<T: PartialEq + std::fmt::Display>(&self, words: &[T], word_of: impl Fn(&Loss) -> T) -> String {
        let count = |word: &T| -> usize {
            self.groups.iter().filter(|group| word_of(&group.first) == *word).map(|group| group.count).sum()
        };
        let counts = words.iter().map(|word| (count(word), word)).filter(|(count, _)| *count > 0);
        counts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    }

    fn worst_first(&self) -> Vec<&Group> {
        let mut groups: Vec<&Group> = self.groups.iter().collect();
        groups.sort_by_key(|group| group.first.severity());
        groups
    }
}

impl Group {
    fn line(&self) -> String {
        if self.count == 1 {
            return line(&self.first);
        }
        let alike = Loss { at: numberless(&self.first.at), ..self.first.clone() };
        format!("{} {DIM}({} times){DIM:#}", line(&alike), self.count)
    }
}

/// One loss on one line.
pub(crate) fn line(loss: &Loss) -> String {
    let place = if loss.at.is_empty() { "the whole" } else { &loss.at };
    format!("{:<11} {}: {}", loss.kind.as_str(), visible_line(place), visible_line(&loss.what))
}

/// The text with `*` for every number that stands alone.
fn numberless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let alone = digits > 0 && !before.is_alphanumeric();
        let taken = if alone { digits } else { c.len_utf8() };
        out.push(if alone { '*' } else { c });
        before = if alone { '*' } else { c };
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(at: &str, what: &str) -> Loss {
        Loss::encode(LossKind::Dropped, at, what)
    }

    #[test]
    fn only_numbers_that_stand_alone_are_left_out() {
        assert_eq!(numberless("turns[12].blocks[0].text"), "turns[*].blocks[*].text");
        assert_eq!(numberless("version v2 of 10, U+FFFD and sha256"), "version v2 of *, U+FFFD and sha256");
    }

    #[test]
    fn lost_content_is_named_first() {
        let losses = [loss("turns[0].id", "no place"), loss("turns[0].blocks[0].text", "no place")];

        let tally = Tally::of(&losses);

        let places: Vec<&str> = tally.worst_first().iter().map(|group| group.first.at.as_str()).collect();
        assert_eq!(places, ["turns[0].blocks[0].text", "turns[0].id"]);
    }

    #[test]
    fn losses_that_are_alike_are_told_once() {
        let losses = [
            loss("turns[0].id", "there is no place for it"),
            loss("turns[1].id", "there is no place for it"),
            loss("turns[1].model", "there is no place for it"),
        ];

        let tally = Tally::of(&losses);

        assert_eq!(tally.kinds(), "3 dropped");
        assert_eq!(tally.severities(), "3 setting");
        let lines: Vec<String> = tally.groups.iter().map(Group::line).collect();
        assert!(lines[0].starts_with("dropped     turns[*].id: there is no place for it "), "{}", lines[0]);
        assert!(lines[0].contains("(2 times)"), "{}", lines[0]);
        assert_eq!(lines[1], "dropped     turns[1].model: there is no place for it");
    }
}
