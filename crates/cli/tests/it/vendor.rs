//! A vendor on loopback that answers, calls tools, or stops in the middle of an answer.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the vendor does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Does {
    /// Answers with this text.
    Say(&'static str),
    /// Calls the tool `charge`.
    Call,
    /// Begins an answer, and never goes on.
    Hang,
    /// Refuses with this status.
    Refuse(u16),
}

/// A vendor that speaks openai.chat.
pub(crate) struct Vendor {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    hanging: Receiver<()>,
}

impl Vendor {
    /// A vendor that does these things, one a request, and says `done` after them.
    pub(crate) fn new(plan: &[Does]) -> Vendor {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (requests, plan) = (Arc::default(), Arc::new(Mutex::new(plan.iter().cloned().collect::<VecDeque<_>>())));
        let (hangs, hanging) = channel();
        let vendor = Vendor { port, requests: Arc::clone(&requests), hanging };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (requests, plan, hangs) = (Arc::clone(&requests), Arc::clone(&plan), hangs.clone());
                thread::spawn(move || serve(stream, &requests, &plan, &hangs));
            }
        });
        vendor
    }

    /// The configuration that names it as `test`.
    pub(crate) fn config(&self) -> String {
        format!(
            "[endpoint.test]\nprovider = \"openai\"\nwire = \"openai.chat\"\nmodel = \"gpt-4o\"\n\
             base_url = \"http://127.0.0.1:{}/v1\"\nkey = {{ env = \"TURNKEEP_TEST_KEY\" }}\nproxy = \"none\"\n\
             [endpoint.test.retry]\ntries = 1\n",
            self.port
        )
    }

    /// Waits until it hangs in the middle of an answer.
    pub(crate) fn wait_until_it_hangs(&self) {
        self.hanging.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    }

    /// The bodies of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, requests: &Mutex<Vec<String>>, plan: &Mutex<VecDeque<Does>>, hangs: &Sender<()>) {
    let Some(body) = body(&stream) else {
        return;
    };
    requests.lock().unwrap().push(body);
    let does = plan.lock().unwrap().pop_front().unwrap_or(Does::Say("done"));
    // A client that was killed does not read the answer.
    let _ = answer(stream, &does, hangs);
}

fn body(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).ok()? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}

fn answer(mut stream: TcpStream, does: &Does, hangs: &Sender<()>) -> std::io::Result<()> {
    let chunk = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-4o\",\
             \"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    if let Does::Refuse(status) = does {
        let body = r#"{"error":{"message":"no","type":"server_error"}}"#;
        let head = format!("HTTP/1.1 {status} No\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
        return write!(stream, "{head}\r\nconnection: close\r\n\r\n{body}");
    }
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    match does {
        Does::Say(text) => {
            let delta = format!(r#"{{"role":"assistant","content":"{text}"}}"#);
            write!(stream, "{}{}data: [DONE]\n\n", chunk(&delta, "null"), chunk("{}", r#""stop""#))
        }
        Does::Call => {
            let delta = r#"{"role":"assistant","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"charge","arguments":"{}"}}]}"#;
            write!(stream, "{}{}data: [DONE]\n\n", chunk(delta, "null"), chunk("{}", r#""tool_calls""#))
        }
        Does::Hang | Does::Refuse(_) => {
            write!(stream, "{}", chunk(r#"{"role":"assistant","content":"It is"}"#, "null"))?;
            stream.flush()?;
            let _ = hangs.send(());
            // Until the client goes away.
            let _ = stream.read(&mut [0; 1]);
            Ok(())
        }
    }
}
