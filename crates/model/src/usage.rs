//! What was used.

use crate::decimal::Decimal;
use crate::extra::Extra;
use crate::shape::shape;

/// Tokens, requests and cost. What the source did not count is absent, which differs from zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens sent.
    pub input: Option<u64>,
    /// Tokens answered.
    pub output: Option<u64>,
    /// Tokens of the input that came from a cache.
    pub cached_read: Option<u64>,
    /// Tokens of the input that went into a cache.
    pub cached_write: Option<u64>,
    /// Tokens of the output that were thinking.
    pub reasoning: Option<u64>,
    /// The source's own total.
    pub total: Option<u64>,
    /// How many requests were made.
    pub requests: Option<u64>,
    /// What it cost.
    pub cost: Option<Decimal>,
    /// The same by model.
    pub by_model: Vec<(String, Usage)>,
    /// What the source had beyond that.
    pub extra: Extra,
}

shape! {
    Usage {
        input: opt,
        output: opt,
        cached_read: opt,
        cached_write: opt,
        reasoning: opt,
        total: opt,
        requests: opt,
        cost: opt,
        by_model: opt,
    }
}

impl Usage {
    /// Adds what another count has. Adding to an empty count gives the other one, extras included.
    pub fn add(&mut self, other: &Usage) {
        if *self == Usage::default() {
            *self = other.clone();
            return;
        }
        let counts = [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cached_read, other.cached_read),
            (&mut self.cached_write, other.cached_write),
            (&mut self.reasoning, other.reasoning),
            (&mut self.total, other.total),
            (&mut self.requests, other.requests),
        ];
        for (own, more) in counts {
            if let Some(more) = more {
                *own = Some(own.unwrap_or(0).saturating_add(more));
            }
        }
        self.add_cost(other);
        for (model, usage) in &other.by_model {
            self.of_model(model).add(usage);
        }
    }

    fn add_cost(&mut self, other: &Usage) {
        if let Some(more) = &other.cost {
            self.cost = Some(self.cost.as_ref().map_or_else(|| more.clone(), |own| own.plus(more)));
        }
    }

    /// The count of one model, made if need be.
    pub fn of_model(&mut self, model: &str) -> &mut Usage {
        let at = self.by_model.iter().position(|(name, _)| name == model).unwrap_or_else(|| {
            self.by_model.push((model.to_owned(), Usage::default()));
            self.by_model.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the position was just found or pushed")]
        &mut self.by_model[at].1
    }
}
