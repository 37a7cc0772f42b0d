//! Texts: ordinary ones, and all that some syntax stumbles over.

use proptest::prelude::*;
use proptest::{collection, sample};

/// Texts that some syntax, type or reader stumbles over.
#[rustfmt::skip]
pub const TRICKY: &[&str] = &[
    "", " ", "  two", "two  ", "\t", "\ttab", "tab\t", "a\tb", "\n", "\n\n", "a\n", "a\n\n", "\na", "a\nb", "a\n\nb\n",
    " a\nb", "a \nb", "a\n b", "a\n\tb", "\r", "\r\n", "a\r\nb", "a\rb", "a\r", "\0", "a\0b", "\u{1}\u{1f}", "\u{7f}",
    "\u{80}\u{9f}", "\u{85}", "a\u{85}b", "\u{a0}", "\u{2028}", "a\u{2028}b\u{2029}c", "\u{feff}", "\u{feff}bom", "a\u{feff}b",
    "\u{fffe}", "\u{ffff}", "\u{fffd}", "\u{e000}", "\u{10ffff}", "😀", "👩‍👩‍👧", "e\u{301}", "مرحبا", "漢字",
    "null", "Null", "NULL", "~", "true", "True", "TRUE", "false", "yes", "Yes", "no", "NO", "on", "off", "y", "n", "Y", "N",
    "0", "-0", "+0", "00", "007", "1", "-1", "+1", "1.0", "1.", ".5", "-.5", "1e3", "1E3", "1e+3", "1e400", "1_000", "0x1F",
    "0X1f", "0o17", "0O17", "017", "0b101", "1:30", "190:20:30", "1:30.5", ".inf", "-.inf", "+.inf", ".Inf", ".nan", ".NaN", "NaN", "Infinity",
    "-Infinity", "inf", "nan", "9007199254740993", "2026-01-16", "2026-1-6", "2026-01-16T10:00:00Z", "2026-01-16 10:00:00",
    "2026-01-16t10:00:00.5+02:00", "12:30", "-", "--", "---", "--- a", "---a", "...", "... a", "- a", "-a", "-\ta", "?", "? a", "?a", ":", ": a", ":a",
    "a:", "a: b", "a:b", "a :b", "a #b", "a#b", "#", "# a", "&a", "*a", "!a", "!!str a", "!json", "|", "|-", "|+", ">", ">-", "'", "''", "'a'", "\"", "\"a\"", "a'b",
    "a\"b", "\\", "\\n", "a\\", "%", "%YAML 1.2", "@", "@a", "`", "`a`", "[", "]", "[]", "[a", "{", "}", "{}", "{a: b}", ",", ", a", "a, b", "a]", "a}", "=", "<<", "<",
    "<<: a", "- ", "-\n", "--- \na", "---\n", "a\n---\nb", "a\n...\nb", "a\n# b", "# a\nb", "a: b\nc: d", "- a\n- b", "|\na", "a\n  ", "a\n\t", "\n a", "  \n a",
    "turnkeep/newer", "${HOME}", "{{x}}", "</script>", "../../etc/passwd", "C:\\x", "data:image/png;base64,AA==",
    "[REDACTED]", "\u{1b}[31mred", "a\u{8}b\u{c}c", "ﬁ", "İ", "\u{202e}rtl", "\u{ad}", "\u{200d}", "x\u{0}\u{2028}😀\r\n\t ",
];

const WORDS: &[&str] = &[
    "the", "weather", "in", "Paris", "is", "sunny", "call", "tool", "please", "answer", "why", "list", "file", "not",
    "found", "naïve", "42",
];

/// A short word, as in a name or an id.
pub fn word() -> BoxedStrategy<String> {
    let odd = sample::select(TRICKY).prop_map(str::to_owned);
    let id = ("[a-z]{1,6}", 0..100u32).prop_map(|(name, number)| format!("{name}_{number}"));
    prop_oneof![6 => sample::select(WORDS).prop_map(str::to_owned), 6 => id, 1 => odd].boxed()
}

/// An ordinary line of text.
pub fn line() -> BoxedStrategy<String> {
    collection::vec(sample::select(WORDS), 1..8).prop_map(|words| words.join(" ")).boxed()
}

/// Any text: a line, several, something tricky, or noise.
pub fn text() -> BoxedStrategy<String> {
    let lines = collection::vec(line(), 2..4).prop_map(|lines| lines.join("\n"));
    let tricky = sample::select(TRICKY).prop_map(str::to_owned);
    let joined = collection::vec(sample::select(TRICKY), 2..4).prop_map(|parts| parts.concat());
    let noise = collection::vec(any::<char>(), 0..8).prop_map(|chars| chars.into_iter().collect());
    let long =
        (word(), 1000..1500usize).prop_map(|(word, length)| format!("{word} ").repeat(length / (word.len() + 1)));
    prop_oneof![10 => line(), 3 => lines, 6 => tricky, 2 => joined, 2 => noise, 1 => long].boxed()
}
