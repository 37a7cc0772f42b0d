//! What was used.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

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

/// How many digits after the point sums of money are rounded to.
const MONEY_DIGITS: u16 = 6;

/// One line for a person.
impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |count: Option<u64>| count.unwrap_or(0);
        write!(f, "{} requests, {} input tokens", count(self.requests), count(self.input))?;
        write!(f, ", {} output tokens", count(self.output))?;
        if let Some(reasoning) = self.reasoning.filter(|reasoning| *reasoning > 0) {
            write!(f, " ({reasoning} of them thinking)")?;
        }
        write!(f, ", cost {}", self.money().divided_by(1, MONEY_DIGITS))
    }
}

/// Adding to an empty count gives the other one, extras included.
impl AddAssign<&Usage> for Usage {
    fn add_assign(&mut self, other: &Usage) {
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
            *self.of_model(model) += usage;
        }
    }
}

impl Add for Usage {
    type Output = Usage;

    fn add(mut self, other: Usage) -> Usage {
        self += &other;
        self
    }
}

impl<'a> Sum<&'a Usage> for Usage {
    fn sum<I: Iterator<Item = &'a Usage>>(counts: I) -> Usage {
        counts.fold(Usage::default(), |mut sum, count| {
            sum += count;
            sum
        })
    }
}

impl Usage {
    /// Adds one request to a model, in all and to the model's own count. A count that knows how many requests it stands
    /// for says so itself.
    pub fn count(&mut self, model: &str, used: &Usage) {
        let used = Usage { requests: used.requests.or(Some(1)), by_model: Vec::new(), ..used.clone() };
        let by_model = std::mem::take(&mut self.by_model);
        *self += &used;
        self.by_model = by_model;
        *self.of_model(model) += &used;
    }

    /// Tokens sent and answered.
    pub fn tokens(&self) -> u64 {
        self.input.unwrap_or(0).saturating_add(self.output.unwrap_or(0))
    }

    /// How many tokens a request took; none without requests.
    pub fn tokens_per_request(&self) -> u64 {
        self.tokens().checked_div(self.requests.unwrap_or(0)).unwrap_or(0)
    }

    /// What a request cost, to a millionth; nothing without requests or costs.
    pub fn cost_per_request(&self) -> Decimal {
        self.money().divided_by(self.requests.unwrap_or(0), MONEY_DIGITS)
    }

    /// What a thousand tokens cost, to a millionth; nothing without tokens or costs.
    pub fn cost_per_thousand(&self) -> Decimal {
        self.money().times(1000).divided_by(self.tokens(), MONEY_DIGITS)
    }

    fn money(&self) -> Decimal {
        self.cost.clone().unwrap_or_default()
    }

    fn add_cost(&mut self, other: &Usage) {
        if let Some(more) = &other.cost {
            self.cost = Some(self.cost.as_ref().map_or_else(|| more.clone(), |own| own + more));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn used(input: u64, output: u64, cost: Option<&str>) -> Usage {
        let cost = cost.and_then(Decimal::parse);
        Usage { input: Some(input), output: Some(output), cost, ..Usage::default() }
    }

    #[test]
    fn requests_are_counted_in_all_and_by_model() {
        let mut all = Usage::default();
        all.count("a", &used(100, 20, Some("0.01")));
        all.count("b", &used(10, 2, None));
        all.count("a", &used(1, 1, Some("0.02")));

        let counted = |requests, input, output, cost| Usage { requests: Some(requests), ..used(input, output, cost) };
        let by_model =
            vec![("a".to_owned(), counted(2, 101, 21, Some("0.03"))), ("b".to_owned(), counted(1, 10, 2, None))];
        assert_eq!(all, Usage { by_model, ..counted(3, 111, 23, Some("0.03")) });
    }

    #[test]
    fn merged_counts_are_the_sum_of_both_in_all_and_by_model() {
        let (mut one, mut other) = (Usage::default(), Usage::default());
        one.count("a", &used(100, 20, Some("0.01")));
        other.count("a", &used(1, 2, Some("0.02")));
        other.count("b", &used(3, 4, None));
        let mut together = one.clone();
        together.count("a", &used(1, 2, Some("0.02")));
        together.count("b", &used(3, 4, None));

        one += &other;

        assert_eq!(one, together);
    }

    #[test]
    fn averages_are_rounded_half_up_and_nothing_without_requests() {
        let mut all = Usage::default();
        for _ in 0..3 {
            all.count("a", &used(100, 20, None));
        }
        all.cost = Decimal::parse("1");

        assert_eq!(all.tokens_per_request(), 120);
        assert_eq!(all.cost_per_request().as_str(), "0.333333");
        assert_eq!(all.cost_per_thousand().as_str(), "2.777778");
        assert_eq!(all.to_string(), "3 requests, 300 input tokens, 60 output tokens, cost 1.000000");
        let none = Usage::default();
        assert_eq!((none.tokens_per_request(), none.cost_per_request().as_str()), (0, "0.000000"));
        assert_eq!(none.cost_per_thousand().as_str(), "0.000000");
    }
}
