//! Passwords, keys and tokens by the name they are assigned to.

use std::ops::Range;

use super::{SecretKind, SecretMatch};

/// What a name promises.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// Something a person may have made up.
    Password,
    /// Something a machine made.
    Token,
}

/// Words that a telling name holds, in lower case; none is part of another.
pub(super) const KEYWORDS: [(&str, Expected); 16] = [
    ("passw", Expected::Password),
    ("passphrase", Expected::Password),
    ("pwd", Expected::Password),
    ("secret", Expected::Token),
    ("token", Expected::Token),
    ("api_key", Expected::Token),
    ("api-key", Expected::Token),
    ("apikey", Expected::Token),
    ("access_key", Expected::Token),
    ("accesskey", Expected::Token),
    ("private_key", Expected::Token),
    ("account_key", Expected::Token),
    ("accountkey", Expected::Token),
    ("auth_key", Expected::Token),
    ("encryption_key", Expected::Token),
    ("credential", Expected::Token),
];

/// What the value under this name is, if the name is telling.
pub(super) fn names_secret(name: &str) -> Option<Expected> {
    let bytes = name.as_bytes();
    let begins =
        |at: usize| matches!(bytes.get(at).map(u8::to_ascii_lowercase), Some(b'p' | b's' | b't' | b'a' | b'e' | b'c'));
    let stands = |at: usize, word: &str| {
        bytes.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    let named = |at: usize| KEYWORDS.iter().find(|(word, _)| stands(at, word)).map(|(_, expected)| *expected);
    (0..bytes.len()).filter(|at| begins(*at)).find_map(named)
}

/// How many different bytes there are.
pub(super) fn distinct(text: &str) -> u32 {
    let mut seen = [0_u64; 4];
    for byte in text.bytes() {
        if let Some(word) = seen.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
    }
    seen.iter().map(|word| word.count_ones()).sum()
}

/// The value that is assigned to the name around a keyword, if it is a secret.
pub(super) fn check(text: &str, at: Range<usize>) -> Option<SecretMatch> {
    let expected = names_secret(text.get(at.clone())?)?;
    let name_end =
        at.end + super::run(text, at.end, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')).min(32);
    let rest = text.get(name_end..)?;
    let (tail, length, quoted) = value(rest)?;
    let value = tail.get(..length)?;
    let value = if quoted == Quoted::No { value.trim_end_matches(['.', ':', '!', '?']) } else { value };
    let told = is_secret(value, expected) && (quoted == Quoted::Yes || !is_code(value));
    let start = text.len() - tail.len();
    told.then(|| SecretMatch { range: start..start + value.len(), kind: SecretKind::Secret })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    Yes,
    No,
}

/// The text from the value after a name on, and how long the value is: behind a sign of assignment, in quotes or up to
/// the next space.
fn value(rest: &str) -> Option<(&str, usize, Quoted)> {
    let rest = rest.trim_start_matches(['\\', '"', '\'', '`', ']', '*']);
    let rest = rest.trim_start_matches(' ');
    let rest = match rest.strip_prefix("is ") {
        Some(rest) => rest,
        None => past_sign(rest)?,
    };
    let rest = rest.trim_start_matches([' ', '\t']);
    let rest = ["Bearer ", "bearer "].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    for quote in ["\\\"", "\\'", "\"", "'", "`"] {
        if let Some(inner) = rest.strip_prefix(quote) {
            let line = inner.get(..inner.find('\n').unwrap_or(inner.len()))?;
            // Inside of quotes the value ends where they do; a text that was cut ends it too.
            return Some((inner, line.find(quote).unwrap_or(line.len()), Quoted::Yes));
        }
    }
    let ends = |c: char| c.is_whitespace() || ",;&\"'<>()[]{}|\\`".contains(c);
    Some((rest, rest.find(ends).unwrap_or(rest.len()), Quoted::No))
}

/// The text after `=`, `:`, `=>` or `:=`; a type may stand between, as in `KEY: &str = `.
fn past_sign(rest: &str) -> Option<&str> {
    let sign = rest.starts_with([':', '=']).then(|| rest.trim_start_matches([':', '=', '>']))?;
    let typed = sign.strip_prefix(' ').and_then(|text| {
        let head = text.get(..text.find('=')?)?;
        let is_type =
            head.len() <= 24 && head.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"&_<>' [];:".contains(&byte));
        (is_type && rest.starts_with(':') && head.ends_with(' ')).then(|| text.get(head.len() + 1..))?
    });
    Some(typed.unwrap_or(sign))
}

/// Whether a value keeps what its name promises.
pub(super) fn is_secret(value: &str, expected: Expected) -> bool {
    let shape = Shape::of(value);
    let plausible = !is_template(value) && !shape.spaced && shape.distinct >= 4;
    plausible
        && match expected {
            Expected::Password => shape.is_password(),
            Expected::Token => shape.is_token(),
        }
}

/// What a value is made of.
struct Shape {
    length: usize,
    distinct: u32,
    letters: usize,
    digits: usize,
    upper: bool,
    lower: bool,
    /// Signs that words and names have not.
    special: bool,
    /// How often letters and digits follow each other.
    changes: usize,
    spaced: bool,
    /// Characters that no machine-made token has.
    odd: bool,
}

impl Shape {
    fn of(value: &str) -> Shape {
        let is_kind = |byte: &u8| byte.is_ascii_alphanumeric().then(|| byte.is_ascii_digit());
        let kinds: Vec<bool> = value.bytes().filter_map(|byte| is_kind(&byte)).collect();
        Shape {
            length: value.len(),
            distinct: distinct(value),
            letters: value.bytes().filter(u8::is_ascii_alphabetic).count(),
            digits: value.bytes().filter(u8::is_ascii_digit).count(),
            upper: value.bytes().any(|byte| byte.is_ascii_uppercase()),
            lower: value.bytes().any(|byte| byte.is_ascii_lowercase()),
            special: value.bytes().any(|byte| b"!@#$%^&*?~+|".contains(&byte)),
            changes: kinds.windows(2).filter(|pair| matches!(pair, [a, b] if a != b)).count(),
            spaced: value.contains(char::is_whitespace),
            odd: value.bytes().any(|byte| !byte.is_ascii_alphanumeric() && !b"+/=_.~:%-$!@#^&*".contains(&byte)),
        }
    }

    fn is_password(&self) -> bool {
        let mixed = self.letters > 0 && (self.digits > 0 || self.special);
        (6..=128).contains(&self.length) && (mixed || self.digits == self.length)
    }

    fn is_token(&self) -> bool {
        let mixed = self.letters > 0 && self.digits > 0;
        let dense = self.changes >= 3 || self.upper && self.lower && self.changes >= 2 && self.length >= 16;
        (10..=4096).contains(&self.length)
            && !self.odd
            && mixed
            && (dense || self.special && self.length >= 12)
            && self.distinct >= 6
    }
}

/// Whether a value stands for one: a variable, a placeholder of ours or of anybody's.
pub(super) fn is_template(value: &str) -> bool {
    const WORDS: [&str; 10] =
        ["your", "example", "changeme", "placeholder", "redacted", "xxxx", "****", "....", "process.env", "os.environ"];
    let starts = value.starts_with(['$', '<', '{', '%', '[', '(', '/', '.', '@', '*', '#']);
    let lower = value.to_ascii_lowercase();
    starts
        || WORDS.iter().any(|word| lower.contains(word))
        || value.contains("${")
        || value.contains("{{")
        || value.contains("://")
}

/// Whether an unquoted value is a name in a program: words joined by dots, or capitals joined by underscores.
fn is_code(value: &str) -> bool {
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let path = (value.contains('.') || value.contains("::"))
        && value.split(['.', ':']).filter(|word| !word.is_empty()).all(is_name);
    let constant = value.contains('_')
        && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    path && !value.bytes().any(|byte| byte.is_ascii_digit())
        || constant
        || value.ends_with(['=', '/']) && value.len() < 16
}
