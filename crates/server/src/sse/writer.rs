//! Writes events as a stream of bytes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use tokio::time::{MissedTickBehavior, interval_at};

use crate::app::App;
use crate::live::{LiveEvent, LiveItem};
use crate::ops::OpenStream;
use crate::problem::{Answer, Problem};

/// How often a comment says that the connection lives.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a client waits before it comes back, in milliseconds; each is told another time, so that not all come at once.
const RETRY: std::ops::Range<u64> = 500..2500;

/// One event as it is written; `id` is where to go on after it.
pub(super) fn frame(event: &LiveEvent, id: Option<&str>) -> Bytes {
    let mut frame = Vec::with_capacity(event.json.len() + event.name.len() + 48);
    if let Some(id) = id {
        frame.extend_from_slice(b"id: ");
        frame.extend_from_slice(id.as_bytes());
        frame.push(b'\n');
    }
    frame.extend_from_slice(b"event: ");
    frame.extend_from_slice(event.name.as_bytes());
    frame.extend_from_slice(b"\ndata: ");
    frame.extend_from_slice(&event.json);
    frame.extend_from_slice(b"\n\n");
    frame.into()
}

/// What is said of an item that is no event.
pub(super) fn notice(item: &LiveItem, session: &str) -> Bytes {
    let session = serde_json::to_string(session).unwrap_or_default();
    match item {
        LiveItem::Event(_) => Bytes::new(),
        LiveItem::Lagged { resume_from } => {
            format!("event: turnkeep.lagged\ndata: {{\"session_id\":{session},\"resume_from\":{}}}\n\n", resume_from.0)
                .into()
        }
        LiveItem::Gone => format!("event: turnkeep.gone\ndata: {{\"session_id\":{session}}}\n\n").into(),
    }
}

/// The answer that carries frames until they end, or the server drains.
pub(super) fn answer(app: &Arc<App>, frames: impl Stream<Item = Bytes> + Send + Unpin + 'static) -> Answer<Response> {
    let open = usize::try_from(app.metrics.streams.load(Ordering::Relaxed)).unwrap_or_default();
    if app.is_draining() || open >= app.config.limits.streams {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "no more streams are taken")
            .with(header::RETRY_AFTER, "2"));
    }
    let first = Bytes::from(format!("retry: {}\n\n", retry()));
    let counted = OpenStream::new(app.metrics.clone());
    let frames = frames.map(move |frame| {
        counted.0.events.fetch_add(1, Ordering::Relaxed);
        frame
    });
    let frames = stream::once(async { first }).chain(with_heartbeats(frames)).take_until(app.drained());
    let body = Body::from_stream(frames.map(Ok::<Bytes, std::convert::Infallible>));
    let mut response = (StatusCode::OK, body).into_response();
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

fn retry() -> u64 {
    let mut byte = [0u8; 2];
    let random = getrandom::fill(&mut byte).map_or(0, |()| u64::from(u16::from_le_bytes(byte)));
    RETRY.start + random % (RETRY.end - RETRY.start)
}

/// The same frames, with a comment whenever a while went by; it ends where they end.
fn with_heartbeats(frames: impl Stream<Item = Bytes> + Send + Unpin + 'static) -> impl Stream<Item = Bytes> + Send {
    let mut ticks = interval_at(tokio::time::Instant::now() + HEARTBEAT, HEARTBEAT);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    stream::unfold((frames, ticks), |(mut frames, mut ticks)| async move {
        tokio::select! {
            frame = frames.next() => Some((frame?, (frames, ticks))),
            _ = ticks.tick() => Some((Bytes::from_static(b":\n\n"), (frames, ticks))),
        }
    })
}
