//! Counts and logs every request by its route. Ids, queries and tokens stay out of both.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use super::LogLine;
use crate::app::App;
use crate::problem::Cause;

pub(crate) async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().as_str().to_owned();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let mut response = next.run(request).await;
    let (status, took) = (response.status().as_u16(), began.elapsed());
    app.metrics.request(&method, &route, status, took);
    let line = LogLine::new("request").fact("method", method).fact("route", route).fact("status", status);
    let line = line.fact("ms", took.as_millis());
    app.log.write(&match response.extensions_mut().remove::<Cause>() {
        Some(Cause(cause)) => line.fact("cause", cause),
        None => line,
    });
    let nosniff = HeaderValue::from_static("nosniff");
    response.headers_mut().entry(header::X_CONTENT_TYPE_OPTIONS).or_insert(nosniff);
    response
}
