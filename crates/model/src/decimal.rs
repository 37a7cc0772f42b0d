//! An exact decimal, for money.

use std::fmt;
use std::ops::Add;
use std::str::FromStr;

use bigdecimal::{BigDecimal, RoundingMode};

use crate::error::{Error, ErrorKind, Result};
use crate::json::{Node, Sink, Value};
use crate::shape::{Shape, ShapeReader};

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

    /// What `count` of something cost that costs this much a million, exactly and in plain notation.
    #[must_use]
    pub fn per_million(&self, count: u64) -> Decimal {
        let cost = self.value() * BigDecimal::new(count.into(), 6);
        Decimal(cost.normalized().to_plain_string().into())
    }

    /// It divided by `count`, rounded half up to so many digits after the point; nothing divided is nothing.
    #[must_use]
    pub fn divided_by(&self, count: u64, digits: u16) -> Decimal {
        let share = if count == 0 { BigDecimal::default() } else { self.value() / BigDecimal::from(count) };
        Decimal(share.with_scale_round(digits.into(), RoundingMode::HalfUp).to_plain_string().into())
    }

    /// So many times as much, exactly and in plain notation.
    #[must_use]
    pub fn times(&self, count: u64) -> Decimal {
        let product = self.value() * BigDecimal::from(count);
        Decimal(product.normalized().to_plain_string().into())
    }

    /// Whether it is as large as `other`, or larger.
    pub fn at_least(&self, other: &Decimal) -> bool {
        self.value() >= other.value()
    }

    fn value(&self) -> BigDecimal {
        BigDecimal::from_str(&self.0).unwrap_or_default()
    }
}

/// The exact sum, in plain notation.
impl Add for &Decimal {
    type Output = Decimal;

    fn add(self, other: &Decimal) -> Decimal {
        let sum = self.value() + other.value();
        Decimal(sum.normalized().to_plain_string().into())
    }
}

impl Add for Decimal {
    type Output = Decimal;

    fn add(self, other: Decimal) -> Decimal {
        &self + &other
    }
}

impl FromStr for Decimal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Decimal> {
        let what = "expected a decimal number, such as `0.25`";
        Decimal::parse(text).ok_or_else(|| Error::new(ErrorKind::Corrupt, what))
    }
}

impl Default for Decimal {
    fn default() -> Decimal {
        Decimal("0".into())
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

    fn read(node: Node<'_>, reading: &mut ShapeReader) -> Result<Decimal> {
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
        let sum = "0.1".parse::<Decimal>().unwrap() + "2E-1".parse().unwrap();

        assert_eq!(sum.as_str(), "0.3");
    }

    #[test]
    fn divides_and_rounds_half_up() {
        let divided = |text: &str, count| Decimal::parse(text).unwrap().divided_by(count, 6).to_string();

        assert_eq!([divided("1", 3), divided("0.0000005", 1), divided("2", 0)], ["0.333333", "0.000001", "0.000000"]);
    }
}
