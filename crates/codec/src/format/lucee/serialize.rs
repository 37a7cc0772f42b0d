//! SerializeAISession: the last exchanges of a session, condensed if asked for, as a document.

use turnkeep_model::json::Json;
use turnkeep_model::{Archive, Author, Block, Body, Error, ErrorKind, Loss, LossKind, Number, Result, Session, Turn};

use super::codec::SessionCodec;
use crate::codec::{Codec, EncodeOptions, Encoded, Mode};

/// Puts summaries in the place of what was said, or says why not.
pub type Condenser<'a> = &'a dyn Fn(&Session) -> std::result::Result<(Session, Vec<Loss>), String>;

/// Whether the history is condensed.
#[derive(Clone, Copy)]
pub enum Condense<'a> {
    /// It is not.
    No,
    /// By this.
    With(Condenser<'a>),
}

/// A serialized session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serialized {
    /// The document.
    pub text: String,
    /// What of the session is not in it.
    pub losses: Vec<Loss>,
    /// Why it is not condensed, where it was to be.
    pub uncondensed: Option<String>,
}

/// SerializeAISession(session, maxlength, condense): the settings and the last `maxlength` exchanges, then condensed.
///
/// Without a limit all exchanges stay; so they do with a negative one, unless the original is asked for, where only -1 means that and any
/// other leaves none. The session itself is not touched. Condensing that fails gives the exchanges as they are, and the reason.
///
/// ```
/// use turnkeep_codec::Mode;
/// use turnkeep_codec::format::lucee::{Condense, serialize};
/// use turnkeep_model::{Author, Block, Session, Turn};
///
/// let ask = |text: &str| Turn { blocks: vec![Block::text(Author::User, text)], ..Turn::default() };
/// let session = Session { turns: vec![ask("One?"), ask("Two?")], ..Session::default() };
///
/// let last = serialize(&session, Some(1), Condense::No, Mode::Faithful).unwrap();
///
/// assert!(last.text.contains("Two?") && !last.text.contains("One?"));
/// ```
///
/// # Errors
/// Where nothing can be written at all.
pub fn serialize(session: &Session, maxlength: Option<i64>, condense: Condense<'_>, mode: Mode) -> Result<Serialized> {
    let mut made = session.clone();
    let mut losses = last(&mut made, kept(maxlength, mode));
    let mut uncondensed = None;
    if let Condense::With(condenser) = condense {
        match condenser(&made) {
            Ok((condensed, told)) => {
                made = condensed;
                losses.extend(told);
            }
            Err(why) => uncondensed = Some(why),
        }
    }
    let options = EncodeOptions { mode, ..EncodeOptions::default() };
    let Encoded { bytes, losses: written } = SessionCodec.encode(&Archive::from(made), &options)?;
    losses.extend(written);
    let text = String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::Corrupt, "the document is no text"))?;
    Ok(Serialized { text, losses, uncondensed })
}

/// How many exchanges stay; `None` is all of them.
fn kept(maxlength: Option<i64>, mode: Mode) -> Option<usize> {
    match maxlength {
        None | Some(-1) => None,
        Some(n) if n < 0 => (mode == Mode::Compat).then_some(0),
        Some(n) => Some(usize::try_from(n).unwrap_or(usize::MAX)),
    }
}

/// Keeps the last exchanges, and all instructions. A history that is over its own limit is trimmed like this after the next answer.
pub(super) fn last(session: &mut Session, keep: Option<usize>) -> Vec<Loss> {
    let Some(keep) = keep else { return Vec::new() };
    let exchanges: Vec<_> = session.exchanges().into_iter().filter(|turns| speaks(session, turns)).collect();
    let Some(first) = exchanges.len().checked_sub(keep).filter(|first| *first > 0) else { return Vec::new() };
    let start = exchanges.get(first).map_or(session.turns.len(), |exchange| exchange.start);
    let rest = session.turns.split_off(start);
    let older = std::mem::replace(&mut session.turns, rest);
    let what = format!("it is older than the last {keep} exchanges");
    let losses = (0..older.len()).map(|at| Loss::policy(LossKind::Dropped, format!("turns[{at}]"), what.as_str()));
    let losses = losses.collect();
    let instructions: Vec<Block> = older.into_iter().flat_map(|turn| turn.blocks).filter(is_instruction).collect();
    if session.turns.is_empty() && !instructions.is_empty() {
        session.turns.push(Turn::default());
    }
    if let Some(turn) = session.turns.first_mut() {
        turn.blocks.splice(0..0, instructions);
    }
    losses
}

fn speaks(session: &Session, turns: &std::ops::Range<usize>) -> bool {
    let turns = session.turns.get(turns.clone()).unwrap_or_default();
    turns.iter().flat_map(|turn| &turn.blocks).any(|block| !is_instruction(block))
}

fn is_instruction(block: &Block) -> bool {
    matches!(block.author, Author::System | Author::Developer) && !matches!(block.body, Body::Summary(_))
}

/// What a caller of SerializeAISession wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments {
    /// The serialized session.
    pub session: Json,
    /// How many exchanges; -1 is all of them.
    pub maxlength: i64,
    /// Whether to condense.
    pub condense: Wanted,
}

/// Whether something is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// It is.
    Yes,
    /// It is not.
    No,
}

/// The arguments of a call of SerializeAISession as Lucee takes them: a `maxlength` that is no number is no limit, and a `condense` that
/// is no truth value is false.
///
/// # Errors
/// `Unsupported` where there are none, or more than three, or the first is no session.
pub fn arguments(call: &[Json]) -> Result<Arguments> {
    let (first, rest) = match call {
        [first, rest @ ..] if rest.len() <= 2 => (first, rest),
        _ => {
            let what = format!("SerializeAISession takes 1 to 3 arguments, and {} are given", call.len());
            return Err(Error::new(ErrorKind::Unsupported, what).hint("session, maxlength, condense"));
        }
    };
    if first.as_object().is_none() {
        let what = format!("Can't cast Object type [{}] to a value of type [AISession]", kind(first));
        return Err(Error::new(ErrorKind::Unsupported, what).hint("the first argument is a session"));
    }
    let maxlength = rest.first().and_then(whole).unwrap_or(-1);
    let condense = if rest.get(1).is_some_and(truth) { Wanted::Yes } else { Wanted::No };
    Ok(Arguments { session: first.clone(), maxlength, condense })
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "Boolean",
        Json::Number(_) => "Number",
        Json::String(_) => "String",
        Json::Array(_) => "Array",
        Json::Object(_) => "Struct",
    }
}

/// A whole number, as CFML casts one: texts of numbers are numbers, and what stands behind the point is cut off.
fn whole(value: &Json) -> Option<i64> {
    let number = match value {
        Json::Number(number) => number.clone(),
        Json::String(text) => Number::parse(text.to_str_lossy().trim())?,
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "a number past the ends of i64 is as good as the end")]
    let whole = number.as_f64().trunc() as i64;
    Some(whole)
}

/// A truth value, as CFML casts one.
fn truth(value: &Json) -> bool {
    match value {
        Json::Bool(value) => *value,
        Json::Number(number) => number.as_f64() != 0.0,
        Json::String(text) => matches!(text.to_str_lossy().to_lowercase().as_str(), "true" | "yes"),
        _ => false,
    }
}
