//! Tokens, tickets and limits.

use reqwest::Method;
use serde_json::json;
use turnkeep_server::auth::Scope;
use turnkeep_server::config::Limits;
use turnkeep_server::{Log, Reach, Server};

use crate::stage::{Stage, send};

#[tokio::test]
async fn a_loopback_server_needs_a_token_as_soon_as_there_is_one() {
    let stage = Stage::new().await;
    let open = stage.anyone().get("/v1/whoami").await.must(200);
    assert_eq!((&open.json()["tenant"], &open.json()["scope"]), (&json!("default"), &json!("admin")));

    let other = Stage::new().await;
    other.token(Scope::Read, "default").await;

    let refused = other.anyone().get("/v1/whoami").await.must(401);
    assert_eq!(refused.problem(), "no_token");
    assert!(refused.header("www-authenticate").starts_with("Bearer"));
}

#[tokio::test]
async fn a_token_that_is_removed_over_or_changed_opens_nothing() {
    let stage = Stage::new().await;
    let (token, text) = {
        let new = turnkeep_server::auth::NewToken {
            name: None,
            scope: Scope::Read,
            tenant: Default::default(),
            expires: Some("2020-01-01T00:00:00Z".parse().unwrap()),
        };
        stage.tokens().create(new).await.unwrap()
    };
    let living = stage.token(Scope::Read, "default").await;
    let with = |text: &str| stage.anyone().request(Method::GET, "/v1/whoami").bearer_auth(text);
    let changed = format!("{}x", living.get(..living.len() - 1).unwrap());

    assert_eq!(send(with(&text)).await.must(401).problem(), "wrong_token");
    assert_eq!(send(with(&changed)).await.must(401).problem(), "wrong_token");
    for nonsense in ["", "tk_", "tk__", "tk_../x_y", "tk_zz_y", &"t".repeat(5000)] {
        assert_eq!(send(with(nonsense)).await.status.as_u16(), 401, "{nonsense:.20}");
    }
    send(with(&living)).await.must(200);
    stage.tokens().remove(&token.id).await.unwrap();
    assert!(stage.tokens().list().await.unwrap().iter().all(|kept| kept.id != token.id));
}

#[tokio::test]
async fn only_a_hash_of_a_token_is_stored() {
    let stage = Stage::new().await;
    let text = stage.token(Scope::Read, "default").await;
    let secret = text.rsplit('_').next().unwrap();
    let place = stage.config.store.split(':').nth(1).unwrap().split('?').next().unwrap();
    let folder = std::path::Path::new(place).with_extension("tenants");

    let mut looked = 0;
    let mut places = vec![folder.clone()];
    while let Some(place) = places.pop() {
        if place.is_dir() {
            places.extend(std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let bytes = std::fs::read(&place).unwrap();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{}", place.display());
        looked += 1;
    }

    assert!(looked > 0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[tokio::test]
async fn a_ticket_is_good_once_and_for_one_path() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;
    client.post("/v1/sessions", json!({"id": "s"})).await.must(201);
    let route = "/v1/sessions/s/events";
    let new = || async { client.post("/v1/tickets", json!({"route": route})).await.must(201).json()["ticket"].clone() };
    let open = |path: String| stage.anyone().request(Method::GET, &path).send();

    let ticket = new().await;
    let ticket = ticket.as_str().unwrap();
    let first = open(format!("{route}?ticket={ticket}")).await.unwrap();
    let again = open(format!("{route}?ticket={ticket}")).await.unwrap();
    let other = new().await;
    let elsewhere = open(format!("/v1/events?session=s&ticket={}", other.as_str().unwrap())).await.unwrap();
    let write = open(format!("/v1/whoami?ticket={}", new().await.as_str().unwrap())).await.unwrap();

    let statuses = [first.status(), again.status(), elsewhere.status(), write.status()].map(|status| status.as_u16());
    assert_eq!(statuses, [200, 401, 401, 401]);
    client.post("/v1/tickets", json!({"route": "/v1/whoami"})).await.must(400);
}

#[tokio::test]
async fn a_token_has_so_many_requests_and_is_told() {
    let limits = Limits { requests: 3, ..Limits::default() };
    let stage = Stage::with(|config| config.limits = limits).await;
    let client = stage.client(Scope::Read, "default").await;

    let answers = [client.get("/v1/whoami").await, client.get("/v1/whoami").await, client.get("/v1/whoami").await];
    let refused = client.get("/v1/whoami").await.must(429);

    assert_eq!(answers[0].header("ratelimit-policy"), "\"default\";q=3;w=60");
    assert!(answers[2].header("ratelimit").starts_with("\"default\";r=0;t="));
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    stage.client(Scope::Read, "default").await.get("/v1/whoami").await.must(200);
}

#[tokio::test]
async fn nobody_listens_beyond_this_machine_by_accident() {
    let stage = Stage::new().await;
    let (any, here) = ("0.0.0.0:0".parse().unwrap(), "127.0.0.1:0".parse().unwrap());
    let open = |reach| Server::open(stage.config.clone(), reach, Log::default());

    let refused = open(Reach::Loopback).await.unwrap().serve(any, |_| {}, async {}).await.unwrap_err();
    let tokenless = open(Reach::Public).await.unwrap().serve(here, |_| {}, async {}).await.unwrap_err();

    assert_eq!(refused.remedy(), Some("add --public if that is meant"));
    assert_eq!(tokenless.remedy(), Some("`turnkeep token new` makes one"));
    stage.token(Scope::Read, "default").await;
    open(Reach::Public).await.unwrap().serve(here, |_| {}, async {}).await.unwrap();
}
