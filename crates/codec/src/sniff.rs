//! Given only bytes: which format are they?

mod family;
mod foreign;
mod named;
pub(crate) mod outline;
mod unknown;

pub use named::check_named;
pub(crate) use named::refuse_empty;

use turnkeep_model::Result;

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
/// `NotThisFormat` where no format knows it, with what comes near; `Unsupported` where a system wrote it whose files are
/// known and cannot be read; where the text does not even parse, that error.
pub fn sniff(input: &Input<'_>) -> Result<Sniffed> {
    if input.is_blank() {
        return Err(unknown::nothing(input));
    }
    let mut guesses: Vec<Candidate> = candidates(input);
    guesses.sort_by_key(|candidate| std::cmp::Reverse((candidate.guess.confidence, candidate.tie_break)));
    let mut guesses = guesses.into_iter();
    let best = guesses.next();
    if let Some(name) = foreign::named(input)
        && best.as_ref().is_none_or(Candidate::yields)
    {
        return Err(unknown::unreadable(name));
    }
    let Some(Candidate { codec, guess, .. }) = best else {
        return Err(unknown::unknown(input));
    };
    let ties = guesses.take_while(|other| other.guess.confidence == guess.confidence);
    let others = ties.map(|other| other.codec.spec().id).collect();
    Ok(Sniffed { codec, guess, others })
}

/// A format that an input may be of.
struct Candidate {
    codec: &'static dyn Codec,
    guess: Guess,
    tie_break: TieBreak,
}

/// What speaks for one of several formats that fit equally well, the strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TieBreak {
    /// Whether the model that is named is usually spoken to over this wire.
    model: bool,
    /// Whether the file is named like files of this format.
    name: bool,
}

impl Candidate {
    /// Whether it gives way to a system that is known by its own keys: a wire's bodies are parts of many files.
    fn yields(&self) -> bool {
        self.guess.confidence < Confidence::Certain || format::wire(self.codec.spec().id).is_some()
    }
}

fn candidates(input: &Input<'_>) -> Vec<Candidate> {
    let model = family::model_of(&input.top().records);
    let candidate = |codec: &&'static dyn Codec| {
        let guess = codec.sniff(input);
        let id = codec.spec().id;
        let favoured = model.as_deref().is_some_and(|model| family::favours(model, id));
        let tie_break = TieBreak { model: favoured, name: named_like(*codec, input) };
        (guess.confidence > Confidence::No).then_some(Candidate { codec: *codec, guess, tie_break })
    };
    format::ALL.iter().filter(|codec| codec.spec().reads).filter_map(candidate).collect()
}

fn named_like(codec: &dyn Codec, input: &Input<'_>) -> bool {
    let ends = |name: &str| codec.spec().extensions.iter().any(|ending| name.ends_with(ending));
    input.name().is_some_and(ends)
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
