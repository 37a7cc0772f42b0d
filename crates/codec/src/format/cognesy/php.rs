//! JSON as PHP's `json_encode` spells it, and how a text was spelled.

use std::io::Write;

use turnkeep_model::json::{Json, JsonString, Object, Sink, spell_into};

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
        let mut sink = PhpSink { out: Vec::new(), spelling: self, depth: 0, state: State::Due };
        value.write(&mut sink);
        if self.newline {
            sink.out.push(b'\n');
        }
        // Everything written is a text or an ASCII escape.
        String::from_utf8(sink.out).unwrap_or_default()
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

/// Writes JSON as PHP does.
struct PhpSink {
    out: Vec<u8>,
    spelling: Spelling,
    depth: usize,
    state: State,
}

#[derive(PartialEq, Clone, Copy)]
enum State {
    First,
    Due,
    Next,
}

impl PhpSink {
    fn before(&mut self) {
        match self.state {
            State::Due => {}
            State::First => self.new_line(),
            State::Next => {
                self.out.push(b',');
                self.new_line();
            }
        }
        self.state = State::Next;
    }

    fn new_line(&mut self) {
        if let Some(spaces) = self.spelling.indent {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + spaces * self.depth, b' ');
        }
    }

    /// Whether a text needs escapes only where every JSON does.
    fn is_usual(&self, text: &str) -> bool {
        // The two line separators begin with this byte.
        let beyond = || self.spelling.unicode || text.as_bytes().contains(&0xe2);
        !self.spelling.slashes && (text.is_ascii() || !beyond())
    }

    fn quoted(&mut self, text: &str) {
        self.out.push(b'"');
        if self.is_usual(text) {
            spell_into(text, &mut self.out);
            return self.out.push(b'"');
        }
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|byte| may_escape(byte, self.spelling)) {
            let (plain, special) = rest.split_at_checked(at).unwrap_or((rest, ""));
            self.out.extend_from_slice(plain.as_bytes());
            let Some(c) = special.chars().next() else { break };
            if must_escape(c, self.spelling) {
                self.escape(c);
            } else {
                self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            rest = special.get(c.len_utf8()..).unwrap_or_default();
        }
        self.out.extend_from_slice(rest.as_bytes());
        self.out.push(b'"');
    }

    fn escape(&mut self, c: char) {
        let short = match c {
            '"' | '\\' | '/' => c,
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\u{8}' => 'b',
            '\u{c}' => 'f',
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    let _ = write!(self.out, "\\u{unit:04x}");
                }
                return;
            }
        };
        self.out.extend_from_slice(&[b'\\', short as u8]);
    }

    fn begin(&mut self, bracket: u8) {
        self.before();
        self.out.push(bracket);
        self.depth += 1;
        self.state = State::First;
    }

    fn end(&mut self, bracket: u8) {
        self.depth = self.depth.saturating_sub(1);
        if self.state == State::Next {
            self.new_line();
        }
        self.out.push(bracket);
        self.state = State::Next;
    }

    fn after_key(&mut self) {
        self.out.extend_from_slice(if self.spelling.indent.is_some() { b": " } else { b":" });
        self.state = State::Due;
    }

    /// A spelling that no text can stand for is kept.
    fn spelled(&mut self, text: &JsonString) {
        match (text.to_str(), text.escaped()) {
            (Err(_), Some(spelling)) => {
                self.out.push(b'"');
                self.out.extend_from_slice(spelling.as_bytes());
                self.out.push(b'"');
            }
            _ => self.quoted(&text.to_str_lossy()),
        }
    }
}

/// Whether a character that begins with this byte may have to be escaped: cheap, and never wrongly no.
fn may_escape(byte: u8, spelling: Spelling) -> bool {
    match byte {
        b'"' | b'\\' | 0..=0x1f => true,
        b'/' => spelling.slashes,
        // The two line separators begin so.
        0xe2 => true,
        byte => byte >= 0xc0 && spelling.unicode,
    }
}

fn must_escape(c: char, spelling: Spelling) -> bool {
    match c {
        '"' | '\\' | '\0'..='\u{1f}' => true,
        '/' => spelling.slashes,
        '\u{2028}' | '\u{2029}' => true,
        c => !c.is_ascii() && spelling.unicode,
    }
}

impl Sink for PhpSink {
    fn null(&mut self) {
        self.number("null");
    }

    fn bool(&mut self, value: bool) {
        self.number(if value { "true" } else { "false" });
    }

    fn number(&mut self, text: &str) {
        self.before();
        self.out.extend_from_slice(text.as_bytes());
    }

    fn text(&mut self, text: &str) {
        self.before();
        self.quoted(text);
    }

    fn string(&mut self, text: &JsonString) {
        self.before();
        self.spelled(text);
    }

    fn begin_array(&mut self) {
        self.begin(b'[');
    }

    fn end_array(&mut self) {
        self.end(b']');
    }

    fn begin_object(&mut self) {
        self.begin(b'{');
    }

    fn key(&mut self, key: &str) {
        self.before();
        self.quoted(key);
        self.after_key();
    }

    fn spelled_key(&mut self, key: &JsonString) {
        self.before();
        self.spelled(key);
        self.after_key();
    }

    fn end_object(&mut self) {
        self.end(b'}');
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
