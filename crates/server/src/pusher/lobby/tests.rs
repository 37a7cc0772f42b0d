use std::time::Duration;

use serde_json::Value;
use turnkeep_provider::Secret;

use super::*;
use crate::pusher::app::Limits;
use crate::pusher::mailbox::Note;

/// One who listens, with what it was told.
struct Client {
    socket: SocketId,
    mailbox: Arc<Mailbox>,
    notes: UnboundedReceiver<Note>,
}

impl Client {
    /// The events it was told since the last time, with their channels and data.
    fn told(&mut self) -> Vec<String> {
        let frames = std::iter::from_fn(|| self.notes.try_recv().ok()).map(|note| match note {
            Note::Frame(frame) => {
                self.mailbox.taken(&frame);
                let frame: Value = serde_json::from_str(&frame).unwrap();
                let text = |name: &str| frame[name].as_str().unwrap_or("-").to_owned();
                format!("{} {} {}", text("event"), text("channel"), text("data"))
            }
            Note::Close(code) => format!("close {}", code.number()),
        });
        frames.collect()
    }
}

fn lobby(change: impl FnOnce(&mut App)) -> Lobby {
    let mut app = App::new("id", "key", Secret::new("secret"), "tenant");
    app.limits = Limits { members: 2, cached: 1, ..Limits::default() };
    change(&mut app);
    Lobby::new(app)
}

fn client(lobby: &Lobby) -> Client {
    let (socket, mailbox, notes) = lobby.enter().unwrap();
    Client { socket, mailbox, notes }
}

fn channel(name: &str) -> Channel {
    Channel::parse(name).unwrap()
}

fn join(lobby: &Lobby, client: &Client, name: &str, user: Option<&str>) -> Result<(), Full> {
    let member = user.map(|user| Member { user: user.into(), info: "null".into() });
    lobby.join(&channel(name), client.socket, client.mailbox.clone(), member.as_ref())
}

#[test]
fn an_event_reaches_all_who_listen_but_its_sender() {
    let lobby = lobby(|_| {});
    let (mut a, mut b) = (client(&lobby), client(&lobby));
    join(&lobby, &a, "news", None).unwrap();
    join(&lobby, &b, "news", None).unwrap();

    lobby.publish(&channel("news"), "e", "1", None);
    lobby.publish(&channel("news"), "e", "2", Some(a.socket));
    lobby.publish(&channel("other"), "e", "3", None);

    let joined = "pusher_internal:subscription_succeeded news {}";
    assert_eq!(a.told(), [joined, "e news 1"]);
    assert_eq!(b.told(), [joined, "e news 1", "e news 2"]);
}

#[test]
fn everyone_hears_of_a_session_under_the_name_they_know() {
    let lobby = lobby(|_| {});
    let (mut a, mut b) = (client(&lobby), client(&lobby));
    join(&lobby, &a, "private-agent.x", None).unwrap();
    join(&lobby, &b, "private-agent.x@41", None).unwrap();

    lobby.publish(&channel("private-agent.x"), "e", "1", None);

    assert_eq!(a.told()[1..], ["e private-agent.x 1"]);
    assert_eq!(b.told()[1..], ["e private-agent.x@41 1"]);
    assert_eq!(lobby.occupancy(&channel("private-agent.x@7")).unwrap().listeners, 2);
}

