//! What holds for Bedrock's Converse.

use turnkeep_codec::format::bedrock::Converse;
use turnkeep_codec::wire::Wire;
use turnkeep_model::json::{Json, Object};

use crate::recorded::{self, Mutation};

const DIALECT: &str = "bedrock-converse";
const WIRE: &str = "bedrock.converse";

/// Recorded bodies that are not given back with the same meaning, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// Accepted requests that break a rule all the same, and why.
const ALARMS: &[(&str, &str)] = &[];

#[test]
fn recorded_bodies_are_given_back() {
    recorded::check_given_back(DIALECT, recorded::wire(WIRE), "recorded_bodies_are_given_back", EXCEPTIONS);
}

#[test]
fn recorded_exchanges_are_given_back() {
    recorded::check_exchanges(DIALECT, recorded::wire(WIRE), "recorded_exchanges_are_given_back");
}

#[test]
fn next_requests_of_any_session_break_no_rule() {
    recorded::check_generated(WIRE);
}

#[test]
fn recorded_streams_make_up_responses() {
    recorded::check_streams(DIALECT, recorded::wire(WIRE), "recorded_streams_make_up_responses", || {
        Converse.assembler()
    });
}

#[test]
fn what_the_vendor_accepted_breaks_no_rule() {
    recorded::check_lint(DIALECT, WIRE, "what_the_vendor_accepted_breaks_no_rule", ALARMS);
}

#[test]
fn what_is_broken_breaks_a_rule() {
    recorded::check_mutants(DIALECT, WIRE, "what_is_broken_breaks_a_rule", MUTATIONS);
}

#[test]
fn next_requests_break_no_rule() {
    recorded::check_next_requests(&[DIALECT, "anthropic"], WIRE, "next_requests_break_no_rule");
}

const MUTATIONS: &[Mutation] = &[
    ("a result is dropped", |body| drop_block(body, "toolResult")),
    ("a call is dropped", |body| drop_block(body, "toolUse")),
    ("a result has another id", |body| change(body, "toolResult", |block| block.set("toolUseId", "tooluse_other"))),
    ("an id is illegal", |body| change(body, "toolUse", |block| block.set("toolUseId", "x y"))),
    ("a signature is stripped", |body| {
        change(body, "reasoningContent", |block| {
            if let Some(Json::Object(mut text)) = block.get("reasoningText").cloned() {
                text.remove("signature");
                block.set("reasoningText", text);
            }
        })
    }),
    ("the tools are dropped", |body| {
        let uses = body.to_text().contains("\"toolUse\"");
        let Json::Object(body) = body else { return false };
        uses && body.remove("toolConfig").is_some()
    }),
];

fn contents(body: &mut Json) -> Vec<&mut Vec<Json>> {
    let mut found = Vec::new();
    let Json::Object(body) = body else { return found };
    for (key, value) in body.iter_mut() {
        let Json::Array(messages) = value else { continue };
        if key.to_str_lossy() != "messages" {
            continue;
        }
        for message in messages {
            let Json::Object(message) = message else { continue };
            for (key, value) in message.iter_mut() {
                if let (Json::Array(blocks), "content") = (value, &*key.to_str_lossy()) {
                    found.push(blocks);
                }
            }
        }
    }
    found
}

fn holds(block: &Json, kind: &str) -> bool {
    block.as_object().is_some_and(|block| block.contains(kind))
}

fn drop_block(body: &mut Json, kind: &str) -> bool {
    for blocks in contents(body) {
        if let Some(at) = blocks.iter().position(|block| holds(block, kind)) {
            blocks.remove(at);
            return true;
        }
    }
    false
}

fn change(body: &mut Json, kind: &str, change: impl Fn(&mut Object)) -> bool {
    for blocks in contents(body) {
        for block in blocks {
            let Json::Object(block) = block else { continue };
            if let Some(Json::Object(inner)) =
                block.iter_mut().find(|(key, _)| key.to_str_lossy() == kind).map(|(_, v)| v)
            {
                let before = inner.clone();
                change(inner);
                if *inner != before {
                    return true;
                }
            }
        }
    }
    false
}
