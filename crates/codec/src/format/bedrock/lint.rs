//! Checks a request before it is sent.

use turnkeep_model::json::{Node, Object};
use turnkeep_model::{Error, ErrorKind, Result};

use super::restore;
use super::rules::{RULES, call_key, kinds};
use super::wire::Converse;
use crate::codec::DecodeOptions;
use crate::input::Input;
use crate::lint::{Finding, Strictness};
use crate::models;
use crate::sniff::Confidence;
use crate::wire::rule::{findings, request_of};
use crate::wire::view::View;
use crate::wire::{Kind, Wire};

/// Checks a request body, the request of an exchange, or a session before it is put right.
pub fn lint(input: &Input<'_>, strictness: Strictness) -> Result<Vec<Finding>> {
    if let Some(body) = input.document().ok().and_then(|document| request_of(&document.node, is_request)) {
        return Ok(check(body, strictness));
    }
    let codec = match crate::sniff(input) {
        Ok(sniffed) => sniffed.codec,
        // What is nobody else's and has messages is a request, broken as it may be.
        Err(error) => {
            let node = input.document().ok().map(|document| &document.node);
            let body = node.filter(|node| node.get("messages").and_then(Node::as_array).is_some());
            return body.map(|body| check(body, strictness)).ok_or(error);
        }
    };
    let decoded = codec.decode(input.again(), &DecodeOptions::default())?;
    let Some(session) = decoded.archive.main_session() else {
        return Err(Error::new(ErrorKind::NotFound, "there is no session to check"));
    };
    let body = restore::parts(session, Kind::Request).request;
    Ok(body.map(|body| check(&body.to_node(), strictness)).unwrap_or_default())
}

fn check(body: &Node<'_>, strictness: Strictness) -> Vec<Finding> {
    let mut found = findings(RULES, &View::of(body, kinds, call_key), strictness);
    found.extend(models::findings(super::WIRE, None, body, None, strictness));
    found
}

fn is_request(body: &Object) -> bool {
    let known = || body.iter().all(|(key, _)| super::decode::REQUEST.contains(&&*key.to_str_lossy()));
    Converse.sniff_request(body).confidence > Confidence::No || body.contains("messages") && known()
}
