//! What goes wrong between us and a vendor.

mod kind;
mod told;

pub use kind::FaultKind;
pub(crate) use told::{Told, retry_after};

use std::fmt;
use std::time::Duration;

use turnkeep_runtime::port::{ModelError, SentRequest};

use crate::scrub::Scrubber;
use crate::secret::Secret;
use crate::transport::{TransportError, TransportErrorKind};

/// Why an endpoint did not answer. It names the endpoint, the status, the vendor's own words and request id, and what
/// helps; never a key, never what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
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

impl Fault {
    /// A fault without an answer.
    pub fn new(kind: FaultKind, endpoint: &str, message: impl Into<String>) -> Fault {
        Fault {
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

    /// A fault of the transport. `began` tells whether the answer had begun.
    pub(crate) fn of_transport(error: TransportError, endpoint: &str, began: Began) -> Fault {
        let kind = match (error.kind, began) {
            (TransportErrorKind::Connect, _) => FaultKind::Refused,
            (TransportErrorKind::Dns, _) => FaultKind::Dns,
            (TransportErrorKind::Tls, _) => FaultKind::Tls,
            (TransportErrorKind::Timeout, Began::No) => FaultKind::FirstByteTimeout,
            (TransportErrorKind::Timeout, Began::Yes) => FaultKind::IdleTimeout,
            (TransportErrorKind::Cut, Began::No) => FaultKind::Closed,
            (TransportErrorKind::Cut, Began::Yes) => FaultKind::Cut,
            (TransportErrorKind::TooLarge, _) => FaultKind::TooLarge,
            (TransportErrorKind::Malformed, _) => FaultKind::Malformed,
            (TransportErrorKind::Mismatch, _) => FaultKind::Mismatch,
            (TransportErrorKind::Request, _) => FaultKind::Unsendable,
        };
        Fault::new(kind, endpoint, error.message)
    }

    /// The same, without a key that a vendor repeats.
    #[must_use]
    pub(crate) fn without(mut self, secrets: &[Secret]) -> Fault {
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

impl fmt::Display for Fault {
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

impl std::error::Error for Fault {}

impl From<Fault> for ModelError {
    /// An error that has been tried often enough here is not tried again by an agent; one that was tried once may be.
    fn from(fault: Fault) -> ModelError {
        let may_pass = fault.kind.may_pass() && fault.tries <= 1;
        let mut error = ModelError::new(fault.kind.cause(), fault.to_string()).with_class(fault.kind.as_str());
        error.retry_after = may_pass.then(|| fault.retry_after.unwrap_or(Duration::from_secs(1)));
        error.request = fault.sent;
        error.headers = fault.headers;
        error
    }
}
