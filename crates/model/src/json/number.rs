//! A number kept as it was written.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::inline::Inline;

/// A number as its source spelled it, so that `2^53+1`, `1.0`, `-0` and `1e400` survive.
///
/// Equality is of the spelling: `1.0` and `1` differ. `NaN`, `Infinity` and `-Infinity` can be held because some
/// systems write them; a strict JSON text cannot spell them.
#[derive(Clone)]
pub struct Number(Digits);

#[derive(Clone)]
enum Digits {
    Short(Inline),
    Long(Box<str>),
}

impl Number {
    /// A number from its spelling, if `text` is one.
    pub fn parse(text: &str) -> Option<Number> {
        (is_json_number(text) || is_non_finite(text)).then(|| Number::trusted(text))
    }

    /// A spelling that the caller has checked.
    pub(super) fn trusted(text: &str) -> Number {
        Number(Inline::new(text).map_or_else(|| Digits::Long(text.into()), Digits::Short))
    }

    /// The shortest spelling of `value` that reads back as it.
    pub fn from_f64(value: f64) -> Number {
        if value.is_nan() {
            return Number::trusted("NaN");
        }
        if value.is_infinite() {
            return Number::trusted(if value > 0.0 { "Infinity" } else { "-Infinity" });
        }
        Number::trusted(&format!("{value:?}"))
    }

    /// The number as it was written.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Digits::Short(text) => text.as_str(),
            Digits::Long(text) => text,
        }
    }

    /// The value as a signed integer, if it is one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_str().parse().ok()
    }

    /// The value as an unsigned integer, if it is one and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_str().parse().ok()
    }

    /// The nearest floating point value.
    pub fn as_f64(&self) -> f64 {
        self.as_str().parse().unwrap_or(f64::NAN)
    }

    /// Whether a strict JSON text can spell this number.
    pub fn is_json(&self) -> bool {
        !is_non_finite(self.as_str())
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Number").field(&self.as_str()).finish()
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

pub(super) fn is_non_finite(text: &str) -> bool {
    matches!(text, "NaN" | "Infinity" | "-Infinity")
}

fn is_json_number(text: &str) -> bool {
    number_length(text.as_bytes()) == Some(text.len())
}

/// How many bytes at the start of `bytes` are a JSON number.
pub(super) fn number_length(bytes: &[u8]) -> Option<usize> {
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        Some(b'1'..=b'9') => at + digits(bytes, at),
        _ => return None,
    };
    if bytes.get(at) == Some(&b'.') {
        match digits(bytes, at + 1) {
            0 => return None,
            n => at += 1 + n,
        }
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        match digits(bytes, at + 1 + sign) {
            0 => return None,
            n => at += 1 + sign + n,
        }
    }
    Some(at)
}

fn digits(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().take_while(|b| b.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_exactly_the_json_grammar() {
        for good in ["0", "-0", "1.0", "1e400", "9007199254740993", "-1.5E-7", "NaN"] {
            assert_eq!(Number::parse(good).map(|n| n.to_string()).as_deref(), Some(good));
        }
        for bad in ["", "-", "01", "1.", ".5", "1e", "+1", "0x1", "1 ", "nan"] {
            assert_eq!(Number::parse(bad), None, "{bad}");
        }
    }
}
