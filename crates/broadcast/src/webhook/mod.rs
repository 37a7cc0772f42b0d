//! Messages to configured addresses, signed as Standard Webhooks has it.

mod dead_letter;
mod sign;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};
use turnkeep_model::{ErrorKind, canon};
use turnkeep_provider::{Header, HeaderValue, HttpRequest, Method, Secret, Transport};
use turnkeep_runtime::envelope::{Channel, Envelope};
use turnkeep_runtime::port::{BoxFuture, Broadcaster, Clock, SystemClock};
use turnkeep_runtime::{Error, Result};

pub use self::dead_letter::DeadLetter;
pub use self::sign::webhook_signature;

/// An address that messages are posted to. It comes from a configuration and nowhere else: whoever could name one in a
/// request would make this machine call it.
#[derive(Debug, Clone)]
pub struct WebhookTarget {
    /// What it is called, in reports and in the folder of dead letters.
    pub name: String,
    /// The address.
    pub url: String,
    /// The secrets that sign, as `whsec_…`; two while one is replaced by the other.
    pub secrets: Vec<Secret>,
}

/// How often a message is posted again, and after which waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookRetry {
    /// How often.
    pub times: u32,
    /// The first wait; each is twice the one before.
    pub wait: Duration,
}

impl Default for WebhookRetry {
    fn default() -> WebhookRetry {
        WebhookRetry { times: 5, wait: Duration::from_secs(1) }
    }
}

/// Posts every envelope to every target, in order. What a target does not take is kept in a folder, from which it can be
/// delivered later.
pub struct Webhooks {
    targets: Vec<WebhookTarget>,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    retry: WebhookRetry,
    dead_letters: PathBuf,
}

/// A message on its way to a target.
struct Message {
    id: String,
    body: String,
}

impl Webhooks {
    /// Posts to these targets, and keeps what they do not take in the folder `dead_letters`.
    ///
    /// # Errors
    /// `Unsupported` where a target has a name that no folder can have, no secret, a secret that is none, or an address
    /// that is not of the web.
    pub fn new(
        targets: Vec<WebhookTarget>,
        transport: Arc<dyn Transport>,
        dead_letters: impl Into<PathBuf>,
    ) -> Result<Webhooks> {
        targets.iter().try_for_each(WebhookTarget::check)?;
        let (clock, retry) = (Arc::new(SystemClock), WebhookRetry::default());
        Ok(Webhooks { targets, transport, clock, retry, dead_letters: dead_letters.into() })
    }

    /// With other waits.
    #[must_use]
    pub fn with_retry(mut self, retry: WebhookRetry) -> Webhooks {
        self.retry = retry;
        self
    }

    /// With another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Webhooks {
        self.clock = clock;
        self
    }

    /// What no target has taken yet.
    ///
    /// # Errors
    /// What the system says.
    pub fn dead_letters(&self) -> Result<Vec<DeadLetter>> {
        dead_letter::all(&self.dead_letters)
    }

    /// Posts the dead letters once more, and says how many were taken; those are gone then.
    ///
    /// # Errors
    /// What the system says.
    pub async fn redeliver(&self) -> Result<usize> {
        let mut taken = 0;
        for letter in self.dead_letters()? {
            let Some(target) = self.targets.iter().find(|target| target.name == letter.target) else { continue };
            let message = Message { id: letter.id.clone(), body: letter.body.clone() };
            if self.post(target, &message).await.is_ok() {
                letter.remove()?;
                taken += 1;
            }
        }
        Ok(taken)
    }

    async fn publish_all(&self, envelopes: &[Envelope]) -> Result<()> {
        let (mut kept, mut last) = (0_usize, None);
        for envelope in envelopes {
            let message = Message::of(envelope);
            for target in &self.targets {
                if let Err((attempts, error)) = self.deliver(target, &message).await {
                    let why = error.to_string();
                    dead_letter::keep(&self.dead_letters, target, (&message.id, &message.body), (attempts, &why))?;
                    kept += 1;
                    last = Some(error);
                }
            }
        }
        match last {
            None => Ok(()),
            // Not `Unavailable`: they were tried again already, and are kept.
            Some(error) => Err(Error::new(ErrorKind::Io, format!("{kept} messages are kept as dead letters: {error}"))
                .hint("deliver them again when the target answers")),
        }
    }

    async fn deliver(&self, target: &WebhookTarget, message: &Message) -> std::result::Result<(), (u32, Error)> {
        let mut wait = self.retry.wait;
        for attempt in 1..=self.retry.times {
            match self.post(target, message).await {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() != ErrorKind::Unavailable => return Err((attempt, error)),
                Err(_) => {}
            }
            self.clock.sleep(wait).await;
            wait = wait.saturating_mul(2);
        }
        self.post(target, message).await.map_err(|error| (self.retry.times.saturating_add(1), error))
    }

    async fn post(&self, target: &WebhookTarget, message: &Message) -> Result<()> {
        let now = self.clock.now().as_second();
        let signatures = target
            .secrets
            .iter()
            .filter_map(|secret| webhook_signature(secret.reveal(), &message.id, now, message.body.as_bytes()));
        let signatures: Vec<String> = signatures.collect();
        let headers = [
            ("content-type", "application/json".to_owned()),
            ("webhook-id", message.id.clone()),
            ("webhook-timestamp", now.to_string()),
            ("webhook-signature", signatures.join(" ")),
        ];
        let header = |(name, value): (&str, String)| Header { name: name.to_owned(), value: HeaderValue::Plain(value) };
        let request = HttpRequest {
            method: Method::Post,
            url: target.url.clone(),
            headers: headers.into_iter().map(header).collect(),
            body: message.body.clone().into_bytes(),
        };
        crate::exchange::send(self.transport.as_ref(), request, &format!("webhook {}", target.name)).await
    }
}

impl Message {
    /// The same envelope has the same id, however often it is posted: a receiver can tell.
    fn of(envelope: &Envelope) -> Message {
        let json = envelope.to_json();
        let digest = Sha256::digest(canon::canonical(&json));
        Message { id: format!("msg_{}", BASE64URL_NOPAD.encode(&digest)), body: json.to_text() }
    }
}

impl WebhookTarget {
    fn check(&self) -> Result<()> {
        let wrong = |what: &str| Error::new(ErrorKind::Unsupported, format!("webhook `{}` {what}", self.name));
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || !self.name.chars().all(is_name) {
            return Err(wrong("has a name that is not of letters, digits, - and _").hint("rename it"));
        }
        if !self.url.starts_with("https://") && !self.url.starts_with("http://") {
            return Err(wrong("has an address that is not of the web").hint("write https://…"));
        }
        if self.secrets.is_empty() || self.secrets.iter().any(|secret| sign::key(secret.reveal()).is_none()) {
            return Err(wrong("has no secret that can sign").hint("a secret is `whsec_` and base64"));
        }
        Ok(())
    }
}

impl Broadcaster for Webhooks {
    fn publish<'a>(&'a self, _: &'a Channel, envelopes: &'a [Envelope]) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.publish_all(envelopes))
    }
}
