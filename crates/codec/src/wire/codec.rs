//! One codec for every wire.

use turnkeep_model::json::{Json, JsonSink, Layout, Node, Object, Sink, Value};
use turnkeep_model::{Archive, Error, ErrorKind, FinishReason, Loss, LossKind, Result, Session, Severity};

use super::contract::Contract;
use super::frame;
use super::kind::{Kind, Parts};
use super::mock::VendorMock;
use super::outgoing::{Delivery, next};
use super::stream::{Assembler, assemble};
use crate::codec::{Codec, DecodeOptions, Decoded, EncodeOptions, Encoded, Spec};
use crate::fields::{self, in_order, note_key, optional, order_note, order_of};
use crate::input::{Form, Input, Top};
use crate::loss_report;
use crate::sniff::{Confidence, Guess};

/// What is special about one vendor's wire. Everything here is a pure function over JSON and sessions.
pub trait Wire: Send + Sync {
    /// What the format is. Its id names the wire, as `openai.chat`.
    fn spec(&self) -> &'static Spec;

    /// Whether an object looks like a request body of this wire, and why.
    fn sniff_request(&self, body: &Object) -> Guess;

    /// Whether an object looks like a response body of this wire, and why.
    fn sniff_response(&self, body: &Object) -> Guess;

    /// Whether an object looks like an event of this wire's streams, and why.
    fn sniff_event(&self, event: &Object) -> Guess;

    /// The session that some bodies hold: the history of the request, then the answer of the response as its last turn.
    ///
    /// # Errors
    /// `Corrupt`, with the path in the body, where a body cannot be read at all.
    fn decode(&self, parts: Parts) -> Result<(Session, Vec<Loss>)>;

    /// What is known of the wire: where requests go, how streams are cut, where settings stand, and what is refused.
    fn contract(&self) -> &'static Contract;

    /// How its vendor answers.
    fn mock(&self) -> &'static dyn VendorMock;

    /// The list in a request that holds its history, if the wire can read it an element at a time.
    fn history(&self) -> Option<&'static str> {
        None
    }

    /// The same as `decode` of a request whose [`Wire::history`] is left empty and comes apart: long histories are then
    /// never held twice.
    ///
    /// # Errors
    /// As [`Wire::decode`].
    fn decode_history(&self, request: Object, _: &mut dyn Iterator<Item = Json>) -> Result<(Session, Vec<Loss>)> {
        self.decode(Parts { request: Some(Json::Object(request)), response: None })
    }

    /// The bodies of a session that was decoded from this wire: of `kind`, as they were.
    fn restore(&self, session: &Session, kind: Kind) -> Parts;

    /// The next request of any session: made valid for this wire first, and then written. The blocks may be taken out of
    /// the session: a copy of a long history would double what it takes.
    fn next_request(&self, session: &mut Session, options: &EncodeOptions) -> (Json, Vec<Loss>);

    /// The dialect that a provider speaks, where the wire has dialects.
    fn dialect_of(&self, provider: &str) -> Option<&'static str> {
        self.spec().variants.iter().copied().find(|dialect| *dialect == provider)
    }

    /// Says in a request how its answer is wanted; `profile` is the dialect it is for. Some vendors say it in the address.
    fn deliver(&self, body: &mut Object, profile: Option<&str>, delivery: Delivery);

    /// A machine that puts a stream together.
    fn assembler(&self) -> Box<dyn Assembler>;
}

/// Where the order of the two bodies of an exchange is noted.
const EXCHANGE: &str = "exchange";
const BODIES: fields::Form = &optional(["request", "response"]);

/// The note on the variant that a body was read as: the vendor that it was recorded at.
const VARIANT: &str = "variant";

/// The variant that a session was read as, where one was named.
pub(crate) fn origin(session: &Session, wire: &str) -> Option<String> {
    session.extra.spelling(wire, VARIANT).and_then(Json::as_str).map(std::borrow::Cow::into_owned)
}

/// The codec of a wire.
pub struct WireCodec<W>(pub W);

