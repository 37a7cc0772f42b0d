//! What a model is made of.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use turnkeep_codec::format;
use turnkeep_codec::wire::Wire;
use turnkeep_model::{Error, ErrorKind, Options, Result};
use turnkeep_runtime::port::{Clock, SystemClock};

use crate::address::Streaming;
use crate::auth::Credentials;
use crate::price::Prices;
use crate::providers::Provider;
use crate::retry::{Jitter, Retry, SystemJitter};
use crate::scrub::Scrubber;
use crate::secret::Secret;
use crate::transport::{Header, HeaderValue, Transport};

/// A vendor's model: an endpoint, the wire it speaks, and what carries it.
#[derive(Clone)]
pub struct WireModel {
    pub(super) name: String,
    pub(super) provider: &'static Provider,
    pub(super) wire: &'static dyn Wire,
    pub(super) dialect: Option<String>,
    pub(super) model: String,
    pub(super) family: Option<String>,
    pub(super) base_url: String,
    pub(super) api_version: Option<String>,
    pub(super) account: Option<String>,
    pub(super) defaults: Options,
    pub(super) credentials: Credentials,
    pub(super) headers: Vec<Header>,
    pub(super) streaming: Streaming,
    pub(super) payload: Payload,
    pub(super) timeouts: Timeouts,
    pub(super) retry: Retry,
    pub(super) prices: Option<Prices>,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) jitter: Arc<dyn Jitter>,
}

/// Whether what the vendor answered is kept as it came, beside what was read of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Payload {
    /// It is kept with its turn.
    #[default]
    Keep,
    /// Only what was read of it is kept.
    Drop,
}

/// How long is waited for what. A session's own `socket_timeout_ms` stands for both of the last two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection; the transport keeps it.
    pub connect: Duration,
    /// For the beginning of an answer.
    pub first_byte: Duration,
    /// For the next piece of an answer.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            connect: Duration::from_secs(10),
            // Models think before they answer, and without streaming nothing is heard of it.
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(120),
        }
    }
}

impl WireModel {
    /// A model of a provider, as is usual there.
    ///
    /// # Errors
    /// `NotFound` where the provider speaks a wire that is none.
    pub fn new(
        provider: &'static Provider,
        model: impl Into<String>,
        transport: Arc<dyn Transport>,
    ) -> Result<WireModel> {
        let wire = wire(provider.wire)?;
        Ok(WireModel {
            name: provider.name.to_owned(),
            provider,
            wire,
            dialect: dialect(provider, wire),
            model: model.into(),
            family: None,
            base_url: provider.base_url.to_owned(),
            api_version: None,
            account: None,
            defaults: Options::default(),
            credentials: Credentials::Nobody,
            headers: Vec::new(),
            streaming: Streaming::default(),
            payload: Payload::default(),
            timeouts: Timeouts::default(),
            retry: Retry::default(),
            prices: None,
            transport,
            clock: Arc::new(SystemClock),
            jitter: Arc::new(SystemJitter),
        })
    }

    /// Called so in errors.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> WireModel {
        self.name = name.into();
        self
    }

    /// Over another wire than is usual.
    ///
    /// # Errors
    /// `NotFound` where there is no such wire.
    pub fn with_wire(mut self, id: &str) -> Result<WireModel> {
        self.wire = wire(id)?;
        self.dialect = dialect(self.provider, self.wire);
        Ok(self)
    }

    /// In this dialect of the wire.
    #[must_use]
    pub fn with_dialect(mut self, dialect: impl Into<String>) -> WireModel {
        self.dialect = Some(dialect.into());
        self
    }

    /// Known to be of this family, whatever the provider calls it: the model whose row of the table of models applies.
    #[must_use]
    pub fn with_family(mut self, family: impl Into<String>) -> WireModel {
        self.family = Some(family.into());
        self
    }

    /// At this address.
    #[must_use]
    pub fn with_base_url(mut self, url: impl Into<String>) -> WireModel {
        self.base_url = url.into();
        self
    }

    /// In this version of Azure's interface, which names models as deployments.
    #[must_use]
    pub fn with_api_version(mut self, version: impl Into<String>) -> WireModel {
        self.api_version = Some(version.into());
        self
    }

    /// Billed to this account.
    #[must_use]
    pub fn with_account(mut self, account: impl Into<String>) -> WireModel {
        self.account = Some(account.into());
        self
    }

    /// With these settings where neither a turn nor its session says otherwise.
    #[must_use]
    pub fn with_defaults(mut self, defaults: Options) -> WireModel {
        self.defaults = defaults;
        self
    }

    /// As somebody.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> WireModel {
        self.credentials = credentials;
        self
    }

    /// With a header more.
    #[must_use]
    pub fn with_header(mut self, header: Header) -> WireModel {
        self.headers.push(header);
        self
    }

    /// With answers in pieces, or in one.
    #[must_use]
    pub fn with_streaming(mut self, streaming: Streaming) -> WireModel {
        self.streaming = streaming;
        self
    }

    /// With what the vendor answered kept, or not.
    #[must_use]
    pub fn with_payload(mut self, payload: Payload) -> WireModel {
        self.payload = payload;
        self
    }

    /// With this patience.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> WireModel {
        self.timeouts = timeouts;
        self
    }

    /// With this rule for sending again.
    #[must_use]
    pub fn with_retry(mut self, retry: Retry) -> WireModel {
        self.retry = retry;
        self
    }

    /// At these prices.
    #[must_use]
    pub fn with_prices(mut self, prices: Prices) -> WireModel {
        self.prices = Some(prices);
        self
    }

    /// With this clock, for waits and signatures.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> WireModel {
        self.clock = clock;
        self
    }

    /// With this source of randomness for waits.
    #[must_use]
    pub fn with_jitter(mut self, jitter: Arc<dyn Jitter>) -> WireModel {
        self.jitter = jitter;
        self
    }

    /// What must never be shown.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        let of_header = |header: &Header| match &header.value {
            HeaderValue::Secret(secret) => Some(secret.clone()),
            HeaderValue::Plain(_) => None,
        };
        let mut secrets = self.credentials.secrets();
        secrets.extend(self.headers.iter().filter_map(of_header));
        secrets
    }

    /// Its keys, as they are looked for in what the vendor says.
    pub(super) fn keys(&self) -> Scrubber {
        Scrubber::new(&self.secrets())
    }

    /// The wire that is spoken.
    pub fn wire(&self) -> &'static dyn Wire {
        self.wire
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for WireModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireModel")
            .field("name", &self.name)
            .field("provider", &self.provider.name)
            .field("wire", &self.wire.spec().id)
            .field("model", &self.model)
            .field("credentials", &self.credentials)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

fn wire(id: &str) -> Result<&'static dyn Wire> {
    format::wire(id).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("there is no wire `{id}`"))
            .hint("`turnkeep formats` lists the formats, wires among them")
    })
}

/// The dialect that a provider speaks of a wire.
fn dialect(provider: &Provider, wire: &dyn Wire) -> Option<String> {
    wire.dialect_of(provider.dialect.unwrap_or(provider.name)).map(str::to_owned)
}
