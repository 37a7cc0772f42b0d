//! What looking for secrets, cutting and counting tokens cost.

use std::path::Path;

use turnkeep_codec::EncodeOptions;
use turnkeep_model::policy::{Policy, Redact, RedactTarget, Truncate};

use crate::documents::codec;
use crate::race::{race, timed};
use crate::report::{Bound, Report, Row};
use crate::{Outcome, plain, sessions, tokens};

const SCAN_BYTES: usize = 11_000_000;
const ROUNDS: usize = 10;

/// Measures policies against reading the same bytes, and counting against the tokenizer alone.
pub(crate) fn speed(report: &mut Report, _: &Path) -> Outcome<()> {
    let archive = sessions::archive(SCAN_BYTES);
    let bytes = codec()?.encode(&archive, &EncodeOptions::default())?.bytes;
    let session = archive.main_session().ok_or("no session")?.clone();
    let parse = || timed(|| serde_json::from_slice::<plain::Archive>(&bytes));
    let redact = Redact::new([RedactTarget::Secrets]);
    let mut scanned = session.clone();
    let scan = race(ROUNDS, || timed(|| redact.apply(&mut scanned)), parse)?;
    report.measured(Row::speed("scan for secrets / serde_json parse, 11 MB", scan, Bound::AtLeast(0.3)));
    let mut cut = session;
    let truncate = Truncate::to(2000);
    let cutting = race(ROUNDS, || timed(|| truncate.apply(&mut cut)), parse)?;
    report.measured(Row::speed("truncate / serde_json parse, 11 MB", cutting, Bound::AtLeast(0.3)));
    tokens::count(report)
}
