//! Checks a request before it is sent.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Error, ErrorKind, Result};

use super::restore;
use super::rules::RULES;
use super::wire::Converse;
use crate::codec::DecodeOptions;
use crate::input::Input;
use crate::lint::{Finding, Strictness};
use crate::sniff::Confidence;
use crate::wire::rule::findings;
use crate::wire::{Kind, Wire};

/// Checks a request body, the request of an exchange, or a session before it is put right.
pub fn lint(input: Input<'_>, strictness: Strictness) -> Result<Vec<Finding>> {
    let own = input.document().ok().and_then(|document| request_of(document.node.clone().into_json()));
    if let Some(body) = own {
        return Ok(findings(RULES, &body, strictness));
    }
    let codec = crate::sniff(&input)?.codec;
    let decoded = codec.decode(input, &DecodeOptions::default())?;
    let Some(session) = decoded.archive.main_session() else {
        return Err(Error::new(ErrorKind::NotFound, "there is no session to check"));
    };
    match restore::parts(session, Kind::Request).request {
        Some(Json::Object(body)) => Ok(findings(RULES, &body, strictness)),
        _ => Ok(Vec::new()),
    }
}

/// The request body that a document is or holds, if it is one of this wire.
fn request_of(document: Json) -> Option<Object> {
    let Json::Object(mut body) = document else { return None };
    if let (Some(Json::Object(_)), Some(_)) = (body.get("request"), body.get("response"))
        && let Some(Json::Object(request)) = body.remove("request")
    {
        body = request;
    }
    let known = |body: &Object| {
        body.contains("messages") && body.iter().all(|(key, _)| super::decode::REQUEST.contains(&&*key.to_str_lossy()))
    };
    (Converse.sniff_request(&body).confidence > Confidence::No || known(&body)).then_some(body)
}
