//! Making a request anew from the journal.

use turnkeep_model::{ErrorKind, Options, Seq, Session, SessionId};
use turnkeep_store::{Store, StoreExt};

use crate::agent::in_force;
use crate::error::{Error, Result};
use crate::port::{Identity, Request};

/// What a model was asked at a place of the journal: encoding it gives the request that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilt {
    /// The session as it was.
    pub session: Session,
    /// The settings that were in force.
    pub options: Options,
    /// The turn that the answer was asked for, from 0.
    pub turn: u32,
    /// Who was asked.
    pub identity: Identity,
}

impl Rebuilt {
    /// What the model was asked.
    pub fn request(&self) -> Request<'_> {
        Request { session: &self.session, options: &self.options, tools: &self.session.tools, turn: self.turn }
    }
}

/// Makes the question anew that was asked at `seq`: the place that `model.answered` and `model.failed` name.
///
/// # Errors
/// `NotFound` where the session is not there, or no model was asked up to that place.
pub async fn rebuild(store: &dyn Store, id: &SessionId, seq: Seq) -> Result<Rebuilt> {
    let then = store.load_at(id, seq).await?;
    let missing = || {
        let what = format!("no model was asked up to {seq}");
        Error::new(ErrorKind::NotFound, what).session(id).hint("`model.answered` in the journal names the place")
    };
    let turn = then.ledger.asked().ok_or_else(missing)?;
    let identity = then.ledger.endpoint().map(Identity::of).unwrap_or_default();
    let options = in_force(&then.session, turn, &identity.defaults);
    Ok(Rebuilt { session: then.session, options, turn, identity })
}
