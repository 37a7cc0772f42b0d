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
    if input.bytes().is_empty() || input.is_blank() {
        return Err(Error::new(ErrorKind::NotThisFormat, "the file is empty").hint("name its format with --from"));
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

fn named_like(codec: &dyn Codec, input: &Input<'_>) -> bool {
    let ends = |name: &str| codec.spec().extensions.iter().any(|ending| name.ends_with(ending));
    input.name().is_some_and(ends)
}

fn unknown(input: &Input<'_>) -> Error {
    let hint = "name its format with --from; `turnkeep formats` lists them";
    match input.document() {
        Err(error) => error.clone().hint(hint),
        Ok(_) => Error::new(ErrorKind::NotThisFormat, "no known format looks like this").hint(hint),
    }
}
