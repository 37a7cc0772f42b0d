//! The files that a run of a fixture writes.

use turnkeep_model::json::parse;

use crate::place::Place;

const FIXTURE: &str = r#"
turn:
  blocks:
    - {kind: user, role: user, payload: {text: "How warm is it in Oslo?"}}
followups:
  - {kind: user, role: user, payload: {text: "And in Rome?"}}
"#;

const SCRIPT: &str = "turnkeep_script: 1\nanswers: [Three degrees., Twenty-one degrees.]\n";

#[test]
fn every_event_line_of_a_run_has_its_event_time_and_type() {
    let place = Place::new().with("f/warm.yaml", FIXTURE).with("f/warm.script.yaml", SCRIPT);

    place.run("run f/warm.yaml --endpoint scripted --out out").ends(0);

    for file in ["out/warm.events.ndjson", "out/warm.events-2.ndjson"] {
        let text = place.text(file);
        assert!(text.lines().count() > 3, "{text}");
        for line in text.lines() {
            let json = parse(line).unwrap().into_json();
            let pairs = json.as_object().unwrap();
            let keys: Vec<String> = pairs.iter().map(|(key, _)| key.to_str_lossy().into_owned()).collect();
            assert_eq!(keys, ["event", "ts", "type"], "{line}");
            let inner = pairs.get("event").and_then(|event| event.as_object()?.get_str("type").map(String::from));
            assert_eq!(inner.as_deref(), pairs.get_str("type").as_deref(), "{line}");
            assert!(pairs.get("ts").and_then(|ts| ts.as_number()?.as_u64()).is_some(), "{line}");
        }
    }
}