#[test]
fn members_come_with_their_first_connection_and_go_with_their_last() {
    let lobby = lobby(|_| {});
    let (mut watcher, tab, other_tab) = (client(&lobby), client(&lobby), client(&lobby));
    join(&lobby, &watcher, "presence-a", Some("1")).unwrap();
    watcher.told();

    join(&lobby, &tab, "presence-a", Some("2")).unwrap();
    join(&lobby, &other_tab, "presence-a", Some("2")).unwrap();
    assert_eq!(watcher.told(), [r#"pusher_internal:member_added presence-a {"user_id":"2","user_info":null}"#]);
    assert_eq!(lobby.users(&channel("presence-a")), Some(vec!["1".to_owned(), "2".to_owned()]));

    lobby.leave(&channel("presence-a"), tab.socket);
    assert_eq!(watcher.told(), [""; 0]);
    lobby.leave(&channel("presence-a"), other_tab.socket);
    assert_eq!(watcher.told(), [r#"pusher_internal:member_removed presence-a {"user_id":"2"}"#]);
}

#[test]
fn a_full_channel_takes_no_other_user() {
    let lobby = lobby(|_| {});
    let (a, b, c) = (client(&lobby), client(&lobby), client(&lobby));

    assert_eq!(join(&lobby, &a, "presence-a", Some("1")), Ok(()));
    assert_eq!(join(&lobby, &b, "presence-a", Some("2")), Ok(()));
    assert_eq!(join(&lobby, &c, "presence-a", Some("3")), Err(Full));
    assert_eq!(join(&lobby, &c, "presence-a", Some("2")), Ok(()));
}

#[test]
fn who_comes_late_to_a_cache_channel_gets_the_last_event_or_hears_that_there_is_none() {
    let lobby = lobby(|_| {});
    let (mut early, mut late) = (client(&lobby), client(&lobby));

    join(&lobby, &early, "cache-a", None).unwrap();
    lobby.publish(&channel("cache-a"), "e", "1", None);
    lobby.publish(&channel("cache-a"), "e", "2", None);
    join(&lobby, &late, "cache-a", None).unwrap();

    assert_eq!(early.told()[1..], ["pusher:cache_miss cache-a {}", "e cache-a 1", "e cache-a 2"]);
    assert_eq!(late.told()[1..], ["e cache-a 2"]);
}

#[test]
fn a_last_event_outlives_its_listeners_but_not_its_age() {
    let kept = lobby(|_| {});
    let aged = lobby(|app| app.limits.cache_age = Duration::ZERO);

    let told = [kept, aged].map(|lobby| {
        lobby.publish(&channel("cache-a"), "e", "1", None);
        let mut late = client(&lobby);
        join(&lobby, &late, "cache-a", None).unwrap();
        late.told()[1].clone()
    });

    assert_eq!(told, ["e cache-a 1", "pusher:cache_miss cache-a {}"]);
}

#[test]
fn so_many_last_events_are_kept_and_channels_without_one_go() {
    let lobby = lobby(|_| {});
    for number in 0..1000 {
        lobby.publish(&channel(&format!("cache-{number}")), "e", "1", None);
        lobby.publish(&channel(&format!("plain-{number}")), "e", "1", None);
    }
    let client = client(&lobby);
    join(&lobby, &client, "news", None).unwrap();
    lobby.leave(&channel("news"), client.socket);

    let rooms: usize = lobby.shards.iter().map(|shard| lock(shard).len()).sum();

    assert!(rooms <= SHARDS, "{rooms}");
    assert_eq!(lobby.occupied(""), []);
}

#[test]
fn listeners_are_told_how_many_they_are_where_the_app_wants_it() {
    let lobby = lobby(|app| app.subscription_counts = true);
    let (mut a, b) = (client(&lobby), client(&lobby));

    join(&lobby, &a, "news", None).unwrap();
    join(&lobby, &b, "news", None).unwrap();
    lobby.leave(&channel("news"), b.socket);

    let count = |count: usize| format!(r#"pusher_internal:subscription_count news {{"subscription_count":{count}}}"#);
    assert_eq!(a.told()[1..], [count(1), count(2), count(1)]);
}

#[test]
fn the_number_of_a_crowd_is_told_now_and_then() {
    let lobby = lobby(|app| app.subscription_counts = true);
    let mut first = client(&lobby);
    join(&lobby, &first, "news", None).unwrap();
    let others: Vec<Client> = (0..999).map(|_| client(&lobby)).collect();

    others.iter().for_each(|other| join(&lobby, other, "news", None).unwrap());

    let told = first.told().len();
    assert!((100..140).contains(&told), "{told}");
}

#[test]
fn an_app_has_so_many_connections() {
    let lobby = lobby(|app| app.limits.connections = 1);
    let first = client(&lobby);

    assert_eq!(lobby.enter().err(), Some(Code::ConnectionLimit));
    lobby.exit(first.socket);
    assert!(lobby.enter().is_ok());
}

#[test]
fn the_connections_of_a_user_are_closed() {
    let lobby = lobby(|_| {});
    let (mut a, mut b) = (client(&lobby), client(&lobby));
    join(&lobby, &a, "presence-a", Some("1")).unwrap();
    join(&lobby, &b, "presence-a", Some("2")).unwrap();

    lobby.terminate("1");

    assert_eq!(a.told().last().map(String::as_str), Some("close 4009"));
    assert!(!b.told().iter().any(|told| told.starts_with("close")));
}
