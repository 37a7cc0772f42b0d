//! From a session to the request that asks for its next answer.

use turnkeep_codec::wire::{Outgoing, Wire};
use turnkeep_codec::{EncodeOptions, format};
use turnkeep_model::json::Json;
use turnkeep_model::policy::{OriginalPaths, Policy, Unit, Window};
use turnkeep_model::{Block, Loss, Number, Session, canon};
use turnkeep_runtime::port::{Request, SentRequest};

use super::wire_model::WireModel;
use crate::address::{Streaming, address};
use crate::auth::add;
use crate::transport::{HeaderValue, HttpRequest, Method};

/// A request that was made and not yet sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// Where it goes.
    pub url: String,
    /// What is sent.
    pub body: Json,
    /// What the body could not say of the session.
    pub losses: Vec<Loss>,
    /// What a journal keeps of it: the body only where the session alone does not give it.
    pub sent: SentRequest,
}

/// Who encodes, as journals tell it.
const ENCODER: &str = concat!("turnkeep ", env!("CARGO_PKG_VERSION"));

/// Whether what the vendor holds is referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hints {
    Use,
    Forget,
}

impl WireModel {
    /// The request that would be sent, and what it could not say.
    pub fn prepare(&self, request: &Request<'_>) -> Prepared {
        self.prepared(request, Hints::Use)
    }

    pub(super) fn prepared(&self, request: &Request<'_>, hints: Hints) -> Prepared {
        let mut session = request.session.clone();
        session.options = request.options.clone();
        session.tools = request.tools.to_vec();
        if hints == Hints::Forget {
            forget(&mut session);
        }
        let limited = within_limit(&mut session);
        let mut options = EncodeOptions::default();
        options.as_request = true;
        options.variant.clone_from(&self.dialect);
        options.model = Some(self.model.clone());
        options.family.clone_from(&self.family);
        options.account.clone_from(&self.account);
        let outgoing = Outgoing::new(self.wire, &session, &options, self.streaming.into());
        let lacks = self.losses(&outgoing, &session);
        let losses = match limited {
            None => lacks,
            Some((left_out, places)) => {
                left_out.into_iter().chain(lacks.iter().map(|loss| places.original(loss))).collect()
            }
        };
        let body = outgoing.body;
        let url = address(
            self.provider,
            self.wire.contract(),
            &self.base_url,
            &self.model,
            self.api_version.as_deref(),
            self.streaming,
        );
        let is_rebuilt = hints == Hints::Use && request.session.tools == request.tools;
        let sent = SentRequest {
            digest: canon::digest(&body),
            format: self.wire.spec().id.to_owned(),
            encoder: Some(ENCODER.to_owned()),
            body: if is_rebuilt { Json::Null } else { body.clone() },
            ..SentRequest::default()
        };
        Prepared { url, body, losses, sent }
    }

    /// Whether the last answer of a session is not from here: what its requests lack here is not known yet.
    fn is_new_to(&self, session: &Session) -> bool {
        let answered = session.turns.iter().rev().find(|turn| turn.blocks.iter().any(Block::is_answer));
        let (provider, api) = (Some(self.provider.name), Some(self.wire.spec().id));
        answered.is_none_or(|turn| turn.provider.as_deref() != provider || turn.api.as_deref() != api)
    }

    /// What a request lacks of what requests are for: content, tools and settings. All of it is compared when the session
    /// comes from elsewhere; later on, what had to be put right says enough.
    fn losses(&self, outgoing: &Outgoing, session: &Session) -> Vec<Loss> {
        let compared = self.is_new_to(session).then(|| outgoing.losses(self.wire, session).ok()).flatten();
        let all = compared.unwrap_or_else(|| outgoing.repairs().to_vec());
        all.into_iter().filter(|loss| matters(&loss.at)).collect()
    }

    /// The request as it is sent.
    pub(super) fn sendable(&self, prepared: &Prepared) -> HttpRequest {
        let mut request = HttpRequest {
            method: Method::Post,
            url: prepared.url.clone(),
            headers: self.headers.clone(),
            body: prepared.body.to_text().into_bytes(),
        };
        add(&mut request, "content-type", HeaderValue::Plain("application/json".to_owned()));
        add(&mut request, "accept", HeaderValue::Plain(self.accepted().to_owned()));
        self.credentials.show(self.provider.scheme, &mut request, self.clock.now());
        request
    }

    fn accepted(&self) -> &'static str {
        match self.streaming {
            Streaming::Off => "application/json",
            Streaming::On => self.wire.contract().framing.accept(),
        }
    }
}

/// Keeps as many exchanges before the one that is being answered as the session's own limit says, and all instructions. Says what was
/// left out, and where what is left stood before.
fn within_limit(session: &mut Session) -> Option<(Vec<Loss>, OriginalPaths)> {
    let limit = session.options.limits.exchanges.as_ref().and_then(Number::as_u64).filter(|limit| *limit > 0)?;
    let window = Window::last(usize::try_from(limit).ok()?.saturating_add(1), Unit::Exchanges);
    let mut places = OriginalPaths::of(session);
    // A window that cannot be applied leaves the session as it is.
    let losses = window.apply(session).unwrap_or_default();
    places.after(&losses, session);
    Some((losses, places))
}

/// Whether a request refers to what the vendor holds.
pub(super) fn refers(wire: &dyn Wire, body: &Json) -> bool {
    let keys = wire.contract().held;
    body.as_object().is_some_and(|body| keys.iter().any(|key| body.get(key).is_some_and(|value| *value != Json::Null)))
}

/// Takes the references to what the vendor holds out of a session: its whole history is sent then.
fn forget(session: &mut Session) {
    for wire in format::wires() {
        let id = wire.spec().id;
        if session.extra.part(id).is_some() {
            let fields = &mut session.extra.part_mut(id).fields;
            wire.contract().held.iter().for_each(|key| drop(fields.remove(key)));
        }
    }
}

/// Whether a place in a session is one that requests speak of: times, ids and what the application keeps are not.
fn matters(at: &str) -> bool {
    const KEPT_HERE: &[&str] = &["message", "metadata", "extra", "id", "item_id", "scope"];
    const ABOUT_RUNS: &[&str] = &["limits", "connect_timeout_ms", "socket_timeout_ms", "extra"];
    let begins = |rest: &str, words: &[&str]| words.contains(&rest.split(['.', '[']).next().unwrap_or_default());
    if let Some(rest) = at.strip_prefix("options.") {
        return !begins(rest, ABOUT_RUNS);
    }
    let in_block = at.strip_prefix("turns[").and_then(|at| at.split_once("].blocks[")).map(|(_, at)| at);
    match in_block.map(|at| at.split_once("].").map_or("", |(_, rest)| rest)) {
        Some(rest) => !begins(rest, KEPT_HERE),
        None => ["tools", "response_format"].iter().any(|begin| at.starts_with(begin)) && !at.contains("extra"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_tools_and_settings_matter() {
        let told = ["options.top_k", "tools[0].strict", "turns[3].blocks[1].signature", "turns[0].blocks[2]"];
        let kept =
            ["options.limits.steps", "timing", "turns[3].usage", "turns[3].blocks[1].message.time", "runs[0].id"];

        assert!(told.iter().all(|at| matters(at)));
        assert!(!kept.iter().any(|at| matters(at)));
    }
}
