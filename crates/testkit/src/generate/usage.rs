//! Counts, money and times.

use proptest::prelude::*;
use proptest::{collection, sample};
use turnkeep_model::{Decimal, Time, Timing, Usage};

use super::{extra, fields, number, often, rare, text, word};

/// An exact decimal in some spelling.
pub fn decimal() -> BoxedStrategy<Decimal> {
    let spelling = sample::select(&["0", "0.1", "0.10", "1e-7", "123456789.000000001", "-3", "1E+2"][..]);
    spelling.prop_filter_map("a decimal", Decimal::parse).boxed()
}

/// A time as some source wrote it: RFC 3339, another notation, or nonsense.
pub fn time() -> BoxedStrategy<Time> {
    let stamps = sample::select(
        &[
            "2026-01-16T10:00:00Z",
            "2026-01-16T10:00:00.123456789+02:00",
            "2026-01-16 10:00:00",
            "2026-01-16",
            "1768557600",
            "1768557600.25",
        ][..],
    );
    prop_oneof![8 => stamps.prop_map(Time::from), 1 => text().prop_map(Time::new)].boxed()
}

/// When something happened.
pub fn timing() -> BoxedStrategy<Timing> {
    let full = fields!(Timing {
        created: often(time()),
        updated: often(time()),
        started: rare(time()),
        completed: rare(time()),
        seconds: rare(number()),
        extra: extra(),
    });
    prop_oneof![2 => Just(Timing::default()), 1 => full].boxed()
}

fn count() -> BoxedStrategy<Option<u64>> {
    rare(prop_oneof![8 => 0..10_000u64, 1 => Just(0), 1 => Just(u64::MAX)]).boxed()
}

/// What was used, in total and by model; usually nothing is said.
pub fn usage() -> BoxedStrategy<Usage> {
    let by_model = collection::vec((word(), total_usage(Just(Vec::new()).boxed())), 0..3).prop_map(without_repetition);
    prop_oneof![2 => Just(Usage::default()), 1 => total_usage(by_model.boxed())].boxed()
}

fn total_usage(by_model: BoxedStrategy<Vec<(String, Usage)>>) -> BoxedStrategy<Usage> {
    fields!(Usage {
        input: count(),
        output: count(),
        cached_read: count(),
        cached_write: count(),
        reasoning: count(),
        total: count(),
        requests: count(),
        cost: rare(decimal()),
        by_model: by_model,
        extra: extra(),
    })
    .boxed()
}

/// A model is counted once.
fn without_repetition(mut models: Vec<(String, Usage)>) -> Vec<(String, Usage)> {
    models.sort_by(|(a, _), (b, _)| a.cmp(b));
    models.dedup_by(|(a, _), (b, _)| a == b);
    models
}