impl<W: Wire> Codec for WireCodec<W> {
    fn spec(&self) -> &'static Spec {
        self.0.spec()
    }

    fn wire(&self) -> Option<&dyn Wire> {
        Some(&self.0)
    }

    fn sniff(&self, input: &Input<'_>) -> Guess {
        let Top { form, records } = input.top();
        match form {
            Form::Object => {
                records.first().and_then(Json::as_object).map_or_else(Guess::no, |body| self.sniff_body(body))
            }
            Form::Items | Form::Lines | Form::Events => match (self.sniff_events(records), records.as_slice()) {
                // Some vendors answer with one whole response in a list.
                (Guess { confidence: Confidence::No, .. }, [Json::Object(only)]) if *form == Form::Items => {
                    self.0.sniff_response(only).of("stream")
                }
                (guess, _) => guess,
            },
            Form::Yaml | Form::Other => Guess::no(),
        }
    }

    fn accepts(&self, input: &Input<'_>) -> bool {
        self.sniff(input).confidence > Confidence::No || self.is_bare_history(input)
    }

    fn decode(&self, input: Input<'_>, options: &DecodeOptions) -> Result<Decoded> {
        let Held { kind, parts, mut items, extras, mut losses, order } = self.parts(input)?;
        let (mut session, more) = match (parts.request, parts.response) {
            (Some(Json::Object(request)), None) if !items.is_empty() => {
                self.0.decode_history(request, &mut items.drain(..).map(Node::into_json))?
            }
            (request, response) => self.0.decode(Parts { request, response })?,
        };
        let complete = !losses.iter().any(|loss| loss.kind == LossKind::Truncated);
        mark(self.0.spec().id, &mut session, extras, complete);
        losses.extend(more);
        let notes = &mut session.extra.part_mut(self.0.spec().id).spelling;
        notes.set("kind", kind.as_str());
        order.into_iter().for_each(|order| notes.set(&note_key(EXCHANGE), order));
        if let Some(variant) = &options.variant {
            notes.set(VARIANT, variant.as_str());
        }
        Ok(Decoded { archive: Archive::from(session), losses })
    }

    fn encode(&self, archive: &Archive, options: &EncodeOptions) -> Result<Encoded> {
        let Archive { sessions, main, seq, extra, .. } = archive;
        let copy = Archive { sessions: sessions.clone(), main: *main, seq: *seq, journal: None, extra: extra.clone() };
        self.encode_owned(copy, options)
    }

    fn encode_owned(&self, mut archive: Archive, options: &EncodeOptions) -> Result<Encoded> {
        // What is needed to tell the losses in the end. The session itself becomes the body.
        let given = archive.with_digests();
        let Some(session) = archive.sessions.get_mut(archive.main as usize).map(std::mem::take) else {
            return Err(Error::new(ErrorKind::NotFound, "there is no session to write"));
        };
        drop(archive);
        let id = self.0.spec().id;
        let variant = session.extra.spelling(id, VARIANT).cloned();
        let (kind, body, known) = self.body(session, options);
        // Written first, so that reading back takes the body apart instead of a copy of it.
        let bytes = text_of(&body);
        let mut back = read_back(&self.0, kind, body)?;
        // Who speaks a wire is said beside a body, never in it.
        if let (Some(variant), Some(session)) = (variant, back.sessions.first_mut()) {
            session.extra.part_mut(id).spelling.set(VARIANT, variant);
        }
        back.digest_texts();
        let mut losses = loss_report::losses_explained(&given, &back, "a body of this wire", &known);
        if kind == Kind::Stream {
            let what = "a stream is written as the response it makes up";
            losses.push(Loss::encode(LossKind::Coerced, "extra", what).rated(Severity::Spelling));
        }
        Ok(Encoded { bytes, losses })
    }
}

impl<W: Wire> WireCodec<W> {
    /// What a session is written as, and what is known of what that loses.
    fn body(&self, session: Session, options: &EncodeOptions) -> (Kind, Json, Vec<Loss>) {
        let id = self.0.spec().id;
        let own = session.extra.spelling(id, "kind").and_then(Json::as_str).and_then(|word| Kind::from_word(&word));
        match own {
            // A named variant is a vendor to write for: what is valid for one need not be for another.
            Some(kind) if !options.as_request && options.variant.is_none() => {
                let parts = self.0.restore(&session, kind);
                let notes = session.extra.part(id).map(|part| &part.spelling);
                let order = notes.and_then(|notes| order_note(notes, EXCHANGE)).cloned();
                (kind, body_of(kind, parts, order.as_ref()), Vec::new())
            }
            _ => {
                let (body, losses) = next(&self.0, session, options);
                (Kind::Request, body, losses)
            }
        }
    }

