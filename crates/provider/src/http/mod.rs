//! The network, as a transport.
//!
//! No signature names a runtime: exchanges are tasks of a small one of our own, and what arrives is handed over in
//! chunks. A reader that is slow slows the peer down, so a long answer takes no more memory than a short one. Dropping
//! the future or the body ends the task, and with it the connection or its stream.
//!
//! Redirects are not followed: a request carries a key and a conversation, and neither goes to an address that nobody
//! chose. The answer with its status and `location` comes back as it is.

mod body;
mod client;
mod connect;
mod exchange;
mod failure;
mod runtime;
mod tls;

use turnkeep_runtime::port::BoxFuture;

use crate::network::HttpOptions;
use crate::transport::{HttpRequest, HttpResponse, Transport, TransportError};

/// The network.
#[derive(Clone)]
pub struct Http {
    client: client::Client,
    max_body: u64,
}

impl Http {
    /// A client with these options. It keeps connections open for the next exchange.
    ///
    /// # Errors
    /// `Request` where the proxy is not one, `Tls` where the certificates cannot be read.
    pub fn new(options: &HttpOptions) -> Result<Http, TransportError> {
        Ok(Http { client: client::Client::new(options)?, max_body: options.max_body })
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").field("max_body", &self.max_body).finish_non_exhaustive()
    }
}

impl Transport for Http {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, TransportError>> {
        Box::pin(exchange::send(self.client.clone(), request, self.max_body))
    }
}
