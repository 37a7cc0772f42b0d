//! A page of laravel-echo, run by Node. It is skipped, by name, unless `TURNKEEP_NODE` names a folder that has the packages.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use turnkeep_server::auth::Scope;

use super::kit::{address, shown, stage, stored};
use crate::vendor::{Does, Vendor};

#[tokio::test]
async fn a_page_of_laravel_echo_shows_a_running_agent_and_ends_with_what_is_stored() {
    let Some(packages) = std::env::var_os("TURNKEEP_NODE") else {
        println!("skipped: a page of laravel-echo (TURNKEEP_NODE names no folder with pusher-js and laravel-echo)");
        return;
    };
    let vendor = Vendor::new(&[Does::Call, Does::Say("Charged.")]);
    let stage = stage(&vendor).await;
    let client = stage.client(Scope::Run, "default").await;
    client.post("/v1/sessions", json!({"id": "order-7"})).await.must(201);
    let (token, port) = (stage.token(Scope::Read, "default").await, address(&stage.base).rsplit(':').next().unwrap());
    let mut node = Command::new("node")
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/tests/node/agent.mjs"), port, "order-7", "2"])
        .env("TURNKEEP_NODE", packages)
        .env("TURNKEEP_TOKEN", token)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("node can be started");
    let mut lines = BufReader::new(node.stdout.take().unwrap()).lines();
    let mut line = async || {
        let line =
            tokio::time::timeout(Duration::from_secs(30), lines.next_line()).await.expect("the page says something");
        line.unwrap().expect("the page has not failed")
    };

    assert_eq!(line().await, "listening");
    client.post("/v1/sessions/order-7/ask", json!({"text": "Charge me", "tools": ["shop"]})).await.must(202);
    let page: Value = serde_json::from_str(&line().await).unwrap();

    assert_eq!(page["answer"], "Charged.");
    assert_eq!(shown(&page), stored(&client, "order-7").await);
}
