use turnkeep_provider::Secret;

use super::*;
use crate::pusher::app::Limits;

const SECOND: Duration = Duration::from_secs(1);
const SOCKET: &str = "1.2";

fn app(client_events: ClientEvents) -> App {
    let limits =
        Limits { activity: 30 * SECOND, pong: 10 * SECOND, client_events: 2, channels: 3, ..Limits::default() };
    App { client_events, limits, ..App::new("id", "key", Secret::new("secret"), "tenant") }
}

fn connection(client_events: ClientEvents) -> Protocol {
    Protocol::new(Arc::new(app(client_events)), SocketId::from_bits((1 << 32) + 2))
}

fn subscribe(channel: &str, data: Option<&str>) -> String {
    let auth = signature::channel_auth(&app(ClientEvents::Members), SOCKET, channel, data);
    serde_json::json!({ "event": "pusher:subscribe", "data": { "channel": channel, "auth": auth, "channel_data": data } })
        .to_string()
}

fn client_event(channel: &str) -> String {
    serde_json::json!({ "event": "client-typing", "channel": channel, "data": { "on": true } }).to_string()
}

fn channel(name: &str) -> Channel {
    Channel::parse(name).unwrap()
}

fn told(code: Code, message: &str) -> Vec<Action> {
    vec![Action::Send(frame::error(code, message))]
}

fn failed(code: Code, message: &str, channel: &str, kind: &str, status: u16) -> Vec<Action> {
    vec![
        Action::Send(frame::error(code, message)),
        Action::Send(frame::subscription_error(channel, kind, message, status)),
    ]
}

