//! What asking a model over HTTP costs beside the exchange alone, on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use pollster::block_on;
use turnkeep_model::{Author, Block, Session, Turn};
use turnkeep_provider::http::Http;
use turnkeep_provider::{HttpOptions, HttpRequest, Method, Payload, Provider, Proxy, Transport, WireModel};
use turnkeep_runtime::port::{Delta, Deltas, NoDeltas, Request};

use crate::Outcome;
use crate::report::{Bound, Report, Row};

/// A chunk as OpenAI streams it.
const CHUNK: &str = "data: {\"id\":\"chatcmpl-BxY1\",\"object\":\"chat.completion.chunk\",\"created\":1790000000,\"model\":\"gpt-5\",\"service_tier\":\"default\",\"system_fingerprint\":null,\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null,\"obfuscation\":\"aZ09x\"}\n\n";
const END: &str = "data: {\"id\":\"chatcmpl-BxY1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

const MEGABYTE: usize = 1 << 20;

/// Everything that is measured of models behind HTTP.
pub(crate) fn all(report: &mut Report, _: &Path) -> Outcome<()> {
    first_token(report)?;
    throughput(report)
}

/// A server that answers every request with so many bytes of events.
fn server(bytes: usize) -> Outcome<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream, bytes));
        }
    });
    Ok(url)
}

fn serve(stream: TcpStream, bytes: usize) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reading = BufReader::new(stream.try_clone()?);
    let mut writing = stream;
    let block = CHUNK.repeat((64 << 10) / CHUNK.len());
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reading.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.is_empty() {
                break;
            }
        }
        std::io::copy(&mut reading.by_ref().take(length), &mut std::io::sink())?;
        let blocks = bytes / block.len();
        let size = CHUNK.len() + blocks * block.len() + END.len();
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {size}\r\n\r\n{CHUNK}");
        writing.write_all(head.as_bytes())?;
        for _ in 0..blocks {
            writing.write_all(block.as_bytes())?;
        }
        writing.write_all(END.as_bytes())?;
    }
}

fn http() -> Outcome<Arc<Http>> {
    Ok(Arc::new(Http::new(&HttpOptions { proxy: Proxy::Direct, ..HttpOptions::default() })?))
}

fn model(http: Arc<Http>, url: &str) -> Outcome<WireModel> {
    let provider = Provider::by_name("groq").ok_or("the table of providers lacks one")?;
    Ok(WireModel::new(provider, "gpt-5", http)?.with_base_url(url).with_payload(Payload::Drop))
}

/// A session of ordinary length.
fn session() -> Session {
    let turns = (0..20_u32).map(|n| Turn {
        blocks: vec![
            Block::text(Author::User, "What is the weather like in Ulm today?").in_message(2 * n),
            Block::text(Author::Assistant, "It rains, as it did yesterday.").in_message(2 * n + 1),
        ],
        ..Turn::default()
    });
    let last = Turn { blocks: vec![Block::text(Author::User, "And now?").in_message(90)], ..Turn::default() };
    Session { turns: turns.chain([last]).collect(), ..Session::default() }
}

/// When the first word came.
struct First(Mutex<Option<Instant>>);

impl Deltas for First {
    fn delta(&self, _: Delta) {
        if let Ok(mut first) = self.0.lock() {
            first.get_or_insert_with(Instant::now);
        }
    }
}

/// The time to the first word, beside that to the first byte of a bare client on a bare socket.
fn first_token(report: &mut Report) -> Outcome<()> {
    const ROUNDS: usize = 200;
    let url = server(0)?;
    let model = model(http()?, &url)?;
    let session = session();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut socket = TcpStream::connect(url.trim_start_matches("http://"))?;
    socket.set_nodelay(true)?;
    for _ in 0..ROUNDS {
        let (start, first) = (Instant::now(), First(Mutex::new(None)));
        let request = Request { session: &session, options: &session.options, tools: &[], turn: 20 };
        block_on(model.ask(request, &first))?;
        let first = first.0.into_inner().map_err(|_| "poisoned")?.ok_or("nothing was said")?;
        ours.push(first - start);
        theirs.push(raw(&mut socket)?);
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    let over = ours.saturating_sub(theirs);
    println!("first token: {ours:?} through us, {theirs:?} on a raw socket, {over:?} more");
    report.measured(Row::time(
        "first token, over a raw socket, of 2 ms",
        over,
        Duration::from_millis(2),
        Bound::AtMost(1.0),
    ));
    Ok(())
}

/// The time to the first byte of an answer, with the least that can be sent; the rest is read and not counted.
fn raw(socket: &mut TcpStream) -> Outcome<Duration> {
    let start = Instant::now();
    socket.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}")?;
    let mut held = vec![0; 64 << 10];
    let read = socket.read(&mut held)?;
    let taken = start.elapsed();
    let mut text = String::from_utf8_lossy(held.get(..read).unwrap_or_default()).into_owned();
    while !text.ends_with("[DONE]\n\n") {
        let read = socket.read(&mut held)?;
        text.push_str(&String::from_utf8_lossy(held.get(..read).unwrap_or_default()));
    }
    Ok(taken)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// How fast a long stream is read into an answer, and how much memory that takes.
fn throughput(report: &mut Report) -> Outcome<()> {
    const SIZE: usize = 100 * MEGABYTE;
    let url = server(SIZE)?;
    let http = http()?;
    let model = model(http.clone(), &url)?;
    let session = session();
    let before = peak()?;
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        let request = Request { session: &session, options: &session.options, tools: &[], turn: 20 };
        let answer = block_on(model.ask(request, &NoDeltas))?;
        if answer.blocks.is_empty() {
            return Err("nothing was said".into());
        }
        best = best.min(start.elapsed());
    }
    let grown = peak()?.saturating_sub(before);
    let bare = bare(&http, &url)?;
    let speed = |time: Duration| SIZE as f64 / MEGABYTE as f64 / time.as_secs_f64();
    println!("100 MB of events: {:.0} MB/s through us, {:.0} MB/s without reading them", speed(best), speed(bare));
    report.measured(Row::number("stream to answer, MB/s", speed(best), 100.0, " MB/s", Bound::AtLeast(1.0)));
    println!("peak memory grew by {} MB over a stream of 100 MB", grown / MEGABYTE as u64);
    let bound = 32.0;
    report.measured(Row::number(
        "memory of a 100 MB stream, MB",
        (grown / MEGABYTE as u64) as f64,
        bound,
        " MB",
        Bound::AtMost(1.0),
    ));
    Ok(())
}

/// The same exchange, with its chunks thrown away.
fn bare(http: &Http, url: &str) -> Outcome<Duration> {
    let request =
        HttpRequest { method: Method::Post, url: format!("{url}/v1"), headers: Vec::new(), body: b"{}".to_vec() };
    let start = Instant::now();
    let mut response = block_on(http.send(request))?;
    while let Some(chunk) = block_on(response.body.next()) {
        chunk?;
    }
    Ok(start.elapsed())
}

/// The most memory that this process has had, in bytes.
fn peak() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("the system does not tell")?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024)
}
