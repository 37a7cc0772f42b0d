//! Settings, tools and forms of answers.

use proptest::prelude::*;
use proptest::{collection, sample};
use turnkeep_model::{Effort, Limits, Options, ResponseFormat, ResponseKind, ToolChoice, ToolMode, ToolSpec};

use super::{decimal, extra, fields, json, number, rare, text, time, word};

/// The settings of a model call; usually none.
pub fn options() -> BoxedStrategy<Options> {
    let full = fields!(Options {
        temperature: rare(number()),
        top_p: rare(number()),
        top_k: rare(number()),
        max_tokens: rare(number()),
        presence_penalty: rare(number()),
        frequency_penalty: rare(number()),
        reasoning: rare(effort()),
        budget_tokens: rare(number()),
        stop: collection::vec(text(), 0..2),
        seed: rare(number()),
        tool_choice: rare(tool_choice()),
        parallel_tool_calls: rare(any::<bool>()),
        connect_timeout_ms: rare(number()),
        socket_timeout_ms: rare(number()),
        limits: limits(),
        extra: extra(),
    });
    prop_oneof![2 => Just(Options::default()), 1 => full].boxed()
}

fn limits() -> BoxedStrategy<Limits> {
    let full = fields!(Limits {
        exchanges: rare(number()),
        steps: rare(number()),
        tokens: rare(number()),
        seconds: rare(number()),
        cost: rare(decimal()),
        deadline: rare(time()),
        extra: extra(),
    });
    prop_oneof![3 => Just(Limits::default()), 1 => full].boxed()
}

fn effort() -> BoxedStrategy<Effort> {
    let known = sample::select(Effort::KNOWN).prop_map(Effort::from_word);
    prop_oneof![6 => known, 1 => word().prop_map(|word| Effort::from_word(&word))].boxed()
}

fn tool_choice() -> BoxedStrategy<ToolChoice> {
    let known = sample::select(ToolMode::KNOWN).prop_map(ToolMode::from_word);
    let mode = prop_oneof![6 => known, 1 => word().prop_map(|word| ToolMode::from_word(&word))];
    fields!(ToolChoice { mode: mode, names: collection::vec(word(), 0..2), extra: extra() }).boxed()
}

/// A tool as the model is told of it.
pub fn tool_spec() -> BoxedStrategy<ToolSpec> {
    fields!(ToolSpec {
        name: word(),
        description: rare(text()),
        parameters: json(),
        strict: rare(any::<bool>()),
        extra: extra(),
    })
    .boxed()
}

/// The form an answer must have.
pub fn response_format() -> BoxedStrategy<ResponseFormat> {
    let known = sample::select(ResponseKind::KNOWN).prop_map(ResponseKind::from_word);
    let kind = prop_oneof![6 => known, 1 => word().prop_map(|word| ResponseKind::from_word(&word))];
    fields!(ResponseFormat {
        kind: kind,
        name: rare(word()),
        description: rare(text()),
        schema: json(),
        strict: rare(any::<bool>()),
        extra: extra(),
    })
    .boxed()
}
