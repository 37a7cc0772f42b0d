//! JSON values one after another, as they come: lines, the elements of an array, or one whole body.

use turnkeep_model::json::Json;
use turnkeep_model::{Error, ErrorKind, Result};

use super::event;

/// Cuts bytes into the objects they hold, in pieces of any size: whether they stand in lines or in an array, and however
/// they are laid out.
#[derive(Debug, Default)]
pub struct ValueFramer {
    /// An object that was begun and not ended.
    rest: Vec<u8>,
    depth: usize,
    within: ParseState,
}

/// Where the next byte stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ParseState {
    #[default]
    Structure,
    Text,
    /// Behind a backslash in a text.
    Escape,
}

impl ValueFramer {
    /// Takes the next bytes and gives the objects that are complete.
    ///
    /// # Errors
    /// `Corrupt` where something else than objects stands there.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Json>> {
        let mut values = Vec::new();
        let mut start = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if self.depth == 0 {
                start = at;
            }
            if self.ends(*byte)? {
                self.rest.extend_from_slice(bytes.get(start..=at).unwrap_or_default());
                values.push(read(&self.rest)?);
                self.rest.clear();
            }
        }
        if self.depth > 0 {
            self.rest.extend_from_slice(bytes.get(start..).unwrap_or_default());
        }
        Ok(values)
    }

    /// Whether an object was begun and not ended.
    pub fn is_torn(&self) -> bool {
        self.depth > 0
    }

    /// Whether an object ends with this byte.
    fn ends(&mut self, byte: u8) -> Result<bool> {
        match (self.within, byte) {
            (ParseState::Escape, _) => self.within = ParseState::Text,
            (ParseState::Text, b'\\') => self.within = ParseState::Escape,
            (ParseState::Text, b'"') => self.within = ParseState::Structure,
            (ParseState::Text, _) => {}
            (ParseState::Structure, b'{') => self.depth += 1,
            // Between objects, brackets and commas are those of the array around them.
            (ParseState::Structure, byte) if self.depth == 0 => {
                let is_between = byte.is_ascii_whitespace() || matches!(byte, b'[' | b']' | b',' | 0xEF | 0xBB | 0xBF);
                if !is_between {
                    return Err(Error::new(ErrorKind::Corrupt, "a stream of JSON holds something else than objects"));
                }
            }
            (ParseState::Structure, b'"') => self.within = ParseState::Text,
            (ParseState::Structure, b'[') => self.depth += 1,
            (ParseState::Structure, b'}' | b']') => {
                self.depth -= 1;
                return Ok(self.depth == 0);
            }
            (ParseState::Structure, _) => {}
        }
        Ok(false)
    }
}

fn read(bytes: &[u8]) -> Result<Json> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::Corrupt, "an event is not UTF-8"))?;
    event(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(text: &str, size: usize) -> Vec<String> {
        let mut framer = ValueFramer::default();
        let pieces = text.as_bytes().chunks(size).flat_map(|piece| framer.push(piece).unwrap());
        pieces.map(|value| value.to_text()).collect()
    }

    #[test]
    fn the_size_of_pieces_and_the_layout_do_not_matter() {
        let layouts = [
            "{\"a\":\"}\\\"ü\"}\n{\"b\":[{},1]}\n",
            "\u{feff}[{\n  \"a\": \"}\\\"ü\"\n}\n,\r\n{\"b\":[{},1]}\n]",
            "{\"a\":\"}\\\"ü\"}{\"b\":[{},1]}",
        ];
        for text in layouts {
            for size in 1..text.len() {
                assert_eq!(framed(text, size), ["{\"a\":\"}\\\"ü\"}", "{\"b\":[{},1]}"], "{size}");
            }
        }
    }

    #[test]
    fn what_is_no_object_is_refused_and_what_is_cut_off_is_told() {
        assert!(ValueFramer::default().push(b"<html>").is_err());
        let mut framer = ValueFramer::default();
        framer.push(b"{\"a\":1}\n{\"a\"").unwrap();
        assert!(framer.is_torn());
    }
}
