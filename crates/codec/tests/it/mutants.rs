//! Accepted requests of Gemini and Ollama, broken on purpose: the rules find it, and for the right reason.
#![expect(clippy::print_stdout, reason = "the counts are what these tests tell")]

use turnkeep_codec::Input;
use turnkeep_codec::lint::{Strictness, lint};
use turnkeep_model::json::{Json, Object};

use crate::recorded::recorded;

/// A way to break a request, and the rules that find it.
type Mutation = (&'static str, fn(&mut Object) -> Option<()>, &'static [&'static str]);

fn rules(target: &str, body: &Json) -> Vec<&'static str> {
    let text = body.to_text();
    let found = lint(Input::new(text.as_bytes()), target, Strictness::Lax).unwrap();
    found.into_iter().map(|finding| finding.rule).collect()
}

fn check(dialect: &str, target: &str, test: &str, mutations: &[Mutation]) {
    let all = recorded(dialect, test);
    let accepted = all.iter().filter(|record| record.kind == "request" && record.accepted == Some(true));
    let accepted: Vec<&Json> = accepted.map(|record| &record.body).collect();
    let (mut total, mut found) = (0, 0);
    for (name, mutate, wanted) in mutations {
        let (mut made, mut missed) = (0, 0);
        for body in &accepted {
            let before = rules(target, body);
            let Json::Object(mut mutant) = (*body).clone() else { continue };
            if before.iter().any(|rule| wanted.contains(rule)) || mutate(&mut mutant).is_none() {
                continue;
            }
            made += 1;
            missed += usize::from(!rules(target, &Json::Object(mutant)).iter().any(|rule| wanted.contains(rule)));
        }
        println!("{target}: {name}: {made} mutants, {missed} missed");
        assert!(missed * 50 <= made, "{name}: {missed} of {made} missed");
        total += made;
        found += made - missed;
    }
    println!("{target}: {found} of {total} mutants found");
}

fn value<'a>(object: &'a mut Object, key: &str) -> Option<&'a mut Json> {
    object.iter_mut().find(|(own, _)| own.to_str_lossy() == key).map(|(_, value)| value)
}

fn list<'a>(object: &'a mut Object, key: &str) -> Option<&'a mut Vec<Json>> {
    match value(object, key)? {
        Json::Array(items) => Some(items),
        _ => None,
    }
}

fn objects<'a>(object: &'a mut Object, key: &str) -> impl Iterator<Item = &'a mut Object> {
    list(object, key).into_iter().flatten().filter_map(|item| match item {
        Json::Object(object) => Some(object),
        _ => None,
    })
}

fn inner<'a>(object: &'a mut Object, key: &str) -> Option<&'a mut Object> {
    match value(object, key)? {
        Json::Object(object) => Some(object),
        _ => None,
    }
}

/// The first part with a key.
fn part<'a>(body: &'a mut Object, key: &str) -> Option<&'a mut Object> {
    objects(body, "contents").find_map(|content| objects(content, "parts").find(|part| part.contains(key)))
}

/// Takes away the first part with a key, and the content if nothing is left in it.
fn drop_part(body: &mut Object, key: &str) -> Option<()> {
    let contents = list(body, "contents")?;
    let has = |part: &Json| part.as_object().is_some_and(|part| part.contains(key));
    let parts =
        |content: &Json| content.as_object().and_then(|content| content.get("parts")?.as_array()).map(<[_]>::to_vec);
    let at = contents.iter().position(|content| parts(content).is_some_and(|parts| parts.iter().any(has)))?;
    let mut left = parts(contents.get(at)?)?;
    let place = left.iter().position(has)?;
    left.remove(place);
    if left.is_empty() {
        // A call that no user's content follows still waits for its response.
        let speaks =
            |content: &Json| content.as_object().and_then(|content| content.get_str("role")).as_deref() == Some("user");
        contents.iter().skip(at + 1).any(speaks).then(|| contents.remove(at))?;
        return Some(());
    }
    match contents.get_mut(at)? {
        Json::Object(content) => content.set("parts", left),
        _ => return None,
    }
    Some(())
}

