//! Codecs that lie, each in one way.

use std::sync::atomic::{AtomicU8, Ordering};

use turnkeep_codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Guess, Input, Spec, format};
use turnkeep_model::{Archive, Loss, LossKind, Result};
use turnkeep_testkit::laws;

/// The native codec, with something done to what it reads and writes.
struct Liar {
    before: fn(&mut Archive),
    after: fn(&mut Encoded),
    panics: fn(&[u8]) -> bool,
}

const HONEST: Liar = Liar { before: |_| {}, after: |_| {}, panics: |_| false };

fn native() -> &'static dyn Codec {
    #[expect(clippy::unwrap_used, reason = "the native format is registered")]
    format::by_id("turnkeep").unwrap()
}

impl Codec for Liar {
    fn spec(&self) -> &'static Spec {
        native().spec()
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        native().sniff(input)
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        assert!(!(self.panics)(input.bytes()), "a bug");
        native().decode(input, options)
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let mut archive = archive.clone();
        (self.before)(&mut archive);
        let mut encoded = native().encode(&archive, options)?;
        (self.after)(&mut encoded);
        Ok(encoded)
    }
}

fn forget_titles(archive: &mut Archive) {
    archive.sessions.iter_mut().for_each(|session| session.title = None);
}

#[test]
fn an_honest_codec_passes() {
    laws::honest_loss(&HONEST);
    laws::stable(&HONEST);
    laws::pure(&HONEST);
    laws::lossless(&HONEST);
}

#[test]
#[should_panic = "`title` did not survive"]
fn a_hidden_loss_is_found() {
    laws::honest_loss(&Liar { before: forget_titles, ..HONEST });
}

#[test]
#[should_panic = "nothing is lost at `agent`"]
fn an_invented_loss_is_found() {
    let invent = |encoded: &mut Encoded| encoded.losses.push(Loss::encode(LossKind::Dropped, "agent", "no"));

    laws::honest_loss(&Liar { after: invent, ..HONEST });
}

#[test]
#[should_panic = "a loss must name its place"]
fn a_vague_loss_is_found() {
    let shrug = |encoded: &mut Encoded| encoded.losses.push(Loss::encode(LossKind::Dropped, "", "something"));

    laws::honest_loss(&Liar { before: forget_titles, after: shrug, ..HONEST });
}

#[test]
#[should_panic = "smallest case"]
fn a_loss_in_a_native_format_is_found() {
    laws::lossless(&Liar { before: forget_titles, ..HONEST });
}

#[test]
#[should_panic = "(left == right)"]
fn a_change_at_every_writing_is_found() {
    fn grow(archive: &mut Archive) {
        archive.sessions.iter_mut().for_each(|session| session.logs.push("written".into()));
    }

    laws::stable(&Liar { before: grow, ..HONEST });
}

#[test]
#[should_panic = "(left == right)"]
fn an_impure_writer_is_found() {
    static WRITINGS: AtomicU8 = AtomicU8::new(0);
    fn stamp(encoded: &mut Encoded) {
        let spaces = usize::from(WRITINGS.fetch_add(1, Ordering::Relaxed));
        encoded.bytes.resize(encoded.bytes.len() + spaces, b' ');
    }

    laws::pure(&Liar { after: stamp, ..HONEST });
}

#[test]
#[should_panic = "a bug"]
fn a_panic_is_found() {
    laws::total::total(&Liar { panics: |bytes| bytes.ends_with(b"["), ..HONEST });
}

#[test]
#[should_panic = "gone without a word"]
fn a_hidden_unknown_field_is_found() {
    fn forget(archive: &mut Archive) {
        archive.extra.remove("turnkeep");
        archive.sessions.iter_mut().for_each(|session| drop(session.extra.remove("turnkeep")));
    }

    laws::unknown_fields_are_not_hidden(&Liar { before: forget, ..HONEST });
}
