//! Texts of the kinds that agents write and read.

use crate::random::Random;

const WORDS: &[&str] = &[
    "error",
    "file",
    "test",
    "build",
    "function",
    "return",
    "value",
    "config",
    "server",
    "request",
    "response",
    "module",
    "import",
    "stream",
    "token",
    "session",
    "checkpoint",
    "resume",
    "branch",
    "merge",
    "commit",
    "parse",
    "schema",
    "index",
    "query",
    "update",
    "cache",
    "retry",
    "timeout",
    "order",
    "policy",
    "status",
    "check",
    "the",
    "a",
    "of",
    "to",
    "in",
    "and",
    "is",
    "for",
    "that",
    "with",
    "this",
    "not",
    "from",
    "it",
    "on",
    "we",
    "café",
];

/// About `length` bytes of words, in one line.
pub(crate) fn sentence(random: &mut Random, length: u64) -> String {
    let mut text = String::new();
    while (text.len() as u64) < length {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(random.pick(WORDS));
        if random.one_in(12) {
            text.push_str(&format!("_{:x}", random.between(0, 1 << 20)));
        }
    }
    text
}

/// About `length` bytes of paragraphs.
pub(crate) fn paragraphs(random: &mut Random, length: u64) -> String {
    let mut text = String::new();
    while (text.len() as u64) < length {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        let next = random.between(120, 400);
        text.push_str(&sentence(random, next));
        text.push('.');
    }
    text
}

/// About `length` bytes of numbered lines with paths and quotes, as tools print them.
pub(crate) fn listing(random: &mut Random, length: u64) -> String {
    let mut text = String::new();
    while (text.len() as u64) < length {
        let (folder, file) = (random.pick(WORDS), random.pick(WORDS));
        let (number, line, width) = (random.between(0, 9999), random.between(0, 999), random.between(10, 70));
        let said = sentence(random, width);
        text.push_str(&format!("{number:5}  src/{folder}/{file}.rs:{line}: \"{said}\"\n"));
    }
    text
}

/// `length` characters that look like a signature.
pub(crate) fn opaque(random: &mut Random, length: u64) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |number: u64| ALPHABET.get(usize::try_from(number % 64).unwrap_or_default()).copied();
    (0..length).filter_map(|_| letter(random.next())).map(char::from).collect()
}

/// A path of a source file.
pub(crate) fn path(random: &mut Random) -> String {
    format!("src/{}/{}.rs", random.pick(WORDS), random.pick(WORDS))
}
