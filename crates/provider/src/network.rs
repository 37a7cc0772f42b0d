//! How the network is reached.

use std::path::PathBuf;
use std::time::Duration;

/// How the network is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpOptions {
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
    /// The largest answer, in bytes after decompression.
    pub max_body: u64,
    /// Whether there is somebody in between.
    pub proxy: Proxy,
    /// A file of certificates (PEM) to trust beside the system's.
    pub ca_file: Option<PathBuf>,
}

impl Default for HttpOptions {
    fn default() -> HttpOptions {
        // An answer may take minutes, a connection may not; no model says a gigabyte.
        HttpOptions { connect_timeout: Duration::from_secs(10), max_body: 1 << 30, proxy: Proxy::System, ca_file: None }
    }
}

/// Whether there is somebody in between.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum Proxy {
    /// As the environment says: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`.
    #[default]
    System,
    /// Nobody, whatever the environment says.
    Direct,
    /// This one.
    Url(String),
}

/// An address is not shown: it may hold a password.
impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Proxy::System => "System",
            Proxy::Direct => "Direct",
            Proxy::Url(_) => "Url(****)",
        })
    }
}
