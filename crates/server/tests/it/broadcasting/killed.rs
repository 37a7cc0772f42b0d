//! A server that is killed in the middle of an answer: the page reads on at the next one.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use turnkeep_server::{Log, Reach, Server};

use super::kit::{Page, configured, stored, write_config};
use crate::pusher::kit::Client;
use crate::stage;
use crate::vendor::{Does, Vendor};

/// Names the folder of a server that runs as a process of its own.
const FOLDER: &str = "TURNKEEP_TEST_SERVER";

const MARK: &str = "listening on ";

/// Serves until it is killed: only a process of its own can be.
#[tokio::test]
#[ignore = "the process that the test beside it starts and kills"]
async fn serve() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let store = stage::usual_store(&folder);
    let server = Server::open(configured(&folder, &store), Reach::Loopback, Log::default()).await.unwrap();
    let address = "127.0.0.1:0".parse().unwrap();
    server.serve(address, |address| println!("{MARK}{address}"), std::future::pending()).await.unwrap();
}

async fn started(folder: &Path) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "broadcasting::killed::serve"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    loop {
        let line = lines.next_line().await.unwrap().expect("the server starts");
        if let Some((_, address)) = line.split_once(MARK) {
            return (child, address.to_owned());
        }
    }
}

#[tokio::test]
async fn a_page_reads_on_at_the_next_server_after_the_first_was_killed_in_an_answer() {
    let vendor = Vendor::new(&[Does::Hang, Does::Say("Paris.")]);
    let folder = tempfile::tempdir().unwrap();
    write_config(folder.path(), &vendor);
    let (mut child, address) = started(folder.path()).await;
    let client = stage::Client::at(&format!("http://{address}"));
    client.post("/v1/sessions", json!({"id": "s"})).await.must(201);
    let mut page = Page::default();
    let mut socket = Client::connect(&address, "app-key").await;
    socket.subscribe("private-agent.s@0", None).await;
    client.post("/v1/sessions/s/ask", json!({"text": "France?"})).await.must(202);
    while page.answer != "It is" {
        page.take(&socket.frame().await);
    }

    child.kill().await.unwrap();
    assert!(!page.hear(&mut socket, 1).await, "nothing more comes of a server that is gone");
    let (_child, address) = started(folder.path()).await;
    let mut socket = Client::connect(&address, "app-key").await;
    socket.subscribe(&format!("private-agent.s@{}", page.place()), None).await;

    assert!(page.hear(&mut socket, 1).await);
    assert_eq!(page.answer, "Paris.");
    assert_eq!(page.shown(), stored(&stage::Client::at(&format!("http://{address}")), "s").await);
}
