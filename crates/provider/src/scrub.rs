//! Takes keys out of what others say, before it is recorded or shown.

mod escapes;

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use turnkeep_model::{Json, JsonString};

use crate::secret::Secret;

/// What stands where a key stood.
pub const HIDDEN: &str = "****";

/// Shorter texts are looked for nowhere: they would be found everywhere.
const SHORTEST: usize = 4;

/// Shorter keys are not looked for in what a model or a tool says. Keys of vendors are longer; the words that stand in for
/// a key where none is needed (`ollama`, `dummy`) are not, and they are part of plain text.
const SHORTEST_IN_TEXT: usize = 8;

/// Finds keys, in the spellings that they may have in a text: as they are, with characters escaped as in JSON or in an
/// address, in base64, in hexadecimal digits.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Scrubber {
    keys: Vec<String>,
    spellings: Vec<String>,
}

impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scrubber({} spellings)", self.spellings.len())
    }
}

impl Scrubber {
    /// Finds these keys in what models and tools say. Keys of fewer than 8 bytes are not looked for.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Scrubber {
        let mut scrubber = Scrubber::default();
        let long =
            secrets.into_iter().map(|secret| bare(secret.reveal())).filter(|bare| bare.len() >= SHORTEST_IN_TEXT);
        long.for_each(|bare| scrubber.learn(bare));
        scrubber
    }

    /// Learns one more key.
    pub(crate) fn learn(&mut self, secret: &str) {
        let bare = bare(secret);
        if bare.len() < SHORTEST {
            return;
        }
        self.keys.push(bare.to_owned());
        let escaped = Json::from(bare).to_text();
        self.spellings.extend([bare.to_owned(), escaped.trim_matches('"').to_owned()]);
        let encoded = in_base64(bare.as_bytes()).into_iter().chain(in_digits(bare.as_bytes()));
        self.spellings.extend(encoded.filter(|spelling| spelling.len() >= SHORTEST_IN_TEXT));
        // The longest first: a key may be part of another.
        self.spellings.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.spellings.dedup();
    }

    /// What is looked for as it stands, the longest first.
    pub(crate) fn spellings(&self) -> &[String] {
        &self.spellings
    }

    /// Where a text has keys with escaped characters, in order.
    pub(crate) fn escaped(&self, text: &[u8]) -> Vec<Range<usize>> {
        if !escapes::has_escapes(text) {
            return Vec::new();
        }
        let mut found: Vec<_> = self.keys.iter().flat_map(|key| escapes::found(key.as_bytes(), text)).collect();
        found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        let mut end = 0;
        found.retain(|range| {
            let is_new = range.start >= end;
            end = end.max(range.end);
            is_new
        });
        found
    }

    /// Whether a key is in a text.
    pub fn finds(&self, text: &str) -> bool {
        let as_it_is = self.spellings.iter().any(|spelling| text.contains(spelling.as_str()));
        as_it_is || !self.escaped(text.as_bytes()).is_empty()
    }

    /// The text without keys.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.spellings.iter().filter(|spelling| text.contains(spelling.as_str()));
        let text =
            found.fold(Cow::Borrowed(text), |text, spelling| Cow::Owned(text.replace(spelling.as_str(), HIDDEN)));
        let mut escaped = self.escaped(text.as_bytes());
        if escaped.is_empty() {
            return text;
        }
        let mut clean = text.into_owned();
        // From the end, so that the places before stay where they are.
        while let Some(range) = escaped.pop() {
            clean.replace_range(range, HIDDEN);
        }
        Cow::Owned(clean)
    }

    /// Takes keys out of every text of a value, and says whether there was one.
    pub fn json(&self, json: &mut Json) -> bool {
        match json {
            Json::String(text) => {
                let plain = text.to_str_lossy();
                let found = self.finds(&plain);
                if found {
                    *json = Json::from(self.text(&plain).into_owned());
                }
                found
            }
            Json::Array(items) => items.iter_mut().fold(false, |found, item| self.json(item) | found),
            Json::Object(object) => {
                let is_in_a_key = object.iter().any(|(key, _)| self.finds(&key.to_str_lossy()));
                if is_in_a_key {
                    let clean = |key: &JsonString| JsonString::from(self.text(&key.to_str_lossy()).as_ref());
                    *object = std::mem::take(object).into_iter().map(|(key, value)| (clean(&key), value)).collect();
                }
                object.iter_mut().fold(is_in_a_key, |found, (_, value)| self.json(value) | found)
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => false,
        }
    }

    /// How many bytes at the end of a text may be the beginning of a key.
    fn begun(&self, text: &str) -> usize {
        let begun = |spelling: &String| {
            let longest = spelling.len().saturating_sub(1).min(text.len());
            let begins =
                |length: &usize| spelling.as_bytes().get(..*length).is_some_and(|part| text.as_bytes().ends_with(part));
            (1..=longest).rev().find(begins).unwrap_or_default()
        };
        let as_it_is = self.spellings.iter().map(begun);
        let escaped = self.keys.iter().map(|key| escapes::begun(key.as_bytes(), text.as_bytes()));
        as_it_is.chain(escaped).max().unwrap_or_default()
    }
}

