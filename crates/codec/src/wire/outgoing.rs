//! The next request of a session: what a client of a vendor sends.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Archive, Loss, Result, Session};

use super::codec::{Wire, read_back};
use super::kind::Kind;
use super::{beyond, normalise};
use crate::codec::EncodeOptions;
use crate::loss_report;
use crate::models::settle::{called_tools, settle};

/// How an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// In one body.
    Whole,
    /// Piece by piece.
    Stream,
}

/// Where a wire names the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// In this field of the body.
    Body(&'static str),
    /// In the address; a recorded body has it in this field.
    Address(&'static str),
}

impl Naming {
    /// The field of a body, sent or recorded, that has the name.
    pub fn key(self) -> &'static str {
        match self {
            Naming::Body(key) | Naming::Address(key) => key,
        }
    }
}

/// The next request of a session.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The model it is for, which some vendors name in the address.
    pub model: String,
    /// What is sent.
    pub body: Json,
    /// The body that a reader is shown.
    told: Json,
    known: Vec<Loss>,
}

impl Outgoing {
    /// The next request of a session, made valid for the wire and for the profile that `options` name.
    pub fn new(wire: &dyn Wire, session: &Session, options: &EncodeOptions, delivery: Delivery) -> Outgoing {
        let (told, known) = next(wire, session.clone(), options);
        let mut body = match &told {
            Json::Object(body) => body.clone(),
            _ => Object::new(),
        };
        let model = match wire.contract().naming {
            Naming::Body(key) => body.get_str(key).unwrap_or_default().into_owned(),
            Naming::Address(key) => body.remove(key).and_then(|m| Some(m.as_str()?.into_owned())).unwrap_or_default(),
        };
        wire.deliver(&mut body, options.variant.as_deref(), delivery);
        Outgoing { model, body: Json::Object(body), told, known }
    }

    /// The bytes to send: the same for the same session.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.body.to_text().into_bytes()
    }

    /// What had to be put right to make the request, without comparing all of it.
    pub fn repairs(&self) -> &[Loss] {
        &self.known
    }

    /// Everything that the session says and the request does not.
    ///
    /// # Errors
    /// Where a reader cannot read the request.
    pub fn losses(&self, wire: &dyn Wire, session: &Session) -> Result<Vec<Loss>> {
        let back = read_back(wire, Kind::Request, self.told.clone())?;
        let given = Archive::from(session.clone());
        Ok(loss_report::losses_explained(&given, &back, "a body of this wire", &self.known))
    }
}

/// The next request of a session without what its model refuses, and what is known of what became of it. What came from
/// this wire is in its vendor's words already.
pub(super) fn next(wire: &dyn Wire, mut session: Session, options: &EncodeOptions) -> (Json, Vec<Loss>) {
    let id = wire.spec().id;
    let kind = session.extra.spelling(id, "kind").and_then(Json::as_str);
    let is_own = kind.is_some_and(|word| Kind::from_word(&word).is_some());
    // What is content comes first: it explains a place better than anything else said of it.
    let mut known = beyond::losses(&session, id);
    let called = called_tools(&session);
    if is_own {
        let (mut body, more) = wire.next_request(&mut session, options);
        known.extend(settle(wire, &session, &called, options, true, &mut body));
        known.extend(more);
        return (body, known);
    }
    let (mut losses, places) = normalise::normalise(&mut session, id);
    let (mut body, more) = wire.next_request(&mut session, options);
    normalise::well_formed(&mut body);
    losses.extend(settle(wire, &session, &called, options, false, &mut body));
    losses.extend(more);
    losses.iter_mut().for_each(|loss| loss.at = places.given(std::mem::take(&mut loss.at)));
    known.extend(losses);
    (body, known)
}
