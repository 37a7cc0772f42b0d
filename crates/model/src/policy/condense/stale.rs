//! What later words took back.
//!
//! A sentence that corrects names what it is about and says something else of it, or denies a value. What said the old value
//! before is left out of the summary; where it says more than that, it is marked.

use std::collections::{BTreeSet, HashMap};

use super::lexicon::{DENIALS, PAST, Role, has, is_topic};
use super::words::{Kind, Word};

/// Whether what a unit says still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Validity {
    /// As far as anyone said.
    #[default]
    Holds,
    /// Something later says it otherwise, or says more recent things of it.
    Earlier,
    /// It was corrected, and says nothing else.
    Corrected,
}

/// Whether two units are about the same.
enum Same {
    Yes,
    Perhaps,
    No,
}

/// How much of what either is about a correction has to share with what it corrects: of the one at least the first, of the other the
/// second.
const ENOUGH: (f64, f64) = (0.5, 0.7);

/// In how many units a value is used at most that says by itself what is meant.
const SPECIFIC: usize = 6;

/// By how many of its words, the rarest first, a correction looks for what it corrects, and how many units of each, the nearest first.
const REACH: (usize, usize) = (4, 40);

/// A word in place of which a number stands: claims are compared very often.
type Id = u32;

/// What a unit claims: values of something.
struct Claim {
    topics: Vec<Id>,
    values: Vec<(Id, Kind)>,
    denied: Vec<Id>,
    corrects: bool,
}

impl Claim {
    fn has(&self, value: Id) -> bool {
        self.values.iter().any(|(own, _)| *own == value)
    }

    /// What it is about or says of it.
    fn keys(&self) -> impl Iterator<Item = Id> {
        self.topics.iter().copied().chain(self.values.iter().map(|(value, _)| *value))
    }
}

/// For every unit, in order, whether it still holds.
pub(super) fn standings<'a>(units: &[&'a [Word<'a>]]) -> Vec<Validity> {
    let mut ids = Ids::default();
    let claims: Vec<Claim> = units.iter().map(|words| claim(words, &mut ids)).collect();
    let uses = Uses::of(&claims, &ids);
    let mut standings = vec![Validity::Holds; units.len()];
    let mut forms: HashMap<String, usize> = HashMap::new();
    for (at, later) in claims.iter().enumerate() {
        for earlier in uses.before(at, later) {
            let verdict = claims.get(earlier).map_or(Validity::Holds, |claim| uses.verdict(claim, later));
            set(&mut standings, earlier, verdict);
        }
        if let Some(before) = units.get(at).and_then(|words| form(words)).and_then(|form| forms.insert(form, at))
            && claims.get(before).is_some_and(|claim| claim.values != later.values)
        {
            set(&mut standings, before, Validity::Earlier);
        }
    }
    standings
}

fn set(standings: &mut [Validity], at: usize, verdict: Validity) {
    if let Some(standing) = standings.get_mut(at).filter(|standing| **standing != Validity::Corrected)
        && verdict != Validity::Holds
    {
        *standing = verdict;
    }
}

/// The numbers of words.
#[derive(Default)]
struct Ids(HashMap<String, Id>, Vec<usize>);

impl Ids {
    fn of(&mut self, key: &str) -> Id {
        if let Some(id) = self.0.get(key) {
            return *id;
        }
        let id = Id::try_from(self.0.len()).unwrap_or(Id::MAX);
        self.0.insert(key.to_owned(), id);
        self.1.push(key.len());
        id
    }
}

/// Which units use a word, in order.
struct Uses<'a> {
    units: Vec<Vec<usize>>,
    lengths: &'a [usize],
    all: f64,
}

