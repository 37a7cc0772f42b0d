//! What an answer used. Cached tokens are part of the input, thinking is part of the output.

use turnkeep_model::Usage;
use turnkeep_model::json::{Json, Object};

use super::FORMAT;
use crate::fields::{Fields, Form, Kept, KeyRule, Writer};

const USAGE: Form = &[
    ("input_tokens", KeyRule::Taken),
    ("input_tokens_details", KeyRule::Taken),
    ("output_tokens", KeyRule::Taken),
    ("output_tokens_details", KeyRule::Taken),
    ("total_tokens", KeyRule::Taken),
];
const INPUT: Form = &[("cached_tokens", KeyRule::Taken), ("cache_write_tokens", KeyRule::Taken)];
const OUTPUT: Form = &[("reasoning_tokens", KeyRule::Taken)];

/// The counts of a usage object.
pub(super) fn read(object: Object) -> Usage {
    let mut fields = Fields::new(object, USAGE);
    let mut usage = Usage {
        input: fields.count("input_tokens"),
        output: fields.count("output_tokens"),
        total: fields.count("total_tokens"),
        ..Usage::default()
    };
    fields.within("input_tokens_details", INPUT, |details| {
        usage.cached_read = details.count("cached_tokens");
        usage.cached_write = details.count("cache_write_tokens");
    });
    fields.within("output_tokens_details", OUTPUT, |details| {
        usage.reasoning = details.count("reasoning_tokens");
    });
    fields.keep(FORMAT, &mut usage.extra);
    usage
}

/// The usage object of some counts, if there are any.
pub(super) fn write(usage: &Usage) -> Option<Json> {
    let counts = |counts: &[(&str, Option<u64>)]| -> Object {
        counts.iter().filter_map(|(key, count)| Some((*key, Json::from((*count)?)))).collect()
    };
    let input = counts(&[("cached_tokens", usage.cached_read), ("cache_write_tokens", usage.cached_write)]);
    let output = counts(&[("reasoning_tokens", usage.reasoning)]);
    let mut made = Writer::new(Kept::of(&usage.extra, FORMAT), USAGE);
    made.set_some("input_tokens", usage.input);
    made.nest("input_tokens_details", input, INPUT);
    made.set_some("output_tokens", usage.output);
    made.nest("output_tokens_details", output, OUTPUT);
    made.set_some("total_tokens", usage.total);
    let object = made.finish();
    (!object.is_empty()).then_some(Json::Object(object))
}
