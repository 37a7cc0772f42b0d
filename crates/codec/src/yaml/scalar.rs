//! What an unquoted YAML scalar means, and which order yaml.v3 gives keys.

use std::borrow::Cow;
use std::cmp::Ordering;

use turnkeep_model::json::{Json, Number, Text, Value};

use super::read::owned_or_plain;

/// The value of an unquoted scalar. What JSON can spell is typed; other numbers and timestamps stay bare text.
pub(super) fn resolve(text: Cow<'_, str>) -> Value<'_> {
    match &*text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Value::Number("NaN".into()),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Value::Number("Infinity".into());
        }
        "-.inf" | "-.Inf" | "-.INF" => return Value::Number("-Infinity".into()),
        _ => {}
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
        return Value::Text(owned_or_plain(text));
    }
    if is_json_number(&text) {
        return Value::Number(text);
    }
    if go_number(&text).is_some() || go_timestamp(&text).is_some() {
        return Value::Text(Text::Bare(text.into_owned().into()));
    }
    Value::Text(owned_or_plain(text))
}

fn is_json_number(text: &str) -> bool {
    Number::parse(text).is_some_and(|number| number.is_json())
}

/// Whether an unquoted `text` is a value that JSON has no type for: a timestamp, or a number in another spelling.
pub fn is_bare(text: &str) -> bool {
    matches!(resolve(text.into()), Value::Text(Text::Bare(_)))
}

/// The value that geppetto's YAML library gives an unquoted scalar, and would write again.
pub fn resolve_as_go(text: &str) -> Json {
    if let Some(number) = go_number(text) {
        return Json::Number(number);
    }
    match go_timestamp(text) {
        Some(stamp) => Json::from(stamp),
        None => Json::from(text),
    }
}

/// A number in any spelling that Go's YAML accepts, in the spelling it writes.
fn go_number(text: &str) -> Option<Number> {
    let plain = text.replace('_', "");
    go_integer(&plain).or_else(|| go_float(&plain)).filter(|_| !text.starts_with('_'))
}

fn go_integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, lower.get(2..)?),
        Some("0o") => (8, lower.get(2..)?),
        Some("0b") => (2, lower.get(2..)?),
        Some(start) if start.starts_with('0') => (8, lower.get(1..)?),
        _ => (10, lower.as_str()),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    let spelling = if negative && value > 0 { format!("-{value}") } else { value.to_string() };
    // The smallest i64 has no positive counterpart.
    let fits = !negative || i64::try_from(value).is_ok() || value == 1 << 63;
    Number::parse(&spelling).filter(|_| fits)
}

fn go_float(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let allowed = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+');
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !digits.chars().all(allowed) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    Number::parse(&go_float_spelling(value))
}

/// A float as Go's shortest `%g` spells it.
fn go_float_spelling(value: f64) -> String {
    if !value.is_finite() {
        return Number::from_f64(value).to_string();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// A timestamp that Go's YAML knows, as RFC 3339.
fn go_timestamp(text: &str) -> Option<String> {
    let dashes = text.as_bytes().get(4) == Some(&b'-');
    let year = text.get(..4).is_some_and(|year| year.bytes().all(|b| b.is_ascii_digit()));
    if !dashes || !year {
        return None;
    }
    if text.len() <= 10 {
        let date = text.parse::<jiff::civil::Date>().ok()?;
        return Some(format!("{}T00:00:00Z", date.strftime("%Y-%m-%d")));
    }
    let spaced = text.replacen(' ', "T", 1);
    if spaced.parse::<jiff::Timestamp>().is_ok() {
        return Some(trim_zero_fraction(&spaced));
    }
    let civil: jiff::civil::DateTime = spaced.parse().ok()?;
    Some(format!("{civil}Z"))
}

fn trim_zero_fraction(stamp: &str) -> String {
    let stamp = stamp.replace('t', "T").replace('z', "Z");
    let Some(dot) = stamp.find('.') else {
        return stamp;
    };
    let (head, tail) = stamp.split_at(dot);
    let end = tail.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(tail.len());
    let (fraction, zone) = tail.split_at(end);
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{head}{fraction}{zone}")
}

/// The order in which Go's YAML writes keys: numbers inside them count as numbers, letters come after other signs.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let Some(at) = a.iter().zip(&b).position(|(x, y)| x != y) else {
        return a.len().cmp(&b.len());
    };
    let (Some(&x), Some(&y)) = (a.get(at), b.get(at)) else {
        return Ordering::Equal;
    };
    let after_digit = at > 0 && a.get(at - 1).is_some_and(|c| c.is_numeric());
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => x.cmp(&y),
        (true, false) => {
            if after_digit {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (false, true) => {
            if after_digit {
                Ordering::Greater
            } else {
                Ordering::Less
            }
        }
        (false, false) => compare_digits(&a, &b, at).then(x.cmp(&y)),
    }
}

fn compare_digits(a: &[char], b: &[char], at: usize) -> Ordering {
    let zero = a.get(at) == Some(&'0') || b.get(at) == Some(&'0');
    let before = a.get(..at).unwrap_or_default();
    let significant = before.iter().rev().take_while(|c| c.is_ascii_digit()).any(|c| *c != '0');
    let start = i64::from(zero && significant);
    let number = |chars: &[char]| {
        let digits = chars.get(at..).unwrap_or_default().iter().map_while(|c| c.to_digit(10));
        digits.fold((start, 0), |(value, length), digit| {
            (value.wrapping_mul(10).wrapping_add(i64::from(digit)), length + 1)
        })
    };
    number(a).cmp(&number(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_in_natural_order() {
        let mut keys = ["zeta", "10", "alpha", "9", "text", "a2", "a10", "a1b", "_x", "B"];

        keys.sort_by(|a, b| natural_order(a, b));

        assert_eq!(keys, ["_x", "9", "10", "B", "a1b", "a2", "a10", "alpha", "text", "zeta"]);
    }

    #[test]
    fn go_spells_numbers_its_own_way() {
        let cases = [
            ("0x1F", "31"),
            ("017", "15"),
            ("1_000", "1000"),
            ("2.0", "2"),
            ("1e3", "1000"),
            ("1e21", "1e+21"),
            ("1000000.0", "1e+06"),
            ("0.00001", "1e-05"),
            ("12345678901234567890", "12345678901234567890"),
            ("2026-01-16", "\"2026-01-16T00:00:00Z\""),
            ("2026-01-16 10:00:00", "\"2026-01-16T10:00:00Z\""),
            ("2026-01-16T10:00:00.500+02:00", "\"2026-01-16T10:00:00.5+02:00\""),
            ("12:30", "\"12:30\""),
        ];
        for (text, expected) in cases {
            assert_eq!(resolve_as_go(text).to_text(), expected, "{text}");
        }
    }
}
