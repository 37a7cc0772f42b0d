//! serde at the edges goes through the native shape, and refuses what it cannot hold.

use turnkeep_model::{Json, Loss, LossKind, Session, Snapshot, Status, Usage};

fn session() -> Session {
    let text = r#"{"turnkeep":1,"seq":3,"sessions":[{"id":"s","options":{"temperature":2.0},"future":{"big":18446744073709551615},
        "turns":[{"model":"m","blocks":[{"author":"user","type":"text","text":"Hi \u0000\ud83d\ude00"}]}]}]}"#;
    Snapshot::from_json(text).unwrap().0.session
}

#[test]
fn a_session_goes_through_serde_and_back() {
    let text = serde_json::to_string(&session()).unwrap();

    assert_eq!(serde_json::from_str::<Session>(&text).unwrap(), session());
}

#[test]
fn a_session_stands_inside_a_type_of_an_application() {
    #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
    struct Ticket {
        session: Session,
        losses: Vec<Loss>,
        usage: Usage,
        status: Status,
    }
    let loss = Loss::encode(LossKind::Dropped, "turns[0]", "gone");
    let ticket = Ticket {
        session: Session::default(),
        losses: vec![loss],
        usage: Usage { input: Some(3), ..Usage::default() },
        status: "completed".parse().unwrap(),
    };

    let value = serde_json::to_value(&ticket).unwrap();

    assert_eq!(value["usage"]["input"], 3);
    assert_eq!(serde_json::from_value::<Ticket>(value).unwrap(), ticket);
}

#[test]
fn json_and_values_of_serde_json_convert_both_ways() {
    let value = serde_json::json!({"b": [1, -2, 0.5, null, true], "a": {"text": "é"}});

    let json = Json::from(value.clone());

    assert_eq!(json.to_text(), value.to_string());
    assert_eq!(serde_json::Value::try_from(&json).unwrap(), value);
}

#[test]
fn what_serde_cannot_hold_is_an_error() {
    let refused = [r#"{"a":1,"a":2}"#, "1e400", "0.1234567890123456789012", "18446744073709551617", r#""\ud800""#];
    for text in refused {
        let json: Json = text.parse().unwrap();

        assert!(serde_json::Value::try_from(&json).is_err(), "{text}");
        assert!(serde_json::to_string(&json).is_err(), "{text}");
    }
}

#[test]
fn spelling_may_change_and_values_do_not() {
    for (text, written) in [("1.0", "1.0"), ("1e2", "100.0"), ("-0", "-0.0"), ("0.10", "0.1"), ("2E-1", "0.2")] {
        let json: Json = text.parse().unwrap();

        assert_eq!(serde_json::to_string(&json).unwrap(), written);
    }
}

#[test]
fn a_repeated_field_is_refused_because_nobody_could_be_told() {
    let error = serde_json::from_str::<Session>(r#"{"id":"a","id":"b"}"#).unwrap_err();

    assert!(error.to_string().contains("more than once"), "{error}");
}

#[test]
fn an_unknown_status_lists_the_known_ones() {
    let error = "done".parse::<Status>().unwrap_err();

    assert!(error.remedy().is_some_and(|remedy| remedy.contains("completed")), "{error:?}");
}
