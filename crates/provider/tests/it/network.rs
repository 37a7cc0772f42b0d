//! The network: compression, TLS, connections that are kept and that are closed.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use pollster::block_on;
use turnkeep_provider::http::Http;
use turnkeep_provider::{
    HttpOptions, HttpRequest, Method, ProviderErrorKind, Proxy, Retry, Transport, TransportError, TransportErrorKind,
    WireModel,
};

use crate::kit::{self, WIRES};
use crate::server::{End, Play, Server};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn brotli(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    brotli::BrotliCompress(&mut bytes, &mut out, &brotli::enc::BrotliEncoderParams::default()).unwrap();
    out
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

#[test]
fn compressed_answers_are_read() {
    type Packing = (&'static str, fn(&[u8]) -> Vec<u8>);
    let packings: [Packing; 3] = [("gzip", gzip), ("br", brotli), ("zstd", zstd)];
    for (wire, provider) in WIRES {
        for (name, pack) in packings {
            let stream = kit::stream(wire);
            let play = Play::new(200, kit::content_type(wire), pack(&stream)).header("content-encoding", name);
            let server = Server::new([play.in_pieces(100)]);
            let model = kit::model(provider, &server.url).with_wire(wire).unwrap();

            let answer = kit::asked(&model).unwrap_or_else(|error| panic!("{wire} {name}: {error}"));

            assert_eq!(answer.blocks.len(), kit::answer_in(wire, &stream).blocks.len(), "{wire} {name}");
            let taken = server.seen()[0].header("accept-encoding").unwrap().to_owned();
            assert!(taken.contains(name), "{taken}");
        }
    }
}

fn over(options: &HttpOptions, url: &str) -> WireModel {
    let provider = turnkeep_provider::Provider::by_name("groq").unwrap();
    let transport = Arc::new(Http::new(options).unwrap());
    WireModel::new(provider, "m-1", transport).unwrap().with_base_url(url).with_retry(Retry::never())
}

fn good() -> Play {
    Play::new(200, kit::content_type("openai.chat"), kit::stream("openai.chat"))
}

#[test]
fn a_server_is_trusted_whose_issuer_is_named() {
    let (server, pem) = Server::with_tls([good()]);
    let folder = tempfile::tempdir().unwrap();
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, pem).unwrap();
    let options = HttpOptions { proxy: Proxy::Direct, ca_file: Some(ca_file), ..HttpOptions::default() };

    assert!(kit::asked(&over(&options, &server.url)).is_ok());
}

#[test]
fn a_server_that_nobody_vouches_for_is_not_asked() {
    let (server, _) = Server::with_tls([good()]);
    let options = HttpOptions { proxy: Proxy::Direct, ..HttpOptions::default() };

    let error = kit::asked(&over(&options, &server.url)).unwrap_err();

    assert_eq!((error.kind, server.seen().len()), (ProviderErrorKind::Tls, 0), "{error}");
}

#[test]
fn a_server_without_tls_is_told() {
    let server = Server::new([good()]);
    let options = HttpOptions { proxy: Proxy::Direct, ..HttpOptions::default() };

    let error = kit::asked(&over(&options, &server.url.replace("http://", "https://"))).unwrap_err();

    assert_eq!(error.kind, ProviderErrorKind::Tls, "{error}");
}

#[test]
fn certificates_that_are_none_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, "nothing").unwrap();

    let error = Http::new(&HttpOptions { ca_file: Some(ca_file.clone()), ..HttpOptions::default() }).unwrap_err();

    let message = format!("{} holds no certificate in PEM", ca_file.display());
    assert_eq!(error, TransportError { kind: TransportErrorKind::Tls, message });
}

#[test]
fn a_proxy_is_asked_instead() {
    let proxy = Server::new([good()]);
    let options = HttpOptions { proxy: Proxy::Url(proxy.url.clone()), ..HttpOptions::default() };

    kit::asked(&over(&options, "http://vendor.invalid")).unwrap();

    assert_eq!(proxy.seen()[0].line, "POST http://vendor.invalid/v1/chat/completions HTTP/1.1");
}

/// A proxy that makes one tunnel to whatever is asked for, and tells the head of the request for it.
fn tunnelling() -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, heads) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        let head = String::from_utf8(head).unwrap();
        let peer = head.split(' ').nth(1).unwrap().to_owned();
        tell.send(head).unwrap();
        let mut peer = std::net::TcpStream::connect(peer).unwrap();
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let (mut from_peer, mut to_client) = (peer.try_clone().unwrap(), client.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from_peer, &mut to_client));
        let _ = std::io::copy(&mut client, &mut peer);
    });
    (address.to_string(), heads)
}

