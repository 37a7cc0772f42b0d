use std::time::Duration;

use serde_json::Value;

use super::*;

const FRAMES: &str = include_str!("../../../../../fixtures/pusher/frames.ndjson");

fn recorded(direction: &str) -> Vec<Value> {
    let lines = FRAMES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["dir"] == direction).map(|line| line["frame"].clone()).collect()
}

#[test]
fn the_server_says_what_was_recorded() {
    let limits = Limits { activity: Duration::from_secs(30), ..Limits::default() };
    let presence = r#"{"presence":{"count":1,"ids":["7"],"hash":{"7":{"name":"A"}}}}"#;
    let envelope = recorded("server").iter().find(|frame| frame["event"] == "instructor.agent.event").cloned().unwrap();
    let channel = "presence-agent.session-1";
    let said = [
        established(SocketId::from_bits(123_456 << 32 | 7890), &limits),
        subscribed("agent.session-1", None),
        error(Code::Unauthorized, Code::Unauthorized.message()),
        subscribed(channel, Some(presence)),
        event("pusher_internal:member_added", channel, &quote(r#"{"user_id":"8","user_info":{"name":"B"}}"#), None),
        event("pusher_internal:member_removed", channel, &quote(r#"{"user_id":"8"}"#), None),
        pong(),
        event("instructor.agent.event", "agent.session-1", &quote(envelope["data"].as_str().unwrap()), None),
        error(Code::Reconnect, Code::Reconnect.message()),
        error(Code::PongTimeout, Code::PongTimeout.message()),
        error(Code::ClientEvent, Code::ClientEvent.message()),
        error(Code::UnknownApp, Code::UnknownApp.message()),
    ];

    let said: Vec<Value> = said.iter().map(|frame| serde_json::from_str(frame).unwrap()).collect();
    assert_eq!(said, recorded("server"));
}

#[test]
fn what_clients_were_recorded_to_say_is_understood() {
    let understood: Vec<ClientFrame> =
        recorded("client").iter().map(|frame| parse(&frame.to_string()).unwrap()).collect();

    let subscribe = |channel: &str, auth: &str, channel_data: Option<&str>| ClientFrame::Subscribe {
        channel: channel.to_owned(),
        auth: auth.to_owned(),
        channel_data: channel_data.map(str::to_owned),
    };
    let user = r#"{"user_id":"7","user_info":{"name":"A"}}"#;
    assert_eq!(
        understood,
        [
            subscribe("agent.session-1", "", None),
            subscribe("private-agent.session-1", "app-key:hexsig", None),
            subscribe("presence-agent.session-1", "app-key:hexsig", Some(user)),
            ClientFrame::Ping,
            ClientFrame::Event {
                name: "client-typing".to_owned(),
                channel: "private-agent.session-1".to_owned(),
                data: r#"{"on":true}"#.to_owned()
            },
            ClientFrame::Unsubscribe { channel: "agent.session-1".to_owned() },
        ]
    );
}

#[test]
fn data_is_json_or_a_text_that_holds_it() {
    let plain = parse(r#"{"event":"pusher:subscribe","data":{"channel":"a"}}"#);
    let quoted = parse(r#"{"event":"pusher:subscribe","data":"{\"channel\":\"a\"}"}"#);

    assert!(plain.is_ok());
    assert_eq!(plain, quoted);
}

#[test]
fn messages_that_are_none_are_told_from_those_nobody_handles() {
    let deep = format!(r#"{{"event":"pusher:ping","data":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
    let malformed = [
        "",
        "{",
        "null",
        "[]",
        "\"pusher:ping\"",
        "{}",
        r#"{"event":1}"#,
        r#"{"event":"pusher:subscribe"}"#,
        r#"{"event":"pusher:subscribe","data":"x"}"#,
        r#"{"event":"pusher:subscribe","data":{"channel":5}}"#,
        r#"{"event":"pusher:signin","data":{}}"#,
        r#"{"event":"pusher_internal:subscription_succeeded","channel":"a"}"#,
        r#"{"event":"client-x","data":{}}"#,
        r#"{"event":"pusher:ping"} {"event":"pusher:ping"}"#,
    ];

    for text in malformed {
        assert_eq!(parse(text), Err(Malformed), "{text}");
    }
    assert_eq!(parse(r#"{"event":"other","channel":"a","data":1}"#), Ok(ClientFrame::Other));
    // However deep it is, it ends.
    let _ = parse(&deep);
}

#[test]
fn names_and_texts_cannot_break_out_of_a_frame() {
    let frame = event("a\"b", "c\\", &quote("\u{2028}\"}\n"), Some("\"u\""));

    let read: Value = serde_json::from_str(&frame).unwrap();
    assert_eq!(
        read,
        serde_json::json!({"event": "a\"b", "channel": "c\\", "data": "\u{2028}\"}\n", "user_id": "\"u\""})
    );
}
