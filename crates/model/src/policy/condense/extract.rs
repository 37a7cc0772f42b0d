//! A summary made of the conversation's own sentences: the same turns always give the same one, and nobody is asked.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

use super::score::{Covered, Rarity, UnitScore, look};
use super::sentence::{Form, units};
use super::stale::{Validity, standings};
use super::words::{Kind, Word, words};
use super::{CountTokens, going_of};
use crate::block::{Author, Block, Body, Part};
use crate::session::Turn;

/// How many units of one block are looked at; the rest of a file that a tool read tells little.
const MOST_OF_A_BLOCK: usize = 400;

/// In how many parts a conversation is heard evenly.
const PARTS: usize = 10;

/// What stands before a unit that later ones say otherwise.
const EARLIER: &str = "(earlier) ";

/// What was said in one block.
struct Said {
    label: String,
    /// The exchange it belongs to.
    exchange: usize,
    texts: Vec<String>,
}

/// A unit that may be kept.
struct Candidate<'a> {
    said: usize,
    exchange: usize,
    text: &'a str,
    words: Vec<Word<'a>>,
    form: Form,
    bonus: f64,
    cost: u64,
    standing: Validity,
    told: UnitScore,
    /// How many lines of its block are like this one.
    alike: usize,
}

/// The sentences of these turns that tell most, in their order, in at most `target` tokens: names, numbers, paths, decisions, what was
/// asked and how it was answered, from every part of the conversation. What was corrected later is left out.
///
/// ```
/// use turnkeep_model::policy::condense::{estimate, extract};
/// use turnkeep_model::{Author, Block, Turn};
///
/// let turn = Turn {
///     blocks: vec![
///         Block::text(Author::User, "Hi there! Thanks for helping. Where do we keep the port?"),
///         Block::text(Author::Assistant, "Happy to help. We decided on port 8443 in config/server.toml."),
///     ],
///     ..Turn::default()
/// };
///
/// let summary = extract(&[turn], 30, &estimate);
///
/// assert_eq!(summary, "User: Where do we keep the port?\nAssistant: We decided on port 8443 in config/server.toml.");
/// ```
pub fn extract(turns: &[Turn], target: u64, count: CountTokens<'_>) -> String {
    let said = said(turns);
    let mut candidates: Vec<Candidate<'_>> =
        said.iter().enumerate().flat_map(|(at, said)| candidates_of(at, said, count)).collect();
    judge(&mut candidates, count);
    let chosen = Selection::of(&candidates, &said, target).made(count);
    written(&chosen, &candidates, &said)
}

/// Who said what, in which exchange.
fn said(turns: &[Turn]) -> Vec<Said> {
    let mut exchange = 0;
    let mut answered = false;
    let mut found = Vec::new();
    for block in turns.iter().flat_map(going_of) {
        let asks = block.author == Author::User && matches!(block.body, Body::Text(_));
        exchange += usize::from(asks && answered);
        answered = !asks;
        found.extend(block_texts(block).map(|(label, texts)| Said { label, exchange, texts }));
    }
    found
}

/// Who says a block, and what.
fn block_texts(block: &Block) -> Option<(String, Vec<String>)> {
    let by = match &block.author {
        Author::User => "User".to_owned(),
        Author::Assistant => "Assistant".to_owned(),
        other => other.as_str().to_owned(),
    };
    match &block.body {
        Body::Text(text) => Some((by, vec![text.text.clone()])),
        Body::Summary(summary) => Some(("Before".to_owned(), vec![summary.text.clone()])),
        Body::ToolCall(call) => Some((by, vec![format!("called {} {}", call.name, call.arguments)])),
        Body::ToolResult(result) => {
            let text = |part: &Part| match part {
                Part::Text(text) => Some(text.text.clone()),
                Part::Data(data) => Some(data.json.to_text()),
                Part::Media(_) | Part::Other { .. } => None,
            };
            let error = result.error.iter().map(|error| format!("error: {error}"));
            let label = result.name.as_ref().map_or_else(|| "Tool".to_owned(), |name| format!("Tool {name}"));
            Some((label, result.parts.iter().filter_map(text).chain(error).collect()))
        }
        Body::Reasoning(_) | Body::Media(_) | Body::Other { .. } => None,
    }
}

