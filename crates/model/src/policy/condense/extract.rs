//! A summary made of the conversation's own sentences: the same turns always give the same one, and nobody is asked.

use std::collections::HashSet;

use super::sentence::{Told, look, sentences};
use super::{Count, going_of};
use crate::block::{Author, Block, Body, Part};
use crate::session::Turn;

/// How many sentences of one block are looked at; the rest of a file that a tool read tells little.
const MOST_OF_A_BLOCK: usize = 200;

/// A sentence that may be kept.
struct Candidate<'a> {
    speaker: usize,
    sentence: &'a str,
    told: Told<'a>,
    bonus: f64,
    cost: u64,
}

/// Who says some sentences, and which block that was.
struct Speaker {
    label: String,
}

/// The sentences of these turns that tell most, in their order, in at most `target` tokens: names, numbers, paths, decisions, what was
/// asked and how it was answered.
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
pub fn extract(turns: &[Turn], target: u64, count: Count<'_>) -> String {
    let mut speakers = Vec::new();
    let mut candidates = Vec::new();
    let said: Vec<(String, Vec<String>)> = turns.iter().flat_map(going_of).filter_map(block_texts).collect();
    for (label, texts) in &said {
        let speaker = speakers.len();
        speakers.push(Speaker { label: label.clone() });
        candidates.extend(candidates_of(speaker, label, texts, count));
    }
    let mut chosen = choose(&candidates, &speakers, target, count);
    chosen.sort_unstable();
    written(&chosen, &candidates, &speakers)
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

fn candidates_of<'a>(
    speaker: usize,
    label: &str,
    texts: &'a [String],
    count: Count<'a>,
) -> impl Iterator<Item = Candidate<'a>> {
    let asked = label == "User";
    let answered = label == "Assistant";
    let all = texts.iter().flat_map(|text| sentences(text)).take(MOST_OF_A_BLOCK);
    all.enumerate().map(move |(index, sentence)| {
        let told = look(sentence);
        // What opens an answer is usually the answer, and what was asked says what it is about.
        let opens = index == 0 && answered && told.words > 3;
        let asks = asked && sentence.ends_with('?');
        let bonus = if opens || asks { 1.0 } else { 0.0 } + if asked { 0.5 } else { 0.0 };
        Candidate { speaker, sentence, told, bonus, cost: count(sentence).max(1) }
    })
}

/// The indices of what is kept.
fn choose(candidates: &[Candidate<'_>], speakers: &[Speaker], target: u64, count: Count<'_>) -> Vec<usize> {
    let nothing = HashSet::new();
    let mut order: Vec<(usize, f64)> =
        candidates.iter().enumerate().map(|(index, one)| (index, density(one, &nothing))).collect();
    order.retain(|(_, density)| *density > 0.0);
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut known: HashSet<String> = HashSet::new();
    let mut heard: HashSet<usize> = HashSet::new();
    let mut seen: HashSet<String> = HashSet::new();
    let (mut chosen, mut used) = (Vec::new(), 0_u64);
    for (index, before) in order {
        let Some(one) = candidates.get(index) else { continue };
        // A sentence whose facts are told already is worth what is left of it.
        if density(one, &known) < before / 2.0 || !seen.insert(one.sentence.to_lowercase()) {
            continue;
        }
        let label = speakers.get(one.speaker).filter(|_| !heard.contains(&one.speaker));
        let cost = one.cost + label.map_or(0, |speaker| count(&speaker.label) + 1);
        if used + cost > target {
            continue;
        }
        used += cost;
        heard.insert(one.speaker);
        known.extend(one.told.facts.iter().map(|(fact, _)| fact.to_lowercase()));
        chosen.push(index);
    }
    chosen
}

/// What a sentence is worth a token, when some facts are known.
fn density(one: &Candidate<'_>, known: &HashSet<String>) -> f64 {
    let new = one.told.facts.iter().filter(|(fact, _)| known.is_empty() || !known.contains(&fact.to_lowercase()));
    let facts: f64 = new.map(|(_, value)| value).sum();
    let worth = facts + one.told.worth;
    // Long sentences hold more, but not in proportion.
    let length = (one.cost as f64 + 4.0).powf(0.8);
    if worth <= 0.0 && one.bonus < 1.0 { 0.0 } else { (worth + one.bonus) / length }
}

fn written(chosen: &[usize], candidates: &[Candidate<'_>], speakers: &[Speaker]) -> String {
    let mut text = String::new();
    let mut last = None;
    for one in chosen.iter().filter_map(|index| candidates.get(*index)) {
        if last == Some(one.speaker) {
            text.push(' ');
        } else {
            if last.is_some() {
                text.push('\n');
            }
            text.push_str(speakers.get(one.speaker).map_or("", |speaker| &speaker.label));
            text.push_str(": ");
        }
        text.push_str(one.sentence);
        last = Some(one.speaker);
    }
    text
}
