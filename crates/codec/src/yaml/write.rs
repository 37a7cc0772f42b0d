//! The YAML writer.

use std::collections::HashSet;

use turnkeep_model::json::{Json, JsonString, Sink, Value};

use super::scalar::resolve;

/// How strings are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// For people: what can be shown is shown.
    #[default]
    Readable,
    /// As Go's YAML writes: characters beyond the basic plane are escaped.
    Go,
}

/// The value as a YAML text.
pub fn write(json: &Json, style: Style) -> String {
    let mut sink = YamlSink::new(style);
    sink.json(json);
    sink.into_text()
}

/// Writes a YAML text in block style: four spaces of indent, no folding, no comments.
///
/// What YAML cannot hold (half a surrogate pair, a key that stands twice) is a scalar tagged `!json` that holds the
/// JSON text; so is a key that has to stand again.
#[derive(Debug)]
pub struct YamlSink {
    out: String,
    style: Style,
    open: Vec<Frame>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Array,
    Object,
}

#[derive(Debug)]
struct Frame {
    kind: Kind,
    indent: usize,
    filled: bool,
    keys: HashSet<Box<str>>,
}

/// Readers take no longer key on the line of its value.
const LONGEST_KEY: usize = 1000;

const INDENT: usize = 4;

impl YamlSink {
    /// A sink with nothing written.
    pub fn new(style: Style) -> YamlSink {
        YamlSink { out: String::new(), style, open: Vec::new() }
    }

    /// The text written, ending in a line break.
    pub fn into_text(mut self) -> String {
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        self.out
    }

    /// The indent of what stands inside the innermost container.
    fn child_indent(&self) -> usize {
        match self.open.last() {
            None => 0,
            Some(Frame { kind: Kind::Array, indent, .. }) => indent + 2,
            Some(Frame { kind: Kind::Object, indent, .. }) => INDENT * (indent / INDENT + 1),
        }
    }

    /// Moves to where the next item of the innermost container stands.
    fn start_item(&mut self) {
        let Some(frame) = self.open.last() else {
            return;
        };
        let parent = self.open.len().checked_sub(2).and_then(|at| self.open.get(at)).map(|frame| frame.kind);
        // The first item of a container inside a list stands on the line of its dash.
        if frame.filled || parent != Some(Kind::Array) {
            if !self.out.is_empty() {
                self.out.push('\n');
            }
            self.out.extend(std::iter::repeat_n(' ', frame.indent));
        }
        if let Some(frame) = self.open.last_mut() {
            frame.filled = true;
        }
    }

    /// Moves to where a value stands: after its dash, or after its key.
    fn start_value(&mut self) {
        if let Some(Frame { kind: Kind::Array, .. }) = self.open.last() {
            self.start_item();
            self.out.push_str("- ");
        }
    }

    fn scalar(&mut self, text: &str) {
        self.start_value();
        self.space_after_key();
        self.out.push_str(text);
    }

    fn space_after_key(&mut self) {
        if self.out.ends_with(':') {
            self.out.push(' ');
        }
    }

    fn begin(&mut self, kind: Kind) {
        self.start_value();
        let indent = self.child_indent();
        self.open.push(Frame { kind, indent, filled: false, keys: HashSet::new() });
    }

    fn end(&mut self, empty: &str) {
        if let Some(Frame { filled: false, .. }) = self.open.pop() {
            self.space_after_key();
            self.out.push_str(empty);
        }
    }

    fn string_at(&mut self, text: &str, literal_allowed: bool) {
        if literal_allowed && is_literal(text) {
            return self.literal(text);
        }
        self.space_after_key();
        match spelling(text, self.style) {
            Spelling::Plain => self.out.push_str(text),
            Spelling::Single => {
                self.out.push('\'');
                self.out.push_str(&text.replace('\'', "''"));
                self.out.push('\'');
            }
            Spelling::Double => double_quoted(text, self.style, &mut self.out),
        }
    }

    /// A key that YAML cannot hold here as it is.
    fn tagged_key(&mut self, key: &JsonString) {
        self.start_item();
        let start = self.out.len();
        self.tagged(&Json::String(key.clone()));
        self.end_key(start);
    }

    fn tagged(&mut self, value: &Json) {
        self.out.push_str("!json ");
        double_quoted(&value.to_text(), self.style, &mut self.out);
    }

    fn end_key(&mut self, start: usize) {
        if self.out.len() - start > LONGEST_KEY {
            self.out.insert_str(start, "? ");
            self.out.push('\n');
            let indent = self.open.last().map_or(0, |frame| frame.indent);
            self.out.extend(std::iter::repeat_n(' ', indent));
        }
        self.out.push(':');
    }

