//! What was used, under the names of many vendors.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Decimal, Number, Usage};

use super::ID;
use crate::fields::{Fields, Form, Kept, KeyRule, Writer, optional};

const USAGE: Form = &optional([
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    PROMPT,
    COMPLETION,
    "prompt_cache_hit_tokens",
    "num_cached_tokens",
    "cached_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "reasoning_tokens",
    "cost",
]);
const DETAILS: Form =
    &[("cached_tokens", KeyRule::Taken), ("cache_write_tokens", KeyRule::Taken), ("reasoning_tokens", KeyRule::Taken)];
const PROMPT: &str = "prompt_tokens_details";
const COMPLETION: &str = "completion_tokens_details";

/// A count of a usage.
type Count = fn(&mut Usage) -> &mut Option<u64>;

/// The counts that all vendors have in one place.
const PLAIN: &[(&str, Count)] = &[
    ("prompt_tokens", |usage| &mut usage.input),
    ("completion_tokens", |usage| &mut usage.output),
    ("total_tokens", |usage| &mut usage.total),
];

/// A count that vendors put in different places.
struct Placed {
    /// The name of the note on its place: which of `flat`, counted from one, where it is not inside.
    note: &'static str,
    count: Count,
    /// The usual place: an object of details, and the key in it.
    inside: (&'static str, &'static str),
    /// The places beside the other counts.
    flat: &'static [&'static str],
}

const PLACED: &[Placed] = &[
    Placed {
        note: "cached_read",
        count: |usage| &mut usage.cached_read,
        inside: (PROMPT, "cached_tokens"),
        flat: &["prompt_cache_hit_tokens", "num_cached_tokens", "cached_tokens", "cache_read_input_tokens"],
    },
    Placed {
        note: "cached_write",
        count: |usage| &mut usage.cached_write,
        inside: (PROMPT, "cache_write_tokens"),
        flat: &["cache_creation_input_tokens"],
    },
    Placed {
        note: "reasoning",
        count: |usage| &mut usage.reasoning,
        inside: (COMPLETION, "reasoning_tokens"),
        flat: &["reasoning_tokens"],
    },
];

fn placed_in(details: &str) -> impl Iterator<Item = &'static Placed> {
    PLACED.iter().filter(move |placed| placed.inside.0 == details)
}

/// The count of a response.
pub(super) fn read(object: Object) -> Usage {
    let mut fields = Fields::new(object, USAGE);
    let mut usage = Usage::default();
    for (key, count) in PLAIN {
        *count(&mut usage) = fields.count(key);
    }
    for details in [PROMPT, COMPLETION] {
        fields.within(details, DETAILS, |inner| {
            placed_in(details).for_each(|placed| *(placed.count)(&mut usage) = inner.count(placed.inside.1));
        });
    }
    for placed in PLACED {
        if (placed.count)(&mut usage).is_some() {
            continue;
        }
        let mut flat = (1_u64..).zip(placed.flat);
        if let Some((place, count)) = flat.find_map(|(place, key)| Some((place, fields.count(key)?))) {
            *(placed.count)(&mut usage) = Some(count);
            fields.note(placed.note, place);
        }
    }
    usage.cost = fields.read("cost", |value| Decimal::parse(value.as_number()?.as_str()));
    fields.keep(ID, &mut usage.extra);
    usage
}

/// The count as it stood in a response.
pub(super) fn write(usage: &Usage) -> Object {
    let kept = Kept::of(&usage.extra, ID);
    let mut counts = Usage { extra: turnkeep_model::Extra::NONE, ..usage.clone() };
    let mut writer = Writer::new(kept, USAGE);
    PLAIN.iter().for_each(|(key, count)| writer.set_some(key, *count(&mut counts)));
    let flat = |placed: &Placed| {
        let place = kept.note(placed.note)?.as_number()?.as_u64()?;
        placed.flat.get(usize::try_from(place).ok()?.checked_sub(1)?).copied()
    };
    for details in [PROMPT, COMPLETION] {
        let mut inner = Object::new();
        for placed in placed_in(details) {
            match ((placed.count)(&mut counts), flat(placed)) {
                (Some(count), None) => inner.push(placed.inside.1, *count),
                (Some(count), Some(key)) => writer.set(key, *count),
                (None, _) => {}
            }
        }
        writer.nest(details, inner, DETAILS);
    }
    let cost = usage.cost.as_ref().and_then(|cost| Number::parse(cost.as_str()));
    writer.set_some("cost", cost.map(Json::Number));
    writer.finish()
}
