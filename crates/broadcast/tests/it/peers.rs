//! Our requests over a real connection, checked by the packages that servers use.
//!
//! They skip themselves unless `TURNKEEP_PEERS` is the address of `xtask/external/peers.mjs`.

use std::sync::Arc;

use pollster::block_on;
use turnkeep_broadcast::{Pusher, PusherApp, WebhookRetry, WebhookTarget, Webhooks};
use turnkeep_model::ErrorKind;
use turnkeep_provider::http::Http;
use turnkeep_provider::{HttpOptions, Proxy, Secret};
use turnkeep_runtime::envelope::{Channel, Envelope};
use turnkeep_runtime::port::Broadcaster;

use crate::kit::envelope;

fn peers() -> Option<String> {
    let address = std::env::var("TURNKEEP_PEERS").ok();
    if address.is_none() {
        println!("skipped: TURNKEEP_PEERS is not set");
    }
    address
}

fn network() -> Arc<Http> {
    Arc::new(Http::new(&HttpOptions { proxy: Proxy::Direct, ..HttpOptions::default() }).unwrap())
}

fn pusher(url: &str, secret: &str) -> Pusher {
    let app = PusherApp { url: url.into(), id: "3".into(), key: "key".into(), secret: Secret::new(secret) };
    Pusher::new(app, network())
}

#[test]
fn the_package_pusher_accepts_our_signatures_and_no_others() {
    let Some(url) = peers() else { return };
    let (channel, many): (_, Vec<Envelope>) =
        (Channel::private(&"s/1".into()), (1..=25).map(|seq| envelope(seq, "é ü")).collect());

    block_on(pusher(&url, "secret").publish(&channel, &many)).unwrap();

    let refused = block_on(pusher(&url, "another").publish(&channel, &many)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Mismatch);
}

#[test]
fn the_package_standardwebhooks_accepts_our_signatures_and_no_others() {
    let Some(url) = peers() else { return };
    let folder = tempfile::tempdir().unwrap();
    let hooks = |secret: &str| {
        let target = WebhookTarget { name: "a".into(), url: format!("{url}/hook"), secrets: vec![Secret::new(secret)] };
        let retry = WebhookRetry { times: 0, ..WebhookRetry::default() };
        Webhooks::new(vec![target], network(), folder.path()).unwrap().with_retry(retry)
    };
    let channel = Channel::public(&"s/1".into());

    block_on(hooks("whsec_c2VjcmV0").publish(&channel, &[envelope(1, "é")])).unwrap();

    block_on(hooks("whsec_b3RoZXI=").publish(&channel, &[envelope(1, "é")])).unwrap_err();
}
