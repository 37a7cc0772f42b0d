//! What happens between a session and its model: which endpoint is asked, and how that ends.

use crate::block::Block;
use crate::extra::Extra;
use crate::id::Seq;
use crate::json::{Json, Number};
use crate::options::Options;
use crate::shape::{flat_shape, shape, string_enum};

/// A model is about to be asked: recorded before the request, so that a reader sees that one may have been made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelAsked {
    /// The turn that the answer belongs to, from 0.
    pub turn: u32,
    /// How many messages it is told.
    pub messages: Option<u32>,
    /// The tools it is told of.
    pub tools: Vec<String>,
    /// Which try this is, from 1.
    pub attempt: Option<u32>,
}

flat_shape! { ModelAsked { turn: req, messages: opt, tools: opt, attempt: opt } }

/// From here on this endpoint is asked: recorded before the first question to it, so that every request can be made anew
/// from the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointChosen {
    /// The vendor.
    pub provider: Option<String>,
    /// The vendor's interface.
    pub api: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The account it is billed to.
    pub account: Option<String>,
    /// Its settings where neither the turn nor the session says otherwise.
    pub defaults: Options,
    /// Why it is this one.
    pub choice: Option<Choice>,
}

flat_shape! { EndpointChosen { provider: opt, api: opt, model: opt, account: opt, defaults: opt, choice: opt } }

string_enum! {
    /// Why an endpoint is asked.
    pub enum Choice {
        /// The session began with it.
        First = "first",
        /// A run goes on with another one than before.
        Resumed = "resumed",
        /// The one before did not answer.
        Fallback = "fallback",
        ; /// A word that only its source knows.
        other
    }
}

/// What was sent to a model. The request itself is made anew from the journal: fold it up to the place, and encode.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SentRequest {
    /// The BLAKE3 digest of the body as it was sent.
    pub digest: String,
    /// The format it was written in, as `anthropic.messages`.
    pub format: String,
    /// The version of the encoder that wrote it.
    pub encoder: Option<String>,
    /// The body, where encoding the session anew gives another one.
    pub body: Json,
    /// Fields of a newer version.
    pub extra: Extra,
}

shape! { SentRequest { digest: req, format: req, encoder: opt, body: opt } }

/// A model answered; its content is in the blocks of the same batch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelAnswered {
    /// The turn that the answer belongs to, from 0.
    pub turn: u32,
    /// Which try this was, from 1.
    pub attempt: Option<u32>,
    /// The place in the journal up to which the session was told.
    pub seq: Option<Seq>,
    /// What was sent.
    pub request: Option<SentRequest>,
    /// Headers of the response that are worth keeping: the vendor's id of the request, what is left of its limits.
    pub headers: Vec<(String, String)>,
}

flat_shape! { ModelAnswered { turn: req, attempt: opt, seq: opt, request: opt, headers: opt } }

/// A model did not answer, or was stopped before its answer was complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFailed {
    /// The turn that the answer would have belonged to, from 0.
    pub turn: u32,
    /// Which try this was, from 1.
    pub attempt: Option<u32>,
    /// The place in the journal up to which the session was told.
    pub seq: Option<Seq>,
    /// Why it did not answer, by what can be done about it.
    pub cause: Cause,
    /// The vendor's own class of error.
    pub class: Option<String>,
    /// What happened, in words.
    pub message: Option<String>,
    /// How many seconds are waited before the next try.
    pub wait: Option<Number>,
    /// What was sent.
    pub request: Option<SentRequest>,
    /// Headers of the response that are worth keeping.
    pub headers: Vec<(String, String)>,
    /// What had arrived of the answer. Its turn keeps it apart from what was said.
    pub partial: Vec<Block>,
}

flat_shape! {
    ModelFailed {
        turn: req,
        attempt: opt,
        seq: opt,
        cause: req,
        class: opt,
        message: opt,
        wait: opt,
        request: opt,
        headers: opt,
        partial: opt,
    }
}

string_enum! {
    /// Why a model did not answer, by what can be done about it.
    pub enum Cause {
        /// It cannot be reached, or is out of order.
        Unavailable = "unavailable",
        /// Too much was asked of it in too short a time.
        RateLimited = "rate_limited",
        /// It has too much to do.
        Overloaded = "overloaded",
        /// It does not know who asks, or does not let them.
        Auth = "auth",
        /// It does not take the request.
        BadRequest = "bad_request",
        /// The session is longer than what it can read.
        TooLong = "too_long",
        /// Its answer broke off.
        Interrupted = "interrupted",
        /// Someone asked to stop before the answer was complete.
        Stopped = "stopped",
        /// It took too long.
        TimedOut = "timed_out",
        /// What it answered is not what was recorded, or not an answer.
        Mismatch = "mismatch",
        /// Something else.
        Failed = "failed",
        ; /// A word that only its source knows.
        other
    }
}
