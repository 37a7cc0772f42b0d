//! The network: compression, TLS, connections that are kept and that are closed.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use pollster::block_on;
use turnkeep_provider::http::Http;
use turnkeep_provider::{
    FaultKind, HttpOptions, HttpRequest, Method, Proxy, Retry, Transport, TransportError, TransportErrorKind, WireModel,
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

            let answer = kit::asked(&model).unwrap_or_else(|fault| panic!("{wire} {name}: {fault}"));

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

    let fault = kit::asked(&over(&options, &server.url)).unwrap_err();

    assert_eq!((fault.kind, server.seen().len()), (FaultKind::Tls, 0), "{fault}");
}

#[test]
fn a_server_without_tls_is_told() {
    let server = Server::new([good()]);
    let options = HttpOptions { proxy: Proxy::Direct, ..HttpOptions::default() };

    let fault = kit::asked(&over(&options, &server.url.replace("http://", "https://"))).unwrap_err();

    assert_eq!(fault.kind, FaultKind::Tls, "{fault}");
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
