use turnkeep_model::Error;
use turnkeep_provider::endpoint::{Level, Source};

use super::*;
use crate::config::read;
use crate::live::Preset;

fn apps(text: &str) -> std::result::Result<Vec<App>, Error> {
    let source = Source { path: "turnkeep.toml".into(), level: Level::User, text: text.to_owned() };
    read(&[source]).map(|config| config.apps)
}

#[test]
fn an_app_needs_a_key_and_a_secret_and_has_defaults_for_the_rest() {
    let all = apps("[server.app.web]\nkey = \"k\"\nsecret = { env = \"S\" }\n").unwrap();

    let [app] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((app.id.as_str(), app.key.as_str(), app.tenant.as_str()), ("web", "k", "default"));
    assert_eq!((app.view, app.client_events), (View::Agent(Preset::Standard), ClientEvents::Members));
    assert_eq!((app.enabled, app.public_sessions, app.subscription_counts), (true, false, false));
    assert_eq!(app.limits, Limits::default());
}

#[test]
fn an_app_says_everything_by_name() {
    let text = r#"
        [server.app.web]
        id = "7"
        key = "k"
        secret = { env = "S" }
        tenant = "acme"
        preset = "debug"
        origins = ["https://app.example"]
        client_events = "off"
        enabled = false
        subscription_counts = true
        public_sessions = true
        [server.app.web.limits]
        connections = 5
        event = 20000
        client_events = 3
        activity = 30
    "#;
    let all = apps(text).unwrap();

    let [app] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((app.id.as_str(), app.tenant.as_str()), ("7", "acme"));
    assert_eq!((app.view, app.client_events), (View::Agent(Preset::Debug), ClientEvents::Nobody));
    assert_eq!(app.origins, ["https://app.example"]);
    assert_eq!((app.enabled, app.public_sessions, app.subscription_counts), (false, true, true));
    let activity = std::time::Duration::from_secs(30);
    let limits = Limits { connections: 5, data: 20_000, client_events: 3, activity, ..Limits::default() };
    assert_eq!(app.limits, limits);
}

#[test]
fn what_is_wrong_with_an_app_is_named() {
    let usual = "key = \"k\"\nsecret = { env = \"S\" }\n";
    let table = [
        ("secret = { env = \"S\" }\n".to_owned(), "`key`"),
        ("key = \"k\"\n".to_owned(), "`secret`"),
        (format!("{usual}tenant = \"A\"\n"), "tenant"),
        (format!("{usual}id = \"a/b\"\n"), "`id`"),
        (usual.replace("\"k\"", "\"\""), "`key`"),
        (format!("{usual}view = \"other\"\n"), "`view`"),
        (format!("{usual}preset = \"other\"\n"), "`preset`"),
        (format!("{usual}client_events = \"some\"\n"), "client_events"),
        (format!("{usual}orgins = []\n"), "orgins"),
        (format!("{usual}limits = {{ conections = 1 }}\n"), "conections"),
        (format!("{usual}[server.app.other]\nid = \"web\"\nkey = \"l\"\nsecret = {{ env = \"S\" }}\n"), "`id`"),
        (format!("{usual}[server.app.other]\n{usual}"), "`key`"),
    ];
    for (text, named) in table {
        let error = apps(&format!("[server.app.web]\n{text}")).unwrap_err();
        assert!(error.to_string().contains(named), "{text}: {error}");
    }
}
