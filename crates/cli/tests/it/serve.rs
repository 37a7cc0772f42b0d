//! A server that is killed, and one that is stopped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;
use crate::vendor::{Does, Vendor};

/// A server as a process of its own.
struct Served {
    child: Child,
    addr: String,
    /// Kept open: a server that cannot log would notice.
    _log: std::thread::JoinHandle<()>,
}

impl Served {
    fn start(place: &Place) -> Served {
        let mut command = place.command("serve --addr 127.0.0.1:0 --config turnkeep.toml --store sqlite:sessions.db");
        let mut child = command.env("TURNKEEP_TEST_KEY", "sk-test").spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            assert!(log.read_line(&mut line).unwrap() > 0, "the server did not start");
        }
        let addr = line.trim().rsplit("http://").next().unwrap().to_owned();
        let log = std::thread::spawn(move || {
            let mut rest = String::new();
            let _ = log.read_to_string(&mut rest);
        });
        Served { child, addr, _log: log }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Sends a request of HTTP 1.0, whose answer ends with the connection.
    fn open(&self, method: &str, path: &str, headers: &str, body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        BufReader::new(stream)
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let mut text = String::new();
        self.open(method, path, "", body).read_to_string(&mut text).unwrap();
        text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
    }

    /// The records that a stream tells of, until one of this type.
    fn follow(&self, session: &str, last: u64, until: &str) -> Vec<u64> {
        let headers = format!("last-event-id: {last}\r\n");
        let mut stream = self.open("GET", &format!("/v1/sessions/{session}/events"), &headers, "");
        let (mut seqs, mut line, mut ends) = (Vec::new(), String::new(), false);
        loop {
            assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended before {until}: {seqs:?}");
            if let Some(id) = line.trim().strip_prefix("id: ") {
                seqs.push(id.parse().unwrap());
            }
            ends |= line.trim() == format!("event: {until}");
            if ends && line.trim().is_empty() {
                return seqs;
            }
            line.clear();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn field<'a>(json: &'a str, name: &str) -> &'a str {
    let start = json.split_once(&format!("\"{name}\":\"")).map(|(_, rest)| rest);
    start.unwrap_or_default().split('"').next().unwrap_or_default()
}

#[test]
fn a_run_of_a_killed_server_goes_on_with_the_next_and_whoever_follows_misses_nothing() {
    let vendor = Vendor::new(&[Does::Hang, Does::Say("Paris.")]);
    let place = Place::new().with("turnkeep.toml", vendor.config());
    let mut server = Served::start(&place);
    let asked = server.ask("POST", "/v1/ask", r#"{"text":"France?"}"#);
    let session = field(&asked, "session").to_owned();
    vendor.wait_until_it_hangs();
    let before = server.follow(&session, 0, "model.asked");

    server.signal(Signal::KILL);
    server.child.wait().unwrap();
    let server = Served::start(&place);
    let after = server.follow(&session, *before.last().unwrap(), "run.stopped");

    let all: Vec<u64> = before.iter().chain(&after).copied().collect();
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    let snapshot = server.ask("GET", &format!("/v1/sessions/{session}/snapshot"), "");
    assert_eq!(snapshot.matches(r#""text":"Paris.""#).count(), 1, "{snapshot}");
    assert_eq!(snapshot.matches(r#""text":"France?""#).count(), 1, "{snapshot}");
    assert_eq!(vendor.requests().len(), 2);
    assert!(place.run(&format!("show {session} --store sqlite:sessions.db")).ends(0).out.contains("Paris."));
}

#[test]
fn sigterm_ends_streams_and_the_server_within_ten_seconds() {
    let vendor = Vendor::new(&[Does::Hang]);
    let place = Place::new().with("turnkeep.toml", vendor.config());
    let mut server = Served::start(&place);
    let asked = server.ask("POST", "/v1/ask", r#"{"text":"France?"}"#);
    vendor.wait_until_it_hangs();
    let path = format!("/v1/sessions/{}/events?after=0", field(&asked, "session"));
    let mut stream = server.open("GET", &path, "", "");
    let mut text = String::new();
    while !text.contains("event: model.asked") {
        assert!(stream.read_line(&mut text).unwrap() > 0, "{text}");
    }
    let began = Instant::now();

    server.signal(Signal::TERM);
    let status = server.child.wait().unwrap();

    assert_eq!(status.code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    // The stream ended as streams do; nothing was cut off in the middle of an event.
    stream.read_to_string(&mut text).unwrap();
    assert!(text.ends_with("\n\n"), "{text}");
}

#[test]
fn a_token_of_the_command_line_opens_a_server_that_runs() {
    let place = Place::new().with("turnkeep.toml", "");
    let token = place.run("token new --scope read --expires 1h --store sqlite:sessions.db").ends(0).out;
    let server = Served::start(&place);
    let whoami = |headers: &str| {
        let mut text = String::new();
        server.open("GET", "/v1/whoami", headers, "").read_to_string(&mut text).unwrap();
        text
    };

    let known = whoami(&format!("authorization: Bearer {}\r\n", token.trim()));
    let unknown = whoami("");

    assert!(known.contains("200 OK") && known.contains("\"scope\":\"read\""), "{known}");
    assert!(unknown.contains("401 Unauthorized"), "{unknown}");
    let listed = place.run("token ls --store sqlite:sessions.db").ends(0).out;
    assert!(!listed.contains(token.trim()) && listed.contains("read"), "{listed}");
    let id = token.split('_').nth(1).unwrap();
    place.run(&format!("token rm {id} --store sqlite:sessions.db")).ends(0);
    place.run(&format!("token rm {id} --store sqlite:sessions.db")).ends(4);
}

#[test]
fn a_server_is_not_opened_to_others_by_accident() {
    let place = Place::new().with("turnkeep.toml", "");
    let refused = place.run("serve --addr 0.0.0.0:0 --config turnkeep.toml --store sqlite:sessions.db").ends(2);
    assert!(refused.err.contains("--public"), "{}", refused.err);
    let tokenless =
        place.run("serve --addr 0.0.0.0:0 --public --config turnkeep.toml --store sqlite:sessions.db").ends(2);
    assert!(tokenless.err.contains("turnkeep token new"), "{}", tokenless.err);
    let project = Place::new().with("turnkeep.toml", "[server]\nstore = \"memory:\"\n");
    assert!(project.run("serve --addr 0.0.0.0:0").err.contains("--config"));
}
