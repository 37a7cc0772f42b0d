//! A transport that records another, or answers from the recording.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_util::stream;
use jiff::Timestamp;
use turnkeep_runtime::port::BoxFuture;
use turnkeep_runtime::port::{Clock, SystemClock};

use super::exchange::{Answer, Asked, Chunk, End, RecordedAnswer};
use super::tape::{Pace, Played, Tape};
use crate::transport::{Body, HttpRequest, HttpResponse, Transport, TransportError};

/// Records the exchanges of another transport on a [`Tape`], or answers from it.
pub struct Cassette {
    tape: Arc<Tape>,
    inner: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
}

impl Cassette {
    /// Puts a tape before `inner`.
    pub fn new(tape: Arc<Tape>, inner: Arc<dyn Transport>) -> Cassette {
        Cassette { tape, inner, clock: Arc::new(SystemClock) }
    }

    /// The same, with times between chunks taken from another clock than the system's.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Cassette {
        self.clock = clock;
        self
    }

    async fn record(&self, request: HttpRequest, number: u64, asked: Asked) -> Result<HttpResponse, TransportError> {
        let began = self.clock.now();
        match self.inner.send(request).await {
            Ok(response) => {
                let came = RecordedAnswer {
                    status: response.status,
                    headers: response.headers.clone(),
                    after: since(began, self.clock.as_ref()),
                    chunks: Vec::new(),
                    end: End::Left,
                };
                let kept = Kept { tape: Arc::clone(&self.tape), number, exchange: Some((asked, came)) };
                let body = Recording { inner: response.body, kept, began, clock: Arc::clone(&self.clock) };
                Ok(HttpResponse { body: Box::pin(body), ..response })
            }
            Err(error) => {
                self.tape.keep(number, asked, Answer::Failed(error.clone()));
                Err(error)
            }
        }
    }

    async fn replay(&self, answer: Answer) -> Result<HttpResponse, TransportError> {
        match answer {
            Answer::Failed(error) => Err(error),
            Answer::RecordedAnswer(RecordedAnswer { status, headers, after, chunks, end }) => {
                let clock = (self.tape.pace() == Pace::Recorded).then(|| Arc::clone(&self.clock));
                if let Some(clock) = &clock {
                    clock.sleep(Duration::from_millis(after)).await;
                }
                Ok(HttpResponse { status, headers, body: replayed(chunks, end, after, clock) })
            }
        }
    }
}

impl Transport for Cassette {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, TransportError>> {
        Box::pin(async move {
            match self.tape.play(&request)? {
                Played::Off => self.inner.send(request).await,
                Played::Answer(answer) => self.replay(answer).await,
                Played::Live(number, asked) => self.record(request, number, asked).await,
            }
        })
    }
}

fn since(began: Timestamp, clock: &dyn Clock) -> u64 {
    u64::try_from(clock.now().duration_since(began).as_millis()).unwrap_or_default()
}

/// The body of a recorded answer; with a clock, at the pace it came.
fn replayed(chunks: Vec<Chunk>, end: End, after: u64, clock: Option<Arc<dyn Clock>>) -> Body {
    let mut items: Vec<(u64, Result<Vec<u8>, TransportError>)> =
        chunks.into_iter().map(|chunk| (chunk.at, Ok(chunk.bytes))).collect();
    if let End::Failed(error) = end {
        let last = items.last().map_or(after, |(at, _)| *at);
        items.push((last, Err(error)));
    }
    match clock {
        None => Box::pin(stream::iter(items.into_iter().map(|(_, item)| item))),
        Some(clock) => Box::pin(stream::unfold((items.into_iter(), after), move |(mut items, at)| {
            let clock = Arc::clone(&clock);
            async move {
                let (next, item) = items.next()?;
                clock.sleep(Duration::from_millis(next.saturating_sub(at))).await;
                Some((item, (items, next)))
            }
        })),
    }
}

/// A body on its way that is being recorded.
struct Recording {
    inner: Body,
    kept: Kept,
    began: Timestamp,
    clock: Arc<dyn Clock>,
}

impl Stream for Recording {
    type Item = Result<Vec<u8>, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let item = std::task::ready!(self.inner.as_mut().poll_next(context));
        let at = since(self.began, self.clock.as_ref());
        match &item {
            Some(Ok(bytes)) => self.kept.chunk(Chunk { at, bytes: bytes.clone() }),
            Some(Err(error)) => self.kept.end(End::Failed(error.clone())),
            None => self.kept.end(End::Complete),
        }
        Poll::Ready(item)
    }
}

/// An exchange that is kept when it ends, however that is.
struct Kept {
    tape: Arc<Tape>,
    number: u64,
    exchange: Option<(Asked, RecordedAnswer)>,
}

impl Kept {
    fn chunk(&mut self, chunk: Chunk) {
        if let Some((_, came)) = &mut self.exchange {
            came.chunks.push(chunk);
        }
    }

    fn end(&mut self, end: End) {
        if let Some((asked, came)) = self.exchange.take() {
            self.tape.keep(self.number, asked, Answer::RecordedAnswer(RecordedAnswer { end, ..came }));
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.end(End::Left);
    }
}
