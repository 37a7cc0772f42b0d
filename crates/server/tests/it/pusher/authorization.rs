//! `/broadcasting/auth`, as pages ask for signatures.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::json;
use turnkeep_provider::Secret;
use turnkeep_server::pusher::feed::NoSessions;
use turnkeep_server::pusher::{App, AuthorizeRequest, Authorizer, Grant, Hub, PresenceUser};

use super::kit::{Server, app};

/// Tokens are `tenant/user`; sessions called `secret` are for nobody.
struct Tokens;

impl Authorizer for Tokens {
    fn authorize<'a>(&'a self, request: AuthorizeRequest<'a>) -> BoxFuture<'a, Option<Grant>> {
        let granted = request.bearer.and_then(|token| token.split_once('/'));
        let granted = granted.filter(|_| request.channel.session() != Some("secret"));
        let grant = granted.map(|(tenant, user)| Grant {
            tenant: tenant.to_owned(),
            user: Some(PresenceUser { id: user.to_owned(), info: json!({ "name": user }) }),
        });
        Box::pin(std::future::ready(grant))
    }
}

async fn server() -> Server {
    let other = App::new("other", "other-key", Secret::new("other-secret"), "other-tenant");
    Server::with(Hub::new([app(), other], 100), Arc::new(NoSessions), Arc::new(Tokens), 0).await
}

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const BEARER: (&str, &str) = ("authorization", "Bearer tenant/ann");

#[tokio::test]
async fn a_page_gets_the_signature_that_lets_it_listen() {
    let server = server().await;
    let mut client = server.connect().await;
    let id = client.socket_id.clone();
    let json_body = json!({ "socket_id": id, "channel_name": "private-agent.x@41" }).to_string();
    let forms = [
        (FORM, format!("socket_id={id}&channel_name=private-agent.x%4041")),
        (("content-type", "application/json"), json_body),
    ];

    for (kind, body) in forms {
        let answer = server.request("POST", "/broadcasting/auth", &[kind, BEARER], &body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let data = json!({ "channel": "private-agent.x@41", "auth": answer.json()["auth"] });
        client.say(&json!({ "event": "pusher:subscribe", "data": data })).await;
        client.next("pusher_internal:subscription_succeeded").await;
        // There is no such session here.
        client.next("pusher:subscription_error").await;
        client.say(&json!({ "event": "pusher:unsubscribe", "data": { "channel": "private-agent.x@41" } })).await;
    }
}

#[tokio::test]
async fn a_member_is_who_its_token_says() {
    let server = server().await;
    let mut client = server.connect().await;
    let body = format!("socket_id={}&channel_name=presence-a", client.socket_id);

    let answer = server.request("POST", "/broadcasting/auth", &[FORM, BEARER], &body).await.json();
    let data = json!({ "channel": "presence-a", "auth": answer["auth"], "channel_data": answer["channel_data"] });
    client.say(&json!({ "event": "pusher:subscribe", "data": data })).await;

    let joined = client.next("pusher_internal:subscription_succeeded").await;
    assert_eq!(joined["data"], r#"{"presence":{"count":1,"ids":["ann"],"hash":{"ann":{"name":"ann"}}}}"#);
}

#[tokio::test]
async fn whoever_may_not_listen_gets_no_signature() {
    let server = server().await;
    let client = server.connect().await;
    let ask = async |channel: &str, socket: &str, token: &str| {
        let body = format!("socket_id={socket}&channel_name={channel}");
        let token = format!("Bearer {token}");
        server.request("POST", "/broadcasting/auth", &[FORM, ("authorization", &token)], &body).await.status
    };
    let id = client.socket_id.as_str();

    assert_eq!(ask("private-a", id, "tenant/ann").await, 200);
    assert_eq!(ask("private-a", id, "other-tenant/ann").await, 403, "the connection is of another tenant's app");
    assert_eq!(ask("private-a", id, "nobody").await, 403);
    assert_eq!(
        ask("private-agent.secret@5", id, "tenant/ann").await,
        403,
        "the place is no part of the session's name"
    );
    assert_eq!(ask("private-encrypted-a", id, "tenant/ann").await, 403);
    assert_eq!(ask("news", id, "tenant/ann").await, 422);
    assert_eq!(ask("private-a%20b", id, "tenant/ann").await, 422);
    assert_eq!(ask("private-a", "1.2:private-b", "tenant/ann").await, 422);
    assert_eq!(ask("private-a", "1.2", "tenant/ann").await, 200, "it may be connected to another server");
    assert_eq!(ask("private-a", "1.2", "no-app/ann").await, 403);
    let answer =
        server.request("POST", "/broadcasting/auth", &[("content-type", "application/json"), BEARER], "{").await;
    assert_eq!(answer.status, 400);
}

#[tokio::test]
async fn only_pages_of_the_apps_origins_may_ask() {
    let server = server().await;
    let asks = |origin: &'static str| {
        [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "authorization,x-csrf-token"),
        ]
    };

    let known = server.request("OPTIONS", "/broadcasting/auth", &asks("https://app.example"), "").await;
    let unknown = server.request("OPTIONS", "/broadcasting/auth", &asks("https://evil.example"), "").await;

    assert!(known.head.contains("access-control-allow-origin: https://app.example"), "{known:?}");
    assert!(known.head.contains("authorization"), "{known:?}");
    assert!(!unknown.head.contains("access-control-allow-origin"), "{unknown:?}");
    let api = server.request("OPTIONS", "/apps/app-id/events", &asks("https://app.example"), "").await;
    assert!(!api.head.contains("access-control-allow-origin"), "the API of servers is not for pages: {api:?}");
}
