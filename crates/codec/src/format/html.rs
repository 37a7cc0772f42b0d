//! `html`: a session as one page that opens from disk and looks like the viewer. It is written, never read.
//!
//! The page holds the journal of the main session, so that nothing is rendered here: the viewer's script does that.

use turnkeep_model::{Archive, Error, ErrorKind, Loss, LossKind, Result};

use super::native::JournalCodec;
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Fidelity, Keeps, Spec};
use crate::input::Input;
use crate::sniff::Guess;

/// `html`.
pub(super) struct HtmlCodec;

impl Codec for HtmlCodec {
    fn spec(&self) -> &'static Spec {
        &Spec {
            id: "html",
            title: "A page for people, in one file (write only)",
            variants: &[],
            extensions: &[".html"],
            reads: false,
            writes: true,
            fidelity: Fidelity {
                system_text: Keeps::All,
                tools: Keeps::All,
                reasoning: Keeps::All,
                media: Keeps::All,
                tool_ids: Keeps::All,
                tool_errors: Keeps::All,
                usage: Keeps::All,
                status: Keeps::All,
                timestamps: Keeps::All,
                ..Fidelity::NOTHING
            },
        }
    }

    fn sniff(&self, _: &Input<'_>) -> Guess {
        Guess::no()
    }

    fn decode(&self, _: Input<'_>, _: &DecodeOptions) -> Result<Decoded> {
        Err(Error::new(ErrorKind::Unsupported, "a page is for people and is not read back")
            .hint("keep the session in another format too"))
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let main = archive.main_session();
        let title = main.and_then(|session| session.title.as_deref()).unwrap_or("A session");
        // A stored session brings its journal, which tells of kills and resumes, too.
        let sessions = main.cloned().into_iter().collect();
        let only = Archive { sessions, journal: archive.journal.clone(), ..Archive::default() };
        let journal = JournalCodec.encode(&only, options)?;
        let mut losses =
            vec![Loss::encode(LossKind::Wrapped, "", "it is a page for people now, which is not read back")];
        if archive.sessions.len() > 1 {
            losses.push(Loss::encode(LossKind::Dropped, "sessions", "a page shows one session"));
        }
        let page = turnkeep_viewer::document(title, &String::from_utf8_lossy(&journal.bytes));
        Ok(Encoded { bytes: page.into_bytes(), losses })
    }
}
