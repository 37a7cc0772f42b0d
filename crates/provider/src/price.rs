//! What an answer costs.

use turnkeep_model::{Decimal, Usage};

/// Prices per million tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prices {
    /// Of what is sent.
    pub input: Option<Decimal>,
    /// Of what is answered, thinking included.
    pub output: Option<Decimal>,
    /// Of what is sent and comes from a cache; the price of the input where it is not told.
    pub cached_read: Option<Decimal>,
    /// Of what is sent and goes into a cache; the price of the input where it is not told.
    pub cached_write: Option<Decimal>,
}

impl Prices {
    /// What some usage costs; `None` where a price or a count is missing that it takes.
    ///
    /// ```
    /// use turnkeep_model::{Decimal, Usage};
    /// use turnkeep_provider::Prices;
    ///
    /// let prices = Prices { input: Decimal::parse("3"), output: Decimal::parse("15"), ..Prices::default() };
    /// let usage = Usage { input: Some(1_000), output: Some(200), ..Usage::default() };
    ///
    /// assert_eq!(prices.cost(&usage), Decimal::parse("0.006"));
    /// ```
    pub fn cost(&self, usage: &Usage) -> Option<Decimal> {
        let (read, written) = (usage.cached_read.unwrap_or(0), usage.cached_write.unwrap_or(0));
        let fresh = usage.input?.saturating_sub(read).saturating_sub(written);
        let input = self.input.as_ref()?;
        let parts = [
            (fresh, input),
            (read, self.cached_read.as_ref().unwrap_or(input)),
            (written, self.cached_write.as_ref().unwrap_or(input)),
            (usage.output?, self.output.as_ref()?),
        ];
        let costs =
            parts.into_iter().filter(|(tokens, _)| *tokens > 0).map(|(tokens, price)| price.per_million(tokens));
        costs.reduce(|sum, cost| sum + cost).or_else(|| Decimal::parse("0"))
    }
}
