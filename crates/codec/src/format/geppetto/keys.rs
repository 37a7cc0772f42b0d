//! Typed keys of turn metadata and data: `<namespace>.<value>@v<N>`.

use turnkeep_model::json::{Json, Object};
use turnkeep_model::{Error, ErrorKind, Result};

/// A key such as `geppetto.session_id@v1`. Readers accept any string; only making one is strict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key of its parts.
    ///
    /// # Errors
    /// `Unsupported` where a part is empty or the version is 0.
    pub fn new(namespace: &str, value: &str, version: u32) -> Result<Key> {
        if namespace.is_empty() || value.is_empty() || version == 0 {
            return Err(Error::new(ErrorKind::Unsupported, "a key needs a namespace, a value and a version from 1")
                .hint("spell it `<namespace>.<value>@v<N>`"));
        }
        Ok(Key(format!("{namespace}.{value}@v{version}")))
    }

    /// The key as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// geppetto's own key for `value`.
pub(super) fn typed(value: &str) -> String {
    format!("geppetto.{value}@v1")
}

/// What stands under a key: nothing, something of the wanted type, or something else.
///
/// # Errors
/// `Mismatch`, naming the key, where something of another type stands there.
pub fn get<T>(map: &Object, key: &str, convert: impl FnOnce(&Json) -> Option<T>) -> Result<Option<T>> {
    match map.get(key) {
        None => Ok(None),
        Some(value) => convert(value).map(Some).ok_or_else(|| {
            Error::new(ErrorKind::Mismatch, format!("`{key}` holds {}, which is not what is wanted", value.kind()))
        }),
    }
}

/// A list of strings.
pub fn as_strings(value: &Json) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(std::borrow::Cow::into_owned)).collect()
}

/// Nanoseconds of a duration: a Go duration text (`2s`, `100ms`), whole nanoseconds, or a float of them; null is 0.
pub fn as_nanoseconds(value: &Json) -> Option<i128> {
    match value {
        Json::Null => Some(0),
        Json::Number(number) => number.as_str().parse().ok().or_else(|| Some(number.as_f64() as i128)),
        Json::String(_) => parse_go_duration(&value.as_str()?),
        _ => None,
    }
}

fn parse_go_duration(text: &str) -> Option<i128> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.').filter(|end| *end > 0)?;
        let (amount, tail) = rest.split_at(number);
        let unit = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        total += amount.parse::<f64>().ok()? * unit_nanoseconds(unit)?;
        rest = tail;
    }
    (!text.is_empty()).then_some((sign * total) as i128)
}

fn unit_nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_come_in_three_spellings() {
        let cases =
            [("\"2s\"", 2_000_000_000), ("\"1m0.5s\"", 60_500_000_000), ("250", 250), ("1e3", 1000), ("null", 0)];
        for (text, expected) in cases {
            let value = turnkeep_model::json::parse(text).unwrap().into_json();
            assert_eq!(as_nanoseconds(&value), Some(expected), "{text}");
        }
        assert_eq!(as_nanoseconds(&Json::from("2 parsecs")), None);
    }

    #[test]
    fn a_value_of_another_type_is_a_mismatch_that_names_the_key() {
        let map: Object = [("geppetto.agent_mode_allowed_tools@v1", Json::Array(vec!["search".into(), 123u64.into()]))]
            .into_iter()
            .collect();

        let error = get(&map, "geppetto.agent_mode_allowed_tools@v1", as_strings).unwrap_err();

        assert_eq!(error.kind(), ErrorKind::Mismatch);
        assert!(error.to_string().contains("agent_mode_allowed_tools"));
        assert_eq!(get(&map, "absent", as_strings).unwrap(), None);
    }

    #[test]
    fn keys_are_strict_when_made() {
        assert_eq!(Key::new("geppetto", "usage", 1).unwrap().as_str(), "geppetto.usage@v1");
        for (namespace, value, version) in [("", "usage", 1), ("geppetto", "", 1), ("geppetto", "usage", 0)] {
            assert!(Key::new(namespace, value, version).is_err());
        }
    }
}
