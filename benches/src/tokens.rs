//! Counting tokens against the tokenizer alone.

const NAME: &str = "count tokens / the tokenizer alone, 4 MB";

/// Measures counting the tokens of a session against the tokenizer over its texts.
#[cfg(not(feature = "tokens"))]
pub(crate) fn count(report: &mut crate::report::Report) -> crate::Outcome<()> {
    report.skipped(NAME, "built without the feature `tokens`");
    Ok(())
}

#[cfg(feature = "tokens")]
pub(crate) use exact::count;

#[cfg(feature = "tokens")]
mod exact {
    use turnkeep_model::policy::tokens::{Encoding, TokenCounter};
    use turnkeep_model::{Body, Part, Session};

    use super::NAME;
    use crate::race::{race, timed};
    use crate::report::{Bound, Report, Row};
    use crate::{Failure, Outcome, sessions};

    const TOKEN_BYTES: usize = 4_000_000;

    /// Measures counting the tokens of a session against the tokenizer over its texts.
    pub(crate) fn count(report: &mut Report) -> Outcome<()> {
        let archive = sessions::archive(TOKEN_BYTES);
        let session = archive.main_session().ok_or("no session")?;
        let counting = TokenCounter::exact(Encoding::O200kBase)?;
        let texts = texts(session);
        let tokenizer = bpe_openai::o200k_base();
        let alone =
            || timed(|| Ok::<_, Failure>(texts.iter().map(|text| tokenizer.count(text.as_str())).sum::<usize>()));
        let times = race(5, || timed(|| Ok::<_, Failure>(counting.session(session))), alone)?;
        report.measured(Row::speed(NAME, times, Bound::AtLeast(0.8)));
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
}
