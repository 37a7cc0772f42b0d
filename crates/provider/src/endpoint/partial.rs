//! An endpoint as one file speaks of it, and as all of them do together.

use std::path::PathBuf;

use turnkeep_model::{Error, ErrorKind, Options, Result};

use super::load::Level;
use super::open::HeaderSource;
use super::table::nearest;
use crate::address::Streaming;
use crate::key::KeySource;
use crate::model::{Payload, Timeouts};
use crate::network::Proxy;
use crate::price::Prices;
use crate::providers::{PROVIDERS, Provider};
use crate::retry::Retry;

/// A configured model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// What it is called.
    pub name: String,
    /// Its id, for those who refer to it as `id:…`.
    pub id: Option<String>,
    /// Who runs it.
    pub provider: &'static Provider,
    /// The wire it speaks.
    pub wire: String,
    /// The dialect of the wire, where it is not the provider's usual one.
    pub dialect: Option<String>,
    /// The model.
    pub model: String,
    /// The model behind it, where its name does not tell: what is known of that one applies.
    pub family: Option<String>,
    /// Where it is.
    pub base_url: String,
    /// The version of Azure's interface.
    pub api_version: Option<String>,
    /// The region of AWS.
    pub region: Option<String>,
    /// The account it is billed to.
    pub account: Option<String>,
    /// Where its key comes from, if it needs one.
    pub key: Option<KeySource>,
    /// Where the keys come from that requests to AWS are signed with.
    pub aws: Option<AwsSource>,
    /// Settings where neither a turn nor its session says otherwise.
    pub options: Options,
    /// The system text of sessions that are begun here.
    pub system: Option<String>,
    /// How long is waited for what.
    pub timeouts: Timeouts,
    /// When a request is sent again.
    pub retry: Retry,
    /// What it costs.
    pub prices: Option<Prices>,
    /// What it is the default for.
    pub categories: Vec<String>,
    /// The endpoints that are asked where this one does not answer.
    pub fallback: Vec<String>,
    /// Headers that are sent along.
    pub headers: Vec<(String, HeaderSource)>,
    /// Whether there is somebody in between.
    pub proxy: Proxy,
    /// A file of certificates to trust.
    pub ca_file: Option<PathBuf>,
    /// The largest answer.
    pub max_body: u64,
    /// Whether what the vendor answers is kept.
    pub payload: Payload,
    /// Whether answers arrive in pieces.
    pub streaming: Streaming,
    /// The file that speaks of it last, and the line.
    pub place: (PathBuf, usize),
    /// Whose file that is.
    pub level: Level,
}

/// Where the keys come from that requests to AWS are signed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsSource {
    /// The id of the access key.
    pub access_key: KeySource,
    /// The key itself.
    pub secret_key: KeySource,
    /// What comes with keys that are lent for a time.
    pub session_token: Option<KeySource>,
}

/// An endpoint as one file speaks of it.
#[derive(Debug, Default)]
pub(super) struct Partial {
    pub(super) name: String,
    pub(super) place: (PathBuf, usize),
    pub(super) level: Option<Level>,
    pub(super) id: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) wire: Option<String>,
    pub(super) dialect: Option<String>,
    pub(super) model: Option<String>,
    pub(super) family: Option<String>,
    pub(super) base_url: Option<String>,
    pub(super) api_version: Option<String>,
    pub(super) region: Option<String>,
    pub(super) account: Option<String>,
    pub(super) key: Option<KeySource>,
    pub(super) aws: Option<AwsSource>,
    pub(super) options: Options,
    pub(super) system: Option<String>,
    pub(super) timeouts: [Option<std::time::Duration>; 3],
    pub(super) tries: Option<u64>,
    pub(super) waits: [Option<std::time::Duration>; 3],
    pub(super) prices: Prices,
    pub(super) categories: Option<Vec<String>>,
    pub(super) fallback: Option<Vec<String>>,
    pub(super) headers: Vec<(String, HeaderSource)>,
    pub(super) proxy: Option<Proxy>,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) max_body: Option<u64>,
    pub(super) payload: Option<Payload>,
    pub(super) streaming: Option<Streaming>,
}

impl Partial {
    /// What this says, and what `base` says where this is silent.
    pub(super) fn over(self, base: Partial) -> Partial {
        let mut headers = self.headers;
        let more = base.headers.into_iter().filter(|(name, _)| !headers.iter().any(|(own, _)| own == name));
        let more: Vec<_> = more.collect();
        headers.extend(more);
        macro_rules! first {
            ($($field:ident)*) => { Partial {
                name: self.name,
                place: self.place,
                options: self.options.over(&base.options),
                timeouts: first_of(self.timeouts, base.timeouts),
                waits: first_of(self.waits, base.waits),
                prices: Prices {
                    input: self.prices.input.or(base.prices.input),
                    output: self.prices.output.or(base.prices.output),
                    cached_read: self.prices.cached_read.or(base.prices.cached_read),
                    cached_write: self.prices.cached_write.or(base.prices.cached_write),
                },
                headers,
                $($field: self.$field.or(base.$field),)*
            } };
        }
        first! {
            level id provider wire dialect model family base_url api_version region account key aws system tries categories
            fallback proxy ca_file max_body payload streaming
        }
    }

