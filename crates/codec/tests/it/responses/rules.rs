//! Rules find what vendors refuse, and nothing else.

use turnkeep_codec::{Input, lint};
use turnkeep_model::{Json, Object};

use super::corpus::{Record, bytes, records};

/// The lint target of a record's vendor.
pub(super) fn target(record: &Record) -> &'static str {
    match (record.vendor.as_str(), record.id.split('/').next().unwrap_or_default()) {
        ("deepseek", _) => "openai.responses:deepseek",
        (_, "azure-responses") => "openai.responses:azure",
        (_, "xai-responses") => "openai.responses:xai",
        (_, "openai-responses") => "openai.responses",
        _ => "openai.responses:compatible",
    }
}

pub(super) fn errors(body: &Json, target: &str) -> Vec<String> {
    let bytes = bytes(body);
    let found = lint::lint(Input::new(&bytes), target, lint::Strictness::Lax).unwrap();
    let errors = found.iter().filter(|finding| finding.severity == lint::Severity::Error);
    errors.map(|finding| format!("{} at {}: {}", finding.rule, finding.at, finding.what)).collect()
}

#[test]
fn what_was_accepted_lints_clean() {
    let Some(records) = records("what_was_accepted_lints_clean") else { return };
    let accepted: Vec<_> =
        records.iter().filter(|record| record.kind == "request" && record.accepted == Some(true)).collect();
    let alarms: Vec<_> = accepted
        .iter()
        .filter_map(|record| {
            let errors = errors(&record.body, target(record));
            (!errors.is_empty()).then(|| format!("{} {:?}", record.id, errors))
        })
        .collect();
    println!("{} accepted requests: {} false alarms\n{}", accepted.len(), alarms.len(), alarms.join("\n"));
    assert!(alarms.len() * 200 < accepted.len(), "{}", alarms.join("\n"));
}

/// Recorded rejections that are about the shape of the request, and the rule that finds them.
const REJECTED: &[(&str, &str)] = &[
    ("openai-responses/03879", "OR-FILE"),
    ("openai-responses/03910", "OR-FILE"),
    ("openai-responses/04072", "OR-TEMP"),
    ("openai-responses/04171", "OR-REASON-TAIL"),
    ("responses-compat/00163", "OR-INTERLEAVE"),
];

#[test]
fn what_was_rejected_for_its_shape_is_found() {
    let Some(records) = records("what_was_rejected_for_its_shape_is_found") else { return };
    for (id, rule) in REJECTED {
        // The open part of the corpus may not hold all of them.
        let Some(record) = records.iter().find(|record| record.id == *id) else { continue };
        let found = errors(&record.body, target(record));
        assert!(found.iter().any(|error| error.starts_with(rule)), "{id}: {found:?}");
    }
}

/// A way to break a request: where it applies, the broken request.
type Mutation = fn(&Json) -> Option<Json>;

const MUTATIONS: &[(&str, Mutation, &[&str])] = &[
    ("result dropped", |body| without(body, "function_call_output"), &["OR-DANGLING"]),
    ("call dropped", |body| without(body, "function_call"), &["OR-ORPHAN", "OR-REASON-TAIL"]),
    ("wrong id", |body| changed(body, "function_call_output", "call_id", Some("call_of_nobody")), &["OR-ORPHAN"]),
    ("empty id", |body| changed(body, "function_call", "call_id", Some("")), &["OR-IDLEN"]),
    ("long id", |body| changed(body, "function_call", "call_id", Some(&"x".repeat(65))), &["OR-IDLEN"]),
    ("signature stripped", stripped, &["OR-REASON-ENC"]),
    ("reasoning without follower", without_follower, &["OR-REASON-TAIL"]),
    ("reasoning dropped", without_reasoning, &["OR-REASON-HEAD"]),
    ("wrong part", wrong_part, &["OR-PART"]),
];

fn with_items(body: &Json, change: impl FnOnce(&mut Vec<Json>) -> Option<()>) -> Option<Json> {
    let mut body = body.as_object()?.clone();
    let state = ["previous_response_id", "conversation", "prompt"];
    if state.iter().any(|key| body.get(key).is_some_and(|value| *value != Json::Null)) {
        return None;
    }
    let mut items = body.get("input")?.as_array()?.to_vec();
    if items.iter().any(|item| is_kind(item, "item_reference")) {
        return None;
    }
    change(&mut items)?;
    body.set("input", items);
    Some(Json::Object(body))
}

