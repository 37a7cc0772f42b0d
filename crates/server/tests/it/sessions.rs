//! Sessions: made, listed, shown, changed, forked, deleted.

use reqwest::Method;
use serde_json::json;
use turnkeep_server::auth::Scope;

use crate::stage::{Stage, line};

#[tokio::test]
async fn a_session_is_made_shown_changed_and_deleted() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;

    let made = client.post("/v1/sessions", json!({"id": "s/1", "title": "First", "tags": {"a": "b"}})).await.must(201);
    let shown = client.get("/v1/sessions/s%2F1").await.must(200);
    let change = json!({"title": "Second", "tags": {"a": null, "c": "d"}, "metadata": {"owner": "ada"}});
    let changed = client.send_json(Method::PATCH, "/v1/sessions/s%2F1", change, &[]).await.must(200);
    let deleted = client.delete("/v1/sessions/s%2F1").await.must(200);

    assert_eq!(made.json(), json!({"session": "s/1", "seq": 1}));
    assert_eq!((made.header("location"), made.header("etag")), ("/v1/sessions/s%2F1", "\"1\""));
    assert_eq!((&shown.json()["title"], &shown.json()["tags"]), (&json!("First"), &json!([["a", "b"]])));
    assert_eq!((&changed.json()["title"], &changed.json()["tags"]), (&json!("Second"), &json!([["c", "d"]])));
    assert_eq!(deleted.json(), json!({"session": "s/1", "shared": 0}));
    assert_eq!(client.get("/v1/sessions/s%2F1").await.must(404).problem(), "not_found");
}

#[tokio::test]
async fn an_id_that_is_taken_is_refused() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;

    client.post("/v1/sessions", json!({"id": "s"})).await.must(201);

    assert_eq!(client.post("/v1/sessions", json!({"id": "s"})).await.must(409).problem(), "conflict");
}

#[tokio::test]
async fn a_listing_filters_sorts_and_pages() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;
    for (id, tag) in [("a", "x"), ("b", "y"), ("c", "x")] {
        let metadata = json!({"team": tag});
        let new = json!({"id": id, "title": format!("Session {id}"), "tags": {"t": tag}, "metadata": metadata});
        client.post("/v1/sessions", new).await.must(201);
    }
    let ids = |answer: &crate::stage::Answer| {
        let sessions = answer.json()["sessions"].as_array().unwrap().clone();
        sessions.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };

    let tagged = client.get("/v1/sessions?tag=t=x&sort=id").await.must(200);
    let titled = client.get("/v1/sessions?title=session%20B").await.must(200);
    let kept = client.get("/v1/sessions?meta=team=y").await.must(200);
    let first = client.get("/v1/sessions?sort=id&limit=2").await.must(200);
    let after = first.json()["next"].as_str().unwrap().to_owned();
    let second = client.get(&format!("/v1/sessions?sort=id&limit=2&after={after}")).await.must(200);

    assert_eq!(ids(&tagged), ["a", "c"]);
    assert_eq!(ids(&titled), ["b"]);
    assert_eq!(ids(&kept), ["b"]);
    assert_eq!((ids(&first), ids(&second)), (vec!["a".to_owned(), "b".to_owned()], vec!["c".to_owned()]));
    assert_eq!(second.json()["next"], json!(null));
    for wrong in ["?sort=size", "?limit=0", "?limit=x", "?since=yesterday", "?after=%20", "?colour=red"] {
        assert_eq!(client.get(&format!("/v1/sessions{wrong}")).await.must(400).problem(), "bad_request", "{wrong}");
    }
}

#[tokio::test]
async fn a_snapshot_a_window_and_a_journal_tell_the_same_session() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;
    client.post("/v1/sessions", json!({"id": "s", "system": "Be brief."})).await.must(201);
    client.append("s", 2, json!([line("one")])).await.must(200);
    client.append("s", 3, json!([line("two")])).await.must(200);

    let now = client.get("/v1/sessions/s/snapshot").await.must(200);
    let then = client.get("/v1/sessions/s/snapshot?seq=3").await.must(200);
    let window = client.get("/v1/sessions/s/window?turns=1").await.must(200);
    let journal = client.get("/v1/sessions/s/journal?after=2&limit=1").await.must(200);

    assert_eq!(now.json()["sessions"][0]["logs"], json!(["one", "two"]));
    assert_eq!((&now.json()["seq"], now.header("etag")), (&json!(4), "\"4\""));
    assert_eq!(then.json()["sessions"][0]["logs"], json!(["one"]));
    assert_eq!((&window.json()["first"], &window.json()["turns"]), (&json!(0), &json!(1)));
    assert_eq!(window.json()["session"]["turns"][0]["blocks"][0]["text"], json!("Be brief."));
    assert_eq!((journal.header("turnkeep-seq"), journal.header("turnkeep-more")), ("3", "true"));
    assert_eq!(journal.text.lines().count(), 1);
    client.get("/v1/sessions/s/snapshot?seq=9").await.must(404);
    let same = client.request(Method::GET, "/v1/sessions/s/snapshot").header("if-none-match", "\"4\"");
    crate::stage::send(same).await.must(304);
}

#[tokio::test]
async fn a_fork_shares_the_past_and_goes_its_own_way() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Write, "default").await;
    client.post("/v1/sessions", json!({"id": "s"})).await.must(201);
    client.append("s", 1, json!([line("one")])).await.must(200);

    let fork = client.post("/v1/sessions/s/fork", json!({"id": "f", "at": 1})).await.must(201);
    client.append("f", 1, json!([line("other")])).await.must(200);

    assert_eq!(fork.json(), json!({"session": "f", "seq": 1}));
    let logs = |answer: crate::stage::Answer| answer.json()["sessions"][0]["logs"].clone();
    assert_eq!(logs(client.get("/v1/sessions/f/snapshot").await), json!(["other"]));
    assert_eq!(logs(client.get("/v1/sessions/s/snapshot").await), json!(["one"]));
    assert_eq!(client.get("/v1/sessions?parent=s").await.json()["sessions"][0]["id"], json!("f"));
    client.post("/v1/sessions/s/fork", json!({"id": "f"})).await.must(409);
    client.post("/v1/sessions/s/fork", json!({"at": 99})).await.must(404);
}

#[tokio::test]
#[cfg(feature = "sqlite")]
async fn what_was_said_is_found_measured_verified_and_erased() {
    let stage = Stage::new().await;
    let client = stage.client(Scope::Admin, "default").await;
    client.post("/v1/sessions", json!({"id": "s", "system": "The password is hunter2hunter2."})).await.must(201);

    let found = client.get("/v1/search?q=password").await.must(200);
    let sound = client.get("/v1/sessions/s/verify").await.must(200);
    let usage = client.get("/v1/du").await.must(200);
    let erased = client.post("/v1/sessions/s/erase", json!({"text": "hunter2hunter2"})).await.must(200);

    assert_eq!(found.json()["hits"][0]["session"], json!("s"));
    assert_eq!((&sound.json()["sound"], &sound.json()["last"]), (&json!(true), &json!(2)));
    assert_eq!(usage.json()["sessions"][0]["session"], json!("s"));
    assert_eq!(erased.json()["records"], json!([2]));
    assert!(!client.get("/v1/sessions/s/journal").await.text.contains("hunter2"));
    client.post("/v1/sessions/s/erase", json!({"text": "hunter2hunter2"})).await.must(404);
    client.post("/v1/sessions/s/erase", json!({"text": "a"})).await.must(400);
}
