//! Pages that are disconnected again and again while sessions run: each ends with what is stored.

use std::sync::Arc;

use serde_json::json;
use tokio::task::JoinSet;
use turnkeep_server::auth::Scope;

use super::kit::{self, Page, address, stored};
use crate::pusher::kit::Client;
use crate::running::until_stopped;
use crate::stage;
use crate::vendor::Vendor;

const SESSIONS: usize = 4;

/// How many questions each session is asked, and so how many steps it has.
const QUESTIONS: u64 = 5;

/// Numbers that look random, and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// A page whose connection breaks after a few frames; how often it broke.
async fn watch(address: Arc<str>, session: usize, mut numbers: Numbers) -> (Page, usize) {
    let (mut page, mut broken) = (Page::default(), 0);
    loop {
        let mut client = Client::connect(&address, "app-key").await;
        client.subscribe(&format!("private-agent.s{session}@{}", page.place()), None).await;
        for _ in 0..=numbers.below(12) {
            page.take(&client.frame().await);
            if page.is_done(QUESTIONS) {
                return (page, broken);
            }
        }
        broken += 1;
    }
}

/// Asks one question after the other.
async fn ask(client: &stage::Client, session: usize) {
    let id = format!("s{session}");
    for _ in 0..QUESTIONS {
        let asked = client.post(&format!("/v1/sessions/{id}/ask"), json!({"text": "And?"})).await.must(202).json();
        until_stopped(client, &id, &asked["seq"]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_a_reconnect_storm_ends_with_what_is_stored() {
    let pages = std::env::var("TURNKEEP_STORM").map_or(20, |pages| pages.parse().unwrap());
    let vendor = Vendor::new(&[]);
    let stage = kit::stage(&vendor).await;
    let client = stage.client(Scope::Run, "default").await;
    for session in 0..SESSIONS {
        client.post("/v1/sessions", json!({"id": format!("s{session}")})).await.must(201);
    }
    let address: Arc<str> = address(&stage.base).into();
    let mut watching = JoinSet::new();
    for page in 0..pages {
        let (address, session) = (address.clone(), page % SESSIONS);
        watching.spawn(async move { (session, watch(address, session, Numbers(page as u64)).await) });
    }

    let asking = (0..SESSIONS).map(|session| ask(&client, session));
    futures_util::future::join_all(asking).await;

    let mut breaks = 0;
    for (session, (page, broken)) in watching.join_all().await {
        breaks += broken;
        assert_eq!(page.shown(), stored(&client, &format!("s{session}")).await);
    }
    println!("{pages} pages were disconnected {breaks} times");
    assert!(breaks > pages, "the connections break");
}
