//! A number kept as it was written.

use std::fmt;

/// A number as its source spelled it, so that `2^53+1`, `1.0`, `-0` and `1e400` survive.
///
/// Equality is of the spelling: `1.0` and `1` differ. `NaN`, `Infinity` and `-Infinity` can be held because some
/// systems write them; a strict JSON text cannot spell them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Number(Box<str>);

impl Number {
    /// A number from its spelling, if `text` is one.
    pub fn parse(text: &str) -> Option<Number> {
        (is_json_number(text) || is_non_finite(text)).then(|| Number(text.into()))
    }

    /// A spelling that the caller has checked.
    pub(super) fn trusted(text: &str) -> Number {
        Number(text.into())
    }

    /// The shortest spelling of `value` that reads back as it.
    pub fn from_f64(value: f64) -> Number {
        if value.is_nan() {
            return Number("NaN".into());
        }
        if value.is_infinite() {
            return Number(if value > 0.0 { "Infinity" } else { "-Infinity" }.into());
        }
        Number(format!("{value:?}").into())
    }

    /// The number as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value as a signed integer, if it is one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The value as an unsigned integer, if it is one and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The nearest floating point value.
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Whether a strict JSON text can spell this number.
    pub fn is_json(&self) -> bool {
        !is_non_finite(&self.0)
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        Number(value.to_string().into())
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        Number(value.to_string().into())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
