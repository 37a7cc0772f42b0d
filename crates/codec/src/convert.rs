//! From bytes of one format to bytes of another.

use turnkeep_model::{Archive, Loss, LossKind, Result};

use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Target};
use crate::input::Input;
use crate::sniff::{Sniffed, sniff};

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
    /// What did not survive, reader's losses first.
    pub losses: Vec<Loss>,
}

/// Reads an input, in the format named or the one it looks like.
///
/// # Errors
/// Where the format is unknown or the bytes are unusable.
pub fn decode(
    input: Input<'_>,
    from: Option<&'static dyn Codec>,
    options: &DecodeOptions,
) -> Result<(&'static dyn Codec, Decoded)> {
    let codec = match from {
        Some(codec) => codec,
        None => {
            let Sniffed { codec, .. } = sniff(&input)?;
            codec
        }
    };
    Ok((codec, codec.decode(input, options)?))
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
    let (codec, decoded) = decode(input, from, decoding)?;
    let Encoded { bytes, losses } = encode(&decoded.archive, target, encoding)?;
    let losses = decoded.losses.into_iter().chain(losses).collect();
    Ok(Conversion { from: codec.spec().id, to: target.codec.spec().id, bytes, losses })
}
