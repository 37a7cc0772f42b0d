//! Clients that listen, and one that publishes.

use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use futures_util::{SinkExt, StreamExt};
use md5::{Digest, Md5};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use turnkeep_server::pusher::signature::{SignedRequest, sign, text_to_sign};

use super::process::{Process, app};
use crate::Outcome;

/// How many requests are made at a time.
const PUBLISHERS: usize = 8;

/// Bytes of an event.
const SIZE: usize = 1000;

/// Digits of the time at the beginning of an event.
const STAMP: usize = 16;

/// How long deliveries may take after the last event was published.
const PATIENCE: Duration = Duration::from_secs(20);

/// So many clients and channels, and so many listeners on each channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) clients: usize,
    pub(super) channels: usize,
    pub(super) listeners: usize,
    pub(super) events: usize,
}

/// What a load took.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    cpu: Duration,
    deliveries: usize,
    pub(super) lost: usize,
    pub(super) p99: Duration,
}

impl Measured {
    /// Microseconds of the processor for one delivery.
    pub(super) fn cpu_each(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.deliveries.max(1) as f64
    }

    /// The better of two, in each respect; nothing that was lost is forgotten.
    pub(super) fn best(self, other: Option<Measured>) -> Measured {
        let Some(other) = other else { return self };
        let (p99, lost) = (self.p99.min(other.p99), self.lost + other.lost);
        let quicker = if self.cpu_each() <= other.cpu_each() { self } else { other };
        Measured { p99, lost, ..quicker }
    }
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Publishes a load, and waits until everyone has heard it.
pub(super) fn run(server: &Process, load: Load) -> Outcome<Measured> {
    runtime()?.block_on(async {
        let start = Instant::now();
        let mut listening = Vec::new();
        // Everyone's channels follow each other, and every channel has as many listeners and events.
        let (each, share) = (load.channels * load.listeners / load.clients, load.events / load.channels);
        for client in 0..load.clients {
            let mut socket = connect(server.port).await?;
            for number in 0..each {
                subscribe(&mut socket, (client * each + number) % load.channels).await?;
            }
            listening.push(tokio::spawn(listen(socket, start, each * share)));
        }
        let before = server.processor_time()?;
        let publishing = (0..PUBLISHERS).map(|publisher| publish(server.port, load, publisher, start));
        futures_util::future::try_join_all(publishing).await?;
        let mut times = Vec::new();
        for client in listening {
            times.extend(client.await?);
        }
        let cpu = server.processor_time()? - before;
        let (deliveries, expected) = (times.len(), load.events * load.listeners);
        Ok(Measured { cpu, deliveries, lost: expected - deliveries, p99: percentile(times) })
    })
}

/// Opens silent connections, and measures while they are open.
pub(super) fn idle<T>(server: &Process, count: usize, measure: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    runtime()?.block_on(async {
        let mut open = Vec::with_capacity(count);
        for _ in 0..count {
            let mut socket = connect(server.port).await?;
            subscribe(&mut socket, 0).await?;
            open.push(socket);
        }
        measure()
    })
}

async fn connect(port: u16) -> Outcome<Socket> {
    let address = format!("ws://127.0.0.1:{port}/app/app-key?protocol=7&client=bench&version=1.0");
    let (mut socket, _) = tokio_tungstenite::connect_async(address).await?;
    socket.next().await.ok_or("the server closed")??;
    Ok(socket)
}

async fn subscribe(socket: &mut Socket, channel: usize) -> Outcome<()> {
    let frame = format!(r#"{{"event":"pusher:subscribe","data":{{"channel":"session-{channel}"}}}}"#);
    socket.send(Message::text(frame)).await?;
    loop {
        let answer = socket.next().await.ok_or("the server closed")??;
        if answer.to_text()?.contains("subscription_succeeded") {
            return Ok(());
        }
    }
}

/// Hears so many events, and tells how long each was on its way.
async fn listen(mut socket: Socket, start: Instant, count: usize) -> Vec<Duration> {
    let mut times = Vec::with_capacity(count);
    while times.len() < count {
        let Ok(Some(Ok(message))) = tokio::time::timeout(PATIENCE, socket.next()).await else { return times };
        let now = start.elapsed();
        let sent = message.to_text().ok().and_then(|text| text.split_once("<")).and_then(|(_, rest)| rest.get(..STAMP));
        if let Some(sent) = sent.and_then(|digits| digits.parse().ok()) {
            times.push(now.saturating_sub(Duration::from_nanos(sent)));
        }
    }
    times
}

fn percentile(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() * 99 / 100).copied().unwrap_or_default()
}

/// One of the publishers: a request after the other on one connection.
async fn publish(port: u16, load: Load, publisher: usize, start: Instant) -> Outcome<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    for event in (publisher..load.events).step_by(PUBLISHERS) {
        let stamp = start.elapsed().as_nanos();
        let filling = "x".repeat(SIZE - STAMP - 1);
        let channel = event % load.channels;
        let body = format!(r#"{{"name":"turn","channel":"session-{channel}","data":"<{stamp:0STAMP$}{filling}"}}"#);
        stream.write_all(request(&body).as_bytes()).await?;
        read_answer(&mut stream).await?;
    }
    Ok(())
}

/// A signed request.
fn request(body: &str) -> String {
    let app = app();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
    let parameters = [
        ("auth_key", app.key.clone()),
        ("auth_timestamp", now.to_string()),
        ("auth_version", "1.0".to_owned()),
        ("body_md5", HEXLOWER.encode(&Md5::digest(body))),
    ];
    let query = parameters.map(|(key, value)| (key.to_owned(), value));
    let path = "/apps/app-id/events";
    let signed = SignedRequest { method: "POST", path, query: &query, body: body.as_bytes() };
    let signature = sign(app.secret.reveal(), &text_to_sign(signed));
    let parameters: String = query.iter().map(|(key, value)| format!("{key}={value}&")).collect();
    let length = body.len();
    format!(
        "POST {path}?{parameters}auth_signature={signature} HTTP/1.1\r\nhost: localhost\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Reads an answer to its end; one that is no success is an error.
async fn read_answer(stream: &mut TcpStream) -> Outcome<()> {
    let mut answer = Vec::new();
    loop {
        if stream.read_buf(&mut answer).await? == 0 {
            return Err("the server closed".into());
        }
        let text = String::from_utf8_lossy(&answer).to_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")).map(str::trim);
        let length: usize = length.ok_or("an answer without a length")?.parse()?;
        if body.len() >= length {
            let ok = head.split(' ').nth(1) == Some("200");
            return if ok { Ok(()) } else { Err(text.into()) };
        }
    }
}
