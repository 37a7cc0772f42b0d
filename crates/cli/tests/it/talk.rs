//! Commands that talk to models.

use crate::place::Place;

const FIXTURE: &str = r#"
turn:
  blocks:
    - {kind: user, role: user, payload: {text: "How warm is it in Oslo?"}}
followups:
  - {kind: user, role: user, payload: {text: "And in Rome?"}}
"#;

const TOOLS: &str = r#"
tools:
  - name: warmth
    parameters: {type: object, properties: {city: {type: string}}, required: [city]}
    command: 'grep -q Oslo && echo "{\"degrees\": 3}" || echo "{\"degrees\": 21}"'
    effect: pure
"#;

const SCRIPT: &str = r#"
turnkeep_script: 1
answers:
  - {reasoning: "I look it up.", calls: [{name: warmth, arguments: {city: Oslo}}]}
  - Three degrees.
  - calls: [{name: warmth, arguments: {city: Rome}}]
  - Twenty-one degrees.
"#;

fn place() -> Place {
    Place::new().with("f/warm.yaml", FIXTURE).with("f/warm.tools.yaml", TOOLS).with("f/warm.script.yaml", SCRIPT)
}

#[test]
fn a_run_writes_requests_turns_events_and_a_cassette_and_overwrites_none() {
    let place = place();

    place.run("run f/warm.yaml --endpoint scripted --out out").ends(0);

    assert_eq!(
        place.files("out"),
        [
            "warm.cassette.yaml",
            "warm.events-2.ndjson",
            "warm.events.ndjson",
            "warm.final_turn-2.yaml",
            "warm.final_turn.yaml",
            "warm.request-2.json",
            "warm.request-3.json",
            "warm.request-4.json",
            "warm.request.json",
        ]
    );
    assert!(place.text("out/warm.request.json").contains("How warm is it in Oslo?"));
    assert!(place.text("out/warm.request-4.json").contains("21"));
    assert!(place.text("out/warm.final_turn.yaml").contains("Three degrees."));
    assert!(!place.text("out/warm.final_turn.yaml").contains("Rome"));
    assert!(place.text("out/warm.final_turn-2.yaml").contains("Twenty-one degrees."));
    assert!(place.text("out/warm.events-2.ndjson").contains("tool-result-ready"));
}

