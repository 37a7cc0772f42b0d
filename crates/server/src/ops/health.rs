//! `/healthz`, `/readyz` and `/metrics`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::auth::{Caller, ToAdmin};
use crate::problem::{Answer, Problem, ProblemBody};

/// Whether the process lives.
#[utoipa::path(get, path = "/healthz", tag = "operation", security(()), responses((status = 200, description = "It lives.", body = String)))]
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// Whether it takes requests: its own store answers, and it does not drain.
#[utoipa::path(get, path = "/readyz", tag = "operation", security(()), responses(
    (status = 200, description = "It takes requests.", body = String),
    (status = 503, description = "It drains, or its store does not answer.", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Answer<&'static str> {
    if app.is_draining() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "draining", "the server is about to stop")
            .with(header::RETRY_AFTER, "5"));
    }
    app.control.any("token").await?;
    Ok("ok\n")
}

/// Metrics in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "operation", security(("token" = ["admin"])), responses((status = 200, description = "The metrics.", body = String)))]
pub(crate) async fn metrics_page(State(app): State<Arc<App>>, _: Caller<ToAdmin>) -> Response {
    let channels = &app.channels;
    let readings = [
        ("turnkeep_runs", "gauge", "Runs that go on here.", app.runs.count() as u64),
        (
            "turnkeep_pusher_connections",
            "gauge",
            "Open connections of the Pusher protocol.",
            channels.connections() as u64,
        ),
        ("turnkeep_pusher_deliveries_total", "counter", "Frames sent with the Pusher protocol.", channels.deliveries()),
    ];
    let text = app.metrics.to_text(&readings);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
