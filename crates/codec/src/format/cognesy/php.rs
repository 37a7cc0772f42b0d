//! JSON as PHP's `json_encode` spells it, and how a text was spelled.

use std::io::Write;

use turnkeep_model::json::{Json, JsonSink, Object, TextStyle, spell_into};

/// How a text of JSON is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spelling {
    /// Spaces a level; none is everything on one line.
    pub indent: Option<usize>,
    /// Whether `/` is written `\/`.
    pub slashes: bool,
    /// Whether what is not ASCII is written `\uXXXX`.
    pub unicode: bool,
    /// Whether the text ends in a line feed.
    pub newline: bool,
}

impl Spelling {
    /// What `json_encode` writes when nothing is asked for.
    pub(super) const PLAIN: Spelling = Spelling { indent: None, slashes: true, unicode: true, newline: false };
    /// What a text of arguments looks like, however the document around them is spelled.
    pub(super) const BARE: Spelling = Spelling { indent: None, slashes: false, unicode: false, newline: false };
    /// A snapshot or state, printed for people.
    pub(super) const PRETTY: Spelling = Spelling { indent: Some(4), slashes: false, unicode: false, newline: true };
    /// A file of the session store.
    pub(super) const STORED: Spelling = Spelling { indent: Some(4), ..Spelling::PLAIN };

    /// How `text` is spelled; where it does not say, as `usual`.
    pub(super) fn of(text: &str, usual: Spelling) -> Spelling {
        let escapes = Escapes::of(text);
        Spelling {
            indent: indent(text).unwrap_or(usual.indent),
            slashes: escapes.slashes.unwrap_or(usual.slashes),
            unicode: escapes.unicode.unwrap_or(usual.unicode),
            newline: text.ends_with('\n'),
        }
    }

    /// What differs from `usual`.
    pub(super) fn note(self, usual: Spelling) -> Option<Object> {
        let mut note = Object::new();
        if self.indent != usual.indent {
            note.set("indent", self.indent.unwrap_or_default() as u64);
        }
        for (key, own, other) in [
            ("slashes", self.slashes, usual.slashes),
            ("unicode", self.unicode, usual.unicode),
            ("newline", self.newline, usual.newline),
        ] {
            if own != other {
                note.set(key, own);
            }
        }
        (!note.is_empty()).then_some(note)
    }

    /// `usual`, but for what the note says.
    pub(super) fn from_note(note: Option<&Json>, usual: Spelling) -> Spelling {
        let Some(Json::Object(note)) = note else { return usual };
        let flag = |key: &str, usual: bool| note.get(key).and_then(Json::as_bool).unwrap_or(usual);
        let indent = note.get("indent").and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64);
        Spelling {
            indent: match indent {
                None => usual.indent,
                Some(0) => None,
                Some(spaces) => Some(spaces.min(16) as usize),
            },
            slashes: flag("slashes", usual.slashes),
            unicode: flag("unicode", usual.unicode),
            newline: flag("newline", usual.newline),
        }
    }

    /// The text of a value.
    pub(super) fn write(self, value: &Json) -> String {
        let mut sink = JsonSink::styled(self.style(), Vec::new());
        value.write(&mut sink);
        let mut text = sink.into_text();
        if self.newline {
            text.push('\n');
        }
        text
    }

    fn style(self) -> TextStyle {
        let spell = match (self.slashes, self.unicode) {
            (false, false) => spell::<false, false>,
            (false, true) => spell::<false, true>,
            (true, false) => spell::<true, false>,
            (true, true) => spell::<true, true>,
        };
        TextStyle { indent: self.indent, spell, keeps_escapes: false, ..TextStyle::COMPACT }
    }

    /// The text of a value, on one line.
    pub(super) fn line(self, value: &Json) -> String {
        Spelling { indent: None, newline: false, ..self }.write(value)
    }
}

/// The spaces of the first level, if the text shows any.
fn indent(text: &str) -> Option<Option<usize>> {
    let inside = text.trim_start().strip_prefix(['{', '['])?;
    let next = inside.trim_start_matches(['\r', '\n']);
    if next.len() == inside.len() {
        return inside.chars().next().filter(|first| *first != '}' && *first != ']').map(|_| None);
    }
    Some(Some(next.len() - next.trim_start_matches(' ').len()))
}

#[derive(Default)]
struct Escapes {
    slashes: Option<bool>,
    unicode: Option<bool>,
}

