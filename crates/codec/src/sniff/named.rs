//! Whether an input is what it was named, and whether what was read of it is all that it says.

use turnkeep_model::json::Json;
use turnkeep_model::{Archive, Error, ErrorKind, Result, Session};

use super::{Confidence, outline, sniff};
use crate::codec::Codec;
use crate::input::{Form, Input};

/// Formats that one reader reads: a file of one is a file of the others too.
const ALIKE: &[&[&str]] =
    &[&["turnkeep", "turnkeep.yaml"], &["geppetto.turn", "geppetto.fixture"], &["wink.snapshot", "wink.conversation"]];

/// Checks that an input is a document of the format that it was said to be.
///
/// # Errors
/// `NotThisFormat`, with the keys that were expected and those found, or with the format that it is.
pub fn check_named(codec: &dyn Codec, input: &Input<'_>) -> Result<()> {
    let id = codec.spec().id;
    if input.is_blank() || codec.accepts(input) {
        return Ok(());
    }
    if let Some(other) = certainly_another(id, input) {
        return Err(Error::new(ErrorKind::NotThisFormat, format!("this is no {id}: {other}"))
            .hint("name that format with --from, or leave --from out"));
    }
    if outline::is_met(id, input.top()) {
        return Ok(());
    }
    // A text that does not even parse is told with the place where it stops.
    if let (Form::Other, Ok(_), Err(error)) = (input.top().form, input.text(), input.document()) {
        return Err(error.clone());
    }
    let what =
        format!("this is no {id}: expected that {}; found {}", outline::expected(id), outline::found(input.top()));
    Err(Error::new(ErrorKind::NotThisFormat, what).hint("leave --from out, or ask `turnkeep sniff` what it is"))
}

/// The format that an input certainly is, where it is not this one, and what tells so.
fn certainly_another(id: &str, input: &Input<'_>) -> Option<String> {
    let found = sniff(input).ok().filter(|found| found.guess.confidence == Confidence::Certain)?;
    let other = found.codec.spec().id;
    let alike = ALIKE.iter().any(|group| group.contains(&id) && group.contains(&other));
    (other != id && !alike).then(|| format!("it is {other}, because {}", found.guess.why))
}

/// Refuses what was read where it holds nothing and the input does not.
///
/// # Errors
/// `NotThisFormat` where the input says something and nothing of it was read.
pub(crate) fn refuse_empty(format: &str, archive: &Archive, input: &Input<'_>) -> Result<()> {
    // What native documents hold is kept whatever it is.
    let is_native = format.starts_with("turnkeep");
    if is_native || archive.sessions.iter().any(says_something) || !input.top().records.iter().any(has_text) {
        return Ok(());
    }
    let what =
        format!("nothing in it could be read as {format}, although it holds text: {}", outline::found(input.top()));
    Err(Error::new(ErrorKind::NotThisFormat, what)
        .hint("name its format with --from; `turnkeep sniff` tells what it looks like"))
}

fn says_something(session: &Session) -> bool {
    let has_content = session.turns.iter().any(|turn| !turn.blocks.is_empty() || !turn.errors.is_empty());
    has_content || session.slices.iter().any(|slice| !slice.items.is_empty()) || !session.logs.is_empty()
}

/// Whether something is said in a record: text under a key that holds content in some format.
fn has_text(json: &Json) -> bool {
    const SAYS: &[&str] = &["content", "text", "parts", "thinking", "arguments", "question", "answer", "value"];
    // A tool's description says nothing in the conversation.
    const SILENT: &[&str] =
        &["tools", "functions", "toolConfig", "parameters", "schema", "response_format", "metadata"];
    match json {
        Json::Object(object) => object.iter().any(|(key, value)| {
            let key = key.to_str_lossy();
            !SILENT.contains(&&*key) && (SAYS.contains(&&*key) && is_said(value) || has_text(value))
        }),
        Json::Array(items) => items.iter().any(has_text),
        _ => false,
    }
}

fn is_said(value: &Json) -> bool {
    match value {
        Json::String(text) => !text.to_str_lossy().trim().is_empty(),
        Json::Array(items) => items.iter().any(is_said),
        _ => false,
    }
}
