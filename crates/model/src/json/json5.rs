//! A reader of JSON5: JSON with comments, trailing commas, single quotes, bare keys and freer numbers.
//!
//! What is plain JSON keeps its spelling. What only JSON5 can spell becomes the nearest JSON: `.5` is `0.5`, `0x1F` is
//! `31`, an escape such as `\x41` is its character. Comments are counted, not kept.

use std::borrow::Cow;

use crate::json::{Fields, MAX_DEPTH, Node, Text, Value};
use crate::{Error, ErrorKind, Number, Result};

/// A parsed JSON5 text.
#[derive(Debug)]
pub struct Parsed<'a> {
    /// The value.
    pub node: Node<'a>,
    /// How many comments were passed over.
    pub comments: usize,
}

/// Parses a JSON5 text.
///
/// # Errors
/// `Corrupt` with the byte where it stops being JSON5; `TooLarge` when it nests deeper than [`MAX_DEPTH`].
pub fn parse(text: &str) -> Result<Parsed<'_>> {
    let mut parser = Parser { text, at: 0, depth: 0, comments: 0 };
    parser.skip_space()?;
    let node = parser.value()?;
    parser.skip_space()?;
    match parser.peek() {
        None => Ok(Parsed { node, comments: parser.comments }),
        Some(_) => Err(parser.wanted("the end of the document")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    comments: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn skip_space(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start_matches(is_space).len();
            self.at += space;
            let rest = self.rest();
            if let Some(comment) = rest.strip_prefix("//") {
                self.at += 2 + comment.find(is_line_end).unwrap_or(comment.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(end) = comment.find("*/") else { return Err(self.wanted("the end of a comment")) };
                self.at += 4 + end;
            } else {
                return Ok(());
            }
            self.comments += 1;
        }
    }

    fn value(&mut self) -> Result<Node<'a>> {
        let at = u32::try_from(self.at).unwrap_or(u32::MAX);
        let value = match self.peek() {
            Some('"' | '\'') => Value::Text(self.string()?),
            Some('{') => self.nested(Parser::object)?,
            Some('[') => self.nested(Parser::array)?,
            Some('+' | '-' | '.' | '0'..='9' | 'N' | 'I') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { at, value })
    }

    fn word(&mut self) -> Result<Value<'a>> {
        let words = [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))];
        let rest = self.rest();
        let found = words.into_iter().find(|(word, _)| {
            rest.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c| is_key_start(c) || c.is_ascii_digit()))
        });
        let Some((word, value)) = found else { return Err(self.wanted("a value")) };
        self.at += word.len();
        Ok(value)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value<'a>>) -> Result<Value<'a>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let why = format!("nested deeper than {MAX_DEPTH} levels");
            return Err(Error::new(ErrorKind::TooLarge, why).offset(self.at).hint("flatten the document"));
        }
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Value<'a>> {
        let mut fields = Fields::new();
        loop {
            self.skip_space()?;
            if self.eat('}') {
                return Ok(Value::Object(fields));
            }
            let key = self.key()?;
            self.skip_space()?;
            if !self.eat(':') {
                return Err(self.wanted("`:` after the key"));
            }
            self.skip_space()?;
            fields.push((key, self.value()?));
            self.skip_space()?;
            if !self.eat(',') && self.peek() != Some('}') {
                return Err(self.wanted("`,` or `}`"));
            }
        }
    }

    fn array(&mut self) -> Result<Value<'a>> {
        let mut items = Vec::new();
        loop {
            self.skip_space()?;
            if self.eat(']') {
                return Ok(Value::Array(items));
            }
            items.push(self.value()?);
            self.skip_space()?;
            if !self.eat(',') && self.peek() != Some(']') {
                return Err(self.wanted("`,` or `]`"));
            }
        }
    }

    fn key(&mut self) -> Result<Text<'a>> {
        if let Some('"' | '\'') = self.peek() {
            return self.string();
        }
        let rest = self.rest();
        let length = rest.find(|c| !is_key_part(c)).unwrap_or(rest.len());
        let name = rest.get(..length).filter(|name| name.starts_with(is_key_start));
        let Some(name) = name else { return Err(self.wanted("a key")) };
        self.at += length;
        Ok(Text::Plain(name))
    }

    fn number(&mut self) -> Result<Value<'a>> {
        let from = self.at;
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        let Some(spelling) = as_json_number(word) else { return Err(self.wanted("a number")) };
        self.at = from + length;
        Ok(Value::Number(spelling))
    }

    fn string(&mut self) -> Result<Text<'a>> {
        let quote = self.bump().unwrap_or('"');
        let from = self.at;
        let mut plain = true;
        let mut json = quote == '"';
        loop {
            match self.bump() {
                Some(c) if c == quote => break,
                Some('\\') => {
                    plain = false;
                    json &= is_json_escape(self.rest());
                    // A line that goes on may end in two characters.
                    if self.bump() == Some('\r') && self.rest().starts_with('\n') {
                        self.bump();
                    }
                }
                Some('\n' | '\r') | None => return Err(self.wanted("the end of a string")),
                Some(c) => json &= c >= ' ',
            }
        }
        let content = self.text.get(from..self.at.saturating_sub(1)).unwrap_or_default();
        match (plain, json) {
            (true, _) => Ok(Text::Plain(content)),
            (false, true) => Ok(Text::Escaped(content)),
            (false, false) => {
                decode(content).map(|text| Text::Owned(text.into())).map_err(|at| self.bad_escape(from + at))
            }
        }
    }

    fn bad_escape(&self, at: usize) -> Error {
        Error::new(ErrorKind::Corrupt, "not JSON5: expected a valid escape after `\\`").offset(at)
    }

    fn wanted(&self, what: &str) -> Error {
        if self.at < self.text.len() {
            return Error::new(ErrorKind::Corrupt, format!("not JSON5: expected {what}")).offset(self.at);
        }
        Error::new(ErrorKind::Corrupt, format!("the document ends where {what} should stand"))
            .offset(self.at)
            .hint("the file may have been cut off; restore it from its source")
    }
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_key_start(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '$' | '_')
}

