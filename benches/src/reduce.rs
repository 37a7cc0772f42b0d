//! Slim views against plain parsing and writing of the same bytes.

use std::path::Path;

use turnkeep_codec::format::cognesy::Dialect;
use turnkeep_codec::format::cognesy::view;
use turnkeep_codec::{DecodeOptions, EncodeOptions, Input, Mode};
use turnkeep_model::view::Slim;
use turnkeep_model::{Archive, Session};

use crate::race::{race, timed};
use crate::report::{Bound, Report, Row};
use crate::{Outcome, documents, plain, sessions};

const TURNS: usize = 5_000;
const ROUNDS: usize = 10;

/// Measures a slim view from bytes to bytes, with the list of what is gone.
pub(crate) fn slim(report: &mut Report, _: &Path) -> Outcome<()> {
    let codec = documents::codec()?;
    let session = Session { turns: sessions::turns(TURNS).collect(), ..Session::default() };
    let bytes = codec.encode(&Archive::from(session), &EncodeOptions::default())?.bytes;
    let ours = || {
        let decoded = codec.decode(Input::new(&bytes), &DecodeOptions::default())?;
        let session = decoded.archive.main_session().ok_or("there is no session")?;
        let slimmed = view::slim(session, &Slim::standard(), Dialect::Proposal, Mode::Faithful)?;
        Ok::<_, crate::Failure>((view::write(&slimmed.view, Dialect::Proposal), slimmed.losses))
    };
    let theirs = || {
        let typed: plain::Archive = serde_json::from_slice(&bytes)?;
        serde_json::to_vec(&typed)
    };
    let times = race(ROUNDS, || timed(ours), || timed(theirs))?;
    report.measured(Row::speed("slim view of 5,000 turns / serde_json parse and write", times, Bound::AtLeast(0.5)));
    Ok(())
}
