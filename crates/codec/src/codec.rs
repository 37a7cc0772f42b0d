//! What a format's code has to do.

use turnkeep_model::{Archive, Error, ErrorKind, Loss, Result};

use crate::input::Input;
use crate::sniff::{Confidence, Guess};
use crate::wire::Wire;

/// Code that reads and writes one format.
pub trait Codec: Send + Sync {
    /// What the format is.
    fn spec(&self) -> &'static Spec;

    /// The vendor's wire, where the format is one.
    fn wire(&self) -> Option<&dyn Wire> {
        None
    }

    /// Whether `input` looks like this format.
    fn sniff(&self, input: &Input<'_>) -> Guess;

    /// Whether `input` can be read as this format where someone names it: what is recognised, and what only a name tells.
    fn accepts(&self, input: &Input<'_>) -> bool {
        self.sniff(input).confidence > Confidence::No
    }

    /// Reads sessions, and says what it could not keep.
    ///
    /// # Errors
    /// Only when the bytes are unusable.
    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded>;

    /// Writes sessions, and says what it could not keep. The sessions are not changed.
    ///
    /// # Errors
    /// Only when nothing can be written at all.
    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded>;

    /// The same of sessions that nobody needs any more: of long ones, less is in memory at once.
    ///
    /// # Errors
    /// As [`Codec::encode`].
    fn encode_owned(&self, archive: Archive, options: &EncodeOptions) -> Result<Encoded> {
        self.encode(&archive, options)
    }
}

/// What a format is.
#[derive(Debug)]
pub struct Spec {
    /// Its id, as in `geppetto.turn`.
    pub id: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Its variants, the default one first; empty where there is only one way to write it.
    pub variants: &'static [&'static str],
    /// File name endings that suggest it.
    pub extensions: &'static [&'static str],
    /// Whether it can be read.
    pub reads: bool,
    /// Whether it can be written.
    pub writes: bool,
    /// What of a session it can hold.
    pub fidelity: Fidelity,
}

impl Spec {
    /// A format that is read and written, in one way and under any file name; a start to say what it is.
    pub const READ_WRITE: Spec = Spec {
        id: "",
        title: "",
        variants: &[],
        extensions: &[],
        reads: true,
        writes: true,
        fidelity: Fidelity::NOTHING,
    };
}

/// How much of something a format keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// All of it.
    All,
    /// Some of it; the report says what is gone.
    Some,
    /// Nothing of it.
    Nothing,
}

/// What of a session a format can hold.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "each field is named after what it speaks of")]
pub struct Fidelity {
    pub system_text: Keeps,
    pub options: Keeps,
    pub tools: Keeps,
    pub reasoning: Keeps,
    pub signatures: Keeps,
    pub media: Keeps,
    pub tool_ids: Keeps,
    pub tool_errors: Keeps,
    pub usage: Keeps,
    pub timing: Keeps,
    pub status: Keeps,
    pub slices: Keeps,
    pub ids: Keeps,
    pub timestamps: Keeps,
    /// The keys of a foreign document that comes back to its own format: their order, and those that nobody knows.
    pub keys: Keeps,
}

impl Fidelity {
    /// Everything is kept.
    pub const FULL: Fidelity = Fidelity::all(Keeps::All);
    /// Nothing is kept; a start to say what is.
    pub const NOTHING: Fidelity = Fidelity::all(Keeps::Nothing);

    /// What every vendor's wire keeps; most keep more.
    pub const WIRE: Fidelity = Fidelity {
        keys: Keeps::All,
        system_text: Keeps::All,
        options: Keeps::Some,
        tools: Keeps::All,
        reasoning: Keeps::Some,
        media: Keeps::Some,
        tool_ids: Keeps::Some,
        ..Fidelity::NOTHING
    };

    const fn all(keeps: Keeps) -> Fidelity {
        Fidelity {
            system_text: keeps,
            options: keeps,
            tools: keeps,
            reasoning: keeps,
            signatures: keeps,
            media: keeps,
            tool_ids: keeps,
            tool_errors: keeps,
            usage: keeps,
            timing: keeps,
            status: keeps,
            slices: keeps,
            ids: keeps,
            timestamps: keeps,
            keys: Keeps::Nothing,
        }
    }

    /// Every feature with its name, in the order of the documentation.
    pub fn features(&self) -> [(&'static str, Keeps); 14] {
        [
            ("system text", self.system_text),
            ("options", self.options),
            ("tools", self.tools),
            ("reasoning", self.reasoning),
            ("signatures", self.signatures),
            ("media", self.media),
            ("tool ids", self.tool_ids),
            ("tool errors", self.tool_errors),
            ("usage", self.usage),
            ("timing", self.timing),
            ("status", self.status),
            ("slices", self.slices),
            ("ids", self.ids),
            ("timestamps", self.timestamps),
        ]
    }
}

/// Whether to behave well or as the original program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Keep everything and report.
    #[default]
    Faithful,
    /// The original program's verdict and output.
    Compat,
}

