//! Sentences, and what is worth keeping in them.

use std::collections::HashSet;

/// The longest piece that counts as one sentence, in characters.
const LONGEST: usize = 320;

/// Words that tell of a decision, a rule or a promise.
const DECISIONS: &[&str] = &[
    "decide",
    "decided",
    "decision",
    "agree",
    "agreed",
    "choose",
    "chose",
    "chosen",
    "must",
    "never",
    "always",
    "approved",
    "approve",
    "rejected",
    "confirmed",
    "final",
    "deadline",
    "due",
    "prefer",
    "prefers",
    "require",
    "requires",
    "required",
    "plan",
    "conclusion",
    "instead",
    "switch",
    "switched",
    "renamed",
    "remember",
    "important",
    "constraint",
    "goal",
    "beschlossen",
    "entschieden",
    "muss",
    "decidido",
    "acordado",
    "debe",
    "décidé",
    "doit",
];

/// Words that tell of trouble and of what caused it.
const TROUBLE: &[&str] =
    &["error", "failed", "fails", "failure", "bug", "fix", "fixed", "cause", "caused", "because", "broken", "fehler"];

/// Words of courtesy, which carry nothing.
const COURTESY: &[&str] = &[
    "thanks",
    "thank",
    "hello",
    "hi",
    "hey",
    "sure",
    "welcome",
    "great",
    "okay",
    "ok",
    "please",
    "happy",
    "glad",
    "sorry",
    "course",
    "absolutely",
    "certainly",
    "perfect",
    "awesome",
    "cheers",
    "danke",
    "hallo",
    "gracias",
    "merci",
];

/// The sentences of a text: ends of lines end one, and so does a full stop, a question or an exclamation mark before a space.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line.trim();
        while !rest.is_empty() {
            let (sentence, more) = rest.split_at(end_of(rest));
            if sentence.chars().any(char::is_alphanumeric) {
                found.push(sentence.trim());
            }
            rest = more.trim_start();
        }
    }
    found
}

/// Where the first sentence of a line ends.
fn end_of(line: &str) -> usize {
    let mut before = ' ';
    let mut count = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        count += 1;
        let next = chars.peek().map(|(_, next)| *next);
        let end = at + c.len_utf8();
        let stops = match c {
            '。' | '！' | '？' => true,
            // "e.g. this" and "J. Smith" go on.
            '.' => next.is_none_or(char::is_whitespace) && !is_initial(line.get(..at).unwrap_or_default()),
            '!' | '?' => next.is_none_or(char::is_whitespace),
            ' ' => count > LONGEST,
            // A word that begins where the line is too long belongs to the next part.
            _ if count > LONGEST && !before.is_alphanumeric() => return at,
            _ => false,
        };
        if stops {
            return end;
        }
        before = c;
    }
    line.len()
}

/// Whether what stands before a full stop is one letter, or an abbreviation with full stops in it.
fn is_initial(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let letters = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let one = letters.chars().count() == 1 && letters.chars().all(char::is_alphabetic);
    one || (letters.contains('.') && letters.chars().all(|c| c.is_alphabetic() || c == '.') && letters.len() < 6)
}

/// What a sentence tells.
#[derive(Debug, Default)]
pub(super) struct Told<'a> {
    /// Numbers, paths, identifiers and names: each is worth keeping once.
    pub facts: Vec<(&'a str, f64)>,
    /// What its words are worth apart from that.
    pub worth: f64,
    /// How many words it has.
    pub words: usize,
}

/// Looks at a sentence.
pub(super) fn look(sentence: &str) -> Told<'_> {
    let mut told = Told::default();
    let mut seen = HashSet::new();
    let (mut decides, mut courts) = (false, false);
    for (index, raw) in sentence.split_whitespace().enumerate() {
        let word = raw.trim_matches(|c: char| {
            !c.is_alphanumeric() && !matches!(c, '/' | '_' | '~' | '`' | '-' | '%' | '$' | '€')
        });
        if word.is_empty() {
            continue;
        }
        told.words += 1;
        let low = word.to_lowercase();
        decides |= DECISIONS.contains(&low.as_str());
        courts |= COURTESY.contains(&low.as_str());
        told.worth += if TROUBLE.contains(&low.as_str()) { 1.0 } else { 0.0 };
        let value = fact(word, index);
        if value > 0.0 && seen.insert(low) {
            told.facts.push((word, value));
        }
    }
    told.worth += if decides { 3.0 } else { 0.0 };
    told.worth += if sentence.ends_with('?') { 0.5 } else { 0.0 };
    if courts && told.words < 14 && told.facts.is_empty() && !decides {
        told.worth = 0.0;
    }
    told
}

/// What a word is worth: a path or an identifier, a number, a name.
fn fact(word: &str, index: usize) -> f64 {
    let has = |test: fn(char) -> bool| word.chars().any(test);
    let inner = word.get(1..).unwrap_or_default();
    let first_upper = word.chars().next().is_some_and(char::is_uppercase);
    let path =
        (word.contains('/') && word.len() > 3) || word.contains("::") || word.contains('_') || word.contains('`');
    let dotted = inner.split_once('.').is_some_and(|(_, end)| end.starts_with(char::is_alphabetic));
    let mixed = inner.chars().any(char::is_uppercase) && has(char::is_lowercase);
    if path || dotted {
        2.5
    } else if has(|c| c.is_ascii_digit() || c.is_numeric()) {
        2.0
    } else if mixed || (index > 0 && first_upper && word.chars().count() > 1) {
        1.5
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_they_end() {
        let text = "It failed at 3.5 s, e.g. in J. Smith's run. Why? See src/main.rs.\n- one\n\n---\n二。三";

        assert_eq!(
            sentences(text),
            ["It failed at 3.5 s, e.g. in J. Smith's run.", "Why?", "See src/main.rs.", "- one", "二。", "三"]
        );
    }

    #[test]
    fn a_line_without_an_end_is_cut_at_words() {
        let long = "word ".repeat(200);

        let found = sentences(&long);

        assert_eq!(found.iter().map(|part| part.split_whitespace().count()).sum::<usize>(), 200);
        assert!(found.iter().all(|part| part.chars().count() <= LONGEST + "word ".len()));
    }

    #[test]
    fn paths_numbers_names_and_decisions_are_worth_something_and_courtesy_is_not() {
        let told = look("We decided that Ada moves 4200 rows to src/rows.rs.");
        let words: Vec<_> = told.facts.iter().map(|(word, _)| *word).collect();

        assert_eq!(words, ["Ada", "4200", "src/rows.rs"]);
        assert!(told.worth >= 3.0);
        assert!(look("Sure, thanks a lot for that!").worth < 0.1);
    }
}
