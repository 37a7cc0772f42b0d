//! What a unit is worth: rare values first, then decisions, then what else it says.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::lexicon::{Role, has, is_topic};
use super::sentence::Form;
use super::words::{Kind, Word};

/// What a value that is told already is still worth: at least, and where everything else is said of it for the first time.
const AGAIN: (f64, f64) = (0.1, 0.6);

/// How many words of a unit are looked at in pairs.
const MOST_PAIRED: usize = 6;

/// What all plain words of a unit are worth at most.
const MOST_PLAIN: f64 = 1.2;

/// In how many exchanges each word is used.
pub(super) struct Rarity {
    uses: HashMap<String, usize>,
    exchanges: usize,
}

impl Rarity {
    /// Counts words; every item is the exchange in which some words are used.
    pub(super) fn of<'a>(units: impl Iterator<Item = (usize, &'a [Word<'a>])>) -> Rarity {
        let mut seen: HashMap<&str, (usize, usize)> = HashMap::new();
        let mut exchanges = 0;
        for (exchange, words) in units {
            exchanges = exchanges.max(exchange + 1);
            for word in words {
                let (uses, last) = seen.entry(&word.key).or_insert((0, usize::MAX));
                if *last != exchange {
                    (*uses, *last) = (*uses + 1, exchange);
                }
            }
        }
        Rarity { uses: seen.into_iter().map(|(word, (uses, _))| (word.to_owned(), uses)).collect(), exchanges }
    }

    /// From 1 for a word that one exchange has, down to 0 for one that all have.
    pub(super) fn of_word(&self, key: &str) -> f64 {
        let (uses, all) = (self.uses.get(key).copied().unwrap_or(1) as f64, self.exchanges as f64 + 1.0);
        if self.exchanges < 4 { 1.0 } else { 1.0 - uses.ln() / all.ln() }
    }
}

/// A word in place of which a number stands, so that sets of words are small.
type Id = u64;

fn id(key: &str) -> Id {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// What the summary says already.
#[derive(Default)]
pub(super) struct Covered {
    words: HashSet<Id>,
    pairs: HashSet<(Id, Id)>,
}

/// What a unit says.
#[derive(Debug, Default)]
pub(super) struct UnitScore {
    /// Values, and what each is worth once.
    facts: Vec<(Id, f64)>,
    /// Other words that say what it is about, and what each is worth once.
    topics: Vec<(Id, f64)>,
    /// What it is worth as a whole.
    whole: f64,
}

/// Looks at a unit.
pub(super) fn look(words: &[Word<'_>], form: Form, rarity: &Rarity) -> UnitScore {
    let mut told = UnitScore::default();
    let mut seen = HashSet::new();
    let (mut decides, mut courts) = (false, false);
    for word in words {
        let key = word.key.as_str();
        decides |= form == Form::Prose && has(key, Role::Decides);
        courts |= has(key, Role::Courts);
        told.whole += if has(key, Role::Troubles) { 0.8 } else { 0.0 };
        let worth = value(word, form);
        if !seen.insert(key) {
            continue;
        }
        if worth > 0.0 {
            // A value that comes up again and again is worth telling once.
            told.facts.push((id(key), worth * (0.4 + 0.6 * rarity.of_word(key))));
        } else if is_topic(key) {
            told.topics.push((id(key), 0.2 * rarity.of_word(key)));
        }
    }
    told.whole = told.whole.min(1.6) + if decides { 2.0 } else { 0.0 };
    if courts && words.len() < 14 && told.facts.is_empty() && !decides {
        return UnitScore::default();
    }
    told
}

impl UnitScore {
    /// What it adds to what is known.
    pub(super) fn adds(&self, known: &Covered) -> f64 {
        let again = AGAIN.0 + (AGAIN.1 - AGAIN.0) * self.new_pairs(known);
        let sum = |words: &[(Id, f64)], again: f64| -> f64 {
            words.iter().map(|(word, worth)| if known.words.contains(word) { worth * again } else { *worth }).sum()
        };
        let (facts, topics) = (sum(&self.facts, again), sum(&self.topics, 0.0).min(MOST_PLAIN));
        // A rule that says nothing new is a phrase.
        let new = (facts / 2.0 + topics * 2.0).min(1.0);
        facts + topics + self.whole * (0.2 + 0.8 * new)
    }

    /// Which share of its words are said of each other for the first time.
    fn new_pairs(&self, known: &Covered) -> f64 {
        let (mut new, mut all) = (0_u32, 0_u32);
        for pair in self.pairs() {
            all += 1;
            new += u32::from(!known.pairs.contains(&pair));
        }
        f64::from(new) / f64::from(all.max(1))
    }

    /// Each value with every other word that says something.
    fn pairs(&self) -> impl Iterator<Item = (Id, Id)> {
        let words = || self.facts.iter().chain(&self.topics).map(|(word, _)| *word).take(MOST_PAIRED);
        let values = self.facts.iter().map(|(word, _)| *word).take(MOST_PAIRED);
        values.flat_map(move |a| words().filter(move |b| *b != a).map(move |b| (a.min(b), a.max(b))))
    }

    /// Makes it known.
    pub(super) fn tell(&self, known: &mut Covered) {
        known.words.extend(self.facts.iter().chain(&self.topics).map(|(word, _)| *word));
        known.pairs.extend(self.pairs());
    }
}

/// What a value is worth; nothing where it is none. In code every word is an identifier, and in logs every line has a time.
fn value(word: &Word<'_>, form: Form) -> f64 {
    let digits = word.text.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.text.chars().any(char::is_alphabetic);
    match (word.kind, form) {
        (Kind::Place, Form::Prose) => 2.5,
        (Kind::Place, Form::Data) if word.text.contains('/') => 2.0,
        (Kind::Place, Form::Data) => 1.2,
        (Kind::Identifier, Form::Prose) => 2.0,
        (Kind::Identifier, Form::Data) => 0.5,
        (Kind::Moment, Form::Prose) => 1.5,
        (Kind::Moment, Form::Data) => 0.2,
        (Kind::Name, Form::Prose) => 1.5,
        (Kind::Name, Form::Data) => 0.7,
        (Kind::Number, _) if digits == 0 => 0.8,
        (Kind::Number, _) if word.text.len() > 20 => 0.8,
        (Kind::Number, _) if letters || digits > 2 => 2.0,
        (Kind::Number, _) if digits > 1 => 1.5,
        (Kind::Number, _) => 0.8,
        (Kind::Plain, _) if word.quoted => 1.5,
        // Compounds are terms more often than not.
        (Kind::Plain, Form::Prose) if word.text.len() > 6 && word.text.contains('-') => 0.6,
        (Kind::Plain, _) => 0.0,
    }
}