const GEMINI: &[Mutation] = &[
    (
        "a response is dropped",
        |body| drop_part(body, "functionResponse"),
        &["GE-DANGLING", "GE-COUNT", "GE-CALLPOS", "GE-RESPOS"],
    ),
    ("a call is dropped", |body| drop_part(body, "functionCall"), &["GE-RESPOS", "GE-COUNT"]),
    (
        "a response has another name",
        |body| {
            inner(part(body, "functionResponse")?, "functionResponse")?.set("name", "another");
            Some(())
        },
        &["GE-RESNAME", "GE-RESPOS", "GE-COUNT"],
    ),
    (
        "a response has another id",
        |body| {
            inner(part(body, "functionCall")?, "functionCall")?.get_str("id")?;
            let response = inner(part(body, "functionResponse")?, "functionResponse")?;
            response.get_str("id")?;
            response.set("id", "another");
            Some(())
        },
        &["GE-RESNAME", "GE-RESPOS", "GE-COUNT"],
    ),
    (
        "arguments are a text",
        |body| {
            inner(part(body, "functionCall")?, "functionCall")?.set("args", "{}");
            Some(())
        },
        &["GE-ARGS"],
    ),
    (
        "a response is a text",
        |body| {
            inner(part(body, "functionResponse")?, "functionResponse")?.set("response", "done");
            Some(())
        },
        &["GE-RESOBJ"],
    ),
    (
        "a role of another vendor",
        |body| {
            objects(body, "contents").next()?.set("role", "assistant");
            Some(())
        },
        &["GE-ROLE"],
    ),
    (
        "nothing is said",
        |body| {
            list(body, "contents")?.clear();
            Some(())
        },
        &["GE-EMPTY"],
    ),
    (
        "two things in one part",
        |body| {
            part(body, "functionCall")?.set("text", "and");
            Some(())
        },
        &["GE-ONEOF"],
    ),
    (
        "a signature is stripped",
        |body| {
            body.get_str("model").filter(|model| model.contains("gemini-3"))?;
            // Only the turn that is going on is checked.
            let last = list(body, "contents")?.last()?.as_object()?.get("parts")?.as_array()?.to_vec();
            last.iter().find(|part| part.as_object().is_some_and(|part| part.contains("functionResponse")))?;
            let calls = objects(body, "contents")
                .filter_map(|content| objects(content, "parts").find(|part| part.contains("functionCall")));
            calls.last()?.remove("thoughtSignature")?;
            Some(())
        },
        &["GE-SIG"],
    ),
    (
        "far too hot",
        |body| {
            body.set("generationConfig", [("temperature", Json::from(1000u64))].into_iter().collect::<Object>());
            Some(())
        },
        &["GE-TEMP"],
    ),
];

#[test]
fn what_is_broken_for_gemini_is_found() {
    check("gemini", "gemini.contents", "what_is_broken_for_gemini_is_found", GEMINI);
}

fn calls(body: &mut Object) -> Option<&mut Object> {
    objects(body, "messages").find_map(|message| objects(message, "tool_calls").next())
}

fn drop_message(body: &mut Object, is_it: impl Fn(&Object) -> bool) -> Option<()> {
    let messages = list(body, "messages")?;
    let at = messages.iter().position(|message| message.as_object().is_some_and(&is_it))?;
    // What is last may still be on its way.
    let is_tool =
        |message: &Json| message.as_object().and_then(|message| message.get_str("role")).as_deref() == Some("tool");
    let goes_on = messages.iter().skip(at + 1).any(|message| !is_tool(message));
    let is_result = messages.get(at).is_some_and(is_tool);
    let is_answered = messages.get(at + 1).is_some_and(is_tool);
    (if is_result { goes_on } else { is_answered }).then(|| messages.remove(at))?;
    Some(())
}

const OLLAMA: &[Mutation] = &[
    (
        "a role of another vendor",
        |body| {
            objects(body, "messages").next()?.set("role", "model");
            Some(())
        },
        &["OL-ROLE"],
    ),
    (
        "content in parts",
        |body| {
            let part: Object = [("type", Json::from("text"))].into_iter().collect();
            objects(body, "messages").next()?.set("content", vec![Json::Object(part)]);
            Some(())
        },
        &["OL-CONTENT"],
    ),
    (
        "arguments are a text",
        |body| {
            inner(calls(body)?, "function")?.set("arguments", "{}");
            Some(())
        },
        &["OL-ARGS"],
    ),
    (
        "an image by its address",
        |body| {
            objects(body, "messages").next()?.set("images", vec![Json::from("https://example.org/a.png")]);
            Some(())
        },
        &["OL-IMAGE"],
    ),
    (
        "a result is dropped",
        |body| drop_message(body, |message| message.get_str("role").as_deref() == Some("tool")),
        &["OL-DANGLING"],
    ),
    ("a call is dropped", |body| drop_message(body, |message| message.contains("tool_calls")), &["OL-ORPHAN"]),
];

#[test]
fn what_is_broken_for_ollama_is_found() {
    check("ollama", "ollama.chat", "what_is_broken_for_ollama_is_found", OLLAMA);
}