    fn sniff_body(&self, body: &Object) -> Guess {
        if let (Some(Json::Object(request)), Some(Json::Object(response))) = (body.get("request"), body.get("response"))
        {
            let (asked, answered) = (self.0.sniff_request(request), self.0.sniff_response(response));
            let both = asked.confidence.min(answered.confidence);
            return Guess { confidence: both, why: format!("{}; {}", asked.why, answered.why), generation: None }
                .of("exchange");
        }
        let kinds = [(self.0.sniff_request(body), "request"), (self.0.sniff_response(body), "response")];
        let best = kinds.into_iter().max_by_key(|(guess, _)| guess.confidence);
        best.map_or_else(Guess::no, |(guess, kind)| if guess.generation.is_none() { guess.of(kind) } else { guess })
    }

    fn sniff_events(&self, events: &[Json]) -> Guess {
        let objects = events.iter().filter_map(Json::as_object);
        let best = objects.map(|event| self.0.sniff_event(event)).max_by_key(|guess| guess.confidence);
        best.map_or_else(Guess::no, |guess| guess.of("stream"))
    }

    /// Whether an input is a list of what a request of this wire holds as its history, without the request around it.
    fn is_bare_history(&self, input: &Input<'_>) -> bool {
        let Top { form, records } = input.top();
        let mut body = Object::new();
        body.set(self.0.contract().history, records.clone());
        let is_answer = |record: &Object| {
            self.0.sniff_event(record).confidence.max(self.0.sniff_response(record).confidence) > Confidence::No
        };
        *form == Form::Items
            && !records.is_empty()
            && !records.iter().filter_map(Json::as_object).any(is_answer)
            && self.0.sniff_request(&body).confidence > Confidence::No
    }

    /// The request that a bare history is the history of.
    fn around_history<'a>(&self, input: Input<'a>) -> Result<Held<'a>> {
        let list = self.0.contract().history;
        let mut body = Object::new();
        body.set(list, input.into_document()?.node.into_json());
        let parts = Parts { request: Some(Json::Object(body)), response: None };
        let what = format!("a bare list was read as the `{list}` of a request");
        let losses = vec![Loss::decode(LossKind::Wrapped, "", what).rated(Severity::Spelling)];
        Ok(Held { losses, ..Held::new(Kind::Request, parts) })
    }

    /// What kind of document it is, and the bodies in it.
    fn parts<'a>(&self, input: Input<'a>) -> Result<Held<'a>> {
        if has_body(&input) {
            let mut node = input.into_document()?.node;
            let items = self.0.history().map(|key| node.take_items(key)).unwrap_or_default();
            return match node.into_json() {
                Json::Object(body) => Ok(self.body_parts(body, items)),
                other => {
                    Err(Error::new(ErrorKind::NotThisFormat, format!("expected an object, found {}", other.kind())))
                }
            };
        }
        if self.is_bare_history(&input) {
            return self.around_history(input);
        }
        let Some(frames) = frame::frames(input.bytes())? else {
            return Err(match input.document() {
                Err(error) => error.clone(),
                Ok(_) => Error::new(ErrorKind::NotThisFormat, "neither a body, an exchange nor a stream of this wire"),
            });
        };
        let assembled = assemble(frames, self.0.assembler())?;
        let mut losses = Vec::new();
        if !assembled.complete {
            losses.push(Loss::decode(LossKind::Truncated, "turns", "the stream was cut off before its end"));
        }
        let parts = Parts { request: None, response: Some(assembled.body) };
        Ok(Held { extras: assembled.extras, losses, ..Held::new(Kind::Stream, parts) })
    }

    fn body_parts<'a>(&self, mut body: Object, items: Vec<Node<'a>>) -> Held<'a> {
        let is_exchange = ["request", "response"].iter().all(|key| matches!(body.get(key), Some(Json::Object(_))));
        if is_exchange {
            let order = order_of(&body, BODIES).filter(|_| body.len() == BODIES.len());
            let parts = Parts { request: body.remove("request"), response: body.remove("response") };
            let losses = body.iter().map(|(key, _)| {
                Loss::decode(
                    LossKind::Dropped,
                    "",
                    format!("`{}` extras the request and the response", key.to_str_lossy()),
                )
            });
            return Held { losses: losses.collect(), order, ..Held::new(Kind::Exchange, parts) };
        }
        let is_response =
            items.is_empty() && self.0.sniff_response(&body).confidence > self.0.sniff_request(&body).confidence;
        if is_response {
            return Held::new(Kind::Response, Parts { request: None, response: Some(Json::Object(body)) });
        }
        let parts = Parts { request: Some(Json::Object(body)), response: None };
        Held { items, ..Held::new(Kind::Request, parts) }
    }
}

