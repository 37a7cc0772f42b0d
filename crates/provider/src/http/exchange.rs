//! One exchange, as a task.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::StreamExt;
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderValue as Value};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::body;
use super::client::Client;
use super::failure::{no_answer, no_more};
use super::runtime::runtime;
use crate::transport::{HttpRequest, HttpResponse, TransportError, TransportErrorKind};

/// How many chunks wait for their reader before the peer has to.
const AHEAD: usize = 16;

/// What a task tells of a body.
enum Piece {
    Chunk(Vec<u8>),
    Failed(TransportError),
    End,
}

type Head = Result<(u16, Vec<(String, String)>), TransportError>;

/// Sends a request, and gives its answer as it arrives.
pub(super) async fn send(client: Client, request: HttpRequest, max_body: u64) -> Result<HttpResponse, TransportError> {
    let request = client.prepared(request)?;
    let (tell_head, head) = oneshot::channel();
    let (tell, pieces) = mpsc::channel(AHEAD);
    let task = runtime()?.spawn(exchange(client, request, max_body, tell_head, tell));
    let body = Chunks { pieces, task: task.abort_handle(), ended: false };
    let (status, headers) = head.await.unwrap_or_else(|_| Err(ended()))?;
    Ok(HttpResponse { status, headers, body: Box::pin(body) })
}

async fn exchange(
    client: Client,
    request: Request<Full<Bytes>>,
    max_body: u64,
    tell_head: oneshot::Sender<Head>,
    tell: mpsc::Sender<Piece>,
) {
    let response = match client.send(request).await {
        Ok(response) => response,
        Err(error) => {
            let _ = tell_head.send(Err(no_answer(&error)));
            return;
        }
    };
    let status = response.status().as_u16();
    let (headers, mut chunks) = body::opened(response);
    let _ = tell_head.send(Ok((status, told(&headers))));
    let mut size = 0_u64;
    while let Some(chunk) = chunks.next().await {
        let piece = match chunk {
            Ok(bytes) => {
                size = size.saturating_add(bytes.len() as u64);
                if size > max_body { Piece::Failed(too_large(max_body)) } else { Piece::Chunk(bytes.into()) }
            }
            Err(error) => Piece::Failed(no_more(&*error)),
        };
        let is_last = matches!(piece, Piece::Failed(_));
        if tell.send(piece).await.is_err() || is_last {
            return;
        }
    }
    let _ = tell.send(Piece::End).await;
}

fn told(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &Value| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

fn too_large(limit: u64) -> TransportError {
    TransportError::new(TransportErrorKind::TooLarge, format!("the answer is larger than {limit} bytes"))
}

fn ended() -> TransportError {
    TransportError::new(TransportErrorKind::Cut, "the exchange ended unexpectedly")
}

/// A body on its way. Dropping it ends the exchange.
struct Chunks {
    pieces: mpsc::Receiver<Piece>,
    task: AbortHandle,
    ended: bool,
}

impl Stream for Chunks {
    type Item = Result<Vec<u8>, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let piece = std::task::ready!(self.pieces.poll_recv(context));
        self.ended = !matches!(piece, Some(Piece::Chunk(_)));
        Poll::Ready(match piece {
            Some(Piece::Chunk(bytes)) => Some(Ok(bytes)),
            Some(Piece::Failed(error)) => Some(Err(error)),
            Some(Piece::End) => None,
            None => Some(Err(ended())),
        })
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        self.task.abort();
    }
}
