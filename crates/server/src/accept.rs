//! Takes connections: so many at once, and none that holds one without saying what it wants.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::app::App;

/// How long a client may take for its first byte, and for the head of a request.
const HEAD: Duration = Duration::from_secs(15);

/// How long is waited when the system has no file left for a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until the server drains, and returns when the last one has ended.
pub(crate) async fn accept(app: Arc<App>, listener: TcpListener, router: Router) {
    let free = Arc::new(Semaphore::new(app.config.limits.connections));
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
    builder.http2().timer(TokioTimer::new()).keep_alive_interval(Duration::from_secs(20));
    let (builder, mut open) = (Arc::new(builder), JoinSet::new());
    let mut drained = pin!(app.drained());
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted.map(|(stream, _)| stream),
            () = &mut drained => break,
        };
        // Those that have ended are forgotten as others come.
        while open.try_join_next().is_some() {}
        match stream {
            // Whoever is one too many is told by the closed connection.
            Ok(stream) => {
                if let Ok(permit) = free.clone().try_acquire_owned() {
                    open.spawn(serve(app.clone(), stream, router.clone(), builder.clone(), permit));
                }
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}

async fn serve(
    app: Arc<App>,
    stream: TcpStream,
    router: Router,
    builder: Arc<Builder<TokioExecutor>>,
    _permit: OwnedSemaphorePermit,
) {
    // A delayed acknowledgement would hold back every small event.
    let _ = stream.set_nodelay(true);
    if timeout(HEAD, stream.readable()).await.is_err() {
        return;
    }
    let service = TowerToHyperService::new(router);
    let mut connection = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
    let mut drained = pin!(app.drained());
    // What a client does to its own connection concerns nobody else.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = &mut drained => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