fn is_kind(item: &Json, kind: &str) -> bool {
    item.as_object().and_then(|item| item.get_str("type")).is_some_and(|own| own == kind)
}

fn without(body: &Json, kind: &str) -> Option<Json> {
    with_items(body, |items| {
        let at = items.iter().position(|item| is_kind(item, kind))?;
        items.remove(at);
        Some(())
    })
}

fn changed(body: &Json, kind: &str, key: &str, value: Option<&str>) -> Option<Json> {
    with_items(body, |items| {
        let Json::Object(item) = items.iter_mut().find(|item| is_kind(item, kind))? else { return None };
        match value {
            Some(value) => item.set(key, value),
            None => drop(item.remove(key)?),
        }
        Some(())
    })
}

/// Only a vendor that keeps nothing needs the encrypted content.
fn stripped(body: &Json) -> Option<Json> {
    let stateless = body.as_object()?.get("store") == Some(&Json::Bool(false));
    let has = |item: &Json| item.as_object().is_some_and(|item| item.get_str("encrypted_content").is_some());
    let first = body.as_object()?.get("input")?.as_array()?.iter().find(|item| is_kind(item, "reasoning"))?;
    (stateless && has(first)).then(|| changed(body, "reasoning", "encrypted_content", None)).flatten()
}

fn without_follower(body: &Json) -> Option<Json> {
    with_items(body, |items| {
        let at = items.iter().position(|item| is_kind(item, "reasoning"))?;
        items.get(at)?.as_object()?.get_str("id")?;
        let user: Json =
            [("role", Json::from("user")), ("content", Json::from("Go on."))].into_iter().collect::<Object>().into();
        items.truncate(at + 1);
        items.push(user);
        Some(())
    })
}

fn without_reasoning(body: &Json) -> Option<Json> {
    let mut led_to_call = false;
    let broken = with_items(body, |items| {
        let at = items.iter().position(|item| is_kind(item, "reasoning"))?;
        let next = items.get(at + 1)?;
        led_to_call = is_kind(next, "function_call") && next.as_object()?.get_str("id").is_some();
        items.remove(at);
        Some(())
    })?;
    led_to_call.then_some(broken)
}

fn wrong_part(body: &Json) -> Option<Json> {
    with_items(body, |items| {
        let parts = items.iter_mut().find_map(|item| match item {
            Json::Object(item) => item.iter_mut().find_map(|(key, value)| match value {
                Json::Array(parts) if key.to_str_lossy() == "content" && !parts.is_empty() => Some(parts),
                _ => None,
            }),
            _ => None,
        })?;
        let Json::Object(part) = parts.first_mut()? else { return None };
        let wrong = if part.get_str("type")?.starts_with("input_") { "output_text" } else { "input_text" };
        if part.get_str("type")? == "reasoning_text" {
            return None;
        }
        part.set("type", wrong);
        Some(())
    })
}

#[test]
fn mutants_of_accepted_requests_are_found() {
    let Some(records) = records("mutants_of_accepted_requests_are_found") else { return };
    let (mut all, mut missed) = (0, Vec::new());
    let accepted = records.iter().filter(|record| record.kind == "request" && record.accepted == Some(true));
    for record in accepted {
        for (name, mutation, rules) in MUTATIONS {
            let Some(mutant) = mutation(&record.body) else { continue };
            let target = target(record);
            let is_lenient = target != "openai.responses" && target != "openai.responses:azure";
            if is_lenient
                && rules.iter().all(|rule| rule.starts_with("OR-REASON-TAIL") || rule.starts_with("OR-REASON-HEAD"))
            {
                continue;
            }
            all += 1;
            let found = errors(&mutant, target);
            if !rules.iter().any(|rule| found.iter().any(|error| error.starts_with(rule))) {
                missed.push(format!("{} {name}: {found:?}", record.id));
            }
        }
    }
    println!("{all} mutants: {} found, {} missed\n{}", all - missed.len(), missed.len(), missed.join("\n"));
    assert!(missed.len() * 50 <= all, "{} of {all} missed", missed.len());
}

