//! One engine for the rules of every wire.

use turnkeep_model::json::{Json, Node};
use turnkeep_model::{Error, ErrorKind, Result, Session, line_and_column};

use super::view::{RequestView, offset_of};
use super::{Finding, Severity, Strictness};
use crate::codec::DecodeOptions;
use crate::input::Input;
use crate::models;
use crate::wire::{Kind, Wire};

/// Whom a request is judged for, and how.
#[derive(Clone, Copy)]
pub(super) struct Judge<'w> {
    pub(super) wire: &'w dyn Wire,
    /// The vendor; the wire's own where none is named.
    pub(super) dialect: Option<&'w str>,
    pub(super) strictness: Strictness,
}

/// A request in a document.
struct Given<'b, 'a> {
    body: &'b Node<'a>,
    /// Where it stands in the document.
    within: &'static str,
    /// The text of the document, where someone wrote it.
    text: Option<&'b str>,
}

impl Judge<'_> {
    /// Judges a request, the request of an exchange, or any other document as the request it would be without repair.
    ///
    /// # Errors
    /// Where the bytes are unusable.
    pub(super) fn input(self, input: &Input<'_>) -> Result<Vec<Finding>> {
        let document = input.document().ok();
        let given = |body, within| Given { body, within, text: document.map(|document| document.text) };
        if let Some(body) = document.map(|document| &document.node).filter(|node| self.is_request(node)) {
            return Ok(self.findings(&given(body, "")));
        }
        let sniffed = match crate::sniff(input) {
            Ok(sniffed) => sniffed.codec.spec().id,
            Err(error) => {
                let body = document.map(|document| &document.node).filter(|node| self.is_broken_request(node, &error));
                return body.map(|body| self.findings(&given(body, ""))).ok_or(error);
            }
        };
        let held = document.and_then(|document| document.node.get("request"));
        if let Some(request) = held.filter(|request| request.is_object() && sniffed == self.wire.spec().id) {
            return Ok(self.findings(&given(request, "request.")));
        }
        let (_, decoded) = crate::convert::decode(input.again(), None, &DecodeOptions::default())?;
        let nothing = || Error::new(ErrorKind::NotFound, "there is no session to judge");
        Ok(self.session(decoded.archive.main_session().ok_or_else(nothing)?))
    }

    fn is_request(self, body: &Node<'_>) -> bool {
        (self.wire.contract().request_shape.is_request)(body)
    }

    /// What is nobody else's and has messages or names a model is a request, broken as it may be.
    fn is_broken_request(self, body: &Node<'_>, error: &Error) -> bool {
        let contract = self.wire.contract();
        let names_model = error.kind() == ErrorKind::NotThisFormat && body.get(contract.naming.key()).is_some();
        body.get(contract.history).and_then(Node::as_array).is_some() || names_model
    }

    /// Judges a session as the request it would be. An answer of this wire that came alone is no history yet.
    fn session(self, session: &Session) -> Vec<Finding> {
        let kind = session.extra.spelling(self.wire.spec().id, "kind").and_then(Json::as_str);
        match kind.and_then(|word| Kind::from_word(&word)) {
            Some(Kind::Response | Kind::Stream) => Vec::new(),
            Some(Kind::Request | Kind::Exchange) | None => self.unrepaired(&unrepaired(self.wire, session)),
        }
    }

    /// Judges a body that nobody wrote: places have no lines, and what only a request says of itself is not missed.
    pub(super) fn unrepaired(self, body: &Json) -> Vec<Finding> {
        let mut findings = self.findings(&Given { body: &body.to_node(), within: "", text: None });
        let rules = || self.wire.contract().rules.iter().copied().flatten();
        findings.retain(|finding| !rules().any(|rule| rule.is_of_requests() && rule.id() == finding.rule));
        findings
    }

    fn findings(self, given: &Given<'_, '_>) -> Vec<Finding> {
        let Given { body, within, text } = *given;
        let contract = self.wire.contract();
        let dialect = self.dialect.or(self.wire.spec().variants.first().copied());
        let view = RequestView::of(body, &contract.request_shape, contract.history, dialect);
        let place = |at: &str| text.map(|text| line_and_column(text, offset_of(body, at))).unzip();
        let mut findings = Vec::new();
        for rule in contract.rules.iter().copied().flatten() {
            let severity = match self.strictness {
                Strictness::Strict => Severity::Error,
                Strictness::Lax => rule.severity(),
            };
            findings.extend(rule.hits(&view).into_iter().map(|hit| {
                let ((line, column), what) = (place(&hit.at), rule.message(&hit));
                Finding { rule: rule.id(), severity, at: hit.at, line, column, what }
            }));
        }
        for mut finding in models::findings(self.wire, dialect, body, self.strictness) {
            (finding.line, finding.column) = place(&finding.at);
            findings.push(finding);
        }
        findings.iter_mut().for_each(|finding| finding.at.insert_str(0, within));
        findings
    }
}

/// The request that a session would be if nobody put it right.
pub(super) fn unrepaired(wire: &dyn Wire, session: &Session) -> Json {
    let mut session = session.clone();
    // An answer that came in a response is history by now.
    for turn in &mut session.turns {
        turn.extra.part_mut(wire.spec().id).spelling.remove("from");
        turn.extra.part_mut(wire.spec().id).spelling.remove("response");
        turn.extra.tidy();
    }
    wire.restore(&session, Kind::Request).request.unwrap_or_default()
}