fn candidates_of<'a>(at: usize, said: &'a Said, count: CountTokens<'a>) -> impl Iterator<Item = Candidate<'a>> {
    let all = said.texts.iter().flat_map(|text| units(text)).take(MOST_OF_A_BLOCK);
    all.enumerate().map(move |(index, (text, form))| {
        let words = words(text);
        // What opens an answer is usually the answer, and what was asked says what it is about.
        let bonus = match said.label.as_str() {
            "User" => 0.4,
            "Assistant" if index == 0 && words.len() > 3 => 0.4,
            _ => 0.0,
        };
        let (cost, exchange) = (count(text).max(1), said.exchange);
        let (standing, told) = (Validity::Holds, UnitScore::default());
        Candidate { said: at, exchange, text, words, form, bonus, cost, standing, told, alike: 1 }
    })
}

/// Says of every candidate what it tells, and whether that still holds.
fn judge(candidates: &mut [Candidate<'_>], count: CountTokens<'_>) {
    let rarity = Rarity::of(candidates.iter().map(|one| (one.exchange, one.words.as_slice())));
    let all: Vec<&[Word<'_>]> = candidates.iter().map(|one| one.words.as_slice()).collect();
    let standings = standings(&all);
    let alike: Vec<usize> = alike(candidates);
    for ((one, standing), alike) in candidates.iter_mut().zip(standings).zip(alike) {
        one.told = look(&one.words, one.form, &rarity);
        one.alike = alike;
        one.standing = standing;
        one.cost += if standing == Validity::Earlier { count(EARLIER) } else { 0 };
    }
}

/// For every candidate, how many lines of its block are the same but for their numbers: of the lines of a log each tells little.
fn alike(candidates: &[Candidate<'_>]) -> Vec<usize> {
    let form = |one: &Candidate<'_>| {
        let words = one.words.iter().filter(|word| !matches!(word.kind, Kind::Number | Kind::Moment));
        let keys: Vec<&str> = words.map(|word| word.key.as_str()).collect();
        (one.form == Form::Data).then(|| (one.said, keys.join(" ")))
    };
    let forms: Vec<Option<(usize, String)>> = candidates.iter().map(form).collect();
    let mut counts: HashMap<&(usize, String), usize> = HashMap::new();
    forms.iter().flatten().for_each(|form| *counts.entry(form).or_default() += 1);
    forms.iter().map(|form| form.as_ref().and_then(|form| counts.get(form)).copied().unwrap_or(1)).collect()
}

/// Choosing what is kept: what tells most a token is taken first. What was told already counts little, and so does more of an exchange
/// that has had its share, so that every part of the conversation is heard.
struct Selection<'a> {
    candidates: &'a [Candidate<'a>],
    said: &'a [Said],
    target: u64,
    /// What each exchange may use before others come first, and what it used.
    exchanges: Vec<Share>,
    /// The same for the parts of the conversation.
    parts: Vec<Share>,
    chosen: BTreeSet<usize>,
    known: Covered,
    texts: HashSet<String>,
}

/// What a part of the conversation may use before others come first, and what it used.
#[derive(Clone)]
struct Share {
    room: f64,
    spent: f64,
}

/// A candidate with what it was worth a token when that was last looked at.
struct Offer {
    density: f64,
    at: usize,
}

impl<'a> Selection<'a> {
    fn of(candidates: &'a [Candidate<'a>], said: &'a [Said], target: u64) -> Selection<'a> {
        let count = said.last().map_or(0, |said| said.exchange + 1);
        let total: u64 = candidates.iter().map(|one| one.cost).sum();
        // Half is shared out evenly, and half by how much was said.
        let even = target as f64 / count.max(1) as f64 / 2.0;
        let mut exchanges = vec![Share { room: even.max(1.0), spent: 0.0 }; count];
        for one in candidates {
            if let Some(share) = exchanges.get_mut(one.exchange) {
                share.room += one.cost as f64 / total.max(1) as f64 * target as f64 / 2.0;
            }
        }
        let parts = exchanges.chunks(count.div_ceil(PARTS).max(1));
        let parts = parts.map(|part| Share { room: part.iter().map(|share| share.room).sum(), spent: 0.0 }).collect();
        let (chosen, known, texts) = (BTreeSet::new(), Covered::default(), HashSet::new());
        Selection { candidates, said, target, exchanges, parts, chosen, known, texts }
    }

