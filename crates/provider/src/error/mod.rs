//! What goes wrong between us and a vendor.

mod kind;
mod vendor_message;

pub use kind::ProviderErrorKind;
pub(crate) use vendor_message::{VendorMessage, retry_after};

use std::fmt;
use std::time::Duration;

use turnkeep_runtime::port::{ModelError, SentRequest};

use crate::scrub::Scrubber;
use crate::secret::Secret;
use crate::transport::{TransportError, TransportErrorKind};

/// Why an endpoint did not answer. It names the endpoint, the status, the vendor's own words and request id, and what
/// helps; never a key, never what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderError {
    /// What happened.
    pub kind: ProviderErrorKind,
    /// Which endpoint.
    pub endpoint: String,
    /// The status of the answer, where there was one.
    pub status: Option<u16>,
    /// The vendor's message, or what the network said.
    pub message: String,
    /// The vendor's class or code of the error.
    pub class: Option<String>,
    /// The vendor's id of the request.
    pub request_id: Option<String>,
    /// How long the vendor wants us to wait.
    pub retry_after: Option<Duration>,
    /// How often it was tried.
    pub tries: u32,
    /// Headers of the answer that are worth keeping.
    pub headers: Vec<(String, String)>,
    /// What was sent.
    pub sent: Option<SentRequest>,
}

/// The longest message of a vendor that is told, in characters.
const LONGEST: usize = 600;

impl ProviderError {
    /// An error without an answer.
    pub fn new(kind: ProviderErrorKind, endpoint: &str, message: impl Into<String>) -> ProviderError {
        ProviderError {
            kind,
            endpoint: endpoint.to_owned(),
            status: None,
            message: message.into(),
            class: None,
            request_id: None,
            retry_after: None,
            tries: 1,
            headers: Vec::new(),
            sent: None,
        }
    }

    /// An error of the transport. `began` tells whether the answer had begun.
    pub(crate) fn of_transport(error: TransportError, endpoint: &str, began: Began) -> ProviderError {
        let kind = match (error.kind, began) {
            (TransportErrorKind::Connect, _) => ProviderErrorKind::Refused,
            (TransportErrorKind::Dns, _) => ProviderErrorKind::Dns,
            (TransportErrorKind::Tls, _) => ProviderErrorKind::Tls,
            (TransportErrorKind::Timeout, Began::No) => ProviderErrorKind::FirstByteTimeout,
            (TransportErrorKind::Timeout, Began::Yes) => ProviderErrorKind::IdleTimeout,
            (TransportErrorKind::Cut, Began::No) => ProviderErrorKind::Closed,
            (TransportErrorKind::Cut, Began::Yes) => ProviderErrorKind::Cut,
            (TransportErrorKind::TooLarge, _) => ProviderErrorKind::TooLarge,
            (TransportErrorKind::Malformed, _) => ProviderErrorKind::Malformed,
            (TransportErrorKind::Mismatch, _) => ProviderErrorKind::Mismatch,
            (TransportErrorKind::Request, _) => ProviderErrorKind::Unsendable,
        };
        ProviderError::new(kind, endpoint, error.message)
    }

    /// The same, without a key that a vendor repeats.
    #[must_use]
    pub(crate) fn without(mut self, secrets: &[Secret]) -> ProviderError {
        let mut keys = Scrubber::default();
        secrets.iter().for_each(|secret| keys.learn(secret.reveal()));
        let told = [Some(&mut self.message), self.class.as_mut(), self.request_id.as_mut()].into_iter().flatten();
        for text in told.chain(self.headers.iter_mut().map(|(_, value)| value)) {
            *text = keys.text(text).into_owned();
        }
        self.message = shortened(&self.message);
        self
    }

    /// What helps.
    pub fn remedy(&self) -> &'static str {
        self.kind.remedy()
    }
}

/// Whether an answer had begun to arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Began {
    No,
    Yes,
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} … (cut)", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "endpoint `{}`: {}", self.endpoint, self.kind.title())?;
        match (self.status, &self.class) {
            (Some(status), Some(class)) => write!(f, " (status {status}, {class})")?,
            (Some(status), None) => write!(f, " (status {status})")?,
            (None, Some(class)) => write!(f, " ({class})")?,
            (None, None) => {}
        }
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        if let Some(id) = &self.request_id {
            write!(f, " [request {id}]")?;
        }
        if self.tries > 1 {
            write!(f, " [tried {} times]", self.tries)?;
        }
        if let Some(wait) = self.retry_after {
            write!(f, " [asks to wait {} s]", wait.as_secs_f64().ceil())?;
        }
        write!(f, "; {}", self.remedy())
    }
}

impl std::error::Error for ProviderError {}

impl From<ProviderError> for ModelError {
    /// An error that has been tried often enough here is not tried again by an agent; one that was tried once may be.
    fn from(error: ProviderError) -> ModelError {
        let may_pass = error.kind.may_pass() && error.tries <= 1;
        let mut failed = ModelError::new(error.kind.cause(), error.to_string()).with_class(error.kind.as_str());
        failed.retry_after = may_pass.then(|| error.retry_after.unwrap_or(Duration::from_secs(1)));
        failed.request = error.sent;
        failed.headers = error.headers;
        failed
    }
}