#[test]
fn every_wire_runs_the_same_fixture_and_its_recording_gives_the_same_files() {
    let wires =
        ["openai.chat", "openai.responses", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"];
    for wire in wires {
        let place = place();

        place.run(&format!("run f/warm.yaml --endpoint scripted:{wire} --out out")).ends(0);

        place.run(&format!("run f/warm.yaml --endpoint scripted:{wire} --out out --check")).ends(0);
        let replayed =
            format!("run f/warm.yaml --endpoint scripted:{wire} --out again --replay out/warm.cassette.yaml");
        place.run(&replayed).ends(0);
        for name in place.files("again") {
            assert_eq!(place.text(&format!("again/{name}")), place.text(&format!("out/{name}")), "{wire}: {name}");
        }
    }
}

#[test]
fn a_check_shows_what_differs_and_writes_nothing() {
    let place = place();
    place.run("run f/warm.yaml --endpoint scripted --out out").ends(0);
    let before = place.text("out/warm.final_turn.yaml");
    let place = place.with("out/warm.final_turn.yaml", before.replace("Three", "Four"));

    let ran = place.run("run f/warm.yaml --endpoint scripted --out out --check").ends(1);

    assert!(ran.out.contains("-        text: Four degrees.\n+        text: Three degrees."), "{}", ran.out);
    assert!(place.text("out/warm.final_turn.yaml").contains("Four"));
}

#[test]
fn a_directory_is_a_suite() {
    let place = place().with("f/other.yaml", FIXTURE);

    let ran = place.run("run f --endpoint scripted --out out --json").ends(2);

    assert!(ran.out.contains("the endpoint `scripted` needs a script"), "{}", ran.out);
    assert!(ran.out.contains("warm.final_turn-2.yaml"), "{}", ran.out);
}

#[test]
fn a_new_session_is_asked_and_goes_on() {
    let place = place();

    let first =
        place.run("ask new Oslo? --script f/warm.script.yaml --tools f/warm.tools.yaml --json --store file:kept");
    let first = first.ends(0).out;
    let id = first.split(r#""session": ""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let second = format!("ask {id} Rome? --script f/warm.script.yaml --tools f/warm.tools.yaml --store file:kept");
    let second = place.run(&second).ends(0);

    assert!(first.contains("Three degrees."), "{first}");
    assert_eq!(second.out, "Twenty-one degrees.\n");
    assert!(second.err.contains(id), "{}", second.err);
}

#[test]
fn a_question_that_is_not_answered_is_kept_and_said_to_be() {
    let refused = "turnkeep_script: 1\nanswers:\n  - error: {status: 401, message: who are you}\n";
    let place = place().with("refused.yaml", refused);

    let ran = place.run("ask new Hello --script refused.yaml --store file:kept").ends(1);

    assert!(ran.err.contains("who are you"), "{}", ran.err);
    assert!(ran.err.contains("the question is kept, unanswered"), "{}", ran.err);
    let id = ran.err.split("turnkeep resume ").nth(1).and_then(|rest| rest.split('`').next()).unwrap().to_owned();
    assert!(place.run(&format!("show {id} --store file:kept")).ends(0).out.contains("Hello"));
}

#[test]
fn a_chat_takes_lines_and_keeps_every_word() {
    let place = place();
    let command = "chat --script f/warm.script.yaml --tools f/warm.tools.yaml --store file:kept";

    let ran = place.run_with(command, "Oslo?\n/nonsense\nRome?\n/quit\n").ends(0);

    assert_eq!(ran.out, "I look it up.\nThree degrees.\nTwenty-one degrees.\n");
    assert!(ran.err.contains("there is no /nonsense"), "{}", ran.err);
    let id = ran.err.split("turnkeep chat ").nth(1).unwrap().trim().to_owned();
    let shown = place.run(&format!("show {id} --store file:kept")).ends(0).out;
    for text in ["Oslo?", "Three degrees.", "Rome?", "Twenty-one degrees."] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}

#[test]
fn endpoints_are_listed_with_what_they_lack() {
    let config = "[endpoint.here]\nprovider = \"openai\"\nmodel = \"m\"\nkey = {env = \"TURNKEEP_TEST_NO_SUCH_KEY\"}\n";
    let place = place().with("turnkeep.toml", config);

    let ran = place.run("endpoints").ends(1);

    assert!(ran.out.contains("here"), "{}", ran.out);
    assert!(ran.out.contains("TURNKEEP_TEST_NO_SUCH_KEY"), "{}", ran.out);
    place.run("ask new Hi --endpoint her --store file:kept").ends(4).says("there is no endpoint `her`");
}

#[test]
fn a_session_begun_on_one_wire_is_finished_on_another_and_what_that_one_is_not_told_is_shown() {
    let place = place();
    let ask = |id: &str, text: &str, wire: &str| {
        let with = "--script f/warm.script.yaml --tools f/warm.tools.yaml --store file:kept";
        place.run(&format!("ask {id} {text} --endpoint scripted:{wire} {with}")).ends(0)
    };

    let first = ask("new", "Oslo?", "openai.responses");
    let id = first.err.split_whitespace().nth(1).unwrap().to_owned();
    let second = ask(&id, "Rome?", "anthropic.messages");

    assert_eq!(first.out, "I look it up.\nThree degrees.\n");
    assert_eq!(second.out, "Twenty-one degrees.\n");
    let told = "dropped     turns[0].blocks[1]: the vendor takes thinking back only as the same model signed it";
    assert!(second.err.contains(told), "{}", second.err);
    let journal = place.run(&format!("tail {id} --store file:kept")).ends(0).out;
    assert!(journal.contains(r#""type":"loss.noted""#), "{journal}");
    assert!(journal.contains(r#""api":"anthropic.messages""#), "{journal}");
}

#[test]
fn a_session_is_resumed_on_an_endpoint() {
    let place = place();
    place.run("import f/warm.yaml --store file:kept").ends(0);
    let listed = place.run("ls --json --store file:kept").ends(0).out;
    let id = listed.split(r#""id": ""#).nth(1).and_then(|rest| rest.split('"').next()).unwrap();

    let with = "--script f/warm.script.yaml --tools f/warm.tools.yaml --store file:kept";
    let ran = place.run(&format!("resume {id} --endpoint scripted:gemini.contents {with}")).ends(0);

    assert!(ran.out.contains("degrees"), "{}", ran.out);
}

#[test]
fn endpoints_are_compared_side_by_side_each_in_a_session_of_its_own() {
    let place = place();
    let with = "--script f/warm.script.yaml --tools f/warm.tools.yaml --store file:kept";

    let ran =
        place.run(&format!("ask new Oslo? --endpoint scripted:openai.chat,scripted:ollama.chat --compare {with}"));

    let ran = ran.ends(0);
    assert_eq!(ran.out.matches("Three degrees.").count(), 2, "{}", ran.out);
    assert!(ran.out.contains("endpoint  input  output  cost  time"), "{}", ran.out);
}
