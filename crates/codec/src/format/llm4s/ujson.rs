//! What the library's JSON parser says of a text that it refuses.

/// Checks a text as the library's parser does.
///
/// # Errors
/// Its message, with the index of the UTF-16 unit where it gave up.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut parser = Parser { units: text.encode_utf16().collect(), at: 0 };
    parser.top()?;
    while let Some(unit) = parser.peek() {
        match unit {
            b'\n' | b' ' | b'\t' | b'\r' => parser.at += 1,
            _ => return Err(parser.die(parser.at, "expected whitespace or eof")),
        }
    }
    Ok(())
}

const EXHAUSTED: &str = "exhausted input";

/// What may stand next inside a container.
#[derive(Clone, Copy, PartialEq)]
enum State {
    ArrayBegin,
    ObjectBegin,
    Data,
    Key,
    Colon,
    ArrayEnd,
    ObjectEnd,
}

impl State {
    fn expected(self) -> &'static str {
        match self {
            State::ArrayBegin => "expected json value or ]",
            State::ObjectBegin => "expected json value or }",
            State::Data => "expected json value",
            State::Key => "expected json string key",
            State::Colon => "expected :",
            State::ArrayEnd => "expected , or ]",
            State::ObjectEnd => "expected , or }",
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Container {
    Array,
    Object,
}

impl Container {
    fn end(self) -> State {
        match self {
            Container::Array => State::ArrayEnd,
            Container::Object => State::ObjectEnd,
        }
    }
}

struct Parser {
    units: Vec<u16>,
    at: usize,
}

impl Parser {
    /// The unit at the place, as a byte; anything beyond ASCII is 0xFF.
    fn peek(&self) -> Option<u8> {
        self.unit(self.at)
    }

    fn unit(&self, at: usize) -> Option<u8> {
        self.units.get(at).map(|unit| u8::try_from(*unit).ok().filter(u8::is_ascii).unwrap_or(0xFF))
    }

    fn get(&self) -> Result<u8, String> {
        self.peek().ok_or_else(|| EXHAUSTED.to_owned())
    }

    fn die(&self, at: usize, what: &str) -> String {
        let Some(unit) = self.units.get(at) else { return EXHAUSTED.to_owned() };
        let shown = turnkeep_model::json::Json::from(String::from_utf16_lossy(&[*unit]));
        format!("{what} got {shown} at index {at}")
    }

    fn top(&mut self) -> Result<(), String> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n')) {
            self.at += 1;
        }
        match self.get()? {
            b'[' | b'{' => self.nested(),
            b'-' | b'0'..=b'9' => self.number(true),
            b'"' => self.string(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => Err(self.die(self.at, "expected json value")),
        }
    }

    fn nested(&mut self) -> Result<(), String> {
        let mut stack = Vec::new();
        let mut state = self.begin(&mut stack)?;
        while let Some(container) = stack.last().copied() {
            let unit = self.get()?;
            let wants_value = matches!(state, State::Data | State::ArrayBegin);
            state = match (unit, state) {
                (b' ' | b'\t' | b'\r' | b'\n', _) => {
                    self.at += 1;
                    state
                }
                (b'"', State::Key | State::ObjectBegin) => self.string().map(|()| State::Colon)?,
                (b'"', _) if wants_value => self.string().map(|()| container.end())?,
                (b':', State::Colon) => self.step(State::Data),
                (b'[' | b'{', _) if wants_value => self.begin(&mut stack)?,
                (b'-' | b'0'..=b'9', _) if wants_value => self.number(false).map(|()| container.end())?,
                (b't', _) if wants_value => self.word("true").map(|()| container.end())?,
                (b'f', _) if wants_value => self.word("false").map(|()| container.end())?,
                (b'n', _) if wants_value => self.word("null").map(|()| container.end())?,
                (b',', State::ArrayEnd) => self.step(State::Data),
                (b',', State::ObjectEnd) => self.step(State::Key),
                (b']', State::ArrayEnd | State::ArrayBegin) | (b'}', State::ObjectEnd | State::ObjectBegin) => {
                    stack.pop();
                    self.step(stack.last().map_or(state, |outer| outer.end()))
                }
                _ => return Err(self.die(self.at, state.expected())),
            };
        }
        Ok(())
    }

    fn step(&mut self, state: State) -> State {
        self.at += 1;
        state
    }

    fn begin(&mut self, stack: &mut Vec<Container>) -> Result<State, String> {
        let (container, state) = match self.get()? {
            b'[' => (Container::Array, State::ArrayBegin),
            _ => (Container::Object, State::ObjectBegin),
        };
        stack.push(container);
        Ok(self.step(state))
    }

    /// A number; only at the top may the text end with it.
    fn number(&mut self, at_top: bool) -> Result<(), String> {
        let start = self.at;
        self.at += usize::from(self.get()? == b'-');
        if self.get()? == b'0' {
            self.at += 1;
        } else {
            self.digits(start)?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.get()?;
            self.digits(start)?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.get()?, b'+' | b'-'));
            self.get()?;
            self.digits(start)?;
        }
        if at_top { Ok(()) } else { self.get().map(|_| ()) }
    }

    fn digits(&mut self, start: usize) -> Result<(), String> {
        let from = self.at;
        while self.peek().is_some_and(|unit| unit.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == from { Err(self.die(start, "expected digit")) } else { Ok(()) }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        let end = self.at + word.len();
        if end > self.units.len() {
            return Err(EXHAUSTED.to_owned());
        }
        let same = word.bytes().enumerate().all(|(index, byte)| self.unit(self.at + index) == Some(byte));
        if !same {
            return Err(self.die(self.at, &format!("expected {word}")));
        }
        self.at = end;
        Ok(())
    }

    fn string(&mut self) -> Result<(), String> {
        self.at += 1;
        loop {
            match self.get()? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                control @ 0..=0x1F => return Err(self.die(self.at, &format!("control char ({control}) in string"))),
                b'\\' => self.escape()?,
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        self.at += 1;
        match self.get()? {
            b'b' | b'f' | b'n' | b'r' | b't' | b'"' | b'/' | b'\\' => self.at += 1,
            b'u' if self.at + 4 < self.units.len() => self.at += 5,
            b'u' => return Err(EXHAUSTED.to_owned()),
            _ => return Err(self.die(self.at, "illegal escape sequence after \\")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_in_the_parsers_words() {
        let cases = [
            ("", "exhausted input"),
            ("{\"a\":", "exhausted input"),
            ("[1", "exhausted input"),
            ("{\"a\":1,}", "expected json string key got \"}\" at index 7"),
            ("[1,]", "expected json value got \"]\" at index 3"),
            ("{a:1}", "expected json value or } got \"a\" at index 1"),
            ("{} x", "expected whitespace or eof got \"x\" at index 3"),
            ("nope", "expected null got \"n\" at index 0"),
            ("[\"😀\" 1]", "expected , or ] got \"1\" at index 6"),
            ("[\"a\nb\"]", "control char (10) in string got \"\\n\" at index 3"),
            ("[\"\\x\"]", "illegal escape sequence after \\ got \"x\" at index 3"),
            ("[-a]", "expected digit got \"-\" at index 1"),
            ("hello", "expected json value got \"h\" at index 0"),
        ];
        for (text, expected) in cases {
            assert_eq!(check(text), Err(expected.to_owned()), "{text}");
        }
        for good in ["1", "-0.5e3", " {\"a\": [true, null, \"\\u00e9\"]}\r\n", "\"x\""] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }
}
