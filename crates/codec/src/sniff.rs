//! Given only bytes: which format are they?

use turnkeep_model::{Error, ErrorKind, Result};

use crate::codec::Codec;
use crate::format;
use crate::input::Input;

/// How sure a codec is that an input is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It is not.
    No,
    /// It may be.
    Likely,
    /// It is.
    Certain,
}

/// What a codec thinks of an input, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    /// How sure it is.
    pub confidence: Confidence,
    /// What it saw.
    pub why: String,
    /// Which generation or variant of its format it is, where it can tell.
    pub generation: Option<String>,
}

impl Guess {
    /// It is not this format.
    pub fn no() -> Guess {
        Guess { confidence: Confidence::No, why: String::new(), generation: None }
    }

    /// It may be this format, because of `why`.
    pub fn likely(why: impl Into<String>) -> Guess {
        Guess { confidence: Confidence::Likely, why: why.into(), generation: None }
    }

    /// It is this format, because of `why`.
    pub fn certain(why: impl Into<String>) -> Guess {
        Guess { confidence: Confidence::Certain, why: why.into(), generation: None }
    }

    /// The same, with the generation.
    #[must_use]
    pub fn of(mut self, generation: impl Into<String>) -> Guess {
        self.generation = Some(generation.into());
        self
    }
}

/// Which format an input is.
pub struct Sniffed {
    /// The format.
    pub codec: &'static dyn Codec,
    /// Why.
    pub guess: Guess,
    /// Other formats that it may be just as well; the table's order decided.
    pub others: Vec<&'static str>,
}

/// Finds the format of an input.
///
/// # Errors
/// `NotThisFormat` where no format knows it; where the text does not even parse, that error.
pub fn sniff(input: &Input<'_>) -> Result<Sniffed> {
    if input.is_blank() {
        return Err(nothing(input));
    }
    let guesses = format::ALL.iter().filter(|codec| codec.spec().reads).map(|codec| (*codec, codec.sniff(input)));
    let mut guesses: Vec<_> = guesses.filter(|(_, guess)| guess.confidence > Confidence::No).collect();
    guesses.sort_by_key(|(codec, guess)| (std::cmp::Reverse(guess.confidence), !named_like(*codec, input)));
    let mut guesses = guesses.into_iter();
    let Some((codec, guess)) = guesses.next() else {
        return Err(unknown(input));
    };
    let ties = guesses.take_while(|(_, other)| other.confidence == guess.confidence);
    let others = ties.map(|(codec, _)| codec.spec().id).collect();
    Ok(Sniffed { codec, guess, others })
}

fn nothing(input: &Input<'_>) -> Error {
    let what = if input.bytes().is_empty() { "the file is empty" } else { "the file holds nothing but white space" };
    Error::new(ErrorKind::NotThisFormat, what)
        .hint("there is no session in it; look whether it was written to the end, or restore it from a copy")
}

fn named_like(codec: &dyn Codec, input: &Input<'_>) -> bool {
    let ends = |name: &str| codec.spec().extensions.iter().any(|ending| name.ends_with(ending));
    input.name().is_some_and(ends)
}

fn unknown(input: &Input<'_>) -> Error {
    if let Some((what, hint)) = binary(input.bytes()) {
        return Error::new(ErrorKind::NotThisFormat, what).hint(hint);
    }
    let hint = "name its format with --from; `turnkeep formats` lists them";
    match input.document() {
        Err(error) => error.clone().hint(hint),
        Ok(_) => Error::new(ErrorKind::NotThisFormat, "no known format looks like this").hint(hint),
    }
}

/// What can be said of bytes that are no text, and what to do about them.
fn binary(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    /// How many bytes are looked through for one that no text holds.
    const ENOUGH: usize = 8_192;
    match bytes {
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [b'B', b'Z', b'h', ..] | [0xfd, b'7', b'z', ..] => {
            Some(("the file is compressed", "unpack it, and name the file that comes out"))
        }
        [b'P', b'K', 3 | 5, 4 | 6, ..] => {
            Some(("it is a zip file, and no debug bundle", "unpack it, and name one of the files in it"))
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => None,
        bytes => bytes.iter().take(ENOUGH).any(|byte| *byte == 0).then_some((
            "the file is binary, and no known format looks like this",
            "session files are JSON, YAML, JSON lines, SQLite databases or zip bundles; check the name",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> (String, String) {
        let error = sniff(&Input::new(bytes)).err().unwrap();
        (error.what().to_owned(), error.remedy().unwrap_or_default().to_owned())
    }

    #[test]
    fn what_holds_no_session_is_said_to() {
        let hint = "there is no session in it; look whether it was written to the end, or restore it from a copy";
        assert_eq!(refusal(b""), ("the file is empty".to_owned(), hint.to_owned()));
        assert_eq!(refusal(b" \n\t"), ("the file holds nothing but white space".to_owned(), hint.to_owned()));
    }

    #[test]
    fn what_is_no_text_is_told_apart() {
        let compressed = "the file is compressed";
        let binary = "the file is binary, and no known format looks like this";
        assert_eq!(refusal(&[0x1f, 0x8b, 8, 0]).0, compressed);
        assert_eq!(refusal(&[0x28, 0xb5, 0x2f, 0xfd, 0]).0, compressed);
        assert_eq!(refusal(b"\x7fELF\x02\x01\x01\0\0").0, binary);
        assert_eq!(refusal(b"\0\0\0").0, binary);
        assert_eq!(refusal(&[0xff, 0xfe, b'{', 0]).1, "it looks like UTF-16; convert it to UTF-8");
    }
}
