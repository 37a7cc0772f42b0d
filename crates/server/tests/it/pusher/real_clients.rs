//! Clients that others wrote: pusher-js, laravel-echo and the `pusher` SDK, run by Node.
//!
//! They are skipped, by name, unless `TURNKEEP_NODE` names a folder that has them in its `node_modules`.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use turnkeep_server::pusher::{AuthorizeRequest, Authorizer, Grant, Hub, PresenceUser, SessionFeed};

use super::kit::{Server, app_with};
use super::sessions::Journals;

/// Whoever shows a token is the user it names.
struct Named;

impl Authorizer for Named {
    fn authorize<'a>(&'a self, request: AuthorizeRequest<'a>) -> BoxFuture<'a, Option<Grant>> {
        let grant = request.bearer.map(|user| Grant {
            tenant: "tenant".to_owned(),
            user: Some(PresenceUser { id: user.to_owned(), info: json!({ "name": user }) }),
        });
        Box::pin(std::future::ready(grant))
    }
}

async fn server(feed: Arc<dyn SessionFeed>, port: u16) -> Server {
    let hub = Hub::new([app_with(|app| app.subscription_counts = true)], 100);
    Server::with(hub, feed, Arc::new(Named), port).await
}

/// A script that runs against a server; it ends with this value.
struct Script {
    node: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Script {
    /// Starts a scenario; `None` where there is nothing to run it with.
    fn start(scenario: &str, server: &Server) -> Option<Script> {
        let Some(packages) = std::env::var_os("TURNKEEP_NODE").map(PathBuf::from) else {
            println!("skipped: {scenario} (TURNKEEP_NODE names no folder with pusher-js, laravel-echo and pusher)");
            return None;
        };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/node/clients.mjs");
        let mut node = Command::new("node")
            .args([script, scenario, &server.address.port().to_string()])
            .env("TURNKEEP_NODE", packages)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("node can be started");
        let lines = BufReader::new(node.stdout.take().unwrap()).lines();
        Some(Script { node, lines })
    }

    /// Waits until the script says so.
    async fn reaches(&mut self, mark: &str) {
        let line = tokio::time::timeout(Duration::from_secs(30), self.lines.next_line()).await.expect(mark);
        assert_eq!(line.unwrap().as_deref(), Some(mark));
    }

    async fn ends_well(mut self) {
        self.reaches("done").await;
        assert!(self.node.wait().await.unwrap().success());
    }
}

/// Runs a scenario that needs nothing but a server.
async fn run(scenario: &str) {
    let server = server(Arc::new(Journals::default()), 0).await;
    if let Some(script) = Script::start(scenario, &server) {
        script.ends_well().await;
    }
}

#[tokio::test]
async fn pusher_js_connects_and_listens_on_every_kind_of_channel() {
    run("channels").await;
}

#[tokio::test]
async fn laravel_echo_listens_whispers_and_sees_members() {
    run("echo").await;
}

#[tokio::test]
async fn the_pusher_sdk_publishes_and_asks() {
    run("sdk").await;
}

#[tokio::test]
async fn pusher_js_hears_that_it_may_not_listen() {
    run("denied").await;
}

#[tokio::test]
async fn a_page_reads_on_by_itself_after_the_server_was_restarted() {
    let journals = Arc::new(Journals::default());
    (0..45).for_each(|_| journals.append("tenant/x"));
    let first = server(journals.clone(), 0).await;
    let port = first.address.port();
    let Some(mut script) = Script::start("replay", &first) else { return };
    // It begins at 42 and has read to the end.
    script.reaches("read 45").await;

    first.stop().await;
    (0..5).for_each(|_| journals.append("tenant/x"));
    let _second = server(journals.clone(), port).await;
    script.reaches("read 50").await;
    journals.append("tenant/x");

    script.ends_well().await;
}
