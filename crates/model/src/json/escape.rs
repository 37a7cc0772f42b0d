//! JSON string escapes: decoding a spelling, and spelling a text.

use std::fmt;

/// An escape in a JSON string names half of a surrogate pair, which no Rust string can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoneSurrogate;

impl fmt::Display for LoneSurrogate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the string holds half of a surrogate pair")
    }
}

/// Decodes a checked spelling (the text between the quotes). Half pairs become U+FFFD and are told by the flag.
pub(super) fn decode_lossy(spelling: &str) -> (String, Result<(), LoneSurrogate>) {
    let mut text = String::with_capacity(spelling.len());
    let mut verdict = Ok(());
    let mut rest = spelling;
    while let Some(at) = find_backslash(rest.as_bytes()) {
        let (plain, escape) = rest.split_at(at);
        text.push_str(plain);
        let (decoded, used) = decode_escape(escape);
        if decoded.is_none() {
            verdict = Err(LoneSurrogate);
        }
        text.push(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = escape.get(used..).unwrap_or_default();
    }
    text.push_str(rest);
    (text, verdict)
}

/// Whether a checked spelling names no half of a surrogate pair.
pub(super) fn is_sound(spelling: &str) -> bool {
    let mut rest = spelling;
    while let Some(at) = find_backslash(rest.as_bytes()) {
        let (_, escape) = rest.split_at(at);
        // Only what is spelled `\ud…` can be half of a pair; all else need not be decoded to know.
        let used = match escape.as_bytes() {
            [_, b'u', b'd' | b'D', ..] => match decode_escape(escape) {
                (Some(_), used) => used,
                (None, _) => return false,
            },
            [_, b'u', ..] => 6,
            _ => 2,
        };
        rest = escape.get(used..).unwrap_or_default();
    }
    true
}

/// Decodes a checked spelling that is the very one [`spell_into`] gives its content; `None` for any other.
pub(super) fn decode_usual(spelling: &str) -> Option<String> {
    let mut text = String::with_capacity(spelling.len());
    let mut rest = spelling;
    while let Some(at) = find_backslash(rest.as_bytes()) {
        let (plain, escape) = rest.split_at(at);
        text.push_str(plain);
        text.push(usual(escape.as_bytes().get(1).copied())?);
        rest = escape.get(2..).unwrap_or_default();
    }
    text.push_str(rest);
    Some(text)
}

/// The character of an escape that [`spell_into`] writes.
fn usual(letter: Option<u8>) -> Option<char> {
    Some(match letter? {
        b'"' => '"',
        b'\\' => '\\',
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        _ => return None,
    })
}

/// Decodes the escape that `text` starts with: the character (none for half a pair) and the bytes it took.
fn decode_escape(text: &str) -> (Option<char>, usize) {
    let simple = match text.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return decode_unicode(text),
        Some(&other) => char::from(other),
        None => return (None, text.len()),
    };
    (Some(simple), 2)
}

fn decode_unicode(text: &str) -> (Option<char>, usize) {
    let Some(unit) = hex_unit(text) else {
        return (None, text.len().min(2));
    };
    if !(0xD800..0xDC00).contains(&unit) {
        return (char::from_u32(u32::from(unit)), 6);
    }
    match text.get(6..).and_then(hex_unit) {
        Some(low) if (0xDC00..0xE000).contains(&low) => {
            let code = 0x10000 + ((u32::from(unit) - 0xD800) << 10) + (u32::from(low) - 0xDC00);
            (char::from_u32(code), 12)
        }
        _ => (None, 6),
    }
}

fn hex_unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

/// Appends `text` as it stands between JSON quotes: only what must be escaped is.
pub fn spell_into(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while let Some(offset) = find_special(bytes.get(start..).unwrap_or_default()) {
        let at = start + offset;
        out.extend_from_slice(bytes.get(start..at).unwrap_or_default());
        spell_byte(bytes.get(at).copied().unwrap_or_default(), out);
        start = at + 1;
    }
    out.extend_from_slice(bytes.get(start..).unwrap_or_default());
}

fn spell_byte(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        0x8 => b'b',
        0xc => b'f',
        other => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(other >> 4), digit(other & 15)]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// The first byte that ends a plain run of a JSON string: a quote, a backslash or a control character.
