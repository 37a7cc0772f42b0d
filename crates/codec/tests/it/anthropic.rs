//! What holds for Anthropic's Messages.

use turnkeep_codec::format::anthropic::Messages;
use turnkeep_codec::wire::Wire;
use turnkeep_model::json::{Json, Object};

use crate::recorded::{self, Mutation};

const DIALECT: &str = "anthropic";
const WIRE: &str = "anthropic.messages";

/// Recorded bodies that are not given back with the same meaning, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// Accepted requests that break a rule all the same, and why.
const ALARMS: &[(&str, &str)] =
    &[("anthropic/00873", "the ids of calls and results differ; the recording was probably edited")];

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
        Messages.assembler()
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
    recorded::check_next_requests(&[DIALECT, "bedrock-converse"], WIRE, "next_requests_break_no_rule");
}

const MUTATIONS: &[Mutation] = &[
    ("a result is dropped", |body| drop_block(body, "tool_result")),
    ("a call is dropped", |body| drop_block(body, "tool_use")),
    ("a result has another id", |body| change(body, "tool_result", |block| block.set("tool_use_id", "toolu_other"))),
    ("an id is illegal", |body| change(body, "tool_use", |block| block.set("id", "functions.x:0"))),
    ("a text is empty", |body| change(body, "text", |block| block.set("text", ""))),
    ("a signature is stripped", |body| change(body, "thinking", |block| drop(block.remove("signature")))),
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

fn is(block: &Json, kind: &str) -> bool {
    block.as_object().and_then(|block| block.get_str("type")).as_deref() == Some(kind)
}

fn drop_block(body: &mut Json, kind: &str) -> bool {
    for blocks in contents(body) {
        if let Some(at) = blocks.iter().position(|block| is(block, kind)) {
            blocks.remove(at);
            return true;
        }
    }
    false
}

fn change(body: &mut Json, kind: &str, change: impl Fn(&mut Object)) -> bool {
    for blocks in contents(body) {
        if let Some(Json::Object(block)) = blocks.iter_mut().find(|block| is(block, kind)) {
            change(block);
            return true;
        }
    }
    false
}
