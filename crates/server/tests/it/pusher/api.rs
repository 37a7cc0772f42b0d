//! The HTTP API: publishing, and who is where.

use serde_json::{Value, json};
use turnkeep_provider::Secret;
use turnkeep_server::pusher::App;

use super::kit::{Server, app, app_with, signed, signed_at};

fn event(channels: &[&str], data: &str) -> Value {
    json!({ "name": "turn", "channels": channels, "data": data })
}

#[tokio::test]
async fn an_event_reaches_every_channel_it_is_published_to() {
    let server = Server::start([app()]).await;
    let (mut one, mut other) = (server.connect().await, server.connect().await);
    one.subscribe("a", None).await;
    other.subscribe("private-b", None).await;

    let answer = server.publish(&event(&["a", "private-b"], r#"{"n":1}"#)).await;

    assert_eq!((answer.status, answer.json()), (200, json!({})));
    assert_eq!(one.frame().await, json!({ "event": "turn", "channel": "a", "data": r#"{"n":1}"# }));
    assert_eq!(other.frame().await, json!({ "event": "turn", "channel": "private-b", "data": r#"{"n":1}"# }));
}

#[tokio::test]
async fn whoever_caused_an_event_is_not_told() {
    let server = Server::start([app()]).await;
    let (mut one, mut other) = (server.connect().await, server.connect().await);
    one.subscribe("a", None).await;
    other.subscribe("a", None).await;
    let (one_id, other_id) = (one.socket_id.clone(), other.socket_id.clone());

    let body = json!({ "name": "turn", "channel": "a", "data": "1", "socket_id": one_id });
    assert_eq!(server.publish(&body).await.status, 200);
    let body = event(&["a"], "2").to_string();
    let target = signed(&app(), "POST", "/apps/app-id/events", &[], &body);
    let answer = server.request("POST", &target, &[("X-Socket-ID", &other_id)], &body).await;
    assert_eq!(answer.status, 200);

    assert_eq!(other.next("turn").await["data"], "1");
    assert_eq!(one.next("turn").await["data"], "2");
}

#[tokio::test]
async fn what_is_not_signed_by_the_app_is_refused() {
    let server = Server::start([app()]).await;
    let (path, body) = ("/apps/app-id/events", event(&["a"], "1").to_string());
    let good = signed(&app(), "POST", path, &[], &body);
    let other = App { secret: Secret::new("other"), ..app() };
    let old = jiff::Timestamp::now().as_second() - 601;
    let table = [
        (good.clone(), body.replace("turn", "burn"), 401),
        (good.replace("auth_version=1.0", "auth_version=1.0&info=user_count"), body.clone(), 401),
        (good.replace("auth_key=app-key", "auth_key=other"), body.clone(), 401),
        (signed(&other, "POST", path, &[], &body), body.clone(), 401),
        (signed_at(&app(), "POST", path, &[], &body, old), body.clone(), 401),
        (path.to_owned(), body.clone(), 401),
        (signed(&app(), "POST", "/apps/nothing/events", &[], &body), body.clone(), 404),
        (good, body.clone(), 200),
    ];

    for (target, body, status) in table {
        let answer = server.request("POST", &target, &[], &body).await;
        assert_eq!(answer.status, status, "{target} {answer:?}");
    }
}

#[tokio::test]
async fn what_is_no_event_is_refused_by_name() {
    let server = Server::start([app_with(|app| app.limits.request = 20_000)]).await;
    let many: Vec<String> = (0..101).map(|number| format!("c{number}")).collect();
    let large = "x".repeat(10_241);
    let table = [
        ("{".to_owned(), 400),
        ("{}".to_owned(), 422),
        (json!({ "name": "turn", "channel": "a" }).to_string(), 422),
        (json!({ "name": "turn", "data": "1" }).to_string(), 422),
        (json!({ "data": "1", "channel": "a" }).to_string(), 422),
        (json!({ "name": "turn", "data": { "n": 1 }, "channel": "a" }).to_string(), 422),
        (json!({ "name": 5, "data": "1", "channel": "a" }).to_string(), 422),
        (json!({ "name": "n".repeat(201), "data": "1", "channel": "a" }).to_string(), 422),
        (event(&["a b"], "1").to_string(), 422),
        (json!({ "name": "turn", "data": "1", "channels": many }).to_string(), 422),
        (json!({ "name": "turn", "data": "1", "channel": "a", "socket_id": "x" }).to_string(), 422),
        (event(&["a"], &large).to_string(), 413),
        (event(&["a"], &large.repeat(2)).to_string(), 413),
    ];

    for (body, status) in table {
        let answer = server.signed("POST", "/apps/app-id/events", &[], &body).await;
        assert_eq!(answer.status, status, "{body:.80} {answer:?}");
    }
}

#[tokio::test]
async fn a_request_that_was_made_before_is_refused() {
    let server = Server::start([app()]).await;
    let body = event(&["a"], "1").to_string();
    // Signed some seconds ago, as an old request would be; the first of its kind is served.
    let old = jiff::Timestamp::now().as_second() - 5;
    let target = signed_at(&app(), "POST", "/apps/app-id/events", &[], &body, old);

    assert_eq!(server.request("POST", &target, &[], &body).await.status, 200);
    let again = loop {
        // Until the time is over in which an equal request is taken for a second event.
        let answer = server.request("POST", &target, &[], &body).await;
        if answer.status != 200 {
            break answer;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };

    assert_eq!((again.status, again.json()), (401, json!({ "error": "This request was made before." })));
}

#[tokio::test]
async fn a_batch_is_published_in_order_or_not_at_all() {
    let server = Server::start([app()]).await;
    let mut client = server.connect().await;
    client.subscribe("a", None).await;
    let one = |data: &str| json!({ "name": "turn", "channel": "a", "data": data });
    let post = async |batch: Value| {
        let body = json!({ "batch": batch }).to_string();
        server.signed("POST", "/apps/app-id/batch_events", &[], &body).await
    };

    assert_eq!(post(json!([one("1"), { "name": "turn" }])).await.status, 422);
    assert_eq!(post(Value::from(vec![one("1"); 11])).await.status, 422);
    let mut counted = one("4");
    counted["info"] = "subscription_count".into();
    let answer = post(json!([one("2"), one("3"), counted])).await;

    assert_eq!(answer.json(), json!({ "batch": [{}, {}, { "subscription_count": 1 }] }));
    for data in ["2", "3", "4"] {
        assert_eq!(client.next("turn").await["data"], data);
    }
    assert_eq!(post(json!([one("5")])).await.json(), json!({ "batch": {} }));
}

#[tokio::test]
async fn channels_users_and_connections_are_told() {
    let server = Server::start([app()]).await;
    let (mut one, mut other) = (server.connect().await, server.connect().await);
    one.subscribe("presence-a", Some("ann")).await;
    other.subscribe("presence-a", Some("bob")).await;
    other.subscribe("cache-c", None).await;
    let get = async |path: &str, parameters: &[(&str, &str)]| {
        let answer = server.signed("GET", &format!("/apps/app-id{path}"), parameters, "").await;
        (answer.status, answer.json())
    };
    server.publish(&event(&["cache-c"], r#"{"n":1}"#)).await;

    assert_eq!(get("/connections", &[]).await, (200, json!({ "connections": 2 })));
    assert_eq!(get("/channels", &[]).await, (200, json!({ "channels": { "cache-c": {}, "presence-a": {} } })));
    let asked = [("filter_by_prefix", "presence-"), ("info", "user_count,subscription_count")];
    let counts = json!({ "channels": { "presence-a": { "user_count": 2, "subscription_count": 2 } } });
    assert_eq!(get("/channels", &asked).await, (200, counts));
    let asked = [("info", "user_count,subscription_count")];
    let shown = json!({ "user_count": 2, "subscription_count": 2, "occupied": true });
    assert_eq!(get("/channels/presence-a", &asked).await, (200, shown));
    assert_eq!(get("/channels/nobody", &[]).await, (200, json!({ "occupied": false })));
    let cached = json!({ "cache": { "data": r#"{"n":1}"# }, "occupied": true });
    assert_eq!(get("/channels/cache-c", &[("info", "cache")]).await, (200, cached));
    let users = json!({ "users": [{ "id": "ann" }, { "id": "bob" }] });
    assert_eq!(get("/channels/presence-a/users", &[]).await, (200, users));
    assert_eq!(get("/channels/presence-b/users", &[]).await.0, 404);
    assert_eq!(get("/channels/cache-c/users", &[]).await.0, 400);
    assert_eq!(get("/channels/a%20b", &[]).await.0, 400);
}

#[tokio::test]
async fn the_connections_of_a_user_can_be_ended() {
    let server = Server::start([app()]).await;
    let (mut ann, mut bob) = (server.connect().await, server.connect().await);
    ann.subscribe("presence-a", Some("ann")).await;
    bob.subscribe("presence-a", Some("bob")).await;
    ann.next("pusher_internal:member_added").await;

    let answer = server.signed("POST", "/apps/app-id/users/bob/terminate_connections", &[], "{}").await;

    assert_eq!(answer.status, 200);
    bob.refused(4009).await;
    ann.next("pusher_internal:member_removed").await;
}

#[tokio::test]
async fn apps_do_not_hear_each_other() {
    let other = App::new("other", "other-key", Secret::new("other-secret"), "other-tenant");
    let server = Server::start([app(), other.clone()]).await;
    let mut client = server.connect().await;
    client.subscribe("a", None).await;
    let body = event(&["a"], "1").to_string();

    let answer = server.request("POST", &signed(&other, "POST", "/apps/other/events", &[], &body), &[], &body).await;
    let crossed = signed(&other, "POST", "/apps/app-id/events", &[], &body);
    let crossed = server.request("POST", &crossed, &[], &body).await;

    assert_eq!((answer.status, crossed.status), (200, 401));
    assert_eq!(client.until_pong().await, Vec::<Value>::new());
}
