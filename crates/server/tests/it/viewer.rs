//! What the page needs: a cookie, shortened journals, whole records, links to share.

use reqwest::Method;
use serde_json::json;
use turnkeep_server::auth::Scope;

use crate::stage::{Stage, send};

/// A secret as redaction knows them.
const KEY: &str =
    "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKl-AAAAAA";

#[tokio::test]
async fn a_token_becomes_a_cookie_that_writes_only_with_the_word_of_its_page() {
    let stage = Stage::new().await;
    let owner = stage.client(Scope::Write, "default").await;
    let signed_in = owner.post("/v1/login", json!({})).await.must(204);
    let cookie = signed_in.header("set-cookie").to_owned();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let with_cookie = |method: Method, path: &str| stage.anyone().request(method, path).header("cookie", &cookie);

    let me = send(with_cookie(Method::GET, "/v1/whoami")).await.must(200).json();
    let word = me["csrf"].as_str().unwrap().to_owned();
    let new = |csrf: &str| {
        with_cookie(Method::POST, "/v1/sessions")
            .header("x-csrf-token", csrf)
            .header("content-type", "application/json")
            .body("{}")
    };

    send(with_cookie(Method::POST, "/v1/sessions").header("content-type", "application/json").body("{}"))
        .await
        .must(403);
    send(new("wrong")).await.must(403);
    send(new(&word)).await.must(201);
    send(stage.anyone().request(Method::GET, "/v1/whoami").header("cookie", "turnkeep=tk_no_token")).await.must(401);
}

#[tokio::test]
async fn long_texts_are_shortened_on_request_and_whole_in_their_record() {
    let stage = Stage::new().await;
    let owner = stage.client(Scope::Write, "default").await;
    let long = "ä".repeat(5000);
    owner.post("/v1/sessions", json!({"id": "s", "system": long})).await.must(201);

    let short = owner.get("/v1/sessions/s/journal?cut=300").await.must(200).text;
    let whole = owner.get("/v1/sessions/s/journal").await.must(200).text;

    assert!(!short.contains(&long) && short.contains(&"ä".repeat(300)) && short.contains("5000"), "{short}");
    assert!(whole.contains(&long));
    let line: serde_json::Value = serde_json::from_str(short.lines().next().unwrap()).unwrap();
    let cut = line["cut"].as_array().unwrap().iter().position(|cut| !cut.is_null()).unwrap();
    let seq = line["seq"].as_u64().unwrap() + cut as u64;
    let record = owner.get(&format!("/v1/sessions/s/records/{seq}")).await.must(200);
    assert!(record.text.contains(&long));
    owner.get("/v1/sessions/s/records/4711").await.must(404);
}

#[tokio::test]
async fn a_shared_link_shows_a_redacted_page_until_it_is_revoked() {
    let stage = Stage::new().await;
    let owner = stage.client(Scope::Write, "default").await;
    owner.post("/v1/sessions", json!({"id": "s", "system": format!("the key is {KEY}")})).await.must(201);
    let share = owner.post("/v1/sessions/s/shares", json!({"days": 1})).await.must(201).json();
    let (id, url) = (share["id"].as_str().unwrap(), share["url"].as_str().unwrap());

    let page = stage.anyone().get(url).await.must(200);

    assert!(page.text.contains("the key is") && !page.text.contains(KEY));
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    let listed = owner.get("/v1/sessions/s/shares").await.must(200).json();
    assert_eq!(listed["shares"][0]["id"], id);
    assert!(!listed.to_string().contains(url.rsplit('/').next().unwrap()), "a listing does not tell the link");
    send(owner.request(Method::DELETE, &format!("/v1/sessions/s/shares/{id}"))).await.must(204);
    stage.anyone().get(url).await.must(404);
    owner.post("/v1/sessions/s/shares", json!({"days": 0})).await.must(400);
}