    /// The endpoint, once nothing more is said of it.
    pub(super) fn resolved(self) -> Result<Endpoint> {
        let wrong = |what: &str| {
            Error::new(ErrorKind::Corrupt, what)
                .path(format!("endpoint.{}", self.name))
                .file(self.place.0.display().to_string())
                .line(self.place.1)
        };
        let Some(name) = &self.provider else {
            return Err(wrong("it has no `provider`").hint(known_providers()));
        };
        let Some(provider) = Provider::by_name(name) else {
            let near = nearest(name, PROVIDERS.iter().map(|provider| provider.name));
            let hint = near.map_or_else(known_providers, |near| format!("did you mean `{near}`?"));
            return Err(wrong(&format!("there is no provider `{name}`")).hint(hint));
        };
        let Some(model) = self.model.clone() else {
            return Err(wrong("it has no `model`").hint("name the model as the provider does"));
        };
        let region = self.region.clone().or_else(|| region_of_environment(provider));
        let base_url = match (self.base_url.as_deref().unwrap_or(provider.base_url), region.as_deref()) {
            ("", region) if provider.name == "bedrock" => match region {
                Some(region) => format!("https://bedrock-runtime.{region}.amazonaws.com"),
                None => {
                    return Err(
                        wrong("it has neither a `region` nor a `base_url`").hint("set `region`, as in \"us-east-1\"")
                    );
                }
            },
            ("", _) => {
                return Err(wrong("it has no `base_url`").hint("this provider is at another address for everyone"));
            }
            (url, _) if !url.starts_with("http://") && !url.starts_with("https://") => {
                return Err(wrong("its `base_url` is not an address").hint("it begins with https:// or http://"));
            }
            (url, _) => url.to_owned(),
        };
        let wire = self.wire.clone().unwrap_or_else(|| provider.wire.to_owned());
        if turnkeep_codec::format::wire(&wire).is_none() {
            return Err(wrong(&format!("there is no wire `{wire}`")).hint("`turnkeep formats` lists them"));
        }
        if let Some(family) = &self.family {
            turnkeep_codec::models::check_family(family).map_err(|error| {
                let hint = error.remedy().unwrap_or_default().to_owned();
                wrong(&format!("its `family` is not known: {}", error.what())).hint(hint)
            })?;
        }
        let usual_key = || Some(KeySource::Env(provider.key_env.to_owned())).filter(|_| !provider.key_env.is_empty());
        let key = self.key.clone().or_else(|| usual_key().filter(|_| self.aws.is_none()));
        let prices = Some(self.prices).filter(|prices| *prices != Prices::default());
        Ok(Endpoint {
            key,
            provider,
            model,
            base_url,
            wire,
            prices,
            timeouts: timeouts(self.timeouts),
            retry: retry(self.tries, self.waits),
            name: self.name,
            id: self.id,
            dialect: self.dialect,
            family: self.family,
            api_version: self.api_version,
            region,
            account: self.account,
            aws: self.aws,
            options: self.options,
            system: self.system,
            categories: self.categories.unwrap_or_default(),
            fallback: self.fallback.unwrap_or_default(),
            headers: self.headers,
            proxy: self.proxy.unwrap_or_default(),
            ca_file: self.ca_file,
            max_body: self.max_body.unwrap_or(crate::network::HttpOptions::default().max_body),
            payload: self.payload.unwrap_or_default(),
            streaming: self.streaming.unwrap_or_default(),
            place: self.place,
            level: self.level.unwrap_or(Level::User),
        })
    }
}

fn first_of<T>(own: [Option<T>; 3], base: [Option<T>; 3]) -> [Option<T>; 3] {
    let ([a, b, c], [d, e, f]) = (own, base);
    [a.or(d), b.or(e), c.or(f)]
}

fn timeouts([connect, first_byte, idle]: [Option<std::time::Duration>; 3]) -> Timeouts {
    let usual = Timeouts::default();
    Timeouts {
        connect: connect.unwrap_or(usual.connect),
        first_byte: first_byte.unwrap_or(usual.first_byte),
        idle: idle.unwrap_or(usual.idle),
    }
}

fn retry(tries: Option<u64>, [first, longest, patience]: [Option<std::time::Duration>; 3]) -> Retry {
    let usual = Retry::default();
    Retry {
        tries: tries.map_or(usual.tries, |tries| u32::try_from(tries).unwrap_or(u32::MAX).max(1)),
        first: first.unwrap_or(usual.first),
        longest: longest.unwrap_or(usual.longest),
        patience: patience.unwrap_or(usual.patience),
    }
}

/// The region that AWS's own programs take from the environment.
fn region_of_environment(provider: &Provider) -> Option<String> {
    let names = ["AWS_REGION", "AWS_DEFAULT_REGION"].iter().filter(|_| provider.name == "bedrock");
    names.filter_map(|name| std::env::var(name).ok()).find(|region| !region.is_empty())
}

fn known_providers() -> String {
    let names: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
    format!("known are {}", names.join(", "))
}
