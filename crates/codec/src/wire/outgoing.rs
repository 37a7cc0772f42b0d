//! The next request of a session: what a client of a vendor sends.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Archive, Loss, Result, Session};

use super::codec::{Wire, next, read_back};
use super::kind::Kind;
use crate::codec::EncodeOptions;
use crate::honest;

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
        let (told, known) = next(wire, session, options);
        let mut body = match &told {
            Json::Object(body) => body.clone(),
            _ => Object::new(),
        };
        let model = match wire.naming() {
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
        let back = read_back(wire, Kind::Request, &self.told)?;
        let given = Archive::from(session.clone());
        Ok(honest::losses_explained(&given, &back, "a body of this wire", &self.known))
    }
}
