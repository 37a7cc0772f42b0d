//! Numbers, decimals and times as the library's platform spells them.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use turnkeep_model::Time;

/// A JSON number after it has been a double, as the library writes it: whole numbers of 64 bits without a fraction, all
/// others as Java prints doubles.
pub(super) fn number(text: &str) -> String {
    let value = text.parse::<i64>().map_or_else(|_| text.parse::<f64>().unwrap_or_default(), |whole| whole as f64);
    double(value)
}

/// A JSON number as an integer of 32 bits: its fraction is cut off, and what is too large is the largest one.
pub(super) fn int(text: &str) -> String {
    (text.parse::<f64>().unwrap_or_default() as i32).to_string()
}

fn double(value: f64) -> String {
    let whole = value as i64;
    if whole as f64 == value {
        return whole.to_string();
    }
    let size = value.abs();
    if (1e-3..1e7).contains(&size) {
        return value.to_string();
    }
    let shortest = format!("{value:e}");
    // Java shows two digits at least, and takes the nearest such decimal.
    let digits = if shortest.contains('.') { shortest } else { format!("{value:.1e}") };
    digits.replace('e', "E")
}

/// A decimal as Java prints it; none for zero, which the library leaves out.
pub(super) fn big_decimal(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return None;
    }
    let scale = fraction.len() as i64 - exponent;
    let adjusted = digits.len() as i64 - 1 - scale;
    Some(if scale >= 0 && adjusted >= -6 {
        format!("{sign}{}", plain(digits, usize::try_from(scale).ok()?))
    } else {
        format!("{sign}{}E{adjusted:+}", pointed(digits))
    })
}

fn plain(digits: &str, scale: usize) -> String {
    if scale == 0 {
        return digits.to_owned();
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{whole}.{fraction}")
}

fn pointed(digits: &str) -> String {
    match digits.split_at_checked(1) {
        Some((first, rest)) if !rest.is_empty() => format!("{first}.{rest}"),
        _ => digits.to_owned(),
    }
}

/// A time without its zone: in UTC, if it has one.
pub(super) fn local_time(time: &Time) -> Option<String> {
    match time.instant() {
        Some(instant) => Some(spell_time(instant.to_zoned(TimeZone::UTC).datetime())),
        None => parse_local(time.as_str()).map(|_| time.as_str().to_owned()),
    }
}

/// A local time as the library prints it, if `text` is one; a zone is refused.
pub(super) fn respell_time(text: &str) -> Option<String> {
    parse_local(text).map(spell_time)
}

fn parse_local(text: &str) -> Option<DateTime> {
    let (date, time) = text.split_once('T')?;
    let [year, month, day] = numbers::<3>(date, '-')?;
    let (time, fraction) = time.split_once('.').map_or((time, None), |(time, fraction)| (time, Some(fraction)));
    let [hour, minute, second] = numbers::<3>(time, ':').or_else(|| {
        let [hour, minute] = numbers::<2>(time, ':').filter(|_| fraction.is_none())?;
        Some([hour, minute, 0])
    })?;
    let nanoseconds = match fraction {
        None => 0,
        Some(digits) if (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{digits:0<9}").parse().ok()?
        }
        Some(_) => return None,
    };
    let small = |number: i16| i8::try_from(number).ok();
    DateTime::new(year, small(month)?, small(day)?, small(hour)?, small(minute)?, small(second)?, nanoseconds).ok()
}

/// Exactly `N` numbers of two digits (the year of a date has four).
fn numbers<const N: usize>(text: &str, separator: char) -> Option<[i16; N]> {
    let parts: Vec<&str> = text.split(separator).collect();
    let width = |index: usize| if separator == '-' && index == 0 { 4 } else { 2 };
    let number = |(index, part): (usize, &&str)| {
        let digits = part.len() == width(index) && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<i16>().ok().filter(|_| digits)
    };
    parts.iter().enumerate().map(number).collect::<Option<Vec<_>>>()?.try_into().ok()
}

/// Seconds are left out where they are zero; a fraction has three, six or nine digits.
fn spell_time(time: DateTime) -> String {
    let minutes = time.strftime("%Y-%m-%dT%H:%M");
    let nanoseconds = time.subsec_nanosecond();
    match (time.second(), nanoseconds) {
        (0, 0) => minutes.to_string(),
        (second, 0) => format!("{minutes}:{second:02}"),
        (second, n) if n % 1_000_000 == 0 => format!("{minutes}:{second:02}.{:03}", n / 1_000_000),
        (second, n) if n % 1000 == 0 => format!("{minutes}:{second:02}.{:06}", n / 1000),
        (second, n) => format!("{minutes}:{second:02}.{n:09}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_java_does() {
        let cases = [
            ("1.0", "1"),
            ("-0.0", "0"),
            ("0.70", "0.7"),
            ("1e-7", "1.0E-7"),
            ("1e22", "1.0E22"),
            ("3e9", "3000000000"),
            ("12345678.5", "1.23456785E7"),
            ("1234567890123456789", "1234567890123456768"),
            ("9223372036854775808", "9223372036854775807"),
            ("5e-324", "4.9E-324"),
            ("0.001", "0.001"),
            ("0.00099", "9.9E-4"),
            ("-2.5", "-2.5"),
        ];
        for (text, expected) in cases {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn decimals_are_spelled_as_java_does() {
        let cases = [
            ("0.50", Some("0.50")),
            ("0.00", None),
            ("0.0000001", Some("1E-7")),
            ("1E-10", Some("1E-10")),
            ("12e3", Some("1.2E+4")),
            ("-0.001230", Some("-0.001230")),
            ("0.000001", Some("0.000001")),
            ("100", Some("100")),
        ];
        for (text, expected) in cases {
            assert_eq!(big_decimal(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn local_times_lose_zero_seconds_and_have_no_zone() {
        let cases = [
            ("2026-03-01T12:30", Some("2026-03-01T12:30")),
            ("2026-03-01T12:30:00", Some("2026-03-01T12:30")),
            ("2026-03-01T12:30:45.120", Some("2026-03-01T12:30:45.120")),
            ("2026-03-01T12:30:45.1234567", Some("2026-03-01T12:30:45.123456700")),
            ("2026-03-01T12:30:45Z", None),
            ("2026-02-30T12:30", None),
            ("2026-3-1T12:30", None),
        ];
        for (text, expected) in cases {
            assert_eq!(respell_time(text).as_deref(), expected, "{text}");
        }
        assert_eq!(local_time(&Time::from("2026-03-01T12:30:45.5Z")).as_deref(), Some("2026-03-01T12:30:45.500"));
    }
}