#[test]
fn a_signature_is_needed_where_a_channel_is_guarded() {
    let mut connection = connection(ClientEvents::Members);
    let mut say = |text: &str| connection.text(SECOND, text);
    let user = r#"{"user_id":7,"user_info":{"name":"A"}}"#;
    let member = Member { user: "7".into(), info: r#"{"name":"A"}"#.into() };
    let unsigned = |name: &str| format!(r#"{{"event":"pusher:subscribe","data":{{"channel":"{name}"}}}}"#);
    let denied = |name: &str| failed(Code::Unauthorized, "Connection is unauthorized", name, "AuthError", 401);

    assert_eq!(say(&unsigned("news")), [Action::Subscribe(channel("news"), None)]);
    assert_eq!(say(&unsigned("private-a")), denied("private-a"));
    assert_eq!(say(&unsigned("presence-a")), denied("presence-a"));
    assert_eq!(say(&unsigned("private-encrypted-a")), denied("private-encrypted-a"));
    assert_eq!(say(&subscribe("private-a", Some("{}")).replace(r#""{}""#, "null")), denied("private-a"));
    assert_eq!(say(&subscribe("private-a", None)), [Action::Subscribe(channel("private-a"), None)]);
    assert_eq!(say(&subscribe("presence-a", Some(user))), [Action::Subscribe(channel("presence-a"), Some(member))]);
}

#[test]
fn a_member_is_someone() {
    let said = connection(ClientEvents::Members).text(SECOND, &subscribe("presence-a", Some("{}")));

    assert_eq!(said, failed(Code::Unauthorized, NO_MEMBER, "presence-a", "AuthError", 400));
}

#[test]
fn names_doubles_and_numbers_of_channels_are_checked() {
    let mut connection = connection(ClientEvents::Members);
    let mut say = |name: &str| connection.text(SECOND, &subscribe(name, None));

    assert_eq!(say("a b"), failed(Code::Reconnect, NO_NAME, "a b", "InvalidChannel", 400));
    assert_eq!(say("a"), [Action::Subscribe(channel("a"), None)]);
    assert_eq!(say("a"), told(Code::Reconnect, "Existing subscription to channel"));
    assert_eq!((say("b").len(), say("c").len()), (1, 1));
    assert_eq!(say("d"), failed(Code::OverCapacity, TOO_MANY_CHANNELS, "d", "LimitReached", 403));
}

#[test]
fn a_channel_that_was_left_is_left_once() {
    let mut connection = connection(ClientEvents::Members);
    connection.text(SECOND, &subscribe("a", None));
    let leave = r#"{"event":"pusher:unsubscribe","data":{"channel":"a"}}"#;

    assert_eq!(connection.text(SECOND, leave), [Action::Unsubscribe(channel("a"))]);
    assert_eq!(connection.text(SECOND, leave), []);
}

#[test]
fn whatever_is_no_message_is_told_and_the_connection_stays() {
    let mut connection = connection(ClientEvents::Members);
    let invalid = || told(Code::Reconnect, "Invalid message format");

    assert_eq!(connection.text(SECOND, "{"), invalid());
    assert_eq!(connection.text(SECOND, r#"{"event":"pusher:nothing"}"#), invalid());
    assert_eq!(connection.text(SECOND, r#"{"data":{}}"#), invalid());
    assert_eq!(connection.binary(SECOND), invalid());
    assert_eq!(connection.text(SECOND, &" ".repeat(10_241)), told(Code::Reconnect, "Message too large"));
    assert_eq!(connection.text(SECOND, r#"{"event":"unknown"}"#), []);
    assert_eq!(connection.text(SECOND, r#"{"event":"pusher:ping"}"#), [Action::Send(frame::pong())]);
}

#[test]
fn a_silent_client_is_asked_and_then_closed() {
    let mut connection = connection(ClientEvents::Members);

    assert_eq!((connection.deadline(), connection.tick(29 * SECOND)), (30 * SECOND, None));
    assert_eq!(connection.tick(30 * SECOND), Some(Action::Send(frame::ping())));
    assert_eq!((connection.deadline(), connection.tick(39 * SECOND)), (40 * SECOND, None));
    assert_eq!(connection.tick(40 * SECOND), Some(Action::Close(Code::PongTimeout)));
}

#[test]
fn a_client_that_answers_is_there() {
    let mut connection = connection(ClientEvents::Members);
    connection.tick(30 * SECOND);

    assert_eq!(connection.text(35 * SECOND, r#"{"event":"pusher:pong","data":{}}"#), []);

    assert_eq!((connection.deadline(), connection.tick(41 * SECOND)), (65 * SECOND, None));
}

#[test]
fn client_events_are_for_those_the_app_names() {
    use ClientEvents::{Everybody, Members, Nobody};
    let disabled = || told(Code::ClientEvent, "The app does not have client messaging enabled.");
    let relayed = |name: &str| {
        let (name, data) = (channel(name), r#"{"on":true}"#.to_owned());
        vec![Action::Relay(ClientEvent { channel: name, name: "client-typing".to_owned(), data, user: None })]
    };
    let table = [
        (Nobody, "private-a", disabled()),
        (Members, "private-a", relayed("private-a")),
        (Members, "private-other", told(Code::Unauthorized, MEMBERS_ONLY)),
        (Members, "public", told(Code::Unauthorized, GUARDED_ONLY)),
        (Members, "a b", told(Code::Reconnect, "Invalid message format")),
        (Everybody, "private-other", relayed("private-other")),
        (Everybody, "public", relayed("public")),
    ];

    for (mode, to, expected) in table {
        let mut connection = connection(mode);
        connection.text(SECOND, &subscribe("private-a", None));
        connection.text(SECOND, &subscribe("public", None));

        assert_eq!(connection.text(SECOND, &client_event(to)), expected, "{mode:?} {to}");
    }
}

#[test]
fn a_client_event_names_its_user_where_members_see_each_other() {
    let mut connection = connection(ClientEvents::Members);
    connection.text(SECOND, &subscribe("presence-a", Some(r#"{"user_id":7}"#)));

    let said = connection.text(SECOND, &client_event("presence-a"));

    assert!(matches!(said.as_slice(), [Action::Relay(ClientEvent { user: Some(user), .. })] if **user == *"7"));
}

#[test]
fn client_events_have_a_rate() {
    let mut connection = connection(ClientEvents::Members);
    connection.text(SECOND, &subscribe("private-a", None));
    let mut relayed = |now| matches!(connection.text(now, &client_event("private-a")).as_slice(), [Action::Relay(_)]);

    assert_eq!([relayed(SECOND), relayed(SECOND), relayed(SECOND), relayed(2 * SECOND)], [true, true, false, true]);
}

#[test]
fn whoever_finds_no_room_does_not_listen() {
    let mut connection = connection(ClientEvents::Members);
    connection.text(SECOND, &subscribe("presence-a", Some(r#"{"user_id":7}"#)));

    connection.refused(&channel("presence-a"));

    assert_eq!(connection.text(SECOND, &client_event("presence-a")), told(Code::Unauthorized, MEMBERS_ONLY));
}
