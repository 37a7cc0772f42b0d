//! The codec.

use turnkeep_model::{Archive, Error, ErrorKind, Result};

use super::files::{Files, MANIFEST, ROOT};
use super::{manifest, session};
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Mode, Spec};
use crate::format::wink::compat;
use crate::input::Input;
use crate::sniff::Guess;

/// `wink.bundle`.
pub(crate) struct BundleCodec;

impl Codec for BundleCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "wink.bundle",
            title: "weakincentives debug bundle (folder or zip file)",
            extensions: &[".zip"],
            writes: false,
            fidelity: Fidelity::NOTHING,
            ..Spec::READ_WRITE
        }
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        let named = |bytes: &[u8]| bytes.windows(ROOT.len()).any(|window| window == ROOT.as_bytes());
        if input.bytes().starts_with(b"PK\x03\x04") {
            // Every zip file names its files at its end.
            let end = input.bytes().len().saturating_sub(64 << 10);
            let end = input.bytes().get(end..).unwrap_or_default();
            return if named(end) { Guess::certain("it is a zip file of debug_bundle/") } else { Guess::no() };
        }
        let manifest = input.file(MANIFEST).or_else(|| input.file(&format!("{ROOT}{MANIFEST}")));
        let text = manifest.and_then(|bytes| std::str::from_utf8(bytes).ok());
        match text {
            Some(text) if text.contains("\"format_version\"") && text.contains("\"bundle_id\"") => {
                Guess::certain("it is a folder whose manifest has a bundle id")
            }
            _ => Guess::no(),
        }
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        let read = || {
            let mut losses = Vec::new();
            let files = Files::of(&input)?;
            let manifest = manifest::read(&files)?;
            manifest::verify(&manifest, &files, options.mode, &mut losses)?;
            let archive = session::read(&files, manifest, &mut losses)?;
            Ok(Decoded { archive, losses })
        };
        match options.mode {
            Mode::Compat => read().map_err(|error: Error| compat::bare(&error)),
            Mode::Faithful => read(),
        }
    }

    fn encode(&self, _: &Archive, _: &EncodeOptions) -> Result<Encoded> {
        Err(Error::new(ErrorKind::Unsupported, "bundles are read, not written")
            .hint("write `wink.snapshot` or `wink.transcript`, which is what a bundle holds"))
    }
}
