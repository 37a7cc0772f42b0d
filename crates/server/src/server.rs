//! The server: a router that a host can mount, or a process of its own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tower_http::compression::CompressionLayer;
use turnkeep_model::{Error, ErrorKind, Result};

use crate::accept::accept;
use crate::app::App;
use crate::auth::{authenticate, guard};
use crate::broadcasting;
use crate::config::Config;
use crate::ops::{Log, observe};
use crate::problem::Problem;
use crate::{api, rest, sweep};

/// How long requests and runs may take to end when the server is asked to.
const DRAIN: Duration = Duration::from_secs(8);

/// How long of that is taken to close the connections of the Pusher protocol, one after the other.
const CLOSING: Duration = Duration::from_secs(3);

/// Who can reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Programs of this machine.
    #[default]
    Loopback,
    /// Everyone: every request needs a token.
    Public,
}

/// Asks a server to stop; clones ask the same one.
#[derive(Debug, Clone, Default)]
pub struct StopHandle(Arc<tokio::sync::Notify>);

impl StopHandle {
    /// Asks. A server that has not started yet stops as soon as it has.
    pub fn ask(&self) {
        self.0.notify_one();
    }
}

/// Serves on threads of its own until someone asks it to stop, for programs without an async runtime.
///
/// # Errors
/// As [`Server::open`] and [`Server::serve`].
pub fn serve_blocking(
    config: Config,
    addr: SocketAddr,
    reach: Reach,
    log: Log,
    stop: &StopHandle,
    started: impl FnOnce(SocketAddr),
) -> Result<()> {
    let io = |error: std::io::Error| Error::new(ErrorKind::Io, "the system has no threads left").because(error);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(io)?;
    let served = runtime.block_on(async {
        let opened = Server::open(config, reach, log).await;
        let server = opened.map_err(|error| {
            let hint = error.remedy().unwrap_or("check the store").to_owned();
            Error::new(turnkeep_runtime::Error::from(error.clone()).kind(), error.to_string()).hint(hint)
        })?;
        server.serve(addr, started, stop.0.notified()).await
    });
    // What has not ended by now is cut off.
    runtime.shutdown_timeout(Duration::from_millis(500));
    served
}

/// A server.
pub struct Server {
    app: Arc<App>,
}

impl Server {
    /// Opens what a server keeps. Nothing is served yet.
    ///
    /// # Errors
    /// What the store of the server says, and what the sources of the apps' secrets say.
    pub async fn open(config: Config, reach: Reach, log: Log) -> turnkeep_store::Result<Server> {
        Ok(Server { app: App::open(config, reach == Reach::Public, log).await? })
    }

    /// The router, for a host to mount. Its runs go on, and runs of servers that ended are taken up, for as long as the
    /// host's async runtime lives.
    pub fn router(&self) -> Router {
        tokio::spawn(self.app.runs.clone().watch(self.app.metrics.clone()));
        tokio::spawn(sweep::sweep(self.app.clone()));
        router(&self.app)
    }

    /// Serves until `stop` ends, then drains: no new work, streams end, requests and runs have a while to end.
    ///
    /// # Errors
    /// `Unsupported` where the address is beyond this machine and the server is not public or has no token; `Io` where the
    /// address cannot be taken.
    pub async fn serve(
        self,
        addr: SocketAddr,
        started: impl FnOnce(SocketAddr),
        stop: impl Future<Output = ()>,
    ) -> Result<()> {
        self.check_reach(addr).await?;
        let io = |error: std::io::Error| Error::new(ErrorKind::Io, "the address cannot be listened on").because(error);
        let listener = TcpListener::bind(addr).await.map_err(io)?;
        let router = self.router();
        started(listener.local_addr().map_err(io)?);
        let app = self.app.clone();
        let serving = tokio::spawn(accept(app.clone(), listener, router));
        stop.await;
        app.drain();
        // Whatever has not ended by then is cut off, and taken up by the next server.
        let _ = tokio::time::timeout(DRAIN, async {
            let _ = tokio::join!(serving, app.channels.drain(CLOSING));
            while app.runs.count() > 0 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
        .await;
        Ok(())
    }

    /// A server that others can reach has a token, and was meant to be reached.
    async fn check_reach(&self, addr: SocketAddr) -> Result<()> {
        if addr.ip().is_loopback() && !self.app.public {
            return Ok(());
        }
        if !self.app.public {
            return Err(Error::new(ErrorKind::Unsupported, "the address can be reached from beyond this machine")
                .hint("add --public if that is meant"));
        }
        let any = self.app.tokens.any().await;
        if any.map_err(|error| Error::new(ErrorKind::Unavailable, error.to_string()))? {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Unsupported, "a public server needs a token").hint("`turnkeep token new` makes one"))
    }
}

fn router(app: &Arc<App>) -> Router {
    let routes = api::routes();
    // Inside the layers: one of them answers what browsers ask before they ask.
    let guarded = routes
        .guarded
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(app.clone(), rest::remember))
        .layer(from_fn_with_state(app.clone(), authenticate));
    let limit = app.config.limits.body;
    guarded
        .merge(routes.open.method_not_allowed_fallback(wrong_method))
        // Other protocols have origins of their own, and are merged outside of this.
        .layer(from_fn_with_state(app.clone(), guard::check_origin))
        .with_state(app.clone())
        .merge(broadcasting::router(app))
        .fallback(|| async { Problem::not_found("there is nothing here").hint("/v1/docs lists what there is") })
        .layer(DefaultBodyLimit::max(limit))
        .layer(CompressionLayer::new())
        .layer(from_fn_with_state(app.clone(), guard::check_host))
        .layer(from_fn_with_state(app.clone(), observe))
        .layer(from_fn(name_server))
}

async fn wrong_method() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this route does not take the method")
}

/// Names the server in its answers.
async fn name_server(request: Request, next: axum::middleware::Next) -> Response {
    let mut response = next.run(request).await.into_response();
    response.headers_mut().entry(header::SERVER).or_insert(HeaderValue::from_static("turnkeep"));
    response
}
