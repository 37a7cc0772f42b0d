//! From a file of one format to bytes of another: the one conversion of the command line, a server and library users.
//!
//! Reading, recognising, reducing and writing happen in this order and all in memory; nothing is written to a file here. What
//! reduces the sessions is a function of the caller, so that a step may ask a model without this room knowing any.

use turnkeep_codec::{Conversion, DecodeOptions, EncodeOptions, Encoded, Input, Read, Target, pack, read};
use turnkeep_model::{Archive, Loss, Result};

use crate::open::{OpenOptions, with_remedy};
use crate::source::Source;

/// How a file is converted.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// How it is read.
    pub opening: OpenOptions,
    /// How it is written.
    pub encoding: EncodeOptions,
    /// The level at which what is written is compressed, from 1 to 22.
    pub compress: Option<i32>,
}

/// Converts bytes of whatever known format, compressed or not, to the format that `to` names, as in `openai.chat` or
/// `turnkeep:pretty`.
///
/// # Errors
/// `NotFound` where there is no such format; else as [`open`](crate::open()) and [`encode`](crate::encode()).
pub fn convert(bytes: &[u8], to: &str) -> Result<Conversion> {
    let to = Target::parse(to)?;
    let bytes = pack::unpack(bytes, OpenOptions::default().limits.max_bytes)?;
    turnkeep_codec::convert(Input::new(&bytes), None, &to, &DecodeOptions::default(), &EncodeOptions::default())
}

impl ConvertOptions {
    /// Converts what was read from a file. `reduce` may change the sessions in between, and says what it took away.
    ///
    /// # Errors
    /// As [`convert`], and what `reduce` says, each with the name of the source.
    pub fn convert(
        &self,
        source: Source,
        to: &Target,
        reduce: impl FnOnce(&mut Read) -> Result<Vec<Loss>>,
    ) -> Result<Conversion> {
        let name = source.name().to_owned();
        let read = read(source.input(), self.opening.from, &self.opening.decoding);
        let read = read.map_err(|error| with_remedy(error).file(name.as_str()))?;
        // Sessions do not borrow from the bytes: both need not be in memory while others are written.
        drop(source);
        let converted = read.convert(to, &self.encoding, reduce).map_err(|error| error.file(name))?;
        Ok(Conversion { bytes: self.packed(converted.bytes, to)?, ..converted })
    }

    /// Writes sessions that were read elsewhere, as [`ConvertOptions::convert`] does.
    ///
    /// # Errors
    /// Where the format cannot be written.
    pub fn encode(&self, archive: Archive, to: &Target) -> Result<Encoded> {
        let mut encoded = turnkeep_codec::encode_owned(archive, to, &self.encoding)?;
        encoded.bytes = self.packed(encoded.bytes, to)?;
        Ok(encoded)
    }

    fn packed(&self, bytes: Vec<u8>, to: &Target) -> Result<Vec<u8>> {
        match self.compress {
            Some(level) => pack::pack(&bytes, to.codec.spec().id, level),
            None => Ok(bytes),
        }
    }
}
