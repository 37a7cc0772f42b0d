use serde_json::Value;
use turnkeep_provider::Secret;

use super::*;

const VECTORS: &str = include_str!("../../../../../fixtures/pusher/signature_vectors.json");

fn vectors() -> (App, Value) {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let text = |name: &str| vectors["app"][name].as_str().unwrap().to_owned();
    (App::new(text("app_id"), text("key"), Secret::new(text("secret")), "t"), vectors)
}

#[test]
fn every_text_of_the_vectors_has_its_signature() {
    let (app, vectors) = vectors();
    let signed = vectors.as_object().unwrap().values().filter(|case| case.get("string_to_sign").is_some());
    let mut checked = 0;
    for case in signed {
        let signature = sign(app.secret.reveal(), case["string_to_sign"].as_str().unwrap());
        let expected = case.get("auth_signature").or(case.get("auth")).unwrap().as_str().unwrap();
        assert_eq!(signature, expected.rsplit(':').next().unwrap());
        checked += 1;
    }
    assert_eq!(checked, 5);
}

#[test]
fn subscriptions_are_signed_as_the_vectors_are() {
    let (app, vectors) = vectors();
    let data = vectors["presence"]["channel_data"].as_str().unwrap();

    assert_eq!(channel_auth(&app, "1234.1234", "private-foobar", None), vectors["private"]["auth"]);
    assert_eq!(channel_auth(&app, "1234.1234", "presence-foobar", Some(data)), vectors["presence"]["auth"]);
}

#[test]
fn a_signature_allows_what_was_signed_and_nothing_else() {
    let (app, _) = vectors();
    let channel = |name: &str| Channel::parse(name).unwrap();
    let auth = channel_auth(&app, "1.2", "private-agent.x", None);
    let placed = channel_auth(&app, "1.2", "private-agent.x@41", None);
    let allows = |auth: &str, socket: &str, name: &str, data| allows(&app, auth, socket, &channel(name), data);

    assert!(allows(&auth, "1.2", "private-agent.x", None));
    assert!(allows(&auth, "1.2", "private-agent.x@41", None), "the place is not signed");
    assert!(allows(&placed, "1.2", "private-agent.x@41", None));
    assert!(!allows(&placed, "1.2", "private-agent.x@42", None));
    assert!(!allows(&placed, "1.2", "private-agent.x", None));
    assert!(!allows(&auth, "1.3", "private-agent.x", None));
    assert!(!allows(&auth, "1.2", "private-agent.y", None));
    assert!(!allows(&auth, "1.2", "private-agent.x", Some("{}")));
    assert!(!allows(&auth.replace(&app.key, "other"), "1.2", "private-agent.x", None), "the key is compared");
    for auth in ["", ":", "x", auth.to_uppercase().as_str(), &auth[..auth.len() - 1]] {
        assert!(!allows(auth, "1.2", "private-agent.x", None), "{auth}");
    }
}

/// A request as the vectors have it, and the time it was signed at.
fn request(vectors: &Value) -> (Vec<(String, String)>, &str) {
    let case = &vectors["http_events"];
    let query = [
        ("auth_key", vectors["app"]["key"].as_str().unwrap()),
        ("auth_timestamp", "1353088179"),
        ("auth_version", "1.0"),
        ("body_md5", case["body_md5"].as_str().unwrap()),
        ("auth_signature", case["auth_signature"].as_str().unwrap()),
    ];
    (query.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec(), case["body"].as_str().unwrap())
}

const SIGNED_AT: u64 = 1_353_088_179;

fn checked(query: &[(String, String)], body: &str, path: &str, now: u64) -> Result<u64, Refusal> {
    let (app, _) = vectors();
    let request = SignedRequest { method: "POST", path, query, body: body.as_bytes() };
    verify(&app, request, now).map(|verified| verified.time)
}

#[test]
fn a_request_of_the_vectors_is_served_within_its_time() {
    let (_, vectors) = vectors();
    let (query, body) = request(&vectors);

    for now in [SIGNED_AT, SIGNED_AT - 600, SIGNED_AT + 600] {
        assert_eq!(checked(&query, body, "/apps/3/events", now), Ok(SIGNED_AT));
    }
    for now in [0, SIGNED_AT - 601, SIGNED_AT + 601] {
        assert_eq!(checked(&query, body, "/apps/3/events", now), Err(Refusal::Time));
    }
}

#[test]
fn whatever_is_changed_in_a_request_is_found() {
    let (_, vectors) = vectors();
    let (query, body) = request(&vectors);
    let with = |name: &str, value: &str| {
        let changed = query.iter().map(|(key, old)| (key.clone(), if key == name { value } else { old }.to_owned()));
        checked(&changed.collect::<Vec<_>>(), body, "/apps/3/events", SIGNED_AT)
    };
    let without = |name: &str| {
        let left: Vec<_> = query.iter().filter(|(key, _)| key != name).cloned().collect();
        checked(&left, body, "/apps/3/events", SIGNED_AT)
    };
    let more = [query.clone(), vec![("info".to_owned(), "user_count".to_owned())]].concat();

    assert_eq!(with("auth_key", "other"), Err(Refusal::Key));
    assert_eq!(with("auth_timestamp", "1353088180"), Err(Refusal::Signature));
    assert_eq!(with("auth_signature", ""), Err(Refusal::Signature));
    assert_eq!(with("body_md5", "d41d8cd98f00b204e9800998ecf8427e"), Err(Refusal::Body));
    assert!(matches!(with("auth_version", "2.0"), Err(Refusal::Missing(_))));
    assert!(matches!(with("auth_timestamp", "soon"), Err(Refusal::Missing(_))));
    assert_eq!(without("auth_key"), Err(Refusal::Key));
    assert_eq!(without("body_md5"), Err(Refusal::Body));
    assert!(matches!(without("auth_signature"), Err(Refusal::Missing(_))));
    assert_eq!(checked(&query, &body.replace("foo", "bar"), "/apps/3/events", SIGNED_AT), Err(Refusal::Body));
    assert_eq!(checked(&query, body, "/apps/4/events", SIGNED_AT), Err(Refusal::Signature));
    assert_eq!(checked(&more, body, "/apps/3/events", SIGNED_AT), Err(Refusal::Signature));
}

#[test]
fn parameters_are_sorted_in_lower_case_and_lists_are_joined() {
    let query = [
        ("info", "user_count"),
        ("Filter_By_Prefix", "presence-"),
        ("a[]", "1"),
        ("a[]", "2"),
        ("auth_signature", "x"),
    ];
    let query = query.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let request = SignedRequest { method: "GET", path: "/apps/3/channels", query: &query, body: b"" };

    assert_eq!(text_to_sign(request), "GET\n/apps/3/channels\na=1,2&filter_by_prefix=presence-&info=user_count");
}
