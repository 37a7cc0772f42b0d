//! What a browser must not be able to do: DNS rebinding, pages of other origins.

use reqwest::Method;
use serde_json::json;

use crate::stage::{Stage, send};

#[tokio::test]
async fn a_host_that_is_not_ours_is_refused_everywhere() {
    let stage = Stage::with(|config| config.hosts = vec!["sessions.example".to_owned()]).await;
    let anyone = stage.anyone();
    for path in ["/v1/sessions", "/v1/whoami", "/", "/healthz", "/v1/openapi.json", "/nothing"] {
        let request = |host: &str| send(anyone.request(Method::GET, path).header("host", host));
        for host in ["evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example", "", "0.0.0.0"] {
            assert_eq!(request(host).await.status.as_u16(), 421, "{path} {host}");
        }
        for host in ["localhost", "LOCALHOST:7780", "127.0.0.1:1", "[::1]:7780", "sessions.example:443"] {
            assert_ne!(request(host).await.status.as_u16(), 421, "{path} {host}");
        }
    }
}

#[tokio::test]
async fn pages_of_other_origins_are_refused_unless_they_are_named() {
    let stage = Stage::with(|config| config.origins = vec!["https://app.example".to_owned()]).await;
    let anyone = stage.anyone();
    let from = |origin: &str| send(anyone.request(Method::GET, "/v1/sessions").header("origin", origin));
    let own = stage.base.clone();

    assert_eq!(from("https://evil.example").await.must(403).problem(), "forbidden");
    assert_eq!(from("null").await.must(403).problem(), "forbidden");
    assert_eq!(from(&own).await.must(200).header("access-control-allow-origin"), "");
    let allowed = from("https://app.example").await.must(200);
    assert_eq!(allowed.header("access-control-allow-origin"), "https://app.example");
    assert!(allowed.header("vary").contains("origin"));
    let asks = |origin: &str| {
        let request = anyone.request(Method::OPTIONS, "/v1/sessions").header("origin", origin);
        send(request.header("access-control-request-method", "POST"))
    };
    let preflight = asks("https://app.example").await.must(204);
    assert!(preflight.header("access-control-allow-headers").contains("authorization"));
    asks("https://evil.example").await.must(403);
}

#[tokio::test]
async fn a_form_of_another_page_cannot_write() {
    let stage = Stage::new().await;
    let anyone = stage.anyone();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
        let request = anyone.request(Method::POST, "/v1/sessions").header("content-type", kind);
        assert_eq!(send(request.body("{}")).await.must(415).problem(), "content_type", "{kind}");
    }
    anyone.post("/v1/sessions", json!({})).await.must(201);
}

#[tokio::test]
async fn a_page_runs_nothing_but_its_own_script() {
    let stage = Stage::new().await;
    let page = stage.anyone().get("/").await.must(200);
    let policy = page.header("content-security-policy").to_owned();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.text.matches("<script").count(), 1);
    assert!(page.text.contains(r#"<script defer src="/viewer.js"></script>"#), "{}", page.text);
    for (path, kind) in [("/viewer.js", "text/javascript"), ("/viewer.css", "text/css")] {
        let file = stage.anyone().get(path).await.must(200);
        assert!(file.header("content-type").starts_with(kind), "{path}");
        assert_eq!(file.header("x-content-type-options"), "nosniff");
    }
}

#[tokio::test]
async fn the_reference_loads_nothing_and_runs_nothing() {
    let stage = Stage::new().await;
    for path in ["/v1/docs"] {
        let page = stage.anyone().get(path).await.must(200);
        assert!(page.header("content-security-policy").starts_with("default-src 'none'"), "{path}");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        assert!(!page.text.contains("<script"), "{path}");
    }
    assert!(stage.anyone().get("/v1/docs").await.text.contains("/v1/sessions/{id}/records"));
}
