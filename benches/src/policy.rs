//! What looking for secrets and counting tokens cost.

use std::path::Path;

use turnkeep_codec::EncodeOptions;
use turnkeep_model::policy::tokens::{Counting, Encoding};
use turnkeep_model::policy::{Hidden, Policy, Redact, Truncate};
use turnkeep_model::{Body, Part, Session};

use crate::documents::codec;
use crate::race::{race, timed};
use crate::report::{Bound, Report, Row};
use crate::{Outcome, plain, sessions};

const SCAN_BYTES: usize = 11_000_000;
const TOKEN_BYTES: usize = 4_000_000;
const ROUNDS: usize = 10;

/// Measures policies against reading the same bytes, and counting against the tokenizer alone.
pub(crate) fn speed(report: &mut Report, _: &Path) -> Outcome<()> {
    let archive = sessions::archive(SCAN_BYTES);
    let bytes = codec()?.encode(&archive, &EncodeOptions::default())?.bytes;
    let session = archive.main_session().ok_or("no session")?.clone();
    let parse = || timed(|| serde_json::from_slice::<plain::Archive>(&bytes));
    let redact = Redact::new([Hidden::Secrets]);
    let mut scanned = session.clone();
    let scan = race(ROUNDS, || timed(|| redact.apply(&mut scanned)), parse)?;
    report.measured(Row::speed("scan for secrets / serde_json parse, 11 MB", scan, Bound::AtLeast(0.3)));
    let mut cut = session;
    let truncate = Truncate::to(2000);
    let cutting = race(ROUNDS, || timed(|| truncate.apply(&mut cut)), parse)?;
    report.measured(Row::speed("truncate / serde_json parse, 11 MB", cutting, Bound::AtLeast(0.3)));
    tokens(report)
}

fn tokens(report: &mut Report) -> Outcome<()> {
    let archive = sessions::archive(TOKEN_BYTES);
    let session = archive.main_session().ok_or("no session")?;
    let counting = Counting::exact(Encoding::O200kBase)?;
    let texts = texts(session);
    let tokenizer = bpe_openai::o200k_base();
    let alone =
        || timed(|| Ok::<_, crate::Failure>(texts.iter().map(|text| tokenizer.count(text.as_str())).sum::<usize>()));
    let times = race(5, || timed(|| Ok::<_, crate::Failure>(counting.session(session))), alone)?;
    report.measured(Row::speed("count tokens / the tokenizer alone, 4 MB", times, Bound::AtLeast(0.8)));
    Ok(())
}

/// The texts that are counted, made before the clock runs.
fn texts(session: &Session) -> Vec<String> {
    let part = |part: &Part| match part {
        Part::Text(text) => text.text.clone(),
        Part::Data(data) => data.json.to_text(),
        _ => String::new(),
    };
    let of = |body: &Body| match body {
        Body::Text(text) => vec![text.text.clone()],
        Body::Reasoning(reasoning) => reasoning.text.iter().chain(&reasoning.summary).cloned().collect(),
        Body::ToolCall(call) => vec![call.name.clone(), call.arguments.clone()],
        Body::ToolResult(result) => result.parts.iter().map(part).chain(result.error.clone()).collect(),
        Body::Summary(summary) => vec![summary.text.clone()],
        _ => Vec::new(),
    };
    session.blocks().flat_map(|(_, block)| of(&block.body)).collect()
}
