//! How a key is shown to a vendor.

pub mod sigv4;

use jiff::Timestamp;

use crate::secret::Secret;
use crate::transport::{Header, HeaderValue, HttpRequest};
use sigv4::AwsKeys;

/// How a key is shown to a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// `authorization: Bearer …`
    Bearer,
    /// `x-api-key`, and the version of Anthropic's interface.
    XApiKey,
    /// `x-goog-api-key`
    XGoogApiKey,
    /// `api-key`
    ApiKey,
    /// Amazon's: a bearer key, or a signature of the whole request.
    Aws,
}

/// The version of Anthropic's interface that we speak.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credentials {
    /// Nobody in particular.
    Nobody,
    /// Whoever has this key.
    Key(Secret),
    /// Whoever has these keys of AWS, by which the request is signed.
    Aws(AwsKeys),
}

impl Credentials {
    /// What must never be shown.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        match self {
            Credentials::Nobody => Vec::new(),
            Credentials::Key(key) => vec![key.clone()],
            Credentials::Aws(keys) => keys.secrets(),
        }
    }

    /// Adds what the vendor wants to see.
    pub(crate) fn show(&self, scheme: Scheme, request: &mut HttpRequest, now: Timestamp) {
        if scheme == Scheme::XApiKey {
            add(request, "anthropic-version", HeaderValue::Plain(ANTHROPIC_VERSION.to_owned()));
        }
        match self {
            Credentials::Nobody => {}
            Credentials::Aws(keys) => sigv4::sign(request, keys, "bedrock", now),
            Credentials::Key(key) => {
                let (name, value) = match scheme {
                    Scheme::Bearer | Scheme::Aws => ("authorization", Secret::new(format!("Bearer {}", key.reveal()))),
                    Scheme::XApiKey => ("x-api-key", key.clone()),
                    Scheme::XGoogApiKey => ("x-goog-api-key", key.clone()),
                    Scheme::ApiKey => ("api-key", key.clone()),
                };
                add(request, name, HeaderValue::Secret(value));
            }
        }
    }
}

/// Adds a header, unless the endpoint has one of its own.
pub(crate) fn add(request: &mut HttpRequest, name: &str, value: HeaderValue) {
    if !request.headers.iter().any(|header| header.name == name) {
        request.headers.push(Header { name: name.to_owned(), value });
    }
}