/// A text that arrives in pieces, without keys that pieces share: what may be the beginning of one is held back.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    held: String,
}

impl Pieces {
    /// What can be told of the text so far, with one more piece.
    pub(crate) fn push(&mut self, piece: &str, scrubber: &Scrubber) -> String {
        self.held.push_str(piece);
        let mut clean = scrubber.text(&self.held).into_owned();
        self.held = clean.split_off(clean.len() - scrubber.begun(&clean));
        clean
    }

    /// The rest, now that no more comes. So much of a key that it could be one is not told.
    pub(crate) fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.held);
        if escapes::length(rest.as_bytes()) < SHORTEST_IN_TEXT { rest } else { HIDDEN.to_owned() }
    }
}

/// A key without the word for how it is shown.
fn bare(secret: &str) -> &str {
    ["Bearer ", "Basic "].iter().find_map(|scheme| secret.strip_prefix(scheme)).unwrap_or(secret)
}

/// The characters that a key surely has in base64, wherever in the encoded bytes it begins, in both alphabets.
fn in_base64(key: &[u8]) -> Vec<String> {
    let mut spellings = Vec::new();
    for before in 0..3_usize {
        let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(key.iter().copied()).collect();
        let encoded = STANDARD_NO_PAD.encode(&bytes);
        // A character has six bits; those that the neighbours have a part in are left out.
        let (from, to) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        let own = encoded.get(from..to).unwrap_or_default();
        spellings.extend([own.to_owned(), own.replace('+', "-").replace('/', "_")]);
    }
    spellings
}

/// The bytes of a key in hexadecimal digits.
fn in_digits(key: &[u8]) -> [String; 2] {
    let lower: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    [lower.to_uppercase(), lower]
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    use super::*;

    const KEY: &str = "sk-planted/1?";

    fn scrubber() -> Scrubber {
        Scrubber::new([&Secret::new(KEY)])
    }

    #[test]
    fn a_key_is_found_in_every_spelling() {
        let basic = STANDARD.encode(format!("user:{KEY}"));
        let line = STANDARD.encode(format!("{KEY}\n"));
        let spellings = [
            KEY.to_owned(),
            "sk-planted\\/1?".to_owned(),
            "sk-planted%2F1%3F".to_owned(),
            "sk-planted%2f1%3f".to_owned(),
            "%73k-planted%2f1?".to_owned(),
            "sk\\u002dplanted\\u002F1?".to_owned(),
            "\\\\u0073k-planted\\\\/1?".to_owned(),
            "736b2d706c616e7465642f313f".to_owned(),
            "736B2D706C616E7465642F313F".to_owned(),
            STANDARD.encode(KEY),
            URL_SAFE.encode(KEY),
            basic,
            line,
        ];
        for spelling in spellings {
            assert!(scrubber().finds(&format!("a {spelling} b")), "{spelling}");
        }
        assert_eq!(scrubber().text("a sk-planted/1? b"), "a **** b");
        assert_eq!(scrubber().text("sk-planted/1"), "sk-planted/1");
    }

    #[test]
    fn a_short_key_is_a_word_like_any_other() {
        assert_eq!(Scrubber::new([&Secret::new("ollama")]).text("ask ollama"), "ask ollama");
    }

    #[test]
    fn every_text_and_key_of_a_value_is_scrubbed() {
        let text = format!(r#"{{"a":["x {KEY}",1],"{KEY}":{{"b":"plain"}}}}"#);
        let mut json = turnkeep_model::json::parse(&text).unwrap().into_json();

        assert!(scrubber().json(&mut json));

        assert_eq!(json.to_text(), r#"{"a":["x ****",1],"****":{"b":"plain"}}"#);
        assert!(!scrubber().json(&mut json));
    }

    #[test]
    fn pieces_give_the_text_without_the_key_they_share() {
        for size in 1..KEY.len() + 2 {
            let text = format!("say {KEY}{KEY} or sk-plan, s");
            let (mut pieces, mut told) = (Pieces::default(), String::new());
            for piece in text.as_bytes().chunks(size) {
                told.push_str(&pieces.push(std::str::from_utf8(piece).unwrap(), &scrubber()));
                assert!(!told.contains("sk-planted/"), "{told}");
            }
            told.push_str(&pieces.finish());

            assert_eq!(told, "say ******** or sk-plan, s", "in pieces of {size}");
        }
    }

    #[test]
    fn pieces_give_the_text_without_an_escaped_key_they_share() {
        let text = r"say \u0073k\u002Dplanted\/1%3f, C:\\users\\sam 100% \n";
        for size in 1..text.len() {
            let (mut pieces, mut told) = (Pieces::default(), String::new());
            for piece in text.as_bytes().chunks(size) {
                told.push_str(&pieces.push(std::str::from_utf8(piece).unwrap(), &scrubber()));
            }
            told.push_str(&pieces.finish());

            assert_eq!(told, r"say ****, C:\\users\\sam 100% \n", "in pieces of {size}");
        }
    }

    #[test]
    fn a_text_that_ends_within_a_key_does_not_tell_it() {
        let mut pieces = Pieces::default();

        assert_eq!(pieces.push("it is sk-planted/", &scrubber()), "it is ");
        assert_eq!(pieces.finish(), "****");
    }
}