    fn literal(&mut self, text: &str) {
        self.space_after_key();
        let chomp = match (text.ends_with('\n'), text.ends_with("\n\n")) {
            (false, _) => "-",
            (true, false) => "",
            (true, true) => "+",
        };
        self.out.push('|');
        self.out.push_str(chomp);
        let indent = self.child_indent().max(2);
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.out.push('\n');
            if !line.is_empty() {
                self.out.extend(std::iter::repeat_n(' ', indent));
                self.out.push_str(line);
            }
        }
    }
}

impl Sink for YamlSink {
    fn null(&mut self) {
        self.scalar("null");
    }

    fn bool(&mut self, value: bool) {
        self.scalar(if value { "true" } else { "false" });
    }

    fn number(&mut self, text: &str) {
        self.scalar(match text {
            "NaN" => ".nan",
            "Infinity" => ".inf",
            "-Infinity" => "-.inf",
            number => number,
        });
    }

    fn text(&mut self, text: &str) {
        self.start_value();
        self.string_at(text, true);
    }

    fn string(&mut self, text: &JsonString) {
        match text.to_str() {
            Ok(text) => self.text(&text),
            Err(_) => self.json(&Json::String(text.clone())),
        }
    }

    fn bare(&mut self, text: &str) {
        self.scalar(text);
    }

    fn json(&mut self, value: &Json) {
        if value.is_plain() {
            return value.write(self);
        }
        self.start_value();
        self.space_after_key();
        self.tagged(value);
    }

    fn begin_array(&mut self) {
        self.begin(Kind::Array);
    }

    fn end_array(&mut self) {
        self.end("[]");
    }

    fn begin_object(&mut self) {
        self.begin(Kind::Object);
    }

    fn key(&mut self, key: &str) {
        if self.open.last_mut().is_some_and(|frame| !frame.keys.insert(key.into())) {
            return self.tagged_key(&key.into());
        }
        self.start_item();
        let start = self.out.len();
        self.string_at(key, false);
        self.end_key(start);
    }

    fn spelled_key(&mut self, key: &JsonString) {
        match key.to_str() {
            Ok(key) => self.key(&key),
            Err(_) => self.tagged_key(key),
        }
    }

    fn end_object(&mut self) {
        self.end("{}");
    }
}

/// Whether a text of several lines can stand as it is under a `|`.
fn is_literal(text: &str) -> bool {
    text.contains('\n')
        && !text.trim_end_matches('\n').is_empty()
        && !text.starts_with([' ', '\n', '\t'])
        && !text.ends_with("\n\n")
        && text
            .split('\n')
            .all(|line| !line.ends_with([' ', '\t']) && !line.starts_with('\t') && line.chars().all(is_printable))
}

enum Spelling {
    Plain,
    Single,
    Double,
}

fn spelling(text: &str, style: Style) -> Spelling {
    // go-yaml writes what lies beyond the basic plane as escapes.
    let escaped = |c: char| !is_printable(c) || c == '\t' || style == Style::Go && u32::from(c) > 0xffff;
    if text.chars().any(escaped) || !resolves_to_itself(text) {
        return Spelling::Double;
    }
    if is_plain(text) { Spelling::Plain } else { Spelling::Single }
}

fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Whether an unquoted `text` reads as this very string, in YAML 1.2, 1.1 and Go.
fn resolves_to_itself(text: &str) -> bool {
    const OLD_BOOLEANS: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "=", "<<"];
    let lower = text.to_ascii_lowercase();
    let old_boolean = OLD_BOOLEANS.contains(&lower.as_str());
    let string = matches!(resolve(text.into()), Value::Text(turnkeep_model::json::Text::Plain(_)));
    string && !old_boolean && !is_old_number(text)
}

/// Whether YAML 1.1 reads `text` as a number or a time: base 60, underscores, dates.
fn is_old_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let first = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    first
        && digits
            .chars()
            .all(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '_' | '.' | '-' | '+' | 'T' | 'Z' | 'x' | 'o' | ' '))
        && digits.chars().any(|c| c.is_ascii_digit())
        && !is_plain_version(digits)
}

/// `2+2`, `1-2` and the like are text for everyone.
fn is_plain_version(text: &str) -> bool {
    text.contains('+') && !text.contains([':', '.', 'e', 'E']) && !text.contains('T')
}

/// Whether a one-line text needs no quotes.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let second = text.chars().nth(1);
    let indicator = match first {
        '-' | '?' | ':' => second.is_none_or(|c| c == ' '),
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => true,
        _ => false,
    };
    let spaced = text.starts_with(' ') || text.ends_with(' ');
    let marks = text.contains(": ") || text.ends_with(':') || text.contains(" #");
    let document = text.starts_with("---") || text.starts_with("...");
    !indicator && !spaced && !marks && !document
}

fn double_quoted(text: &str, style: Style, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            c if is_printable(c) && (style == Style::Readable || u32::from(c) <= 0xffff) => out.push(c),
            c if u32::from(c) <= 0xff => out.push_str(&format!("\\x{:02X}", u32::from(c))),
            c if u32::from(c) <= 0xffff => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    out.push('"');
}
