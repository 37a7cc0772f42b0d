//! A small HTTP server that plays what it is told, byte for byte.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// A request that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> turnkeep_model::Json {
        turnkeep_model::json::parse(std::str::from_utf8(&self.body).unwrap()).unwrap().into_json()
    }
}

/// What is answered to one request.
#[derive(Debug, Clone)]
pub(crate) struct Play {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) end: End,
}

/// What comes after the last chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The end.
    Proper,
    /// The connection is closed in the middle.
    Cut,
    /// Nothing, until the client goes away.
    Hang,
    /// Not even a head: nothing, until the client goes away.
    Silence,
    /// Not even a head: the connection is closed.
    Slam,
}

impl Play {
    pub(crate) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Play {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Play { status, headers, chunks: vec![body.into()], end: End::Proper }
    }

    pub(crate) fn json(status: u16, body: &str) -> Play {
        Play::new(status, "application/json", body)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Play {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn ending(mut self, end: End) -> Play {
        self.end = end;
        self
    }

    /// The same body in pieces of this size.
    pub(crate) fn in_pieces(mut self, size: usize) -> Play {
        self.chunks = self.chunks.concat().chunks(size).map(<[u8]>::to_vec).collect();
        self
    }
}

/// A server. It plays one thing a request, and the last one for ever.
pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Told when a client went away in the middle of an answer.
    pub(crate) gone: Receiver<()>,
}

impl Server {
    pub(crate) fn new(plays: impl IntoIterator<Item = Play>) -> Server {
        Server::over(plays, "http", |stream| Box::new(stream) as Box<dyn Wired>)
    }

    /// With TLS; the certificate comes with it.
    pub(crate) fn with_tls(plays: impl IntoIterator<Item = Play>) -> (Server, String) {
        let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
        let pem = made.cert.pem();
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let config = Arc::new(config);
        let server = Server::over(plays, "https", move |stream| {
            let connection = rustls::ServerConnection::new(config.clone()).unwrap();
            Box::new(rustls::StreamOwned::new(connection, stream)) as Box<dyn Wired>
        });
        (server, pem)
    }

    fn over(
        plays: impl IntoIterator<Item = Play>,
        scheme: &str,
        wire: impl Fn(TcpStream) -> Box<dyn Wired> + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let (plays, seen) = (Arc::new(Mutex::new(VecDeque::from_iter(plays))), Arc::<Mutex<Vec<Seen>>>::default());
        let (tell, gone) = channel();
        let (wire, told) = (Arc::new(wire), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                stream.set_nodelay(true).unwrap();
                let (plays, told, tell, wire) = (plays.clone(), told.clone(), tell.clone(), wire.clone());
                std::thread::spawn(move || serve(wire(stream), &plays, &told, &tell));
            }
        });
        Server { url, seen, gone }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

pub(crate) trait Wired: Read + Write + Send {}

impl<T: Read + Write + Send> Wired for T {}

fn serve(stream: Box<dyn Wired>, plays: &Mutex<VecDeque<Play>>, seen: &Mutex<Vec<Seen>>, gone: &Sender<()>) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = request(&mut stream) {
        seen.lock().unwrap().push(request);
        let play = {
            let mut plays = plays.lock().unwrap();
            if plays.len() > 1 { plays.pop_front().unwrap() } else { plays.front().unwrap().clone() }
        };
        if answer(&mut stream, &play).is_err() || play.end != End::Proper {
            if matches!(play.end, End::Hang | End::Silence) {
                // What a client does that goes away is to end its side.
                let _ = stream.get_mut().read(&mut [0]);
            }
            let _ = gone.send(());
            return;
        }
    }
}

fn request(stream: &mut BufReader<Box<dyn Wired>>) -> Option<Seen> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut headers = Vec::new();
    loop {
        let mut text = String::new();
        stream.read_line(&mut text).ok()?;
        let Some((name, value)) = text.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, text)| text.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(Seen { line: line.trim_end().to_owned(), headers, body })
}

fn answer(stream: &mut BufReader<Box<dyn Wired>>, play: &Play) -> std::io::Result<()> {
    let stream = stream.get_mut();
    if matches!(play.end, End::Silence | End::Slam) {
        return Ok(());
    }
    write!(stream, "HTTP/1.1 {} X\r\ntransfer-encoding: chunked\r\n", play.status)?;
    for (name, value) in &play.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    write!(stream, "\r\n")?;
    for chunk in play.chunks.iter().filter(|chunk| !chunk.is_empty()) {
        write!(stream, "{:x}\r\n", chunk.len())?;
        stream.write_all(chunk)?;
        write!(stream, "\r\n")?;
        stream.flush()?;
    }
    if play.end == End::Proper {
        write!(stream, "0\r\n\r\n")?;
    }
    stream.flush()
}
