//! The client.

use reqwest::redirect::Policy;

use super::failure::wrong;
use super::tls;
use crate::network::{HttpOptions, Proxy};
use crate::transport::TransportError;

/// A client with these options.
pub(super) fn client(options: &HttpOptions) -> Result<reqwest::Client, TransportError> {
    let builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls::config(options.ca_file.as_deref())?)
        .connect_timeout(options.connect_timeout)
        .redirect(Policy::none())
        .tcp_nodelay(true)
        .user_agent(concat!("turnkeep/", env!("CARGO_PKG_VERSION")));
    let builder = match &options.proxy {
        Proxy::System => builder,
        Proxy::Direct => builder.no_proxy(),
        Proxy::Url(url) => builder.proxy(
            reqwest::Proxy::all(url).map_err(|_| wrong("the proxy is not an address such as `http://host:port`"))?,
        ),
    };
    builder.build().map_err(|error| wrong(format!("no client can be made: {}", error.without_url())))
}