/// What a reader finds in a body just made.
pub(super) fn read_back(wire: &dyn Wire, kind: Kind, body: Json) -> Result<Archive> {
    let order = body.as_object().filter(|_| kind == Kind::Exchange).and_then(|body| order_of(body, BODIES));
    let parts = match (kind, body) {
        (Kind::Request, body) => Parts { request: Some(body), response: None },
        (Kind::Response | Kind::Stream, body) => Parts { request: None, response: Some(body) },
        (Kind::Exchange, Json::Object(mut body)) => {
            Parts { request: body.remove("request"), response: body.remove("response") }
        }
        (Kind::Exchange, _) => Parts { request: None, response: None },
    };
    let (mut session, _) = wire.decode(parts)?;
    let word = if kind == Kind::Stream { Kind::Response } else { kind };
    let notes = &mut session.extra.part_mut(wire.spec().id).spelling;
    notes.set("kind", word.as_str());
    order.into_iter().for_each(|order| notes.set(&note_key(EXCHANGE), order));
    Ok(Archive::from(session))
}

/// What an input holds.
struct Held<'a> {
    kind: Kind,
    parts: Parts,
    /// The elements of the request's history, where they come apart.
    items: Vec<Node<'a>>,
    /// What a stream said beside its response.
    extras: Vec<Json>,
    losses: Vec<Loss>,
    /// The order of the two bodies of an exchange, where it is unusual.
    order: Option<Json>,
}

impl<'a> Held<'a> {
    fn new(kind: Kind, parts: Parts) -> Held<'a> {
        Held { kind, parts, items: Vec::new(), extras: Vec::new(), losses: Vec::new(), order: None }
    }
}

/// Whether an input is one object. One that only YAML would call an object is not: `data: {…}` is an event.
fn has_body(input: &Input<'_>) -> bool {
    let bytes = input.bytes().strip_prefix("\u{feff}".as_bytes()).unwrap_or(input.bytes());
    let is_json = bytes.trim_ascii_start().starts_with(b"{");
    is_json && input.document().is_ok_and(|document| document.node.as_object().is_some())
}

/// A value with its lists cut short: enough to tell what it is.
pub(crate) fn shortened(node: &Node<'_>) -> Json {
    const ENOUGH: usize = 64;
    match &node.value {
        Value::Array(items) => Json::Array(items.iter().take(ENOUGH).map(shortened).collect()),
        Value::Object(fields) => {
            Json::Object(fields.iter().map(|(key, node)| (key.clone().into_json_string(), shortened(node))).collect())
        }
        _ => node.clone().into_json(),
    }
}

/// Keeps what a stream said beside its response with the answer. One that was cut off ended for no reason of its
/// vendor's.
pub(super) fn mark(wire: &str, session: &mut Session, extras: Vec<Json>, complete: bool) {
    let Some(last) = session.turns.last_mut() else { return };
    if !extras.is_empty() {
        last.extra.part_mut(wire).spelling.set("beside", extras);
    }
    if !complete {
        last.finish.get_or_insert_default().reason = FinishReason::Interrupted;
    }
}

fn body_of(kind: Kind, parts: Parts, order: Option<&Json>) -> Json {
    let (request, response) = (parts.request.unwrap_or_default(), parts.response.unwrap_or_default());
    match kind {
        Kind::Request => request,
        Kind::Response | Kind::Stream => response,
        Kind::Exchange => {
            let bodies = [("request", request), ("response", response)];
            Json::Object(in_order(bodies.into_iter().collect(), order, BODIES))
        }
    }
}

fn text_of(body: &Json) -> Vec<u8> {
    let mut sink = JsonSink::new(Layout::Pretty);
    sink.json(body);
    let mut bytes = sink.into_bytes();
    bytes.push(b'\n');
    bytes
}
