//! The vendor that plays a script.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream;
use turnkeep_codec::format;
use turnkeep_codec::wire::mock::{MockAnswer, Refusal, VendorMock};
use turnkeep_codec::wire::{Delivery, Wire};
use turnkeep_model::json::Json;
use turnkeep_model::{Block, Body as Content, CallId, Error, ErrorKind, Usage};
use turnkeep_runtime::port::BoxFuture;
use turnkeep_runtime::port::{Clock, SystemClock};

use super::asked::Asked;
use super::refuse;
use super::script::{Failure, Pauses, Said, Script};
use crate::transport::{Body, HttpRequest, HttpResponse, Transport, TransportError, TransportErrorKind};

/// A vendor that answers from a script, on any of the wires.
pub struct Scripted {
    wire: &'static dyn Wire,
    profile: Option<String>,
    mock: &'static dyn VendorMock,
    script: Script,
    clock: Arc<dyn Clock>,
    /// How often each request was made: what fails first succeeds later. Answers need no memory.
    tries: Mutex<HashMap<String, usize>>,
}

impl Scripted {
    /// The vendor of a wire, as `anthropic.messages` or `openai.chat:mistral`, plays a script.
    ///
    /// # Errors
    /// `NotFound` where there is no such wire.
    pub fn new(wire: &str, script: Script) -> turnkeep_model::Result<Scripted> {
        let (id, profile) = wire.split_once(':').map_or((wire, None), |(id, profile)| (id, Some(profile.to_owned())));
        let Some(wire) = format::wire(id) else {
            let known: Vec<_> = format::wires().map(|wire| wire.spec().id).collect();
            return Err(Error::new(ErrorKind::NotFound, format!("there is no wire `{id}`"))
                .hint(format!("wires: {}", known.join(", "))));
        };
        let clock = Arc::new(SystemClock);
        Ok(Scripted { wire, profile, mock: wire.mock(), script, clock, tries: Mutex::default() })
    }

    /// The same, with waits by another clock than the system's.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Scripted {
        self.clock = clock;
        self
    }

    /// What is said to a request, before anything is waited for.
    fn answer(&self, request: &HttpRequest) -> Result<Reply, TransportError> {
        let asked = match Asked::read(self.wire, request) {
            Ok(asked) => asked,
            Err(what) => return Ok(self.refused(&Refusal { status: 400, class: None, message: what }, None)),
        };
        if let Some(refusal) = refuse::refusal(self.wire, self.profile.as_deref(), &asked, &self.script) {
            return Ok(self.refused(&refusal, None));
        }
        let Some(said) = self.chosen(&asked) else {
            let message = format!("the script has no answer {}", asked.answers() + 1);
            return Ok(self.refused(&Refusal { status: 400, class: None, message }, None));
        };
        match self.failure(&asked, said) {
            None => Ok(self.reply(&asked, said, None)),
            Some(Failure::Refused { refusal, retry_after }) => Ok(self.refused(&refusal, retry_after)),
            Some(Failure::Unreachable) => Err(failed(TransportErrorKind::Connect, "scripted: no connection")),
            Some(Failure::Silent) => Err(failed(TransportErrorKind::Timeout, "scripted: nothing came in time")),
            Some(failure) => Ok(self.reply(&asked, said, Some(failure))),
        }
    }

    /// The answer that is meant for the request, or else the one of its place.
    fn chosen(&self, asked: &Asked) -> Option<&Said> {
        let meant = self.script.answers.iter().find(|said| said.when.as_ref().is_some_and(|when| asked.fits(when)));
        let mut placed = self.script.answers.iter().filter(|said| said.when.is_none());
        meant.or_else(|| placed.nth(asked.answers()))
    }

    /// What this try comes to; an answer without content always fails.
    fn failure(&self, asked: &Asked, said: &Said) -> Option<Failure> {
        let last = said.failures.last()?;
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        let count = tries.entry(asked.token.clone()).or_default();
        let failure = said.failures.get(*count).cloned();
        *count += 1;
        failure.or_else(|| said.blocks.is_empty().then(|| last.clone()))
    }

    fn refused(&self, refusal: &Refusal, retry_after: Option<u64>) -> Reply {
        let mut headers = vec![header("content-type", "application/json")];
        headers.extend(self.mock.refusal_headers(refusal).into_iter().map(|(name, value)| header(name, value)));
        headers.extend(retry_after.map(|seconds| header("retry-after", seconds.to_string())));
        let body = self.mock.refusal(refusal).to_text().into_bytes();
        Reply { status: refusal.status, headers, chunks: vec![Ok(body)], pauses: Pauses::default() }
    }

    fn reply(&self, asked: &Asked, said: &Said, failure: Option<Failure>) -> Reply {
        let mut body = self.mock.response(&self.mock_answer(asked, said));
        let (kind, chunks) = match asked.delivery {
            Delivery::Whole => ("application/json", whole(&body, failure)),
            Delivery::Stream => {
                self.mock.trim_stream(&asked.body, &mut body);
                (self.wire.contract().framing.media_type(), self.streamed(&body, failure))
            }
        };
        let headers = vec![header("content-type", kind), header("x-request-id", format!("req_{}", asked.token))];
        Reply { status: 200, headers, chunks, pauses: said.pauses }
    }

    fn mock_answer(&self, asked: &Asked, said: &Said) -> MockAnswer {
        let mut blocks = said.blocks.clone();
        for (index, block) in blocks.iter_mut().enumerate() {
            if let Content::ToolCall(call) = &mut block.body
                && call.call.as_given().is_none()
            {
                call.call = CallId::given(self.call_id(&format!("{index:02}{}", asked.token)));
            }
        }
        MockAnswer {
            token: asked.token.clone(),
            model: self.script.model.clone().unwrap_or_else(|| asked.model.clone()),
            created: self.script.created,
            finish: said.reason(),
            usage: said.usage.clone().unwrap_or_else(|| estimate(asked, &blocks)),
            blocks,
        }
    }

    /// Mistral's ids have nine letters and digits.
    fn call_id(&self, token: &str) -> String {
        match self.profile.as_deref() {
            Some("mistral") => token.get(..9).unwrap_or(token).to_owned(),
            _ => self.mock.call_id(token),
        }
    }

    fn streamed(&self, body: &Json, failure: Option<Failure>) -> Vec<Chunk> {
        let framing = self.wire.contract().framing;
        let events = self.mock.events(body, self.script.piece);
        let bytes = |count: usize| events.iter().take(count).map(|event| Ok(framing.bytes(event)));
        match failure {
            Some(Failure::Late { after, refusal }) => {
                let late = framing.bytes(&self.mock.late_refusal(&refusal));
                bytes(after).chain([Ok(late)]).collect()
            }
            Some(Failure::Cut { after }) => bytes(after).chain([Err(cut())]).collect(),
            Some(Failure::Malformed { after }) => bytes(after).chain([Ok(b"data: {\"broken\n\n".to_vec())]).collect(),
            Some(Failure::Refused { .. } | Failure::Unreachable | Failure::Silent) | None => {
                bytes(events.len()).filter(|chunk| chunk.as_ref().is_ok_and(|bytes| !bytes.is_empty())).collect()
            }
        }
    }
}

