//! What an answer used. Cached tokens are part of the input, thinking is part of the output.

use turnkeep_model::Usage;
use turnkeep_model::json::{Json, Object};

use super::FORMAT;
use super::apart::{Apart, Emit, Slot, Together};

const SLOTS: &[Slot] = &[
    ("input_tokens", Emit::Value),
    ("input_tokens_details", Emit::Value),
    ("output_tokens", Emit::Value),
    ("output_tokens_details", Emit::Value),
    ("total_tokens", Emit::Value),
];
const INPUT: &[Slot] = &[("cached_tokens", Emit::Value), ("cache_write_tokens", Emit::Value)];
const OUTPUT: &[Slot] = &[("reasoning_tokens", Emit::Value)];

/// The counts of a usage object.
pub(super) fn read(object: Object) -> Usage {
    let mut apart = Apart::new(object);
    let mut usage = Usage {
        input: apart.count("input_tokens"),
        output: apart.count("output_tokens"),
        total: apart.count("total_tokens"),
        ..Usage::default()
    };
    let mut notes = Object::new();
    apart.within("input_tokens_details", INPUT, &mut notes, |details| {
        usage.cached_read = details.count("cached_tokens");
        usage.cached_write = details.count("cache_write_tokens");
    });
    apart.within("output_tokens_details", OUTPUT, &mut notes, |details| {
        usage.reasoning = details.count("reasoning_tokens");
    });
    let mut part = apart.finish(SLOTS);
    notes.into_iter().for_each(|(key, value)| part.spelling.push(key, value));
    super::apart::keep(&mut usage.extra, part);
    usage
}

/// The usage object of some counts, if there are any.
pub(super) fn write(usage: &Usage) -> Option<Json> {
    let part = usage.extra.part(FORMAT);
    let (mut input, mut output) = (Together::default(), Together::default());
    input.put_some("cached_tokens", usage.cached_read);
    input.put_some("cache_write_tokens", usage.cached_write);
    output.put_some("reasoning_tokens", usage.reasoning);
    let mut made = Together::default();
    made.put_some("input_tokens", usage.input);
    made.put_within("input_tokens_details", input, part);
    made.put_some("output_tokens", usage.output);
    made.put_within("output_tokens_details", output, part);
    made.put_some("total_tokens", usage.total);
    let object = made.with_part(part);
    (!object.is_empty()).then_some(Json::Object(object))
}