    /// The part of the conversation that an exchange is in.
    fn part(&self, exchange: usize) -> usize {
        exchange / self.exchanges.len().div_ceil(PARTS).max(1)
    }

    fn made(mut self, count: CountTokens<'_>) -> BTreeSet<usize> {
        let holds = self.candidates.iter().enumerate().filter(|(_, one)| one.standing != Validity::Corrected);
        let mut offers: BinaryHeap<Offer> = holds
            .map(|(at, one)| Offer { density: self.density(one), at })
            .filter(|offer| offer.density > 0.0)
            .collect();
        let mut used = 0_u64;
        while let Some(Offer { density, at }) = offers.pop() {
            let Some(one) = self.candidates.get(at) else { continue };
            let now = self.density(one);
            // It is worth less than it was: others may be worth more.
            if now < density && offers.peek().is_some_and(|next| next.density > now) {
                offers.push(Offer { density: now, at });
                continue;
            }
            let cost = one.cost + self.labels(at, count);
            if used + cost > self.target || !self.texts.insert(one.text.to_lowercase()) {
                continue;
            }
            used += cost;
            self.take(at, one);
        }
        self.chosen
    }

    fn take(&mut self, at: usize, one: &'a Candidate<'a>) {
        self.chosen.insert(at);
        one.told.tell(&mut self.known);
        let part = self.part(one.exchange);
        for share in self.exchanges.get_mut(one.exchange).into_iter().chain(self.parts.get_mut(part)) {
            share.spent += one.cost as f64;
        }
    }

    /// What it takes to say who speaks, if this candidate is put between those that are chosen.
    fn labels(&self, at: usize, count: CountTokens<'_>) -> u64 {
        let label =
            |at: &usize| self.candidates.get(*at).and_then(|one| self.said.get(one.said)).map(|said| &said.label);
        let (before, after) = (self.chosen.range(..at).next_back(), self.chosen.range(at..).next());
        let (before, own, after) = (before.and_then(label), label(&at), after.and_then(label));
        let cost = |from: Option<&String>, to: Option<&String>| to.filter(|_| from != to).map_or(0, |to| count(to) + 1);
        (cost(before, own) + cost(own, after)).saturating_sub(cost(before, after))
    }

    /// What a candidate is worth a token now.
    fn density(&self, one: &Candidate<'_>) -> f64 {
        let adds = one.told.adds(&self.known);
        let worth = if adds > 0.0 { adds / (one.alike as f64).sqrt() + one.bonus } else { 0.0 };
        let used = |share: Option<&Share>| share.map_or(1.0, |share| 1.0 + share.spent / share.room);
        let (exchange, part) = (self.exchanges.get(one.exchange), self.parts.get(self.part(one.exchange)));
        worth / (one.cost as f64 + 4.0).powf(0.85) / used(exchange) / used(part).powi(2)
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Offer) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Offer {}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Offer) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Offer {
    /// Of equals the one that was said last: it is what holds now.
    fn cmp(&self, other: &Offer) -> Ordering {
        self.density.total_cmp(&other.density).then(self.at.cmp(&other.at))
    }
}

fn written(chosen: &BTreeSet<usize>, candidates: &[Candidate<'_>], said: &[Said]) -> String {
    let mut text = String::new();
    let mut last: Option<&Said> = None;
    for one in chosen.iter().filter_map(|index| candidates.get(*index)) {
        let Some(by) = said.get(one.said) else { continue };
        if last.is_some_and(|last| last.label == by.label) {
            text.push(if one.form == Form::Data { '\n' } else { ' ' });
        } else {
            text.push_str(if last.is_some() { "\n" } else { "" });
            text.push_str(&by.label);
            text.push_str(": ");
        }
        text.push_str(if one.standing == Validity::Earlier { EARLIER } else { "" });
        text.push_str(one.text);
        last = Some(by);
    }
    text
}