/// How to read.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Whether to behave as the original program does.
    pub mode: Mode,
    /// Which variant of the format, where it has several: for a wire, the vendor that a body was recorded at.
    pub variant: Option<String>,
    /// The text of a types file: what the items of slices are, for formats that name types. Nothing is ever imported
    /// by its name.
    pub types: Option<String>,
}

impl DecodeOptions {
    /// Reads as the original program does.
    pub fn compat() -> DecodeOptions {
        DecodeOptions { mode: Mode::Compat, ..DecodeOptions::default() }
    }

    /// The same, of a variant of the format.
    #[must_use]
    pub fn with_variant(mut self, variant: impl Into<String>) -> DecodeOptions {
        self.variant = Some(variant.into());
        self
    }

    /// The same, with a types file.
    #[must_use]
    pub fn with_types(mut self, types: impl Into<String>) -> DecodeOptions {
        self.types = Some(types.into());
        self
    }
}

/// How to write.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct EncodeOptions {
    /// Whether to behave as the original program does.
    pub mode: Mode,
    /// Which variant of the format, where it has several.
    pub variant: Option<String>,
    /// Whether to leave out data that the application passes along.
    pub omit_data: bool,
    /// Whether a wire writes the next request, also for a session that came from a body of the same wire.
    pub as_request: bool,
    /// The model that a wire's request is for, where the session does not say or another one is wanted.
    pub model: Option<String>,
    /// The model whose row of the table of models applies, where the name of the one that is asked does not tell: a
    /// deployment or an inference profile is called as its owner likes.
    pub family: Option<String>,
    /// The account that a wire's request is sent from, where known: what only another account can verify is not sent.
    pub account: Option<String>,
}

impl EncodeOptions {
    /// Writes as the original program does.
    pub fn compat() -> EncodeOptions {
        EncodeOptions { mode: Mode::Compat, ..EncodeOptions::default() }
    }

    /// The same, in a variant of the format.
    #[must_use]
    pub fn with_variant(mut self, variant: impl Into<String>) -> EncodeOptions {
        self.variant = Some(variant.into());
        self
    }
}

/// What was read.
#[derive(Debug, Clone, Default)]
pub struct Decoded {
    /// The sessions.
    pub archive: Archive,
    /// What could not be kept.
    pub losses: Vec<Loss>,
}

/// What was written. A codec makes it with [`Encoded::by_reading_back`], so that no loss is forgotten.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Encoded {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What could not be kept.
    pub losses: Vec<Loss>,
}

impl Encoded {
    /// The document that `codec` made of an archive. The codec reads it again: every difference is a loss, and every loss
    /// is a difference.
    ///
    /// # Errors
    /// Where the codec cannot read what it wrote.
    pub fn by_reading_back(
        codec: &dyn Codec,
        archive: &Archive,
        bytes: Vec<u8>,
        options: &EncodeOptions,
    ) -> Result<Encoded> {
        let (mode, variant) = (options.mode, options.variant.clone());
        let back = codec.decode(Input::new(&bytes), &DecodeOptions { mode, variant, ..DecodeOptions::default() })?;
        let losses = crate::loss_report::losses(archive, &back.archive, codec.spec().id);
        Ok(Encoded { bytes, losses })
    }
}

/// A format to read or write, and which variant of it: `geppetto.turn` or `geppetto.turn:json`.
///
/// ```
/// use turnkeep_codec::Target;
///
/// let target = Target::parse("geppetto.turn:json")?;
///
/// assert_eq!((target.codec.spec().id, target.variant.as_deref()), ("geppetto.turn", Some("json")));
/// # Ok::<(), turnkeep_model::Error>(())
/// ```
#[derive(Clone)]
pub struct Target {
    /// The format.
    pub codec: &'static dyn Codec,
    /// The variant, if one is named.
    pub variant: Option<String>,
}

impl Target {
    /// Finds the format and checks the variant.
    ///
    /// # Errors
    /// `NotFound` where there is no such format or variant; the hint names what comes near.
    pub fn parse(text: &str) -> Result<Target> {
        let (id, variant) = text.split_once(':').map_or((text, None), |(id, variant)| (id, Some(variant)));
        let codec = crate::format::by_id(id)?;
        let variants = codec.spec().variants;
        match variant {
            Some(wanted) if !variants.contains(&wanted) => {
                let known = if variants.is_empty() { "it has none".to_owned() } else { variants.join(", ") };
                Err(Error::new(ErrorKind::NotFound, format!("`{id}` has no variant `{wanted}`"))
                    .hint(format!("variants: {known}")))
            }
            _ => Ok(Target { codec, variant: variant.map(str::to_owned) }),
        }
    }
}