/// For every rule a request that breaks it, and nothing else.
const BROKEN: &[(&str, &str, &str)] = &[
    ("OR-ORPHAN", "", r#"{"input":[{"type":"function_call_output","call_id":"a","output":""}]}"#),
    ("OR-DANGLING", "", r#"{"input":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}"#),
    (
        "OR-ORDER",
        "",
        r#"{"input":[{"type":"function_call_output","call_id":"a","output":""},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}"#,
    ),
    (
        "OR-DUPOUT",
        "",
        r#"{"input":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":""},{"type":"function_call_output","call_id":"a","output":""}]}"#,
    ),
    (
        "OR-INTERLEAVE",
        ":deepseek",
        r#"{"input":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"role":"assistant","content":"and"},{"type":"function_call_output","call_id":"a","output":""}]}"#,
    ),
    (
        "OR-REASON-TAIL",
        "",
        r#"{"model":"gpt-4.1","input":[{"type":"reasoning","id":"rs_1","summary":[]},{"role":"assistant","content":"hi"}]}"#,
    ),
    (
        "OR-REASON-HEAD",
        "",
        r#"{"model":"gpt-5","input":[{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":""}]}"#,
    ),
    (
        "OR-REASON-ENC",
        "",
        r#"{"store":false,"input":[{"type":"reasoning","id":"rs_1","summary":[]},{"type":"message","id":"msg_1","role":"assistant","content":"hi"}]}"#,
    ),
    (
        "OR-REASON-SUM",
        "",
        r#"{"input":[{"type":"reasoning","id":"rs_1"},{"type":"message","id":"msg_1","role":"assistant","content":"hi"}]}"#,
    ),
    ("OR-REF", "", r#"{"store":false,"input":[{"type":"item_reference","id":"msg_1"}]}"#),
    (
        "OR-IDLEN",
        "",
        r#"{"input":[{"type":"function_call","call_id":"","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"","output":""}]}"#,
    ),
    ("OR-ID", "", r#"{"input":[{"type":"message","id":"fc_1","role":"assistant","content":"hi"}]}"#),
    (
        "OR-CALL",
        "",
        r#"{"input":[{"type":"function_call","call_id":"a","name":"f","arguments":{}},{"type":"function_call_output","call_id":"a","output":""}]}"#,
    ),
    (
        "OR-NAME",
        "",
        r#"{"input":[{"role":"user","content":"hi"}],"tools":[{"type":"function","name":"a.b","parameters":{},"strict":false}]}"#,
    ),
    ("OR-ROLE", "", r#"{"input":[{"role":"tool","content":"hi"}]}"#),
    ("OR-PART", "", r#"{"input":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}"#),
    ("OR-EMPTYTEXT", "", r#"{"input":[{"role":"user","content":""}]}"#),
    ("OR-NOINPUT", "", r#"{"model":"gpt-4.1","input":[]}"#),
    (
        "OR-FILE",
        "",
        r#"{"input":[{"role":"user","content":[{"type":"input_file","filename":"a.mp3","file_data":"data:audio/mpeg;base64,AA=="}]}]}"#,
    ),
    (
        "OR-STRICT",
        "",
        r#"{"input":[{"role":"user","content":"hi"}],"tools":[{"type":"function","name":"f","strict":true,"parameters":{"type":"object","properties":{"a":{}}}}]}"#,
    ),
    ("OR-TEMP", "", r#"{"input":[{"role":"user","content":"hi"}],"temperature":-1}"#),
    (
        "OR-EFFORT",
        "",
        r#"{"model":"o4-mini","input":[{"role":"user","content":"hi"}],"reasoning":{"effort":"minimal"}}"#,
    ),
];

#[test]
fn every_rule_finds_what_breaks_it_and_nothing_else() {
    // The table of models has rules of its own, which are tested with it.
    for rule in lint::rules("openai.responses").iter().filter(|rule| !rule.models.contains("table")) {
        let (_, profile, body) = BROKEN.iter().find(|(id, ..)| *id == rule.id).unwrap();
        let target = format!("openai.responses{profile}");
        let found = lint::lint(Input::new(body.as_bytes()), &target, lint::Strictness::Lax).unwrap();
        let mut rules: Vec<_> = found.iter().map(|finding| (finding.rule, finding.severity)).collect();
        rules.dedup();
        assert_eq!(rules, [(rule.id, rule.severity)], "{body}");
    }
}

#[test]
fn a_document_of_another_format_is_judged_before_repair() {
    let turn = "blocks:\n- kind: tool_call\n  payload: {id: call_1, name: f, args: {}}\n";
    let found = lint::lint(Input::new(turn.as_bytes()), "openai.responses", lint::Strictness::Lax).unwrap();
    let found: Vec<_> = found.iter().map(|finding| (finding.rule, finding.at.as_str())).collect();

    assert_eq!(found, [("OR-DANGLING", "input[0].call_id")]);
}
