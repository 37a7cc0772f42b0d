//! Keys of which any character may be escaped: `\u0073k-…` in JSON, `%73k-…` in an address, also in a text that is itself
//! escaped once more.
//!
//! Writers differ in what they escape, so these spellings cannot be listed: a key is read character by character.

use std::ops::Range;

/// How many backslashes one escape may have. Each level of escaping doubles them: 1, 2, 4, 8.
const MOST_BACKSLASHES: usize = 8;

/// The longest escape of one character.
const LONGEST: usize = MOST_BACKSLASHES + 5;

/// Whether a text has anything that could be an escape.
pub(super) fn has_escapes(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'\\' | b'%'))
}

/// Where a key stands in a text, escaped or not.
pub(super) fn found(key: &[u8], text: &[u8]) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match read_key(key, rest) {
            Read::All(length) => {
                places.push(at..at + length);
                at += length;
            }
            Read::Begun | Read::Other => at += 1,
        }
    }
    places
}

/// How many bytes at the end of a text may be the beginning of a key.
pub(super) fn begun(key: &[u8], text: &[u8]) -> usize {
    let from = text.len().saturating_sub(key.len() * LONGEST);
    let begins = |at: &usize| text.get(*at..).is_some_and(|rest| matches!(read_key(key, rest), Read::Begun));
    (from..text.len()).find(begins).map_or(0, |at| text.len() - at)
}

/// How many characters a text has once its escapes are read.
pub(super) fn length(text: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match read_one(rest) {
            One::Is(_, length) => {
                count += 1;
                at += length;
            }
            One::Begun => break,
        }
    }
    count
}

/// What a text has of a key where it begins.
enum Read {
    /// All of it, in so many bytes.
    All(usize),
    /// Its beginning, and then the text ends.
    Begun,
    Other,
}

fn read_key(key: &[u8], text: &[u8]) -> Read {
    let mut at = 0;
    for wanted in key {
        let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) else {
            return Read::Begun;
        };
        if rest.first() == Some(wanted) {
            at += 1;
            continue;
        }
        match read_one(rest) {
            One::Is(byte, length) if byte == *wanted => at += length,
            One::Is(..) => return Read::Other,
            One::Begun => return Read::Begun,
        }
    }
    Read::All(at)
}

/// The character that a text begins with.
enum One {
    /// This one, written in so many bytes.
    Is(u8, usize),
    /// An escape that the text ends in.
    Begun,
}

fn read_one(text: &[u8]) -> One {
    match text {
        [b'\\', ..] => after_backslashes(text),
        [b'%', rest @ ..] => digits(rest, 2).map_or(One::Is(b'%', 1), |read| of_digits(read, 3)),
        [byte, ..] => One::Is(*byte, 1),
        [] => One::Begun,
    }
}

fn after_backslashes(text: &[u8]) -> One {
    let count = text.iter().take(MOST_BACKSLASHES).take_while(|byte| **byte == b'\\').count();
    match text.get(count..) {
        Some([b'u', rest @ ..]) => digits(rest, 4).map_or(One::Is(b'\\', 1), |read| of_digits(read, count + 5)),
        Some([byte @ (b'/' | b'"'), ..]) => One::Is(*byte, count + 1),
        Some([_, ..]) => One::Is(b'\\', 1),
        _ => One::Begun,
    }
}

/// So many hexadecimal digits: their value, or none where the text ends before the last.
fn digits(text: &[u8], count: usize) -> Option<Option<u32>> {
    let there = text.get(..count.min(text.len())).unwrap_or_default();
    let value = there.iter().try_fold(0, |value, byte| Some(value * 16 + char::from(*byte).to_digit(16)?))?;
    Some((there.len() == count).then_some(value))
}

fn of_digits(read: Option<u32>, length: usize) -> One {
    match read.map(u8::try_from) {
        Some(Ok(byte)) => One::Is(byte, length),
        // No key has it; what counts is that it is one character.
        Some(Err(_)) => One::Is(0, length),
        None => One::Begun,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = b"sk-p/1";

    fn found_in(text: &str) -> Vec<&str> {
        found(KEY, text.as_bytes()).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_key_is_found_whichever_of_its_characters_are_escaped() {
        let all = r"\u0073\u006b\u002d\u0070\u002f\u0031";
        for spelling in [all, r"\u0073k-p\/1", r"sk\u002Dp/1", r"\\u0073k-p\\\/1", "%73%6B%2d%70%2F%31", "sk-p%2f1"] {
            assert_eq!(found_in(&format!("a {spelling} b {spelling}")), [spelling, spelling]);
        }
        assert_eq!(found_in(r"\u0073k-p/2 %73k-q \u73k-p/1 \\\\\\\\\\ %"), Vec::<&str>::new());
    }

    #[test]
    fn the_beginning_of_a_key_is_recognised_wherever_it_ends() {
        let whole = r"\u0073k\u002d%70\/1";
        for end in 1..whole.len() {
            assert_eq!(begun(KEY, format!("a {}", &whole[..end]).as_bytes()), end, "{}", &whole[..end]);
        }
        assert_eq!([begun(KEY, b"plain"), begun(KEY, br"\n"), begun(KEY, b"100%.")], [0, 0, 0]);
    }

    #[test]
    fn an_escape_is_one_character() {
        assert_eq!([length(br"\u0073k%2d"), length(br"\\\\\\\\"), length("é".as_bytes())], [3, 0, 2]);
    }
}
