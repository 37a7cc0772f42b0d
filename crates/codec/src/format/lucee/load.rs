//! LoadAISession: a serialized session, taken up by an endpoint.

use turnkeep_model::json::Json;
use turnkeep_model::{Author, Block, Error, ErrorKind, Loss, LossKind, Options, Result, Session, Turn};

use super::codec::SessionCodec;
use super::serialize::last;
use crate::codec::{Codec, DecodeOptions, Mode};
use crate::input::Input;

/// An endpoint, as far as a session needs to know it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Endpoint {
    /// Its name.
    pub name: String,
    /// Its settings, where a session says nothing.
    pub options: Options,
    /// Its system message, where a session has none.
    pub system: Option<String>,
}

/// Where endpoints are looked up.
pub trait Endpoints {
    /// The endpoint of this name, whatever its case.
    fn by_name(&self, name: &str) -> Option<Endpoint>;

    /// The endpoint of this id.
    fn by_id(&self, id: &str) -> Option<Endpoint>;

    /// The endpoint for a category of use.
    fn by_category(&self, category: &str) -> Option<Endpoint>;

    /// The names of all of them.
    fn names(&self) -> Vec<String>;
}

/// What is loaded.
#[derive(Debug, Clone)]
pub enum Data<'a> {
    /// JSON, or JSON5.
    Text(&'a str),
    /// A value.
    Value(&'a Json),
}

/// A session that an endpoint took up.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The session.
    pub session: Session,
    /// Who goes on with it.
    pub endpoint: Endpoint,
    /// What was changed.
    pub losses: Vec<Loss>,
}

/// LoadAISession(name, data): the endpoint that `reference` names takes the session up. What the session does not say, the endpoint does:
/// settings, and the system message. The history stays as it is, also where it is longer than its limit.
///
/// # Errors
/// `NotFound` where there is no such endpoint; `Corrupt` with the place where the data is unusable.
pub fn load(reference: &str, data: Data<'_>, endpoints: &dyn Endpoints, mode: Mode) -> Result<Loaded> {
    let endpoint = resolve(reference, endpoints)?;
    let (session, losses) = read(data, mode)?;
    Ok(taken_up(session, endpoint, losses))
}

/// The same, where what was stored may be damaged: then a session without history, and the reason.
///
/// # Errors
/// `NotFound` where there is no such endpoint.
pub fn load_or_new(
    reference: &str,
    data: Data<'_>,
    endpoints: &dyn Endpoints,
    mode: Mode,
) -> Result<(Loaded, Option<Error>)> {
    let endpoint = resolve(reference, endpoints)?;
    Ok(match read(data, mode) {
        Ok((session, losses)) => (taken_up(session, endpoint, losses), None),
        Err(why) => (taken_up(Session::default(), endpoint, Vec::new()), Some(why)),
    })
}

fn read(data: Data<'_>, mode: Mode) -> Result<(Session, Vec<Loss>)> {
    let text = match data {
        Data::Text(text) => std::borrow::Cow::Borrowed(text),
        Data::Value(value) => std::borrow::Cow::Owned(value.to_text()),
    };
    let options = DecodeOptions { mode, ..DecodeOptions::default() };
    let decoded = SessionCodec.decode(Input::new(text.as_bytes()), &options)?;
    let session = decoded.archive.sessions.into_iter().next().unwrap_or_default();
    Ok((session, decoded.losses))
}

/// The endpoint that a reference names: `id:…`, `default:…`, or a name.
///
/// # Errors
/// `NotFound`, in the original's words.
pub fn resolve(reference: &str, endpoints: &dyn Endpoints) -> Result<Endpoint> {
    let not_found = |what: String| Error::new(ErrorKind::NotFound, what);
    if let Some(id) = reference.strip_prefix("id:") {
        return endpoints.by_id(id).ok_or_else(|| not_found(format!("there is no AIEngine stored with id [{id}]")));
    }
    if let Some(category) = reference.strip_prefix("default:") {
        if category.trim().is_empty() {
            return Err(not_found("default name cannot be empty.".to_owned()).hint("as in default:exception"));
        }
        return endpoints
            .by_category(category)
            .ok_or_else(|| not_found(format!("no match for default [{category}] found.")));
    }
    endpoints.by_name(reference).ok_or_else(|| {
        let names = endpoints.names();
        let hint =
            if names.is_empty() { "none is configured".to_owned() } else { format!("there are: {}", names.join(", ")) };
        not_found(format!("there is no AI endpoint with name [{reference}]")).hint(hint)
    })
}

fn taken_up(mut session: Session, endpoint: Endpoint, mut losses: Vec<Loss>) -> Loaded {
    session.options = session.options.over(&endpoint.options);
    let instructed = session.blocks().any(|(_, block)| block.author == Author::System);
    let own = endpoint.system.as_deref().map(str::trim).filter(|text| !text.is_empty() && !instructed);
    if let Some(text) = own {
        instruct(&mut session, text);
        let what = "the session has no system message; the endpoint's counts";
        losses.push(Loss::decode(LossKind::Synthesised, "turns[0].blocks[0]", what));
    }
    Loaded { session, endpoint, losses }
}

/// Puts a system text before everything.
fn instruct(session: &mut Session, text: &str) {
    for block in session.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        block.message.ordinal = block.message.ordinal.saturating_add(1);
    }
    if session.turns.is_empty() {
        session.turns.push(Turn::default());
    }
    if let Some(turn) = session.turns.first_mut() {
        turn.blocks.insert(0, Block::text(Author::System, text));
    }
}

/// Trims the history to the session's own limit, oldest exchanges first. Lucee does so after every answer, and only then.
pub fn trim(session: &mut Session) -> Vec<Loss> {
    let limit = session.options.limits.exchanges.as_ref().and_then(turnkeep_model::Number::as_u64);
    let limit = limit.filter(|limit| *limit > 0).map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
    last(session, limit)
}
