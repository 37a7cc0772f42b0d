//! From an address to a connection: directly or through a proxy, with TLS where the address wants it.

use std::error::Error;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Uri;
use hyper::header::HeaderValue;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tower_service::Service;
use turnkeep_runtime::port::BoxFuture;

use super::failure::wrong;
use crate::network::Proxy;
use crate::transport::TransportError;

type BoxError = Box<dyn Error + Send + Sync>;
type Connecting<T> = BoxFuture<'static, Result<T, BoxError>>;

/// Makes connections, each within a time that counts the proxy and TLS in.
#[derive(Clone)]
pub(super) struct Connector {
    https: HttpsConnector<Route>,
    within: Duration,
}

impl Connector {
    pub(super) fn new(tls: ClientConfig, proxies: Proxies, within: Duration) -> Connector {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(within));
        // A proxy is spoken to in HTTP/1.1.
        let mut to_proxy = tls.clone();
        to_proxy.alpn_protocols.clear();
        let route = Route { tcp: tcp.clone(), to_proxy: HttpsConnector::from((tcp, to_proxy)), proxies };
        Connector { https: HttpsConnector::from((route, tls)), within }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<Link>;
    type Error = BoxError;
    type Future = Connecting<MaybeHttpsStream<Link>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.https.poll_ready(context)
    }

    fn call(&mut self, peer: Uri) -> Self::Future {
        let connecting = tokio::time::timeout(self.within, self.https.call(peer));
        Box::pin(async move { connecting.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))? })
    }
}

/// Which peers are reached through a proxy.
#[derive(Clone)]
pub(super) struct Proxies(Option<Arc<Matcher>>);

impl Proxies {
    pub(super) fn new(proxy: &Proxy) -> Result<Proxies, TransportError> {
        let matcher = match proxy {
            Proxy::Direct => return Ok(Proxies(None)),
            Proxy::System => Matcher::from_system(),
            Proxy::Url(url) => Matcher::builder().all(url.as_str()).build(),
        };
        let takes_all = matcher.intercept(&Uri::from_static("http://peer.invalid")).is_some();
        if matches!(proxy, Proxy::Url(_)) && !takes_all {
            return Err(wrong("the proxy is not an address such as `http://host:port`"));
        }
        Ok(Proxies(Some(Arc::new(matcher))))
    }

    fn of(&self, peer: &Uri) -> Option<Intercept> {
        self.0.as_ref()?.intercept(peer)
    }

    /// What a proxy is shown with the request itself. Behind TLS the proxy sees no request: it is shown with the tunnel.
    pub(super) fn authorization(&self, peer: &Uri) -> Option<HeaderValue> {
        let proxy = self.of(peer).filter(|_| peer.scheme_str() == Some("http"))?;
        proxy.basic_auth().cloned()
    }
}

/// Connects to a peer or to its proxy, without the peer's TLS.
#[derive(Clone)]
struct Route {
    tcp: HttpConnector,
    to_proxy: HttpsConnector<HttpConnector>,
    proxies: Proxies,
}

impl Service<Uri> for Route {
    type Response = Link;
    type Error = BoxError;
    type Future = Connecting<Link>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, peer: Uri) -> Connecting<Link> {
        let Some(proxy) = self.proxies.of(&peer) else {
            let connecting = self.tcp.call(peer);
            return Box::pin(async { Ok(Link { stream: connecting.await?.into(), speaks_to: Party::Peer }) });
        };
        let scheme = proxy.uri().scheme_str().unwrap_or_default();
        if !matches!(scheme, "http" | "https") {
            let what = format!("a proxy of the kind `{scheme}` is not supported; use one that speaks HTTP");
            return Box::pin(async { Err(what.into()) });
        }
        if peer.scheme_str() == Some("https") {
            let tunnel = Tunnel::new(proxy.uri().clone(), self.to_proxy.clone());
            let mut tunnel = proxy.basic_auth().cloned().into_iter().fold(tunnel, Tunnel::with_auth);
            let connecting = tunnel.call(peer);
            return Box::pin(async { Ok(Link { stream: connecting.await?, speaks_to: Party::Peer }) });
        }
        let connecting = self.to_proxy.call(proxy.uri().clone());
        Box::pin(async { Ok(Link { stream: connecting.await?, speaks_to: Party::Proxy }) })
    }
}

/// A connection. A request that a proxy reads names the whole address of the peer.
pub(super) struct Link {
    stream: MaybeHttpsStream<TokioIo<TcpStream>>,
    speaks_to: Party,
}

/// Who reads the requests of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Party {
    Peer,
    Proxy,
}

impl Connection for Link {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.speaks_to == Party::Proxy)
    }
}

impl Read for Link {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for Link {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }
}
