//! From an endpoint to the model that answers.

use std::sync::Arc;

use turnkeep_model::Result;

use super::Endpoints;
use super::partial::Endpoint;
use crate::auth::{Credentials, Scheme, sigv4::AwsKeys};
use crate::key::KeySource;
use crate::model::WireModel;
use crate::network::HttpOptions;
use crate::transport::{Header, HeaderValue, Transport};

/// What a header says, or where that comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderSource {
    /// Something everybody may see.
    Plain(String),
    /// Something that is only sent.
    Secret(KeySource),
}

impl Endpoint {
    /// Where its keys come from: those it asks with, and those in its headers.
    pub(super) fn key_sources(&self) -> impl Iterator<Item = &KeySource> {
        let aws = self.aws.iter().flat_map(|aws| [&aws.secret_key].into_iter().chain(&aws.session_token));
        let headers = self.headers.iter().filter_map(|(_, value)| match value {
            HeaderSource::Secret(source) => Some(source),
            HeaderSource::Plain(_) => None,
        });
        self.key.iter().chain(aws).chain(headers)
    }

    /// Who asks there: its key is read now.
    ///
    /// # Errors
    /// Where the key cannot be read.
    pub fn credentials(&self) -> Result<Credentials> {
        if let Some(aws) = &self.aws {
            return Ok(Credentials::Aws(AwsKeys {
                access_key: aws.access_key.read()?.reveal().to_owned(),
                secret_key: aws.secret_key.read()?,
                session_token: aws.session_token.as_ref().map(KeySource::read).transpose()?,
                region: self.region.clone().unwrap_or_default(),
            }));
        }
        match &self.key {
            Some(key) if self.provider.scheme == Scheme::Aws => match key.read() {
                Ok(key) => Ok(Credentials::Key(key)),
                Err(error) => self.aws_of_environment().ok_or(error),
            },
            Some(key) => key.read().map(Credentials::Key),
            None => Ok(Credentials::Nobody),
        }
    }

    /// The keys that AWS's own programs take from the environment.
    fn aws_of_environment(&self) -> Option<Credentials> {
        let read = |name: &str| KeySource::Env(name.to_owned()).read().ok();
        Some(Credentials::Aws(AwsKeys {
            access_key: read("AWS_ACCESS_KEY_ID")?.reveal().to_owned(),
            secret_key: read("AWS_SECRET_ACCESS_KEY")?,
            session_token: read("AWS_SESSION_TOKEN"),
            region: self.region.clone()?,
        }))
    }

    /// How its network is reached.
    pub fn http_options(&self) -> HttpOptions {
        HttpOptions {
            connect_timeout: self.timeouts.connect,
            max_body: self.max_body,
            proxy: self.proxy.clone(),
            ca_file: self.ca_file.clone(),
        }
    }

    /// The network, as this endpoint reaches it.
    ///
    /// # Errors
    /// Where its proxy or its certificates are not what they should be.
    #[cfg(feature = "http")]
    pub fn http(&self) -> Result<crate::http::Http> {
        crate::http::Http::new(&self.http_options()).map_err(|error| {
            turnkeep_model::Error::new(turnkeep_model::ErrorKind::Unsupported, error.message)
                .path(format!("endpoint.{}", self.name))
                .file(self.place.0.display().to_string())
                .line(self.place.1)
        })
    }

    /// The model, over a transport. Its keys are read now.
    ///
    /// # Errors
    /// Where a key cannot be read.
    pub fn model(&self, transport: Arc<dyn Transport>) -> Result<WireModel> {
        let mut model = WireModel::new(self.provider, self.model.clone(), transport)?
            .named(self.name.clone())
            .with_wire(&self.wire)?
            .with_base_url(self.base_url.clone())
            .with_defaults(self.options.clone())
            .with_credentials(self.credentials()?)
            .with_streaming(self.streaming)
            .with_payload(self.payload)
            .with_timeouts(self.timeouts)
            .with_retry(self.retry.clone());
        if let Some(dialect) = &self.dialect {
            model = model.with_dialect(dialect.clone());
        }
        if let Some(family) = &self.family {
            model = model.with_family(family.clone());
        }
        if let Some(version) = &self.api_version {
            model = model.with_api_version(version.clone());
        }
        if let Some(account) = &self.account {
            model = model.with_account(account.clone());
        }
        if let Some(prices) = &self.prices {
            model = model.with_prices(prices.clone());
        }
        for (name, source) in &self.headers {
            let value = match source {
                HeaderSource::Plain(text) => HeaderValue::Plain(text.clone()),
                HeaderSource::Secret(source) => HeaderValue::Secret(source.read()?),
            };
            model = model.with_header(Header { name: name.clone(), value });
        }
        Ok(model)
    }
}

/// The model that a reference names in the configuration of this folder and this user (`docs/endpoints.md`), over the network.
/// Endpoints it falls back to are opened by [`Endpoints::open`].
///
/// # Errors
/// Where there is no such endpoint, its configuration is wrong, or its key cannot be read.
#[cfg(feature = "http")]
pub fn endpoint(reference: &str) -> Result<WireModel> {
    let endpoints = Endpoints::load(std::path::Path::new("."))?;
    let endpoint = endpoints.find(reference)?;
    endpoint.model(Arc::new(endpoint.http()?))
}

/// Gives an endpoint what carries its requests.
pub type Carry<'a> = dyn Fn(&Endpoint) -> Result<Arc<dyn Transport>> + 'a;

impl Endpoints {
    /// The model that a reference names, and then those it falls back to: an agent is made of the first, `with_fallback`
    /// for each of the others.
    ///
    /// # Errors
    /// As [`Endpoints::find`], and where a key cannot be read.
    pub fn open(&self, reference: &str, carry: &Carry<'_>) -> Result<Vec<Arc<WireModel>>> {
        let endpoint = self.find(reference)?;
        let others = endpoint.fallback.iter().map(|name| self.find(name));
        std::iter::once(Ok(endpoint))
            .chain(others)
            .map(|found| {
                let endpoint = found?;
                Ok(Arc::new(endpoint.model(carry(endpoint)?)?))
            })
            .collect()
    }
}
