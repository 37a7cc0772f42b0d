//! An exact decimal, for money.

use std::fmt;
use std::str::FromStr;

use bigdecimal::BigDecimal;

use crate::error::Result;
use crate::json::{Node, Sink, Value};
use crate::shape::{Reading, Shape};

/// An exact decimal as its source spelled it: never a binary float.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal(Box<str>);

impl Decimal {
    /// A decimal from its spelling, if `text` is one.
    pub fn parse(text: &str) -> Option<Decimal> {
        BigDecimal::from_str(text).ok().map(|_| Decimal(text.into()))
    }

    /// The decimal as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The exact sum, in plain notation.
    #[must_use]
    pub fn plus(&self, other: &Decimal) -> Decimal {
        let sum = self.value() + other.value();
        Decimal(sum.normalized().to_plain_string().into())
    }

    /// What `count` of something cost that costs this much a million, exactly and in plain notation.
    #[must_use]
    pub fn per_million(&self, count: u64) -> Decimal {
        let cost = self.value() * BigDecimal::new(count.into(), 6);
        Decimal(cost.normalized().to_plain_string().into())
    }

    /// Whether it is as large as `other`, or larger.
    pub fn at_least(&self, other: &Decimal) -> bool {
        self.value() >= other.value()
    }

    fn value(&self) -> BigDecimal {
        BigDecimal::from_str(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Shape for Decimal {
    fn write<S: Sink>(&self, out: &mut S) {
        out.text(&self.0);
    }

    fn read(node: Node<'_>, reading: &mut Reading) -> Result<Decimal> {
        let at = node.at;
        let text = match node.value {
            Value::Number(text) => text.into_owned(),
            _ => String::read(node, reading)?,
        };
        Decimal::parse(&text).ok_or_else(|| reading.error(at, "expected a decimal number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_exactly() {
        let sum = Decimal::parse("0.1").unwrap().plus(&Decimal::parse("2E-1").unwrap());

        assert_eq!(sum.as_str(), "0.3");
    }
}