pub(super) fn find_special(bytes: &[u8]) -> Option<usize> {
    find(bytes, special_mask, |byte| byte == b'"' || byte == b'\\' || byte < 0x20)
}

/// The first byte that JSON must escape, or that is not printable ASCII.
pub fn find_special_or_beyond_ascii(bytes: &[u8]) -> Option<usize> {
    let is = |byte| matches!(byte, b'"' | b'\\' | 0..=0x1f | 0x7f..);
    find(bytes, |word| special_mask(word) | equal_mask(word, 0x7f) | (word & HIGH), is)
}

fn find_backslash(bytes: &[u8]) -> Option<usize> {
    find(bytes, |word| equal_mask(word, b'\\'), |byte| byte == b'\\')
}

/// The first byte that `is` wanted, eight at a time by their `mask`.
fn find(bytes: &[u8], mask: impl Fn(u64) -> u64, is: impl Fn(u8) -> bool) -> Option<usize> {
    let mut chunks = bytes.chunks_exact(8);
    let mut at = 0;
    for chunk in &mut chunks {
        let hits = mask(chunk.try_into().map_or(0, u64::from_le_bytes));
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let tail = chunks.remainder().iter().position(|&byte| is(byte))?;
    Some(at + tail)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// High bit of each byte that is `"`, `\` or below 0x20. Exact up to and including the lowest hit.
fn special_mask(word: u64) -> u64 {
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    equal_mask(word, b'"') | equal_mask(word, b'\\') | control
}

/// High bit of each byte that equals `byte`. Exact up to and including the lowest hit.
fn equal_mask(word: u64, byte: u8) -> u64 {
    let zero_where_equal = word ^ (ONES * u64::from(byte));
    zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_special_byte_is_found_wherever_it_stands() {
        for length in 0..20 {
            for special in ["\"", "\\", "\n", "\u{1f}", "\0"] {
                let text = format!("{}{special}{}\"", "é".repeat(length), "~\u{7f}".repeat(length % 5));
                assert_eq!(find_special(text.as_bytes()), Some(2 * length), "{text:?}");
            }
        }
        assert_eq!(find_special("plain \u{80}\u{ff}!#[] text".as_bytes()), None);
    }

    #[test]
    fn the_first_byte_that_is_special_or_beyond_ascii_is_found() {
        for length in 0..20 {
            for special in ["\"", "\\", "\n", "\0", "\u{7f}", "é", "😀"] {
                let text = format!("{}{special}\n", "~ ".repeat(length));
                assert_eq!(find_special_or_beyond_ascii(text.as_bytes()), Some(2 * length), "{text:?}");
            }
        }
        assert_eq!(find_special_or_beyond_ascii(b"plain ~!#[] text"), None);
    }

    #[test]
    fn every_escape_is_decoded_and_half_a_pair_is_told() {
        let whole = decode_lossy(r#"a\"b\\c\/\n\t\r\b\f\u00e9\ud83d\ude00z"#);
        let half = decode_lossy(r"x\ud800y");

        assert_eq!(whole, ("a\"b\\c/\n\t\r\u{8}\u{c}é😀z".to_owned(), Ok(())));
        assert_eq!(half, ("x\u{fffd}y".to_owned(), Err(LoneSurrogate)));
        for spelling in [r"x\ud800y", r"\udc00", r"\ud83d\ud83d\ude00", r"\\\uD800", r"\ud7ff", r"\\ud800", r"\u00e9\n"]
        {
            assert_eq!(is_sound(spelling), decode_lossy(spelling).1.is_ok(), "{spelling}");
        }
    }

    #[test]
    fn a_usual_spelling_is_the_one_we_write() {
        for spelling in ["", "plain", r#"a\"b\\c\n\t\r\b\fé"#] {
            let mut again = Vec::new();
            spell_into(&decode_usual(spelling).unwrap(), &mut again);
            assert_eq!(again, spelling.as_bytes());
        }
        for spelling in [r"\/", r"\u00e9", r"\u0001", r"\ud800", r"x\ny\u0041"] {
            assert_eq!(decode_usual(spelling), None, "{spelling}");
        }
    }
}
