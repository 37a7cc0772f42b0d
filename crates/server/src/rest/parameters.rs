//! The query of a request, taken apart by name: what is left over is refused.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use turnkeep_model::{CallId, SessionId};

use crate::problem::{Answer, Problem};

/// The parameters of a query.
pub(crate) struct Parameters {
    pairs: Vec<(String, String)>,
    known: Vec<&'static str>,
}

impl Parameters {
    /// The first value of this name.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<String> {
        let mut values = self.all(name);
        if values.is_empty() { None } else { Some(values.swap_remove(0)) }
    }

    /// Every value of this name.
    pub(crate) fn all(&mut self, name: &'static str) -> Vec<String> {
        self.known.push(name);
        let (found, rest) = std::mem::take(&mut self.pairs).into_iter().partition(|(key, _)| key == name);
        self.pairs = rest;
        let found: Vec<(String, String)> = found;
        found.into_iter().map(|(_, value)| value).collect()
    }

    /// A number of this name.
    pub(crate) fn number(&mut self, name: &'static str) -> Answer<Option<u64>> {
        let wrong = |_| Problem::bad_request(format!("`{name}` is a whole number"));
        self.take(name).map(|text| text.parse().map_err(wrong)).transpose()
    }

    /// Nothing may be left.
    pub(crate) fn done(self) -> Answer<()> {
        if self.pairs.is_empty() {
            return Ok(());
        }
        // What a caller made up is not repeated: it may be anything.
        let known = if self.known.is_empty() { "none".to_owned() } else { self.known.join(", ") };
        Err(Problem::bad_request("the query has a parameter that is not known").hint(format!("known are: {known}")))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Parameters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Parameters, Problem> {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri)
            .map_err(|_| Problem::bad_request("the query cannot be read"))?;
        Ok(Parameters { pairs, known: Vec::new() })
    }
}

/// The session that a path names.
pub(crate) struct InSession(pub(crate) SessionId);

impl<S: Send + Sync> FromRequestParts<S> for InSession {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<InSession, Problem> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(id)| InSession(SessionId::new(id))).map_err(|_| unreadable())
    }
}

/// The call that a path names, and its session.
pub(crate) struct InCall(pub(crate) SessionId, pub(crate) CallId);

impl<S: Send + Sync> FromRequestParts<S> for InCall {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<InCall, Problem> {
        let path = Path::<(String, String)>::from_request_parts(parts, state).await;
        path.map(|Path((id, call))| InCall(SessionId::new(id), CallId::given(call))).map_err(|_| unreadable())
    }
}

fn unreadable() -> Problem {
    Problem::bad_request("an id in the path is not UTF-8")
}