impl Escapes {
    /// A bare character says more than an escaped one: an escape may come from elsewhere.
    fn of(text: &str) -> Escapes {
        let mut found = Escapes { slashes: None, unicode: (!text.is_ascii()).then_some(false) };
        let mut rest = text.as_bytes();
        while !found.is_settled() {
            let Some(at) = found.next(rest) else { break };
            let (here, after) = (rest.get(at).copied(), rest.get(at + 1..).unwrap_or_default());
            rest = after;
            match here {
                Some(b'/') => found.slashes = Some(false),
                _ => {
                    found.look_at(after);
                    // The second half of an escape.
                    rest = after.get(1..).unwrap_or_default();
                }
            }
        }
        found
    }

    fn is_settled(&self) -> bool {
        self.slashes == Some(false) && self.unicode.is_some()
    }

    /// Where the next sign stands that may tell something.
    fn next(&self, bytes: &[u8]) -> Option<usize> {
        match self.slashes {
            Some(false) => memchr::memchr(b'\\', bytes),
            _ => memchr::memchr2(b'\\', b'/', bytes),
        }
    }

    /// Looks at what follows a backslash.
    fn look_at(&mut self, escape: &[u8]) {
        if escape.first() == Some(&b'/') {
            self.slashes.get_or_insert(true);
        } else if beyond_ascii(escape.get(..escape.len().min(11)).unwrap_or_default()) {
            self.unicode.get_or_insert(true);
        }
    }
}

/// Whether an escape `uXXXX` names something that is not ASCII. The two line separators are always escaped, and so is
/// half of a surrogate pair.
fn beyond_ascii(escape: &[u8]) -> bool {
    let Some((b'u', hex)) = escape.split_first() else { return false };
    let (hex, next) = hex.split_at(hex.len().min(4));
    match hex {
        [b'0', b'0', b'0'..=b'7', _] | b"2028" | b"2029" => false,
        [b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..] => {
            matches!(next, [b'\\', b'u', b'd' | b'D', b'c' | b'd' | b'e' | b'f' | b'C' | b'D' | b'E' | b'F', ..])
        }
        [b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', ..] => false,
        hex => hex.len() == 4,
    }
}

/// Spells the content of a string as PHP does.
fn spell<const SLASHES: bool, const UNICODE: bool>(text: &str, out: &mut Vec<u8>) {
    // The two line separators begin with this byte.
    let beyond = || UNICODE || text.as_bytes().contains(&0xe2);
    if !SLASHES && (text.is_ascii() || !beyond()) {
        return spell_into(text, out);
    }
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| may_escape(byte, SLASHES, UNICODE)) {
        let (plain, special) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.extend_from_slice(plain.as_bytes());
        let Some(c) = special.chars().next() else { break };
        if must_escape(c, SLASHES, UNICODE) {
            escape(c, out);
        } else {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        rest = special.get(c.len_utf8()..).unwrap_or_default();
    }
    out.extend_from_slice(rest.as_bytes());
}

fn escape(c: char, out: &mut Vec<u8>) {
    let short = match c {
        '"' | '\\' | '/' => c,
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        other => {
            for unit in other.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short as u8]);
}

/// Whether a character that begins with this byte may have to be escaped: cheap, and never wrongly no.
fn may_escape(byte: u8, slashes: bool, unicode: bool) -> bool {
    match byte {
        b'"' | b'\\' | 0..=0x1f => true,
        b'/' => slashes,
        // The two line separators begin so.
        0xe2 => true,
        byte => byte >= 0xc0 && unicode,
    }
}

fn must_escape(c: char, slashes: bool, unicode: bool) -> bool {
    match c {
        '"' | '\\' | '\0'..='\u{1f}' => true,
        '/' => slashes,
        '\u{2028}' | '\u{2029}' => true,
        c => !c.is_ascii() && unicode,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_as_php_does() {
        let value = Json::from("a/b \"é\" \u{1f600}\u{2028}\n\u{1}");

        assert_eq!(Spelling::PLAIN.line(&value), r#""a\/b \"\u00e9\" \ud83d\ude00\u2028\n\u0001""#);
        assert_eq!(Spelling::PRETTY.line(&value), "\"a/b \\\"é\\\" 😀\\u2028\\n\\u0001\"");
    }

    #[test]
    fn tells_how_a_text_is_spelled() {
        let of = |text: &str| Spelling::of(text, Spelling::PRETTY);

        assert_eq!(of("{\"a\":\"x\\/y \\u00e9\"}"), Spelling::PLAIN);
        assert_eq!(of("{\n    \"a\": \"x\\\\/y é\"\n}\n"), Spelling::PRETTY);
        assert_eq!(of("{\n  \"a\": 1\n}\n").indent, Some(2));
        assert_eq!(of("[]"), Spelling { newline: false, ..Spelling::PRETTY });
        assert_eq!(
            Spelling::from_note(of("{}").note(Spelling::PLAIN).map(Json::Object).as_ref(), Spelling::PLAIN),
            of("{}")
        );
    }
}
