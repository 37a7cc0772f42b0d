//! Times as people write them.

use std::time::Duration;

/// Units with their length in milliseconds; longer words first.
const UNITS: &[(&str, f64)] = &[("ms", 1.0), ("s", 1e3), ("m", 60e3), ("h", 3600e3)];

/// A time such as `500ms`, `10s`, `1.5m` or `2h`.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, scale) = UNITS.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)))?;
    let number: f64 = number.trim().parse().ok()?;
    Duration::try_from_secs_f64(number * scale / 1e3).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let read = |text| parse(text).map(|time| time.as_millis());
        assert_eq!(
            ["500ms", "10s", "1.5m", "2 h", "s", "10", "-1s", "x"].map(read),
            [Some(500), Some(10_000), Some(90_000), Some(7_200_000), None, None, None, None]
        );
    }
}
