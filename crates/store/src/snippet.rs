//! Some of the text around the words that were found.

use std::ops::Range;

/// How many bytes of text are shown before the first word, and at most in all.
const LEAD: usize = 48;
const LENGTH: usize = 200;

/// A part of `text` around the first of `words` (in lower case), and where words stand in it.
pub(crate) fn cut(text: &str, words: &[String]) -> (String, Vec<Range<usize>>) {
    // Lower case may have other lengths; ASCII keeps every byte where it is.
    let lower = text.to_ascii_lowercase();
    let first = words.iter().filter_map(|word| lower.find(word.as_str())).min().unwrap_or(0);
    let start = floor(text, first.saturating_sub(LEAD));
    let end = floor(text, start.saturating_add(LENGTH));
    let shown = text.get(start..end).unwrap_or_default();
    let mut snippet = String::new();
    if start > 0 {
        snippet.push('…');
    }
    let lead = snippet.len();
    // A line break would break listings.
    snippet.extend(shown.chars().map(|c| if c == '\n' || c == '\r' || c == '\t' { ' ' } else { c }));
    if end < text.len() {
        snippet.push('…');
    }
    let marks = find_all(lower.get(start..end).unwrap_or_default(), words, lead);
    (snippet, marks)
}

fn find_all(lower: &str, words: &[String], lead: usize) -> Vec<Range<usize>> {
    let found = words.iter().flat_map(|word| lower.match_indices(word.as_str()));
    let mut marks: Vec<Range<usize>> = found.map(|(at, word)| at + lead..at + lead + word.len()).collect();
    marks.sort_by_key(|mark| (mark.start, mark.end));
    marks.dedup();
    marks
}

/// The last boundary of a character at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_marked_where_they_stand() {
        let (snippet, marks) = cut("Ärger: the Needle\nis here", &["needle".to_owned()]);

        assert_eq!(snippet, "Ärger: the Needle is here");
        assert_eq!(marks.iter().map(|mark| &snippet[mark.clone()]).collect::<Vec<_>>(), ["Needle"]);
    }

    #[test]
    fn long_texts_are_cut_at_characters_and_say_so() {
        let text = format!("{}needle{}", "é".repeat(300), "ü".repeat(300));

        let (snippet, marks) = cut(&text, &["needle".to_owned()]);

        assert!(snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
        assert_eq!(&snippet[marks[0].clone()], "needle");
    }
}
