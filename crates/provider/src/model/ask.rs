//! Asking: sending, waiting, sending again, reading.

use futures_util::StreamExt;
use turnkeep_model::json::{self, Node};
use turnkeep_model::{Loss, Options};
use turnkeep_runtime::port::{Answer, Deltas, Request};

use super::answer::DeltaForwarder;
use super::reading::{Reader, Unreadable};
use super::request::{Hints, Prepared, refers};
use super::wait::within;
use super::wire_model::{Timeouts, WireModel};
use crate::error::{Began, ProviderError, ProviderErrorKind, VendorMessage, retry_after};
use crate::scrub::Scrubber;
use crate::transport::HttpResponse;

/// The most of an error's body that is read.
const LARGEST_ERROR: usize = 1 << 20;

/// An error, and whether the vendor has forgotten what the request refers to.
struct Failed {
    error: ProviderError,
    forgotten: bool,
}

impl WireModel {
    /// One answer to the session as it stands; what goes wrong is told in full.
    ///
    /// # Errors
    /// Whatever keeps the endpoint from answering, after it was tried as often as is worth it.
    pub async fn ask(&self, request: Request<'_>, deltas: &dyn Deltas) -> Result<Answer, ProviderError> {
        let timeouts = self.timeouts.with(request.options);
        let mut prepared = self.prepare(&request);
        let mut hints = if refers(self.wire, &prepared.body) { Hints::Use } else { Hints::Forget };
        let mut tries = 0_u32;
        loop {
            tries = tries.saturating_add(1);
            let failed = match self.once(&prepared, timeouts, deltas).await {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            if failed.forgotten && hints == Hints::Use {
                hints = Hints::Forget;
                prepared = self.prepared(&request, hints);
                continue;
            }
            let error = ProviderError { tries, sent: Some(prepared.sent.clone()), ..failed.error };
            match self.retry.wait(&error, tries, self.jitter.next()) {
                Some(wait) => self.clock.sleep(wait).await,
                None => return Err(error.without(&self.secrets())),
            }
        }
    }

    async fn once(&self, prepared: &Prepared, timeouts: Timeouts, deltas: &dyn Deltas) -> Result<Answer, Failed> {
        let sending = self.transport.send(self.sendable(prepared));
        let response = match within(self.clock.as_ref(), timeouts.first_byte, sending).await {
            Some(sent) => sent.map_err(|error| ProviderError::of_transport(error, &self.name, Began::No))?,
            None => {
                let waited = format!("nothing came within {} s", timeouts.first_byte.as_secs_f64());
                return Err(ProviderError::new(ProviderErrorKind::FirstByteTimeout, &self.name, waited).into());
            }
        };
        if !(200..300).contains(&response.status) {
            return Err(self.refused(response, timeouts).await);
        }
        let (status, headers, id) = (response.status, kept(&response.headers), request_id(&response.headers));
        match self.read(response, timeouts, deltas).await {
            Ok((answer, more)) => {
                let mut keys = Scrubber::default();
                self.secrets().iter().for_each(|secret| keys.learn(secret.reveal()));
                let headers = headers.into_iter().filter(|(_, value)| !keys.finds(value)).collect();
                let losses = prepared.losses.iter().cloned().chain(more).collect();
                Ok(Answer { losses, headers, request: Some(prepared.sent.clone()), ..answer })
            }
            Err(error) => Err(ProviderError { request_id: id, status: Some(status), headers, ..error }.into()),
        }
    }

    async fn read(
        &self,
        mut response: HttpResponse,
        timeouts: Timeouts,
        deltas: &dyn Deltas,
    ) -> Result<(Answer, Vec<Loss>), ProviderError> {
        let unreadable = |Unreadable { kind, told }: Unreadable| ProviderError {
            class: told.class,
            ..ProviderError::new(kind, &self.name, told.message)
        };
        let mut reader = Reader::new(self.wire, self.streaming, response.header("content-type")).map_err(unreadable)?;
        let keys = self.keys();
        let mut telling = DeltaForwarder::new(deltas, &keys);
        loop {
            match within(self.clock.as_ref(), timeouts.idle, response.body.next()).await {
                Some(Some(Ok(chunk))) => telling.tell(reader.push(&chunk).map_err(unreadable)?),
                Some(Some(Err(error))) => return Err(ProviderError::of_transport(error, &self.name, Began::Yes)),
                Some(None) => break,
                None => {
                    let waited = format!("nothing came for {} s", timeouts.idle.as_secs_f64());
                    return Err(ProviderError::new(ProviderErrorKind::IdleTimeout, &self.name, waited));
                }
            }
        }
        let (body, last) = reader.finish().map_err(unreadable)?;
        telling.tell(last);
        drop(telling);
        self.answered(body, &keys).map_err(|error| {
            let what = format!("it is not an answer of {}: {}", self.wire.spec().id, error.what());
            ProviderError::new(ProviderErrorKind::Malformed, &self.name, what)
        })
    }

    /// What an answer says that is none.
    async fn refused(&self, response: HttpResponse, timeouts: Timeouts) -> Failed {
        let (status, headers) = (response.status, response.headers.clone());
        let text = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let told = match ProviderErrorKind::of_status(status) {
            ProviderErrorKind::Redirect => {
                VendorMessage { message: format!("to {}", text("location").unwrap_or_default()), class: None }
            }
            _ => told(&self.error_body(response, timeouts).await),
        };
        let kind = told.refined(ProviderErrorKind::of_status(status));
        let class = told.class.clone().or_else(|| text("x-amzn-errortype"));
        // A vendor that no longer has the answer before this one: the whole history has to be sent.
        let forgotten = matches!(status, 400 | 404) && told.is_forgotten();
        let error = ProviderError {
            status: Some(status),
            class,
            request_id: request_id(&headers),
            headers: kept(&headers),
            retry_after: wait_of(&headers, self.clock.now()),
            ..ProviderError::new(kind, &self.name, told.message)
        };
        Failed { error, forgotten }
    }

    async fn error_body(&self, mut response: HttpResponse, timeouts: Timeouts) -> Vec<u8> {
        let mut held = Vec::new();
        while let Some(Some(Ok(chunk))) = within(self.clock.as_ref(), timeouts.idle, response.body.next()).await {
            held.extend_from_slice(&chunk);
            if held.len() > LARGEST_ERROR {
                break;
            }
        }
        held
    }
}

impl Timeouts {
    /// The same, where a session has its own.
    fn with(mut self, options: &Options) -> Timeouts {
        let own = options.socket_timeout_ms.as_ref().and_then(turnkeep_model::Number::as_u64);
        if let Some(own) = own.filter(|ms| *ms > 0).map(std::time::Duration::from_millis) {
            self.first_byte = own;
            self.idle = own;
        }
        self
    }
}

impl From<ProviderError> for Failed {
    fn from(error: ProviderError) -> Failed {
        Failed { error, forgotten: false }
    }
}

/// What the body of an error says: its message where it is JSON, itself where it is a short text, nothing of a page.
fn told(bytes: &[u8]) -> VendorMessage {
    let text = String::from_utf8_lossy(bytes);
    let body = json::parse(&text).map(Node::into_json).ok();
    if let Some(told) = body.as_ref().and_then(VendorMessage::of_body) {
        return told;
    }
    let line = text.trim().lines().next().unwrap_or_default().trim();
    let message = match (line.starts_with('<'), body.is_some()) {
        (true, _) => "a page came instead of an answer",
        (false, true) => "",
        (false, false) => line,
    };
    VendorMessage { message: message.chars().take(300).collect(), class: None }
}

/// How long the vendor wants us to wait.
fn wait_of(headers: &[(String, String)], now: jiff::Timestamp) -> Option<std::time::Duration> {
    let text = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let exact = text("retry-after-ms").and_then(|ms| ms.trim().parse::<u64>().ok());
    let exact = exact.map(std::time::Duration::from_millis);
    exact.or_else(|| retry_after(text("retry-after")?, now))
}

/// The headers that hold a vendor's id of a request, the most telling first.
const IDS: &[&str] =
    &["x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", "x-goog-request-id", "cf-ray"];

fn request_id(headers: &[(String, String)]) -> Option<String> {
    IDS.iter().find_map(|id| headers.iter().find(|(name, _)| name == id)).map(|(_, value)| value.clone())
}

/// The headers that are worth keeping with a turn.
fn kept(headers: &[(String, String)]) -> Vec<(String, String)> {
    const BEGIN: &[&str] = &["x-ratelimit-", "anthropic-ratelimit-", "ratelimit"];
    const NAMES: &[&str] = &["retry-after", "openai-processing-ms", "x-amzn-bedrock-invocation-latency"];
    let is_kept =
        |name: &str| IDS.contains(&name) || NAMES.contains(&name) || BEGIN.iter().any(|begin| name.starts_with(begin));
    headers.iter().filter(|(name, _)| is_kept(name)).cloned().collect()
}
