//! Every route, every scope, every tenant: the table comes from the description of the interface.

use reqwest::Method;
use serde_json::{Value, json};
use turnkeep_server::auth::Scope;

use crate::stage::{Answer, Client, Stage, send};

/// A route as the document describes it.
struct Route {
    method: Method,
    path: String,
    /// `None` where no token is needed.
    scope: Option<Scope>,
}

/// What only the tenant `default` knows.
const SECRET: &str = "walrus-secret-4711";

async fn routes(stage: &Stage) -> Vec<Route> {
    let document = stage.anyone().get("/v1/openapi.json").await.must(200).json();
    let paths = document["paths"].as_object().unwrap();
    let mut routes = Vec::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            let security = operation["security"].as_array().unwrap_or_else(|| panic!("{method} {path}: no security"));
            let scope = security.iter().find_map(|one| one["token"][0].as_str());
            routes.push(Route {
                method: method.to_uppercase().parse().unwrap(),
                path: path.replace("{id}", "s").replace("{call}", "c").replace("{seq}", "1").replace("{share}", "x"),
                scope: scope.map(|word| word.parse().unwrap()),
            });
        }
    }
    routes
}

async fn ask(client: &Client, route: &Route) -> Answer {
    let query = match route.path.as_str() {
        "/v1/events" => "?session=s",
        "/v1/search" => "?q=walrus",
        "/v1/convert" => "?to=turnkeep",
        path if path.ends_with("/lint") => "?for=openai.chat",
        path if path.ends_with("/export") => "?to=turnkeep",
        _ => "",
    };
    let request = client.request(route.method.clone(), &format!("{}{query}", route.path)).header("if-match", "\"2\"");
    // A stream has no end: its status says all.
    if route.path.ends_with("/events") {
        let response = request.send().await.unwrap();
        return Answer { status: response.status(), headers: response.headers().clone(), text: String::new() };
    }
    if route.method == Method::GET {
        return send(request).await;
    }
    send(request.header("content-type", "application/json").body(body(route).to_string())).await
}

fn body(route: &Route) -> Value {
    let last = route.path.rsplit('/').next().unwrap_or_default();
    match last {
        "records" => json!({"events": [{"type": "log.added", "line": "x"}]}),
        "chunks" => json!({"chunks": []}),
        "tickets" => json!({"route": "/v1/events"}),
        "ask" => json!({"text": "hi"}),
        "approve" => json!({"digest": "x"}),
        "resolve" => json!({"outcome": "retry"}),
        "erase" => json!({"text": SECRET}),
        _ => json!({}),
    }
}

async fn stage() -> Stage {
    let stage = Stage::new().await;
    let owner = stage.client(Scope::Admin, "default").await;
    let new = json!({"id": "s", "title": SECRET, "system": SECRET});
    owner.post("/v1/sessions", new).await.must(201);
    stage
}

#[tokio::test]
async fn every_route_says_what_it_needs() {
    let stage = stage().await;
    let routes = routes(&stage).await;

    let open: Vec<&str> =
        routes.iter().filter(|route| route.scope.is_none()).map(|route| route.path.as_str()).collect();

    assert_eq!(open, ["/healthz", "/readyz"]);
    assert!(routes.len() > 30, "{}", routes.len());
}

#[tokio::test]
async fn without_a_token_nothing_is_answered() {
    let stage = stage().await;
    for route in routes(&stage).await.iter().filter(|route| route.scope.is_some()) {
        let answer = ask(&stage.anyone(), route).await;
        assert_eq!(answer.status.as_u16(), 401, "{} {}", route.method, route.path);
    }
}

#[tokio::test]
async fn a_token_of_a_lesser_scope_is_refused_and_one_of_the_scope_is_not() {
    let stage = stage().await;
    let mut clients = Vec::new();
    for scope in Scope::ALL {
        clients.push((scope, stage.client(scope, "default").await));
    }
    for route in &routes(&stage).await {
        let Some(needed) = route.scope else { continue };
        for (scope, client) in &clients {
            let status = ask(client, route).await.status.as_u16();
            let name = format!("{} {} with {scope}: {status}", route.method, route.path);
            assert_eq!(status == 403, *scope < needed, "{name}");
            assert!(status != 401 && status < 500, "{name}");
            if route.method == Method::DELETE && route.path == "/v1/sessions/s" && *scope >= needed {
                let new = json!({"id": "s", "title": SECRET, "system": SECRET});
                clients[1].1.post("/v1/sessions", new).await.must(201);
            }
        }
    }
}

#[tokio::test]
async fn another_tenants_token_finds_nothing() {
    let stage = stage().await;
    let stranger = stage.client(Scope::Admin, "acme").await;
    let owner = stage.client(Scope::Admin, "default").await;
    let before = owner.get("/v1/sessions/s/journal").await.must(200).text;
    for route in &routes(&stage).await {
        let answer = ask(&stranger, route).await;
        let name = format!("{} {}: {}", route.method, route.path, answer.status);
        assert!(!answer.text.contains(SECRET), "{name}");
        if route.path.contains("/s/") || route.path.ends_with("/s") || route.path == "/v1/events" {
            let refused = [404, 412, 422];
            assert!(refused.contains(&answer.status.as_u16()), "{name}: {}", answer.text);
        }
    }
    assert_eq!(owner.get("/v1/sessions/s/journal").await.must(200).text, before);
    assert_eq!(stranger.get("/v1/sessions/s").await.status.as_u16(), 404);
}
