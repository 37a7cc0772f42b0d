//! From bytes of one format to bytes of another.

use turnkeep_model::{Archive, Loss, LossKind, Result, Severity};

use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Mode, Target};
use crate::input::Input;
use crate::sniff::{Guess, Sniffed, check_named, refuse_empty, sniff};

/// The one format that holds records.
const JOURNAL: &str = "turnkeep.jsonl";

/// What a conversion gave.
pub struct Conversion {
    /// The format that was read.
    pub from: &'static str,
    /// The format that was written.
    pub to: &'static str,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What did not survive: first what reading lost, then what was taken away, then what writing lost.
    pub losses: Vec<Loss>,
    /// Other formats that the input may be just as well.
    pub ambiguous: Vec<&'static str>,
}

impl Conversion {
    /// How many losses are of content or settings. Another spelling of the same is none of them.
    pub fn essential_losses(&self) -> usize {
        self.losses.iter().filter(|loss| loss.severity() != Severity::Spelling).count()
    }
}

/// What was read, and as what.
pub struct Read {
    /// The format.
    pub codec: &'static dyn Codec,
    /// What the format was recognised by; `None` where it was named.
    pub guess: Option<Guess>,
    /// Other formats that it may be just as well.
    pub ambiguous: Vec<&'static str>,
    /// The sessions.
    pub archive: Archive,
    /// What could not be kept.
    pub losses: Vec<Loss>,
}

impl Read {
    /// Writes what was read in the target's format. `reduce` may change it before, and says what it took away.
    ///
    /// # Errors
    /// As [`encode`], and what `reduce` says.
    pub fn convert(
        mut self,
        target: &Target,
        encoding: &EncodeOptions,
        reduce: impl FnOnce(&mut Read) -> Result<Vec<Loss>>,
    ) -> Result<Conversion> {
        let reduced = reduce(&mut self)?;
        let Encoded { bytes, losses } = encode_owned(self.archive, target, encoding)?;
        let losses = self.losses.into_iter().chain(reduced).chain(losses).collect();
        let (from, to) = (self.codec.spec().id, target.codec.spec().id);
        Ok(Conversion { from, to, bytes, losses, ambiguous: self.ambiguous })
    }
}

/// Reads an input, in the format named or the one it looks like. What is no document of the format named is refused, and
/// so is an input that says something of which nothing could be read.
///
/// # Errors
/// `NotThisFormat` where the format is unknown or another one; otherwise where the bytes are unusable.
pub fn read(input: Input<'_>, from: Option<&'static dyn Codec>, options: &DecodeOptions) -> Result<Read> {
    let is_faithful = options.mode == Mode::Faithful;
    let (codec, guess, ambiguous) = match from {
        Some(codec) => (codec, None, Vec::new()),
        None => {
            let Sniffed { codec, guess, others } = sniff(&input)?;
            (codec, Some(guess), others)
        }
    };
    // An original program has a verdict of its own.
    if is_faithful && guess.is_none() {
        check_named(codec, &input)?;
    }
    let again = input.again();
    let Decoded { archive, losses } = codec.decode(input, options)?;
    if is_faithful {
        refuse_empty(codec.spec().id, &archive, &again)?;
    }
    Ok(Read { codec, guess, ambiguous, archive, losses })
}

/// The same, where only the format and what was read matter.
///
/// # Errors
/// As [`read`].
pub fn decode(
    input: Input<'_>,
    from: Option<&'static dyn Codec>,
    options: &DecodeOptions,
) -> Result<(&'static dyn Codec, Decoded)> {
    let Read { codec, archive, losses, .. } = read(input, from, options)?;
    Ok((codec, Decoded { archive, losses }))
}

/// Writes sessions in the target's format.
///
/// # Errors
/// Where the format cannot be written.
pub fn encode(archive: &Archive, target: &Target, options: &EncodeOptions) -> Result<Encoded> {
    let mut options = options.clone();
    options.variant = target.variant.clone().or(options.variant);
    let mut encoded = target.codec.encode(archive, &options)?;
    encoded.losses.extend(lost_records(archive, target));
    Ok(encoded)
}

/// The same of sessions that nobody needs any more: of long ones, less is in memory at once.
///
/// # Errors
/// As [`encode`].
pub fn encode_owned(archive: Archive, target: &Target, options: &EncodeOptions) -> Result<Encoded> {
    let mut options = options.clone();
    options.variant = target.variant.clone().or(options.variant);
    let lost = lost_records(&archive, target);
    let mut encoded = target.codec.encode_owned(archive, &options)?;
    encoded.losses.extend(lost);
    Ok(encoded)
}

/// A journal knows more than the session it folds to: when each record was made, and what is known of each tool call.
fn lost_records(archive: &Archive, target: &Target) -> Option<Loss> {
    let journal = archive.journal.as_deref().filter(|journal| journal.tells_more_than_it_folds_to())?;
    let what = format!("only what the journal's {} records fold to is kept", journal.last());
    (target.codec.spec().id != JOURNAL).then(|| Loss::encode(LossKind::Dropped, "journal", what))
}

/// Reads an input and writes it in the target's format.
///
/// # Errors
/// As [`decode`] and [`encode`].
pub fn convert(
    input: Input<'_>,
    from: Option<&'static dyn Codec>,
    target: &Target,
    decoding: &DecodeOptions,
    encoding: &EncodeOptions,
) -> Result<Conversion> {
    read(input, from, decoding)?.convert(target, encoding, |_| Ok(Vec::new()))
}