impl Uses<'_> {
    fn of<'a>(claims: &[Claim], ids: &'a Ids) -> Uses<'a> {
        let mut units = vec![Vec::new(); ids.1.len()];
        for (at, claim) in claims.iter().enumerate() {
            for key in claim.keys() {
                if let Some(list) = units.get_mut(key as usize) {
                    list.push(at);
                }
            }
        }
        Uses { units, lengths: &ids.1, all: claims.len() as f64 + 1.0 }
    }

    /// The units before a correction that share one of its rarest words with it.
    fn before(&self, at: usize, later: &Claim) -> BTreeSet<usize> {
        let says = !later.denied.is_empty() || (later.corrects && !later.values.is_empty());
        let mut keys: Vec<Id> = later.keys().chain(later.denied.iter().copied()).filter(|_| says).collect();
        keys.sort_by_key(|key| self.count(*key));
        let rarest = keys.into_iter().filter(|key| self.count(*key) > 1).take(REACH.0);
        let lists = rarest.filter_map(|key| self.units.get(key as usize));
        lists
            .flat_map(|list| {
                let end = list.partition_point(|unit| *unit < at);
                list.get(end.saturating_sub(REACH.1)..end).unwrap_or_default().iter().copied()
            })
            .collect()
    }

    fn count(&self, key: Id) -> usize {
        self.units.get(key as usize).map_or(1, Vec::len)
    }

    /// How much a topic says of what is meant.
    fn weight(&self, key: Id) -> f64 {
        1.05 - (self.count(key).max(1) as f64).ln() / self.all.ln()
    }

    /// Whether two claims are about the same: they share most of what either is about, and something that is not about everything.
    /// Where each names something that the other does not, they may be about different things in the same words.
    fn same(&self, earlier: &Claim, later: &Claim) -> Same {
        let sum = |keys: &mut dyn Iterator<Item = Id>| -> f64 { keys.map(|key| self.weight(key)).sum() };
        let topics = || earlier.topics.iter().copied().filter(|key| later.topics.contains(key) || later.has(*key));
        let values = || {
            earlier.values.iter().map(|(value, _)| *value).filter(|key| later.topics.contains(key) || later.has(*key))
        };
        let of_values = sum(&mut values());
        let shared = sum(&mut topics()) + of_values;
        let of_earlier = shared / (sum(&mut earlier.topics.iter().copied()) + of_values);
        let of_later = shared / (sum(&mut later.topics.iter().copied()) + of_values);
        let rarest = earlier.topics.iter().map(|topic| self.count(*topic)).min().unwrap_or(usize::MAX);
        let telling = topics().chain(values()).any(|key| self.count(key) <= rarest.saturating_mul(2).saturating_add(2));
        match (of_earlier.min(of_later), of_earlier.max(of_later)) {
            (least, most) if !telling || least < ENOUGH.0 || most < ENOUGH.1 => Same::No,
            (_, most) if most < 0.99 => Same::Perhaps,
            _ => Same::Yes,
        }
    }

    /// What a correction means for an older claim.
    fn verdict(&self, earlier: &Claim, later: &Claim) -> Validity {
        let lost = || earlier.values.iter().filter(|(value, _)| !later.has(*value));
        let denied = || lost().map(|(value, _)| *value).filter(|value| later.denied.contains(value));
        let is_specific = |value: Id| {
            self.lengths.get(value as usize).is_some_and(|length| *length > 2) && self.count(value) <= SPECIFIC
        };
        let related = later.topics.is_empty() || earlier.topics.iter().any(|topic| later.topics.contains(topic));
        let by_value = related && denied().any(is_specific);
        let is_new = |kind: Kind| later.values.iter().any(|(value, own)| *own == kind && !earlier.has(*value));
        let otherwise = denied().next().is_some() || (later.corrects && lost().any(|(_, kind)| is_new(*kind)));
        match (by_value, otherwise.then(|| self.same(earlier, later))) {
            (false, None | Some(Same::No)) => return Validity::Holds,
            (false, Some(Same::Perhaps)) => return Validity::Earlier,
            (true, _) | (_, Some(Same::Yes)) => {}
        }
        // What it says besides must not go with it. A name is one value, however many words it has.
        let names = lost().filter(|(_, kind)| *kind == Kind::Name).count().min(1);
        let others = lost().filter(|(_, kind)| *kind != Kind::Name).count();
        if names + others > denied().count().max(1) { Validity::Earlier } else { Validity::Corrected }
    }
}

fn claim(words: &[Word<'_>], ids: &mut Ids) -> Claim {
    let corrects = words.iter().any(|word| has(&word.key, Role::Corrects));
    let mut claim = Claim { topics: Vec::new(), values: Vec::new(), denied: Vec::new(), corrects };
    let (mut denies, mut before) = (0_usize, "");
    for word in words {
        let key = word.key.as_str();
        denies = match denial(before, key, corrects) {
            Some(reach) => reach,
            None if ["to", "but", "is", "are"].contains(&key) => 0,
            None => denies.saturating_sub(1),
        };
        before = key;
        if word.kind.is_value() && denies > 0 {
            claim.denied.push(ids.of(key));
        } else if word.kind.is_value() {
            if word.kind == Kind::Identifier {
                claim.topics.extend(parts(word.text).iter().map(|part| ids.of(part)));
            }
            claim.values.push((ids.of(key), word.kind));
        } else if is_topic(key) {
            claim.topics.push(ids.of(stem(key)));
        }
    }
    claim.topics.sort_unstable();
    claim.topics.dedup();
    claim
}

/// How many words from here on what no longer holds may stand. Only in a correction is it what was, or where something came from.
fn denial(before: &str, word: &str, corrects: bool) -> Option<usize> {
    let found = DENIALS.iter().find(|(first, second, _)| *second == word && (first.is_empty() || *first == before));
    let past = PAST.contains(&word).then_some(4).filter(|_| corrects);
    found.map(|(_, _, reach)| *reach).or(past)
}

/// The words of an identifier: `maxRows` and `MAX_ROWS` are about rows.
fn parts(identifier: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut small = false;
    for c in identifier.chars() {
        if !c.is_alphanumeric() || (small && c.is_uppercase()) {
            found.push(String::new());
        }
        small = c.is_lowercase();
        if let Some(last) = found.last_mut().filter(|_| c.is_alphanumeric()) {
            last.extend(c.to_lowercase());
        }
    }
    found.into_iter().map(|part| stem(&part).to_owned()).filter(|part| is_topic(part)).collect()
}

/// Without the ending of a plural.
fn stem(word: &str) -> &str {
    word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s')).unwrap_or(word)
}

/// The form of a plain statement `… is VALUE`: all of it but the value. Two of one form say what something is at two times.
fn form(words: &[Word<'_>]) -> Option<String> {
    let at = words.iter().position(|word| ["is", "are"].contains(&word.key.as_str()))?;
    let value = words.get(at + 1).filter(|word| word.kind.is_value())?;
    let rest = words.get(at + 1..)?.iter().skip_while(|word| word.kind == value.kind);
    let topics = words.get(..at)?;
    topics.iter().any(|word| is_topic(&word.key)).then(|| {
        let keys = topics.iter().chain(rest).map(|word| word.key.as_str());
        keys.collect::<Vec<_>>().join(" ")
    })
}
