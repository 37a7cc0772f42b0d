//! Who gets a signature, and from where pages may connect.

use reqwest::Method;
use turnkeep_server::auth::Scope;

use super::kit::{address, stage, stage_with};
use crate::pusher::kit::{Client, Heard, app, signed};
use crate::stage::{self, send};
use crate::vendor::Vendor;

/// Asks for a signature as pages do.
async fn asked(client: &stage::Client, socket: &Client) -> stage::Answer {
    let form = format!("socket_id={}&channel_name=private-agent.s%400", socket.socket_id);
    let request = client.request(Method::POST, "/broadcasting/auth");
    send(request.header("content-type", "application/x-www-form-urlencoded").body(form)).await
}

#[tokio::test]
async fn a_token_gets_signatures_for_the_apps_of_its_tenant_and_for_no_others() {
    let stage = stage(&Vendor::new(&[])).await;
    let (ours, theirs) = (stage.client(Scope::Read, "default").await, stage.client(Scope::Admin, "acme").await);
    let mut socket = Client::connect(address(&stage.base), "app-key").await;

    let signed = asked(&ours, &socket).await.must(200).json();
    asked(&theirs, &socket).await.must(403);
    assert_eq!(asked(&stage.anyone(), &socket).await.must(401).problem(), "no_token");

    let data = serde_json::json!({ "channel": "private-agent.s@0", "auth": signed["auth"] });
    socket.say(&serde_json::json!({ "event": "pusher:subscribe", "data": data })).await;
    socket.next("pusher_internal:subscription_succeeded").await;
}

#[tokio::test]
async fn pages_of_this_server_may_connect_and_pages_of_others_only_where_they_are_named() {
    let stage = stage(&Vendor::new(&[])).await;
    let path = "app-key?protocol=7";

    let mut own = Client::open(address(&stage.base), path, Some(&stage.base)).await;
    let mut other = Client::open(address(&stage.base), path, Some("https://evil.example")).await;

    own.next("pusher:connection_established").await;
    other.error(4009).await;
    assert_eq!(other.hear().await, Heard::Close(4009));
}

#[tokio::test]
async fn a_page_of_a_named_origin_may_ask_for_signatures_and_use_the_app() {
    let stage = stage_with(&Vendor::new(&[]), |config| config.origins = vec!["https://app.example".to_owned()]).await;
    let asks = |origin: &str| {
        let request = stage.anyone().request(Method::OPTIONS, "/broadcasting/auth").header("origin", origin);
        send(request.header("access-control-request-method", "POST"))
    };

    let allowed = asks("https://app.example").await.must(200);
    let mut socket = Client::open(address(&stage.base), "app-key?protocol=7", Some("https://app.example")).await;

    assert_eq!(allowed.header("access-control-allow-origin"), "https://app.example");
    assert_eq!(asks("https://evil.example").await.header("access-control-allow-origin"), "");
    socket.next("pusher:connection_established").await;
}

#[tokio::test]
async fn a_signed_request_publishes_without_a_token_and_an_unsigned_one_does_not() {
    let stage = stage(&Vendor::new(&[])).await;
    // From now on the routes of the server need one.
    stage.token(Scope::Read, "default").await;
    let mut socket = Client::connect(address(&stage.base), "app-key").await;
    socket.subscribe("private-news", None).await;
    let body = r#"{"name":"turn","channel":"private-news","data":"{}"}"#;
    let publish = |path: &str| {
        let request = stage.anyone().request(Method::POST, path).header("content-type", "application/json");
        send(request.body(body))
    };

    publish("/apps/app-id/events").await.must(401);
    publish(&signed(&app(), "POST", "/apps/app-id/events", &[], body)).await.must(200);

    assert_eq!(socket.next("turn").await["channel"], "private-news");
}

#[tokio::test]
async fn what_comes_under_another_name_is_refused_before_it_is_looked_at() {
    let stage = stage(&Vendor::new(&[])).await;
    for path in ["/app/app-key", "/apps/app-id/channels", "/broadcasting/auth"] {
        let request = stage.anyone().request(Method::GET, path).header("host", "evil.example");
        assert_eq!(send(request).await.must(421).problem(), "wrong_host");
    }
}