#[test]
fn a_proxy_makes_a_tunnel_to_a_server_with_tls() {
    let (server, pem) = Server::with_tls([good()]);
    let folder = tempfile::tempdir().unwrap();
    let ca_file = folder.path().join("ca.pem");
    std::fs::write(&ca_file, pem).unwrap();
    let (address, heads) = tunnelling();
    let proxy = Proxy::Url(format!("http://me:p%40ss@{address}"));
    let options = HttpOptions { proxy, ca_file: Some(ca_file), ..HttpOptions::default() };

    kit::asked(&over(&options, &server.url)).unwrap();

    let head = heads.recv_timeout(PATIENCE).unwrap();
    let peer = server.url.strip_prefix("https://").unwrap();
    assert!(head.starts_with(&format!("CONNECT {peer} HTTP/1.1\r\n")), "{head}");
    assert!(head.contains("Proxy-Authorization: Basic bWU6cEBzcw==\r\n"), "{head}");
    assert!(server.seen()[0].header("proxy-authorization").is_none(), "the password is the proxy's");
}

#[test]
fn a_proxy_is_shown_its_password_with_a_plain_request() {
    let proxy = Server::new([good()]);
    let url = proxy.url.replace("http://", "http://me:secret@");
    let options = HttpOptions { proxy: Proxy::Url(url), ..HttpOptions::default() };

    kit::asked(&over(&options, "http://vendor.invalid")).unwrap();

    assert_eq!(proxy.seen()[0].header("proxy-authorization"), Some("Basic bWU6c2VjcmV0"));
}

#[test]
fn proxies_that_cannot_be_used_are_told() {
    let http = |url: &str| Http::new(&HttpOptions { proxy: Proxy::Url(url.to_owned()), ..HttpOptions::default() });

    let error = http("not an address").unwrap_err();
    assert_eq!(error.kind, TransportErrorKind::Request, "{error}");

    let socks = http("socks5://127.0.0.1:1").unwrap();
    let error = block_on(socks.send(request("http://vendor.invalid"))).unwrap_err();
    assert_eq!(error.kind, TransportErrorKind::Connect, "{error}");
    assert!(error.message.contains("`socks5` is not supported"), "{error}");
}

fn request(url: &str) -> HttpRequest {
    HttpRequest { method: Method::Post, url: url.to_owned(), headers: Vec::new(), body: b"{}".to_vec() }
}

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn dropping_a_body_closes_the_connection() {
    let server = Server::new([good().ending(End::Hang)]);
    let mut response = block_on(kit::http().send(request(&server.url))).unwrap();
    block_on(response.body.next()).unwrap().unwrap();

    drop(response);

    assert_eq!(server.gone.recv_timeout(PATIENCE), Ok(()));
}

#[test]
fn dropping_a_question_closes_the_connection() {
    let server = Server::new([good().ending(End::Silence)]);
    let http = kit::http();
    let mut sending = http.send(request(&server.url));
    let waker = std::task::Waker::noop();
    let mut context = std::task::Context::from_waker(waker);
    while server.seen().is_empty() {
        assert!(sending.as_mut().poll(&mut context).is_pending());
        std::thread::yield_now();
    }

    drop(sending);

    assert_eq!(server.gone.recv_timeout(PATIENCE), Ok(()));
}

#[test]
fn an_answer_larger_than_allowed_is_given_up() {
    let server = Server::new([Play::new(200, "text/event-stream", vec![b' '; 5000]).in_pieces(1000)]);
    let http = Http::new(&HttpOptions { proxy: Proxy::Direct, max_body: 4000, ..HttpOptions::default() }).unwrap();

    let response = block_on(http.send(request(&server.url))).unwrap();
    let last = block_on(response.body.collect::<Vec<_>>()).pop().unwrap();

    let message = "the answer is larger than 4000 bytes".to_owned();
    assert_eq!(last, Err(TransportError { kind: TransportErrorKind::TooLarge, message }));
}

#[test]
fn chunks_arrive_as_they_are_sent_and_headers_in_lower_case() {
    let play = Play::new(418, "text/plain", "abc").header("X-Tea", "green").in_pieces(1);
    let server = Server::new([play]);

    let response = block_on(kit::http().send(request(&server.url))).unwrap();

    assert_eq!((response.status, response.header("x-tea")), (418, Some("green")));
    let chunks: Vec<_> = block_on(response.body.collect::<Vec<_>>()).into_iter().map(Result::unwrap).collect();
    assert_eq!(chunks.concat(), b"abc");
}
