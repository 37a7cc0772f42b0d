//! What was used, under the names of many vendors.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Decimal, Usage};

use super::ID;
use crate::wire::taken::{Fields, Notes, plain_count};

const USAGE: &[&str] =
    &["prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details"];

/// Where vendors put tokens that came from a cache, the usual place first.
const CACHED: &[&[&str]] = &[
    &["prompt_tokens_details", "cached_tokens"],
    &["prompt_cache_hit_tokens"],
    &["num_cached_tokens"],
    &["cached_tokens"],
    &["cache_read_input_tokens"],
];
/// Where vendors put tokens that went into a cache.
const WRITTEN: &[&[&str]] = &[&["prompt_tokens_details", "cache_write_tokens"], &["cache_creation_input_tokens"]];
/// Where vendors put tokens that were thinking.
const THOUGHT: &[&[&str]] = &[&["completion_tokens_details", "reasoning_tokens"], &["reasoning_tokens"]];

/// The count of a response.
pub(super) fn read(object: Object) -> Usage {
    let mut fields = Fields::new(object, USAGE);
    let mut usage = Usage {
        input: fields.count("prompt_tokens"),
        output: fields.count("completion_tokens"),
        total: fields.count("total_tokens"),
        ..Usage::default()
    };
    usage.cached_read = first_of(&mut fields, "cached_read", CACHED);
    usage.cached_write = first_of(&mut fields, "cached_write", WRITTEN);
    usage.reasoning = first_of(&mut fields, "reasoning", THOUGHT);
    let decimal = |value: &Json| value.as_number().is_some_and(|number| Decimal::parse(number.as_str()).is_some());
    let cost = fields.take_if("cost", decimal);
    usage.cost = cost.as_ref().and_then(Json::as_number).and_then(|number| Decimal::parse(number.as_str()));
    fields.leave(ID, &mut usage.extra);
    usage
}

/// Takes a count from the first place that has one.
fn first_of(fields: &mut Fields, name: &str, places: &[&[&str]]) -> Option<u64> {
    let (place, count) = places.iter().enumerate().find_map(|(index, path)| match path {
        [key] => Some((index, fields.count(key)?)),
        [outer, key] => Some((index, count_in(fields, outer, key)?)),
        _ => None,
    })?;
    if place > 0 {
        fields.note(name, place as u64);
    }
    Some(count)
}

fn count_in(fields: &mut Fields, outer: &str, key: &str) -> Option<u64> {
    fields.get(outer)?.as_object()?.get(key)?.as_number().and_then(plain_count)?;
    let mut inner = Fields::new(fields.object(outer)?, &[key]);
    let count = inner.count(key);
    fields.inner(outer, inner);
    count
}

/// The count as it stood in a response.
pub(super) fn write(usage: &Usage) -> Object {
    let notes = Notes::of(&usage.extra, ID);
    let mut object = Object::new();
    let plain = [("prompt_tokens", usage.input), ("completion_tokens", usage.output), ("total_tokens", usage.total)];
    for (key, count) in plain {
        count.into_iter().for_each(|count| object.push(key, count));
    }
    let placed = [
        ("cached_read", CACHED, usage.cached_read),
        ("cached_write", WRITTEN, usage.cached_write),
        ("reasoning", THOUGHT, usage.reasoning),
    ];
    let mut inner: Vec<(&str, Object)> = Vec::new();
    for (name, places, count) in placed {
        let index = notes.get(name).and_then(Json::as_number).and_then(turnkeep_model::Number::as_u64).unwrap_or(0);
        let path = places.get(index as usize).or(places.first());
        match (path.copied(), count) {
            (Some([key]), Some(count)) => object.push(*key, count),
            (Some([outer, key]), Some(count)) => match inner.iter_mut().find(|(own, _)| own == outer) {
                Some((_, own)) => own.push(*key, count),
                None => inner.push((outer, [(*key, Json::from(count))].into_iter().collect())),
            },
            _ => {}
        }
    }
    let apart: Vec<&str> = inner.iter().map(|(outer, _)| *outer).collect();
    for (outer, own) in inner {
        object.push(outer, notes.complete_inner(outer, own, &[]));
    }
    if let Some(cost) = usage.cost.as_ref().and_then(|cost| turnkeep_model::Number::parse(cost.as_str())) {
        object.push("cost", cost);
    }
    notes.complete(object, USAGE, &apart)
}
