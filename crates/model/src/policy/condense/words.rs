//! The words of a unit, and what kind of word each is.

use super::lexicon::{Role, has, is_topic};

/// What kind of word something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A path, an address, a file.
    Place,
    /// A word that only code or configuration has.
    Identifier,
    /// Anything with a digit, and numbers that are spelled out.
    Number,
    /// A time of day or a timestamp.
    Moment,
    /// A name of a person or a product.
    Name,
    /// Anything else.
    Plain,
}

impl Kind {
    /// Whether words of this kind are what a fact is about, and not how it is said.
    pub(super) fn is_value(self) -> bool {
        self != Kind::Plain
    }
}

/// A word of a unit.
#[derive(Debug, Clone)]
pub(super) struct Word<'a> {
    pub text: &'a str,
    /// The same in small letters.
    pub key: String,
    pub kind: Kind,
    /// Whether the author set it off with backticks.
    pub quoted: bool,
}

/// The words of a unit.
pub(super) fn words(unit: &str) -> Vec<Word<'_>> {
    let mut found: Vec<Word<'_>> = Vec::new();
    let mut begins = true;
    let mut rest = unit;
    while let Some(start) = rest.find(|c: char| !is_gap(c)) {
        let (gap, from) = rest.split_at(start);
        let (raw, after) = from.split_at(from.find(is_gap).unwrap_or(from.len()));
        let text = trimmed(raw);
        if !text.is_empty() {
            let quoted = gap.ends_with('`');
            begins |= gap.contains(';');
            let key = text.to_lowercase();
            found.push(Word { text, kind: kind(text, &key, begins), key, quoted });
            // A unit ends at a full stop, so one within it belongs to an abbreviation.
            begins = raw.ends_with(['!', '?', ':']);
        }
        rest = after;
    }
    name_openings(&mut found);
    found
}

fn is_gap(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\''
                | '’'
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '<'
                | '>'
                | ','
                | ';'
                | '='
                | '|'
                | '`'
                | '—'
                | '–'
                | '“'
                | '”'
        )
}

fn trimmed(raw: &str) -> &str {
    let start = raw.trim_start_matches(|c: char| {
        !c.is_alphanumeric() && !matches!(c, '/' | '_' | '~' | '.' | '-' | '$' | '€' | '£' | '@')
    });
    start.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_' | '%' | '€'))
}

/// A capital letter at the beginning of a sentence says nothing, unless the next word has one too.
fn name_openings(words: &mut [Word<'_>]) {
    for at in 1..words.len() {
        let is_name = words.get(at).is_some_and(|word| word.kind == Kind::Name);
        if let Some(before) = words.get_mut(at - 1).filter(|word| is_name && word.kind == Kind::Plain)
            && is_capital(before.text)
            && is_topic(&before.key)
        {
            before.kind = Kind::Name;
        }
    }
}

fn is_capital(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}

fn kind(word: &str, key: &str, begins: bool) -> Kind {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    if is_place(word) {
        Kind::Place
    } else if digits > 0 && is_moment(word) {
        Kind::Moment
    } else if digits > 0 || word.chars().any(char::is_numeric) {
        Kind::Number
    } else if is_identifier(word) {
        Kind::Identifier
    } else if is_capital(word) && !begins && word.chars().count() > 1 {
        Kind::Name
    } else if has(key, Role::Counts) {
        Kind::Number
    } else {
        Kind::Plain
    }
}

/// A path, an address or a file name; `and/or` is none.
fn is_place(word: &str) -> bool {
    let inner = word.trim_start_matches(['.', '-']);
    let has_dot = inner.split('.').skip(1).any(|part| part.starts_with(char::is_alphabetic) && part.len() > 1);
    let slashes = word.matches('/').count();
    let marked =
        word.starts_with(['/', '~']) || word.contains(['.', '_', '-']) || word.bytes().any(|b| b.is_ascii_digit());
    (word.len() > 3 && slashes > 0 && (slashes > 1 || marked))
        || (has_dot && word.split('.').all(|part| part.len() != 1 || !part.starts_with(char::is_alphabetic)))
        || (word.contains('@') && word.len() > 3)
}

fn is_identifier(word: &str) -> bool {
    let inner = word.get(1..).unwrap_or_default();
    let mixed = inner.chars().any(char::is_uppercase) && word.chars().any(char::is_lowercase);
    word.contains("::") || inner.contains('_') || mixed || word.starts_with("--")
}

/// `12:04`, `12:04:31.7` and `2026-01-02T12:04:31Z`.
fn is_moment(word: &str) -> bool {
    let time = word.split_once('T').map_or(word, |(_, time)| time);
    let parts = time.trim_end_matches('Z').split(':');
    word.contains(':')
        && parts.clone().count() > 1
        && parts.clone().all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart_by_their_form() {
        let kinds = |text: &'static str| -> Vec<(&str, Kind)> {
            words(text).into_iter().filter(|word| word.kind.is_value()).map(|word| (word.text, word.kind)).collect()
        };
        assert_eq!(
            kinds("Maria Lopez owns /etc/app/config.toml and port 8443, e.g. at 12:04 and/or three times."),
            [
                ("Maria", Kind::Name),
                ("Lopez", Kind::Name),
                ("/etc/app/config.toml", Kind::Place),
                ("8443", Kind::Number),
                ("12:04", Kind::Moment),
                ("three", Kind::Number),
            ]
        );
        assert_eq!(
            kinds(r#"{"max_rows":"b-4821"} let maxRows = std::mem; See db.internal."#),
            [
                ("max_rows", Kind::Identifier),
                ("b-4821", Kind::Number),
                ("maxRows", Kind::Identifier),
                ("std::mem", Kind::Identifier),
                ("db.internal", Kind::Place),
            ]
        );
    }
}