fn is_key_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '$' | '_' | '-' | '\u{200c}' | '\u{200d}')
}

/// The JSON spelling of a JSON5 number: its own where it is JSON.
fn as_json_number(word: &str) -> Option<Cow<'_, str>> {
    if Number::parse(word).is_some() {
        return Some(Cow::Borrowed(word));
    }
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        let valid = !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u128::from_str_radix(hex, 16).ok().filter(|_| valid)?;
        return Some(Cow::Owned(format!("{sign}{value}")));
    }
    let exponent = digits.find(['e', 'E']).unwrap_or(digits.len());
    let (mantissa, exponent) = digits.split_at(exponent);
    let mantissa = match (mantissa.strip_prefix('.'), mantissa.strip_suffix('.')) {
        (Some(fraction), _) => format!("0.{fraction}"),
        (None, Some(whole)) => whole.to_owned(),
        (None, None) => mantissa.to_owned(),
    };
    let spelling = format!("{sign}{mantissa}{exponent}");
    Number::parse(&spelling).is_some().then_some(Cow::Owned(spelling))
}

/// Whether what follows a backslash is an escape that JSON has too.
fn is_json_escape(rest: &str) -> bool {
    match rest.as_bytes() {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => true,
        [b'u', hex @ ..] => hex.get(..4).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)),
        _ => false,
    }
}

/// The content of a string with escapes, or where one is not valid. Half a surrogate pair becomes U+FFFD.
fn decode(content: &str) -> std::result::Result<String, usize> {
    let mut text = String::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        text.push_str(plain);
        let (decoded, used) = escaped(escape).ok_or(content.len() - escape.len())?;
        text.extend(decoded);
        rest = escape.get(used..).unwrap_or_default();
    }
    text.push_str(rest);
    Ok(text)
}

/// The character that an escape stands for (none for a line that goes on), and the bytes it took.
fn escaped(escape: &str) -> Option<(Option<char>, usize)> {
    let letter = escape.chars().nth(1)?;
    let simple = match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '0' => '\0',
        'x' => return Some((char::from_u32(hex(escape, 2, 2)?), 4)),
        'u' => return unicode(escape),
        '\r' if escape.get(2..).is_some_and(|rest| rest.starts_with('\n')) => return Some((None, 3)),
        end if is_line_end(end) => return Some((None, 1 + end.len_utf8())),
        other => other,
    };
    Some((Some(simple), 1 + letter.len_utf8()))
}

fn unicode(escape: &str) -> Option<(Option<char>, usize)> {
    let unit = hex(escape, 2, 4)?;
    if let (0xD800..0xDC00, Some(low @ 0xDC00..0xE000)) = (unit, escape.get(6..).and_then(low_half)) {
        return Some((char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), 12));
    }
    Some((Some(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)), 6))
}

fn low_half(rest: &str) -> Option<u32> {
    rest.starts_with("\\u").then(|| hex(rest, 2, 4)).flatten()
}

fn hex(text: &str, from: usize, length: usize) -> Option<u32> {
    let digits = text.get(from..from + length)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_json(text: &str) -> String {
        parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).node.into_json().to_text()
    }

    #[test]
    fn reads_what_json_has_not() {
        let cases = [
            ("{a:1,$b_2:'x',}", r#"{"a":1,"$b_2":"x"}"#),
            ("[1,/* two */2,] // end", "[1,2]"),
            (
                r#"['say "hi"', 'it\'s', 'a\
b', '\x41\v\0']"#,
                r#"["say \"hi\"","it's","ab","A\u000b\u0000"]"#,
            ),
            ("'a\\\r\nb'", r#""ab""#),
            ("[.5, 5., +1, -0x1F, 0XFF, -Infinity, NaN, 1.0, 1e400]", "[0.5,5,1,-31,255,-Infinity,NaN,1.0,1e400]"),
            (r#""\u00e9 \/""#, r#""\u00e9 \/""#),
            (r"'\ud83e\udd80 \ud800'", "\"🦀 \u{fffd}\""),
            ("\u{feff}\u{a0}{ключ: null}", r#"{"ключ":null}"#),
        ];
        for (text, expected) in cases {
            assert_eq!(as_json(text), expected, "{text}");
        }
        assert_eq!(parse("// a\n/* b */ 1").unwrap().comments, 2);
    }

    #[test]
    fn refuses_what_is_not_json5_and_says_where() {
        let cases = [
            ("", 0),
            ("{", 1),
            ("[1 2]", 3),
            ("{a}", 2),
            ("[,]", 1),
            ("'a\nb'", 3),
            ("nulls", 0),
            ("1 2", 2),
            ("/* a", 0),
            ("'\\xZZ'", 1),
            ("0x", 0),
            ("1e", 0),
            ("{1:2}", 1),
            ("+-1", 0),
            ("--1", 0),
            ("0x+1", 0),
        ];
        for (text, at) in cases {
            let error = parse(text).map(|_| ()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{text}");
            let (line, _) = crate::line_and_column(text, at);
            assert_eq!(error.locate(text).at_line(), Some(line), "{text}");
        }
        assert_eq!(parse(&"[".repeat(100_000)).map(|_| ()).unwrap_err().kind(), ErrorKind::TooLarge);
    }
}
