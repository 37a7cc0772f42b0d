//! A first agent on an endpoint: `turnkeep.toml`, the network, a stream of an answer.
//!
//! `cargo run --example endpoint` asks a small server of its own, so that it runs anywhere. `cargo run --example endpoint -- NAME` asks
//! the endpoint of that name in your `turnkeep.toml`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use turnkeep::prelude::*;

/// What a vendor of the chat wire streams.
const ANSWER: &str = r#"data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"small","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello "}}]}

data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"small","choices":[{"index":0,"delta":{"content":"over HTTP."}}]}

data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"small","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

"#;

/// Reads one request and streams the answer.
fn serve(connection: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    reader.by_ref().take(length).read_to_end(&mut Vec::new())?;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    reader.into_inner().write_all(format!("{head}{ANSWER}").as_bytes())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let name = match std::env::args().nth(1) {
        Some(name) => name,
        None => {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let address = listener.local_addr()?;
            thread::spawn(move || listener.accept().and_then(|(connection, _)| serve(connection)));
            let endpoint = "[endpoint.local]\nprovider = \"openai-compatible\"\nmodel = \"small\"\nproxy = \"none\"\n";
            std::fs::write(
                folder.path().join("turnkeep.toml"),
                format!("{endpoint}base_url = \"http://{address}\"\n"),
            )?;
            std::env::set_current_dir(folder.path())?;
            "local".to_owned()
        }
    };
    let agent = Agent::builder().model(turnkeep::endpoint(&name)?).store("memory:").build()?;

    let mut run = agent.open("talk")?.stream("Say hello.");
    while let Some(event) = run.next().await {
        match event? {
            RunEvent::Text(piece) => print!("{piece}"),
            RunEvent::Stopped(stopped) => {
                println!("\n{}", stopped.usage);
                return stopped.text.map(drop).ok_or_else(|| "there is no answer".into());
            }
            _ => {}
        }
    }
    Ok(())
}
