//! The JSON reader.
//!
//! It keeps what other readers drop: the order of keys, repeated ones, the spelling of numbers and strings, and the byte where
//! each value begins. Texts and numbers borrow from the source; only what has escapes is ever copied, and only when it is asked for.

use std::borrow::Cow;

use super::escape::find_special;
use super::number::number_length;
use super::{Fields, Node, Text, Value};
use crate::error::{Error, ErrorKind, Result};

/// How deep a document may nest: deeper ones are refused rather than risking the stack.
pub const MAX_DEPTH: usize = 256;

/// How deep a text may nest at all: a native document holds foreign ones some levels further down.
pub const MAX_TEXT_DEPTH: usize = MAX_DEPTH + 64;

/// Whether the bare words `NaN`, `Infinity` and `-Infinity` are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nan {
    /// As in strict JSON: they are errors.
    Refuse,
    /// As Python writes them.
    Accept,
}

/// Parses a JSON text.
///
/// # Errors
/// `Corrupt` with the byte where it stops being JSON; `TooLarge` when it nests deeper than [`MAX_TEXT_DEPTH`].
pub fn parse(text: &str) -> Result<Node<'_>> {
    parse_with(text, Nan::Refuse)
}

/// Parses a JSON text, saying whether the three non-finite numbers are accepted.
///
/// # Errors
/// As [`parse`].
pub fn parse_with(text: &str, nan: Nan) -> Result<Node<'_>> {
    let mut parser = Parser { text, at: 0, depth: 0, nan, fields: Vec::new(), items: Vec::new() };
    parser.skip_space();
    let node = parser.value()?;
    parser.skip_space();
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.expected("the end of the document")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    nan: Nan,
    /// Pairs of the objects being read, innermost last: each object then takes exactly the room it needs.
    fields: Fields<'a>,
    /// The same for arrays.
    items: Vec<Node<'a>>,
}

impl<'a> Parser<'a> {
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn value(&mut self) -> Result<Node<'a>> {
        let at = self.at;
        let value = match self.peek() {
            Some(b'"') => Value::Text(self.string()?),
            Some(b'{') => self.nested(Parser::object)?,
            Some(b'[') => self.nested(Parser::array)?,
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => self.number()?,
            Some(_) => return Err(self.expected("a value")),
            None => return Err(self.cut("a value")),
        };
        Ok(Node { at: u32::try_from(at).unwrap_or(u32::MAX), value })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value<'a>>) -> Result<Value<'a>> {
        self.depth += 1;
        if self.depth > MAX_TEXT_DEPTH {
            let why = format!("nested deeper than {MAX_TEXT_DEPTH} levels");
            return Err(Error::new(ErrorKind::TooLarge, why).offset(self.at).hint("flatten the document"));
        }
        self.at += 1;
        self.skip_space();
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Value<'a>> {
        let start = self.fields.len();
        if self.eat(b'}') {
            return Ok(Value::Object(Vec::new()));
        }
        loop {
            match self.peek() {
                Some(b'"') => {}
                Some(_) => return Err(self.expected("a key in double quotes")),
                None => return Err(self.cut("a key")),
            }
            let key = self.string()?;
            self.skip_space();
            if !self.eat(b':') {
                return Err(self.wanted("`:` after the key"));
            }
            self.skip_space();
            let value = self.value()?;
            self.fields.push((key, value));
            self.skip_space();
            if self.eat(b'}') {
                return Ok(Value::Object(self.fields.drain(start..).collect()));
            }
            self.comma("`,` or `}`")?;
        }
    }

    fn array(&mut self) -> Result<Value<'a>> {
        let start = self.items.len();
        if self.eat(b']') {
            return Ok(Value::Array(Vec::new()));
        }
        loop {
            let value = self.value()?;
            self.items.push(value);
            self.skip_space();
            if self.eat(b']') {
                return Ok(Value::Array(self.items.drain(start..).collect()));
            }
            self.comma("`,` or `]`")?;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn comma(&mut self, wanted: &str) -> Result<()> {
        if !self.eat(b',') {
            return Err(self.wanted(wanted));
        }
        self.skip_space();
        Ok(())
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>> {
        if !self.bytes().get(self.at..).unwrap_or_default().starts_with(word.as_bytes()) {
            return Err(self.wanted(&format!("`{word}`")));
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Value<'a>> {
        let rest = self.bytes().get(self.at..).unwrap_or_default();
        let length = number_length(rest).or_else(|| self.non_finite(rest));
        let Some(length) = length else {
            return Err(self.wanted("a number"));
        };
        let from = self.at;
        self.at += length;
        Ok(Value::Number(Cow::Borrowed(self.slice(from, self.at))))
    }

    fn non_finite(&self, rest: &[u8]) -> Option<usize> {
        let words: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
        let found = words.iter().find(|word| rest.starts_with(word)).map(|word| word.len());
        found.filter(|_| self.nan == Nan::Accept)
    }

    fn string(&mut self) -> Result<Text<'a>> {
        self.at += 1;
        let from = self.at;
        let mut escaped = false;
        loop {
            let rest = self.bytes().get(self.at..).unwrap_or_default();
            let Some(offset) = find_special(rest) else {
                self.at = self.text.len();
                return Err(self.cut("the end of a string"));
            };
            self.at += offset;
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.escape()?;
                    escaped = true;
                }
                _ => return Err(self.expected("no bare control character in a string")),
            }
        }
        let content = self.slice(from, self.at);
        self.at += 1;
        Ok(if escaped { Text::Escaped(content) } else { Text::Plain(content) })
    }

    fn escape(&mut self) -> Result<()> {
        let rest = self.bytes().get(self.at + 1..).unwrap_or_default();
        let length = match rest.first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if rest.get(1..5).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) => 6,
            Some(_) => return Err(self.expected("a valid escape after `\\`")),
            None => return Err(self.cut("an escape")),
        };
        self.at += length;
        Ok(())
    }

    fn wanted(&self, what: &str) -> Error {
        if self.peek().is_none() { self.cut(what) } else { self.expected(what) }
    }

    fn expected(&self, what: &str) -> Error {
        Error::new(ErrorKind::Corrupt, format!("not JSON: expected {what}")).offset(self.at)
    }

    fn cut(&self, what: &str) -> Error {
        Error::new(ErrorKind::Corrupt, format!("the document ends where {what} should stand"))
            .offset(self.at)
            .hint("the file may have been cut off; restore it from its source")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_spelling_order_and_duplicates() {
        let text = r#"{"b":1.0,"a":-0,"b":"\ud800 \u00e9","n":[1e400,9007199254740993,null,true]}"#;

        let json = parse(text).unwrap().into_json();

        assert_eq!(json.to_text(), text);
    }

    #[test]
    fn refuses_what_is_not_json() {
        for bad in ["", "{", "[1,]", "{\"a\"}", "nul", "\"\\x\"", "\"a\nb\"", "1 2", "{a:1}", "NaN", "\"\\u12\"", "01"]
        {
            assert_eq!(parse(bad).unwrap_err().kind(), ErrorKind::Corrupt, "{bad}");
        }
        assert!(parse_with("[NaN,-Infinity]", Nan::Accept).is_ok());
    }

    #[test]
    fn refuses_deep_nesting_in_bounded_time() {
        let text = "[".repeat(100_000);

        assert_eq!(parse(&text).unwrap_err().kind(), ErrorKind::TooLarge);
    }
}