impl Transport for Scripted {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, TransportError>> {
        Box::pin(async move {
            let Reply { status, headers, chunks, pauses } = self.answer(&request)?;
            if !pauses.first.is_zero() {
                self.clock.sleep(pauses.first).await;
            }
            Ok(HttpResponse { status, headers, body: paced(chunks, pauses.between, Arc::clone(&self.clock)) })
        })
    }
}

type Chunk = Result<Vec<u8>, TransportError>;

/// What is sent back.
struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    chunks: Vec<Chunk>,
    pauses: Pauses,
}

fn paced(chunks: Vec<Chunk>, between: Duration, clock: Arc<dyn Clock>) -> Body {
    if between.is_zero() {
        return Box::pin(stream::iter(chunks));
    }
    Box::pin(stream::unfold(chunks.into_iter(), move |mut chunks| {
        let clock = Arc::clone(&clock);
        async move {
            let chunk = chunks.next()?;
            clock.sleep(between).await;
            Some((chunk, chunks))
        }
    }))
}

/// A body in one piece; one that is cut or broken has only its first half.
fn whole(body: &Json, failure: Option<Failure>) -> Vec<Chunk> {
    let bytes = body.to_text().into_bytes();
    let half = bytes.get(..bytes.len() / 2).unwrap_or_default().to_vec();
    match failure {
        Some(Failure::Cut { .. } | Failure::Late { .. }) => vec![Ok(half), Err(cut())],
        Some(Failure::Malformed { .. }) => vec![Ok(half)],
        Some(Failure::Refused { .. } | Failure::Unreachable | Failure::Silent) | None => vec![Ok(bytes)],
    }
}

/// What an answer would count: four characters a token.
fn estimate(asked: &Asked, blocks: &[Block]) -> Usage {
    let tokens = |length: usize| u64::try_from(length / 4 + 1).unwrap_or(u64::MAX);
    let input = tokens(asked.body.to_text().len());
    let output = tokens(blocks.iter().map(length).sum());
    Usage { input: Some(input), output: Some(output), total: Some(input.saturating_add(output)), ..Usage::default() }
}

fn length(block: &Block) -> usize {
    match &block.body {
        Content::Text(text) => text.text.len(),
        Content::Reasoning(reasoning) => reasoning.text.as_deref().unwrap_or_default().len(),
        Content::ToolCall(call) => call.name.len() + call.arguments.len(),
        _ => 0,
    }
}

fn header(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

fn failed(kind: TransportErrorKind, message: &str) -> TransportError {
    TransportError { kind, message: message.to_owned() }
}

fn cut() -> TransportError {
    failed(TransportErrorKind::Cut, "scripted: the connection ended")
}
