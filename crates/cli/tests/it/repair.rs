//! Histories judged and repaired for vendors.

use crate::place::{Place, SESSION};

/// A request that was cut off between a call and its result, with an orphan before it.
const BROKEN: &str = r#"{"model":"gpt-4.1","input":[{"role":"user","content":"Go."},
{"type":"function_call_output","call_id":"call_0","output":"R"},
{"type":"function_call","call_id":"call_1","name":"f","arguments":"{}"},{"role":"user","content":"And?"}]}"#;

/// A session whose call has no result.
fn dangling() -> String {
    let lines = SESSION.lines().filter(|line| !line.contains("tool_result"));
    lines.collect::<Vec<_>>().join("\n")
}

fn place() -> Place {
    Place::new().with("broken.json", BROKEN).with("dangling.json", dangling())
}

#[test]
fn lint_explains_a_broken_request() {
    let ran = place().run("lint broken.json --for openai.responses").ends(7);

    assert!(
        ran.out.contains("input[1].call_id: error[OR-ORPHAN]: No tool call found for function call output"),
        "{ran:#?}"
    );
    assert!(ran.out.contains("input[2].call_id: error[OR-DANGLING]: No tool output found for function call call_1."));
    assert!(ran.out.ends_with("2 errors, 0 warnings\n"), "{ran:#?}");
}

#[test]
fn lint_of_a_session_names_places_in_it_and_repairs_nothing() {
    for target in ["openai.chat", "openai.responses", "anthropic.messages", "bedrock.converse"] {
        let ran = place().run(&format!("lint dangling.json --for {target} --json")).ends(7);

        assert!(ran.out.contains("\"at\": \"turns[0].blocks[2]\""), "{target}: {ran:#?}");
        assert!(ran.out.contains("-DANGLING\""), "{target}: {ran:#?}");
    }
    let ran = place().run("lint s.json --for openai.chat").ends(0);
    assert!(!ran.out.contains("error["), "{ran:#?}");
}

#[test]
fn repair_writes_a_valid_request_and_tells_each_edit() {
    let place = place();
    let ran = place.run("repair broken.json --for openai.responses -o fixed.json").ends(0);

    assert!(ran.out.contains("dropped     turns[0].blocks[1]: "), "{ran:#?}");
    assert!(ran.out.contains(": it has no recorded result; one that says so is sent with it\n"), "{ran:#?}");
    assert!(ran.out.ends_with("valid after 2 edits; 2 errors before\n"), "{ran:#?}");
    place.run("lint fixed.json --for openai.responses").ends(0);
    let again = place.run("repair fixed.json -o same.json").ends(0);
    assert_eq!(again.out, "nothing to repair\n");
    assert_eq!(place.text("same.json"), place.text("fixed.json"));
}

#[test]
fn repair_of_a_session_leaves_the_file_alone() {
    let place = place();
    for target in ["openai.chat:mistral", "anthropic.messages", "gemini.contents", "ollama.chat", "bedrock.converse"] {
        let wire = target.split(':').next().unwrap();
        let ran = place.run(&format!("repair dangling.json --for {target} -o out.json --report r.json --json")).ends(0);

        assert!(ran.out.contains("\"kind\": \"repaired\""), "{ran:#?}");
        assert_eq!(place.text("r.json"), ran.out);
        place.run(&format!("lint out.json --for {target} --from {wire}")).ends(0);
    }
    assert_eq!(place.text("dangling.json"), dangling());
}

/// A saved state of llm4s: a temperature, an effort, and a budget above the limit.
const STATE: &str = r#"{"conversation":{"messages":[{"type":"user","content":"Hello"}]},"initialQuery":null,"status":"InProgress",
"logs":[],"systemMessage":null,"completionOptions":{"temperature":0.7,"topP":1.0,"maxTokens":2000,"presencePenalty":0.0,
"frequencyPenalty":0.0,"reasoning":"high","budgetTokens":16000},"usageSummary":{"requestCount":0,"inputTokens":0,"outputTokens":0,
"thinkingTokens":0,"totalCost":0,"byModel":{}}}"#;

#[test]
fn settings_that_the_model_refuses_are_left_out_and_reported() {
    let place = Place::new().with("state.json", STATE);
    for (target, model) in
        [("bedrock.converse", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"), ("openai.chat", "gpt-5")]
    {
        place.run(&format!("convert state.json --to {target} --model {model} -o out.json --report r.json")).ends(0);

        assert!(!place.text("out.json").contains("emperature"), "{}", place.text("out.json"));
        assert!(place.text("r.json").contains("options.temperature"), "{}", place.text("r.json"));
        place.run(&format!("lint out.json --for {target} --from {target}")).ends(0);
    }
}

#[test]
fn a_model_that_is_not_in_the_table_is_named_in_the_report() {
    let place = Place::new().with("state.json", STATE);
    place.run("convert state.json --to openai.chat:azure --model my-deployment -o out.json --report r.json").ends(0);

    assert!(place.text("r.json").contains("the table of models has no row for this model"), "{}", place.text("r.json"));
}

#[test]
fn the_family_of_a_deployment_keeps_the_settings_that_its_model_takes() {
    let place = Place::new().with("state.json", STATE);
    let convert = "convert state.json --to openai.chat:azure --model my-deployment --family gpt-4o -o out.json";
    place.run(&format!("{convert} --report r.json")).ends(0);

    assert!(place.text("out.json").contains("\"temperature\": 0.7"), "{}", place.text("out.json"));
    assert!(!place.text("r.json").contains("no row"), "{}", place.text("r.json"));
    place.run("lint out.json --for openai.chat:azure --family gpt-5").ends(7);
    place.run("repair out.json --for openai.chat:azure --family gpt-5 -o better.json").ends(0);
    assert!(!place.text("better.json").contains("temperature"), "{}", place.text("better.json"));
    let refused = place.run("lint out.json --for openai.chat --family nobody").ends(2);
    assert!(refused.err.contains("has no row for `nobody`"), "{refused:#?}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = place();
    let before = place.files(".");
    let ran = place.run("repair dangling.json --for anthropic.messages --dry-run -o out.json").ends(0);

    assert!(ran.out.contains("repaired    turns[0].blocks[2]: "), "{ran:#?}");
    assert_eq!(place.files("."), before);
}

#[test]
fn the_request_goes_to_standard_output_and_the_edits_beside_it() {
    let ran = place().run_with("repair - --for openai.responses", BROKEN).ends(0);

    assert!(ran.out.starts_with("{\n  \"model\": \"gpt-4.1\""), "{ran:#?}");
    assert!(ran.err.contains("valid after 2 edits"), "{ran:#?}");
}

#[test]
fn repair_wants_a_target() {
    place().run("repair dangling.json").ends(2).says("turnkeep is no vendor's wire, and no target is named");
    place().run("repair nowhere.json --for openai.chat").ends(4);
    let ran = place().run("repair dangling.json --for geppetto.turn").ends(4);
    assert!(ran.err.contains("is no vendor's wire"), "{ran:#?}");
}
